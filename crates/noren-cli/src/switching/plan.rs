//! The cost and the risk of switching between CKKS and TFHE, before any key exists.

use std::collections::BTreeSet;
use std::fmt;

use clap::Args;
use noren::bootstrapping::{self, Mode};
use noren::programs::{DecisionProgram, TableLayout};
use noren::switching::{Decision, Parameters, Steps};
use noren::tfhe::{Context, Preset};
use serde::Serialize;

use crate::describe::words::{bytes, count};
use crate::failure::Failure;
use crate::tfhe::plan::parse_set;

/// Options of a plan for switching: the keys of TFHE, and the tables that columns are searched in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlanOptions {
    pub(crate) set: &'static Preset,
    /// Rows and columns.
    pub(crate) tables: Option<[usize; 2]>,
}

/// Its own option of `plan`.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct SwitchingOption {
    /// Also keys for switching to TFHE with this set of docs/tfhe.md
    #[arg(long, value_name = "SET", value_parser = parse_set, requires = "bootstrap")]
    pub(crate) switching: Option<&'static Preset>,
}

/// The plan in words and numbers.
#[derive(Debug, Serialize)]
pub(crate) struct PlanReport {
    set: &'static str,
    /// Of keys over the torus; 0 where none is promised.
    security_bits: u32,
    /// Of numbers up to 1 in all slots, in one bootstrap each and in three.
    dead_zone: f64,
    dead_zone_three_steps: f64,
    log2_failure: f64,
    /// Of the file of server keys; none of light keys.
    server_disk_bytes: Option<u64>,
    /// Of the file of keys between the secrets.
    switching_disk_bytes: u64,
    tables: Option<[usize; 2]>,
    /// Keys and levels of searches in these tables.
    rotations: Vec<isize>,
}

impl PlanOptions {
    /// The parameters of both schemes.
    pub(crate) fn parameters(&self, bootstrapping: &bootstrapping::Parameters) -> Result<Parameters, Failure> {
        Ok(Parameters::new(bootstrapping, &self.set.parameters()?)?)
    }

    /// The rotations that programs need for any column of the tables.
    pub(crate) fn rotations(&self, bootstrapping: &bootstrapping::Parameters) -> Result<Vec<isize>, Failure> {
        let Some([rows, columns]) = self.tables else { return Ok(Vec::new()) };
        let layout = TableLayout::new(rows, columns, bootstrapping.ckks()?.max_slots())?;
        let all: Vec<usize> = (0..columns).collect();
        let programs = [DecisionProgram::Argmin, DecisionProgram::Rank];
        let rotations = programs.map(|program| program.rotations(&layout, &all, bootstrapping.slots()));
        let rotations: Vec<Vec<isize>> = rotations.into_iter().collect::<noren::Result<_>>()?;
        Ok(rotations.into_iter().flatten().collect::<BTreeSet<_>>().into_iter().collect())
    }
}

impl PlanReport {
    /// The plan of these parameters.
    pub(crate) fn new(options: &PlanOptions, bootstrapping: &bootstrapping::Parameters) -> Result<Self, Failure> {
        let parameters = options.parameters(bootstrapping)?;
        let (law, slots) = (parameters.law(Mode::Real), bootstrapping.slots());
        let torus = &parameters.tfhe().spec().torus;
        let context = Context::new(parameters.tfhe().clone())?;
        Ok(Self {
            set: options.set.name,
            security_bits: torus.security.bits(),
            dead_zone: law.dead_zone(Steps::One, slots),
            dead_zone_three_steps: law.dead_zone(Steps::Three, slots),
            log2_failure: Decision::LOG2_FAILURE,
            server_disk_bytes: torus.light.is_none().then(|| context.compact_file_bytes()),
            switching_disk_bytes: switching_bytes(&parameters),
            tables: options.tables,
            rotations: options.rotations(bootstrapping)?,
        })
    }
}

/// About the bytes of the file of keys between the secrets: bodies over the torus, and one half of the key to the secret of CKKS.
fn switching_bytes(parameters: &Parameters) -> u64 {
    let (switch, ckks) = (parameters.switch(), parameters.ckks());
    let (large, small) = (switch.sliced().degree, switch.torus().shape().degree);
    let bodies = switch.down().levels() * large + switch.packing().levels() * small * small.ilog2() as usize;
    let primes = [ckks.rlwe().q().first(), ckks.rlwe().p().first()].into_iter().flatten();
    let bits: u32 = primes.map(|prime| prime.ilog2() + 1).sum();
    (bodies * size_of::<u64>() + large * bits as usize / 8) as u64
}

impl fmt::Display for PlanReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let security = match self.security_bits {
            0 => "no security is promised".to_owned(),
            bits => format!("{bits} bits, checked for keys over the torus"),
        };
        writeln!(f, "switching      to TFHE with the set {}: {security}", self.set)?;
        let Self { dead_zone, dead_zone_three_steps: three, log2_failure, .. } = self;
        writeln!(
            f,
            "dead zone      {dead_zone:.4} for numbers up to 1, {three:.5} with --steps 3; a decision beyond it is wrong with \
             probability 2^{log2_failure} at most"
        )?;
        let server =
            self.server_disk_bytes.map_or_else(String::new, |size| format!("server.keys {}, ", bytes(size as f64)));
        write!(f, "more files     {server}switching.keys about {}", bytes(self.switching_disk_bytes as f64))?;
        let Some([rows, columns]) = self.tables else { return Ok(()) };
        let (rows, columns) = (count(rows, "row"), count(columns, "column"));
        write!(f, "\nrotations      {} for tables of {rows} and {columns}", self.rotations.len())
    }
}
