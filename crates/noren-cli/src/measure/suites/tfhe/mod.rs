//! The suite `tfhe`: keys, gates and bootstraps, one by one and in batches, and integers.

mod integers;
mod measurement;
mod samples;
mod workload;

use clap::Args;
use noren::tfhe::Context;

use crate::failure::Failure;
use crate::machine;
use crate::measure::run::{After, Run};
use crate::measure::suites::tfhe::measurement::Measurement;
use crate::measure::suites::tfhe::workload::Workload;

/// How many ciphertexts are bootstrapped together.
const BATCHES: [u32; 4] = [1, 8, 64, 512];

/// The options of the suite.
#[derive(Debug, Args)]
pub struct Options {
    /// Sets; client-SET for the keys of a client; u8, u16, u32, u64 for integers; u8xu8 for functions of two of them [default:
    /// BOOL,BOOL_128,1_1,2_2,3_3,client-BOOL,client-2_2,u8,u16,u32,u8xu8]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    workload: Vec<Workload>,
    /// How many ciphertexts are bootstrapped together [default: 1,8,64,512]
    #[arg(long, value_name = "COUNT,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=65536))]
    batch: Vec<u32>,
}

impl Options {
    /// Measures the suite, and says after each step which it was.
    pub(in crate::measure) fn run(&self, run: &Run<'_>, after: &mut After<'_>) -> Result<(), Failure> {
        let batches = if self.batch.is_empty() { &BATCHES } else { &self.batch[..] };
        let batches: Vec<usize> = batches.iter().map(|&batch| batch as usize).collect();
        let listed = batches.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        for workload in &Workload::choose(&self.workload)? {
            measure(run, workload, &batches)?;
            after(&[("--suite", "tfhe"), ("--workload", &workload.to_string()), ("--batch", &listed)])?;
        }
        Ok(())
    }
}

/// Measures a workload with each number of threads.
fn measure(run: &Run<'_>, workload: &Workload, batches: &[usize]) -> Result<(), Failure> {
    for &threads in run.threads {
        machine::reset_peak_rss();
        let context = Context::with_threads(workload.parameters()?, Some(threads))?;
        let measurement = Measurement { run, workload, context, threads };
        match workload {
            Workload::Samples(_) => samples::run(&measurement, batches)?,
            Workload::Client(_) => samples::client(&measurement)?,
            Workload::Integers(bits) => integers::run(&measurement, *bits)?,
            Workload::Table => integers::table(&measurement)?,
        }
    }
    Ok(())
}
