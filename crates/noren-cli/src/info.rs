//! `noren info`: what this program and this machine are.

use std::fmt;

use clap::Args;
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::bytes;
use crate::failure::Failure;
use crate::machine;

/// Shows version, processor, instruction sets, threads and memory
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  noren info\n  noren info --json\n  NOREN_ISA=portable noren info")]
pub(crate) struct Arguments {}

#[derive(Serialize)]
struct InfoReport {
    version: &'static str,
    cpu: Option<String>,
    isa_available: Vec<&'static str>,
    isa: &'static str,
    threads: usize,
    memory_bytes: Option<u64>,
    memory_available_bytes: Option<u64>,
}

pub(crate) fn run(_arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let memory = machine::memory();
    console.report(&InfoReport {
        version: env!("CARGO_PKG_VERSION"),
        cpu: machine::cpu(),
        isa_available: noren_math::kernels::available().map(noren_math::kernels::Kernels::name).collect(),
        isa: noren_math::kernels::kernels().name(),
        threads: rayon::current_num_threads(),
        memory_bytes: memory.map(|(total, _)| total),
        memory_available_bytes: memory.map(|(_, available)| available),
    })
}

impl fmt::Display for InfoReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "noren      {}", self.version)?;
        writeln!(f, "processor  {}", self.cpu.as_deref().unwrap_or("unknown"))?;
        let tables = self.isa_available.join(", ");
        writeln!(f, "kernels    {} (available: {tables}; NOREN_ISA chooses)", self.isa)?;
        writeln!(f, "threads    {} of {}", self.threads, machine::threads())?;
        match (self.memory_bytes, self.memory_available_bytes) {
            (Some(total), Some(available)) => {
                write!(f, "memory     {}, {} available", bytes(total as f64), bytes(available as f64))
            }
            _ => write!(f, "memory     unknown"),
        }
    }
}
