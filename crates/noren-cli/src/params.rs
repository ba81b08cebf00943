//! `noren params`: chooses parameters, checks them, shows them.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use noren_math::cyclotomic::Cyclotomic;
use noren_math::hypercube::Hypercube;

use crate::console::Console;
use crate::describe::Grid;
use crate::failure::Failure;
use crate::given::Given;
use crate::parameters::{Check, Choice, ParameterOptions, Primes};
use crate::scheme::{CHECK, CHOOSE, ParameterCheck};
use crate::schemes::{self, Added};
use crate::takes;

/// Chooses, checks and shows parameters
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        noren params choose --depth 4 --precision 20 -o ckks.params\n  \
        noren params choose --depth 4 --modulus 65537 -o bfv.params\n  \
        noren params choose --depth 2 --modulus 2 --slots 500 --slot-degree 8 --scheme bgv -o bgv.params\n  \
        noren params check --log-n 14 --log-q 50,45,45,45 --log-p 50,50 --log-scale 45\n  \
        noren params choose --depth 0 --sum 2 --modulus 65537 --parties 2 --results 100 -o joint.params\n  \
        noren params slots --index 15709 --prime 2\n  \
        noren params check --index 15709 --modulus 2 --log-q 50,50 --log-p 50\n  \
        noren params show ckks.params --json")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Finds the smallest parameters for a depth, and a precision or a plaintext modulus
    Choose(Choosing),
    /// Checks parameters, from a file or from sizes of primes, against the security tables
    Check(Box<Checking>),
    /// Shows the slots of plaintexts modulo P^R in the ring of index M, where that is no power of two
    Slots(Slots),
    /// Shows the parameters in a file
    Show {
        /// The file of parameters
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
struct Choosing {
    #[command(flatten)]
    given: Given,
    /// How many multiplications follow one another
    #[arg(long)]
    depth: usize,
    /// How many numbers a ciphertext must hold
    #[arg(long, default_value_t = 1)]
    slots: usize,
    #[command(flatten)]
    _added: Added<CHOOSE>,
    #[command(flatten)]
    options: ParameterOptions,
}

impl Choosing {
    fn run(&self, console: &Console) -> Result<(), Failure> {
        let &Self { ref given, depth, slots, ref options, .. } = self;
        let choose = schemes::asked(|scheme| scheme.choices, given);
        choose(&Choice { depth, slots, options, given }, console)
    }
}

#[derive(Debug, Args)]
struct Slots {
    /// The index M of the ring `Z[X]/Phi_M`
    #[arg(long, value_name = "M")]
    index: u32,
    /// The prime P, which does not divide M
    #[arg(long, value_name = "P")]
    prime: u64,
}

impl Slots {
    fn run(&self, console: &Console) -> Result<(), Failure> {
        let ring = Cyclotomic::new(self.index).map_err(noren::error::Error::from)?;
        let cube = Hypercube::new(&ring, self.prime).map_err(noren::error::Error::from)?;
        console.report(&Grid::new(&cube))
    }
}

#[derive(Debug, Args)]
struct Checking {
    #[command(flatten)]
    given: Given,
    /// The file of parameters
    #[arg(required_unless_present_any = ["log_n", "index"], conflicts_with_all = ["log_n", "index", "log_q", "log_p", "log_scale", "restarts", "modulus", "dnum", "secret"])]
    file: Option<PathBuf>,
    #[command(flatten)]
    primes: Primes,
    #[command(flatten)]
    _added: Added<CHECK>,
    #[command(flatten)]
    options: ParameterOptions,
}

impl Checking {
    fn run(&self, console: &Console) -> Result<(), Failure> {
        let Self { given, file, primes, options, .. } = self;
        let file = file.as_deref();
        let kind = file.map(|file| console.inputs().kind(file, &takes::PARAMS_FILE)).transpose()?;
        let is_asked = |check: &&ParameterCheck| match kind {
            Some(kind) => check.kind == kind,
            None => check.option.is_some_and(|option| given.has(option)),
        };
        // A file of another kind is refused where it is read.
        let mut checks = schemes::rows(|scheme| scheme.checks).peekable();
        let usual = checks.peek().copied();
        let check = checks.find(is_asked).or(usual).unwrap_or_else(|| panic!("no parameters can be checked"));
        (check.run)(&Check { file, primes, options, given }, console)
    }
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    match &arguments.verb {
        Verb::Choose(choosing) => choosing.run(console),
        Verb::Check(checking) => checking.run(console),
        Verb::Slots(slots) => slots.run(console),
        Verb::Show { file } => {
            let kind = console.inputs().kind(file, &takes::PARAMS_FILE)?;
            schemes::row(|scheme| scheme.shows, kind)(file, console)
        }
    }
}
