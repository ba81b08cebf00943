//! `noren plan --lookup`: what lookups take and risk, before any key exists.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use noren::bfv::Parameters;
use noren::lookup::{LookupPlan, parameters_spec};
use noren::{Resources, Security};
use serde::Serialize;

use crate::console::Console;
use crate::describe::Integers;
use crate::describe::keys::KeyRow;
use crate::describe::words::{available, bytes, count};
use crate::failure::Failure;
use crate::given::{CHOSEN, Given};
use crate::integers::parameters::read_parameters;
use crate::takes;

/// Options of a plan for lookups.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlanOptions<'a> {
    /// The exclusive bounds of x and y.
    pub(crate) domain: [usize; 2],
    /// The file of the parameters, unless they are those of [`parameters_spec`].
    pub(crate) parameters: Option<&'a Path>,
}

/// The plan in words and numbers.
#[derive(Debug, Serialize)]
pub(crate) struct PlanReport {
    domain: [usize; 2],
    /// Pairs of numbers in a pair of ciphertexts.
    queries: usize,
    /// Limbs of the matrix, and of its keys.
    matrix_limbs: usize,
    baby_steps: usize,
    giant_steps: usize,
    keys: Vec<KeyRow>,
    /// Of the evaluation keys, in memory and in a file.
    key_bytes: u64,
    key_disk_bytes: u64,
    /// Of a prepared function, in memory and in a file.
    matrix_bytes: u64,
    /// Of each pair of ciphertexts, while the matrix is multiplied.
    working_bytes: u64,
    available_memory: Option<u64>,
    available_disk: Option<u64>,
    /// Bits that the noise of results may still grow.
    noise_budget: f64,
    parameters: Integers,
}

/// The parameters in a file, or those of numbers modulo 65537.
pub(crate) fn own_parameters(file: Option<&Path>, console: &Console) -> Result<Parameters, Failure> {
    /// Degree `2^15`.
    const LOG_N: u32 = 15;
    match file {
        Some(path) => read_parameters(path, &takes::INTEGER_PARAMS, console),
        None => Ok(parameters_spec(LOG_N, Security::Bits128).build()?),
    }
}

/// The plan of functions of x and y below these numbers; the parameters may be from a file.
pub(crate) fn plan(parameters: &Parameters, file: Option<&Path>, domain: [usize; 2]) -> Result<LookupPlan, Failure> {
    let refused = |error| match file {
        Some(path) => Failure::file(path)(error),
        None => error.into(),
    };
    LookupPlan::new(parameters, domain).map_err(refused)
}

impl PlanOptions<'_> {
    pub(crate) fn plan(&self, console: &Console) -> Result<LookupPlan, Failure> {
        plan(&own_parameters(self.parameters, console)?, self.parameters, self.domain)
    }
}

/// Its own options of `plan`.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct LookupOptions {
    /// Functions of x and y below these numbers, or both below one
    #[arg(long, value_name = "X[,Y]", value_parser = parse_domain, conflicts_with = "bootstrap")]
    lookup: Option<[usize; 2]>,
    /// The parameters of lookups, or a key that carries them [default: those of numbers modulo 65537 at 128-bit security]
    #[arg(long, value_name = "FILE", conflicts_with = "bootstrap")]
    params: Option<PathBuf>,
}

/// Prints the plan, for files in this directory.
pub(super) fn run(given: &Given, directory: &Path, console: &Console) -> Result<(), Failure> {
    let LookupOptions { lookup, params } = given.own();
    let options = PlanOptions { domain: lookup.expect(CHOSEN), parameters: params.as_deref() };
    console.plan_alone(&PlanReport::new(&options.plan(console)?, directory))
}

impl PlanReport {
    pub(crate) fn new(plan: &LookupPlan, directory: &Path) -> Self {
        let (layout, parameters) = (plan.layout(), plan.parameters());
        let security = parameters.rlwe().security();
        let found = Resources::of_machine(directory);
        Self {
            domain: layout.domain(),
            queries: layout.queries(),
            matrix_limbs: plan.limbs(),
            baby_steps: layout.babies(),
            giant_steps: layout.giants(),
            keys: plan.keys().iter().map(|class| KeyRow::new(class.role.name(), class, security)).collect(),
            key_bytes: plan.key_bytes(),
            key_disk_bytes: plan.key_disk_bytes(),
            matrix_bytes: plan.matrix_bytes(),
            working_bytes: plan.working_bytes(1),
            available_memory: found.memory,
            available_disk: found.disk,
            noise_budget: plan.noise().budget(parameters.degree()),
            parameters: Integers::new(parameters),
        }
    }
}

impl fmt::Display for PlanReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y] = self.domain;
        let pairs = count(self.queries, "pair");
        writeln!(f, "lookups        f(x, y) for x below {x} and y below {y}, {pairs} of numbers in two ciphertexts")?;
        writeln!(
            f,
            "keys           {}, about {} in a file{}",
            bytes(self.key_bytes as f64),
            bytes(self.key_disk_bytes as f64),
            available(self.available_disk)
        )?;
        self.keys.iter().try_for_each(|key| writeln!(f, "  {key}"))?;
        let (matrix, working) = (bytes(self.matrix_bytes as f64), bytes(self.working_bytes as f64));
        let limbs = count(self.matrix_limbs, "limb");
        writeln!(f, "function       {matrix}, in memory and in a file; multiplied at {limbs}")?;
        let all = bytes((self.key_bytes + self.matrix_bytes + self.working_bytes) as f64);
        writeln!(
            f,
            "memory         about {all} in all, {working} of it for each pair of ciphertexts{}",
            available(self.available_memory)
        )?;
        writeln!(
            f,
            "noise          results have a budget of {:.1} bits left; wrong with a probability below 2^-128",
            self.noise_budget
        )?;
        write!(f, "{}", self.parameters)
    }
}

/// A domain: one size for both numbers, or one for each.
pub(crate) fn parse_domain(text: &str) -> Result<[usize; 2], String> {
    let sizes: Option<Vec<usize>> =
        text.split(',').map(|size| size.trim().parse().ok().filter(|&size| size > 0)).collect();
    match sizes.as_deref() {
        Some(&[size]) => Ok([size; 2]),
        Some(&[x, y]) => Ok([x, y]),
        _ => {
            Err("one or two whole numbers from 1 are needed: what x and y are below, such as 32768 or 32768,100"
                .to_owned())
        }
    }
}
