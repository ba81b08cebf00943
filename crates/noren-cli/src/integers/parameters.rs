//! Parameters of exact integers: `noren params` for them, and those that other files carry.

use std::path::Path;

use clap::Args;
use clap::builder::PossibleValuesParser;
use noren::bfv::{Bfv, Opening, Parameters, ParametersSpec, Requirements};
use noren::bgv::Bgv;
use noren::schemes::integers::Scheme;
use noren::wire::{Kind, Limits, Object};
use noren_rlwe::wire::items::Items;

use crate::console::Console;
use crate::describe::Describe;
use crate::failure::Failure;
use crate::files;
use crate::given::CHOSEN;
use crate::parameters::{Check, Choice, DISTANCE, report};
use crate::takes::Takes;

/// Its own options of `params choose`.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct ChoiceOptions {
    /// Exact integers modulo T, by BFV or BGV, instead of numbers with a precision
    #[arg(long, value_name = "T", conflicts_with = "precision")]
    modulus: Option<u64>,
    /// The scheme of exact integers; keys and ciphertexts of one serve the other
    #[arg(long, default_value = EXACT[0].0, value_parser = PossibleValuesParser::new(EXACT.map(|(name, _)| name)), requires = "modulus")]
    scheme: String,
    /// How many ciphertexts, or rotations of one, are added up before each multiplication
    #[arg(long, default_value_t = 1, requires = "modulus")]
    terms: usize,
    /// How many are added up in the end
    #[arg(long, default_value_t = 1, requires = "modulus")]
    sum: usize,
    /// How many products with plaintexts there are besides
    #[arg(long, default_value_t = 0, requires = "modulus")]
    plain_products: usize,
    /// Find the index of a ring that is no power of two, whose slots are extensions of a multiple of degree D
    #[arg(long, value_name = "D", requires = "modulus")]
    slot_degree: Option<usize>,
    /// The number of parties that share the secret, as noren party has it: with room for what hides their shares
    #[arg(long, value_name = "N", requires_all = ["modulus", "results"], conflicts_with = "slot_degree")]
    parties: Option<usize>,
    /// The most ciphertexts that the parties ever open
    #[arg(long, value_name = "COUNT", requires = "parties")]
    results: Option<u64>,
    /// All shares of a party tell of its secret at most as much as a statistical distance of 2^-BITS does, 40 to 128
    #[arg(long, value_name = "BITS", default_value_t = DISTANCE, requires = "parties")]
    distance: u32,
}

/// Its own options of `params check`.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct CheckOptions {
    /// The index M of the ring `Z[X]/Phi_M` of exact integers, where it is no power of two: slots are elements of
    /// extensions
    #[arg(long, value_name = "M", requires_all = ["log_q", "modulus"])]
    index: Option<u32>,
    /// The plaintext modulus of exact integers; then there is no scale
    #[arg(long, value_name = "T", conflicts_with_all = ["log_scale", "restarts"])]
    modulus: Option<u64>,
}

/// A choice of parameters, in a ring whose slots have at least this degree if one is given.
type Chosen = fn(&Requirements, Option<usize>) -> noren::Result<Parameters>;

/// The schemes of exact integers.
const EXACT: [(&str, Chosen); 2] = [("bfv", chosen::<Bfv>), ("bgv", chosen::<Bgv>)];

fn chosen<S: Scheme>(requirements: &Requirements, slot_degree: Option<usize>) -> noren::Result<Parameters> {
    match slot_degree {
        None => requirements.choose::<S>(),
        Some(degree) => requirements.choose_index::<S>(degree),
    }
}

pub(super) fn choose(choice: &Choice<'_>, console: &Console) -> Result<(), Failure> {
    let &Choice { depth, slots, options, given } = choice;
    let (output, security) = (options.output(console)?, options.security);
    let ChoiceOptions { modulus, scheme, terms, sum, plain_products, slot_degree, parties, results, distance } =
        given.own();
    // Results are there wherever parties are.
    let opening = parties.map(|parties| Opening { parties, results: results.unwrap_or_default(), distance });
    let plaintext_modulus = modulus.expect(CHOSEN);
    let requirements = Requirements { depth, plaintext_modulus, slots, terms, sum, plain_products, security, opening };
    let chosen = EXACT.iter().find(|(name, _)| *name == scheme).map_or(EXACT[0].1, |&(_, chosen)| chosen);
    let parameters = chosen(&requirements, slot_degree)?;
    report(&parameters, output, parameters.describe(), console)
}

pub(super) fn check(check: &Check<'_>, console: &Console) -> Result<(), Failure> {
    let CheckOptions { index, modulus } = check.given.own();
    let primes = check.primes;
    let build = || {
        let spec = ParametersSpec {
            log_n: primes.log_n.unwrap_or_default(),
            index: index.unwrap_or_default(),
            plaintext_modulus: modulus.unwrap_or_default(),
            log_q: primes.log_q.clone(),
            log_p: primes.log_p.clone(),
            dnum: primes.dnum,
            secret: primes.secret,
            security: check.options.security,
        };
        spec.build()
    };
    check.run(console, build)
}

/// The parameters of exact integers in a file of them, or in one of keys, of which no more is read; refuses those that
/// promise too little security.
pub(crate) fn read_parameters(path: &Path, takes: &Takes, console: &Console) -> Result<Parameters, Failure> {
    /// More bytes than parameters and their frame take.
    const MOST_BYTES: u64 = 1 << 16;
    let kind = console.inputs().kind(path, takes)?;
    if kind == Kind::INTEGER_PARAMETERS {
        return files::read_parameters(path, takes, console);
    }
    console.inputs().verify(path, takes)?;
    let mut items = Items::open(path, kind, &Limits::default()).map_err(Failure::file(path))?;
    let parameters = items.read(1, MOST_BYTES).and_then(|reader| {
        let missing = || noren::Error::Wire { what: kind.name(), reason: noren::wire::Reason::Fingerprint };
        let mut reader = reader.ok_or_else(missing)?;
        let parameters = Parameters::read(&(), &mut reader)?;
        reader.finish()?;
        Ok(parameters)
    });
    let parameters = parameters.map_err(Failure::file(path))?;
    files::admit(&parameters, path, console)?;
    Ok(parameters)
}
