//! `noren params`: chooses parameters, checks them, shows them.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use noren::bfv::Bfv;
use noren::bgv::{Bgv, Cyclotomic, Hypercube};
use noren::schemes::integers::Scheme;
use noren::wire::{Kind, Object};
use noren::{SecretDistribution, Security, bfv, ckks, security, tfhe};

use crate::console::Console;
use crate::describe::{Ckks, Describe, Description, Grid, Tfhe};
use crate::failure::Failure;
use crate::files;
use crate::outputs::{Content, Force, Output};
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
    Choose(Choose),
    /// Checks parameters, from a file or from sizes of primes, against the security tables
    Check(Box<Check>),
    /// Shows the slots of plaintexts modulo P^R in the ring of index M, where that is no power of two
    Slots(Slots),
    /// Shows the parameters in a file
    Show {
        /// The file of parameters
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
struct Choose {
    /// How many multiplications follow one another
    #[arg(long)]
    depth: usize,
    /// The error of results is at most 2^-BITS
    #[arg(long, value_name = "BITS", required_unless_present = "modulus")]
    precision: Option<f64>,
    /// The largest absolute value of inputs, intermediate values and results
    #[arg(long, value_name = "X", default_value_t = 1.0, conflicts_with = "modulus")]
    max_abs: f64,
    /// How many numbers a ciphertext must hold
    #[arg(long, default_value_t = 1)]
    slots: usize,
    #[command(flatten)]
    integers: Integers,
    #[command(flatten)]
    options: ParameterOptions,
}

/// Further options of exact integers.
#[derive(Debug, Args)]
struct Integers {
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

/// The bits of the statistical distance of shares, where no others are asked for.
pub(crate) const DISTANCE: u32 = 64;

/// A choice of parameters, in a ring whose slots have at least this degree if one is given.
type Chosen = fn(&bfv::Requirements, Option<usize>) -> noren::Result<bfv::Parameters>;

/// The schemes of exact integers.
const EXACT: [(&str, Chosen); 2] = [("bfv", chosen::<Bfv>), ("bgv", chosen::<Bgv>)];

fn chosen<S: Scheme>(requirements: &bfv::Requirements, slot_degree: Option<usize>) -> noren::Result<bfv::Parameters> {
    match slot_degree {
        None => requirements.choose::<S>(),
        Some(degree) => requirements.choose_index::<S>(degree),
    }
}

/// Options of both ways to parameters.
#[derive(Debug, Args)]
struct ParameterOptions {
    /// The security that is needed, in bits: none, 128, 192 or 256
    #[arg(long, value_name = "BITS", default_value = "128", value_parser = parse_security)]
    security: Security,
    /// Write the parameters to this file, or with - to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
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
struct Check {
    /// The file of parameters
    #[arg(required_unless_present_any = ["log_n", "index"], conflicts_with_all = ["log_n", "index", "log_q", "log_p", "log_scale", "restarts", "modulus", "dnum", "secret"])]
    file: Option<PathBuf>,
    /// The base-two logarithm of the degree of the ring
    #[arg(long, value_name = "BITS", requires = "log_q", conflicts_with = "index")]
    log_n: Option<u32>,
    /// The index M of the ring `Z[X]/Phi_M` of exact integers, where it is no power of two: slots are elements of
    /// extensions
    #[arg(long, value_name = "M", requires_all = ["log_q", "modulus"])]
    index: Option<u32>,
    /// The sizes of the primes of ciphertexts, the one of level 0 first
    #[arg(long, value_name = "BITS,...", value_delimiter = ',')]
    log_q: Vec<u32>,
    /// The sizes of the special primes of key switching
    #[arg(long, value_name = "BITS,...", value_delimiter = ',')]
    log_p: Vec<u32>,
    /// The base-two logarithm of the scale [default: the size of the last prime of --log-q]
    #[arg(long, value_name = "BITS")]
    log_scale: Option<u32>,
    /// Where the chain of scales starts anew: levels, descending, each with the base-two logarithm of its scale
    #[arg(long, value_name = "LEVEL:BITS,...", value_delimiter = ',', value_parser = parse_restart)]
    restarts: Vec<(usize, u32)>,
    /// The plaintext modulus of exact integers; then there is no scale
    #[arg(long, value_name = "T", conflicts_with_all = ["log_scale", "restarts"])]
    modulus: Option<u64>,
    /// The number of digits of key switching; 0 chooses
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    dnum: usize,
    /// How the secret is drawn: ternary, gaussian, sparse:WEIGHT, or joint:PARTIES for the sum of ternary ones
    #[arg(long, default_value = "ternary", value_parser = parse_secret)]
    secret: SecretDistribution,
    #[command(flatten)]
    options: ParameterOptions,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    match &arguments.verb {
        Verb::Choose(choose) => choose.run(console),
        Verb::Check(check) => check.run(console),
        Verb::Slots(slots) => slots.run(console),
        Verb::Show { file } if console.inputs().kind(file, &takes::PARAMS_FILE)? == Kind::TFHE_PARAMETERS => {
            let parameters = files::read::<tfhe::Parameters>(&(), file, &takes::PARAMS_FILE, console)?;
            console.report(&Description::Tfhe(Tfhe::new(&parameters)))
        }
        Verb::Show { file } if is_of_integers(file, console)? => console
            .report(&files::read_parameters_to_show::<bfv::Parameters>(file, &takes::PARAMS_FILE, console)?.describe()),
        Verb::Show { file } => console.report(
            &files::read_parameters_to_show::<ckks::Parameters>(file, &takes::PARAMS_FILE, console)?.describe(),
        ),
    }
}

/// Whether a file holds parameters of exact integers.
fn is_of_integers(file: &Path, console: &Console) -> Result<bool, Failure> {
    Ok(console.inputs().kind(file, &takes::PARAMS_FILE)? == Kind::INTEGER_PARAMETERS)
}

impl Choose {
    fn run(&self, console: &Console) -> Result<(), Failure> {
        let &Self { depth, precision, max_abs, slots, ref options, .. } = self;
        let (output, security) = (options.output(console)?, options.security);
        let Some(precision_bits) = precision else {
            let parameters = self.integers(security)?;
            return report(&parameters, output, parameters.describe(), console);
        };
        let requirements = ckks::Requirements { depth, precision_bits, max_abs, slots, security, ..Default::default() };
        let parameters = ckks::Parameters::for_requirements(&requirements)?;
        let description = Ckks::for_values(&parameters, slots.next_power_of_two(), max_abs);
        report(&parameters, output, Description::Ckks(description), console)
    }

    fn integers(&self, security: Security) -> Result<bfv::Parameters, Failure> {
        let Self { depth, slots, integers, .. } = self;
        let (&depth, &slots) = (depth, slots);
        let &Integers { modulus, ref scheme, terms, sum, plain_products, slot_degree, parties, results, distance } =
            integers;
        // Results are there wherever parties are.
        let opening = parties.map(|parties| bfv::Opening { parties, results: results.unwrap_or_default(), distance });
        // It is there wherever no precision is.
        let plaintext_modulus = modulus.unwrap_or_default();
        let requirements =
            bfv::Requirements { depth, plaintext_modulus, slots, terms, sum, plain_products, security, opening };
        let chosen = EXACT.iter().find(|(name, _)| name == scheme).map_or(EXACT[0].1, |&(_, chosen)| chosen);
        Ok(chosen(&requirements, slot_degree)?)
    }
}

impl Check {
    fn run(&self, console: &Console) -> Result<(), Failure> {
        let output = self.options.output(console)?;
        let integers =
            self.modulus.is_some() || self.file.as_deref().map_or(Ok(false), |file| is_of_integers(file, console))?;
        if integers {
            let parameters = self.parameters(console, |check| Ok(check.integer_spec().build()?))?;
            return report(&parameters, output, parameters.describe(), console);
        }
        let parameters = self.parameters(console, |check| Ok(check.ckks_spec().build()?))?;
        report(&parameters, output, parameters.describe(), console)
    }

    /// The parameters in the file, or those that are built.
    fn parameters<P: Object<Context = ()> + Describe>(
        &self,
        console: &Console,
        build: impl Fn(&Self) -> Result<P, Failure>,
    ) -> Result<P, Failure> {
        let Some(file) = &self.file else { return build(self) };
        // The security that the file states was checked while reading; this is that of the user.
        let parameters: P = files::read_parameters_to_show(file, &takes::PARAMS_FILE, console)?;
        let rlwe = parameters.rlwe();
        security::check("parameters", rlwe.degree(), rlwe.secret(), rlwe.log_qp(), self.options.security)
            .map_err(Failure::file(file))?;
        Ok(parameters)
    }

    fn ckks_spec(&self) -> ckks::ParametersSpec {
        ckks::ParametersSpec {
            log_n: self.log_n.unwrap_or_default(),
            log_q: self.log_q.clone(),
            log_p: self.log_p.clone(),
            log_scale: self.log_scale.or(self.log_q.last().copied()).unwrap_or_default(),
            restarts: self.restarts.clone(),
            dnum: self.dnum,
            secret: self.secret,
            security: self.options.security,
        }
    }

    fn integer_spec(&self) -> bfv::ParametersSpec {
        bfv::ParametersSpec {
            log_n: self.log_n.unwrap_or_default(),
            index: self.index.unwrap_or_default(),
            plaintext_modulus: self.modulus.unwrap_or_default(),
            log_q: self.log_q.clone(),
            log_p: self.log_p.clone(),
            dnum: self.dnum,
            secret: self.secret,
            security: self.options.security,
        }
    }
}

/// Writes parameters if they are to be written, and describes them.
fn report(
    parameters: &impl Object<Context = ()>,
    output: Option<Output>,
    description: Description,
    console: &Console,
) -> Result<(), Failure> {
    output.map(|output| output.write(&(), parameters)).transpose()?;
    console.report(&description)
}

impl ParameterOptions {
    fn output(&self, console: &Console) -> Result<Option<Output>, Failure> {
        let output = |path| Output::or_standard(path, &self.force, Content::Binary, console);
        self.output.as_deref().map(output).transpose()
    }
}

pub(crate) fn parse_security(text: &str) -> Result<Security, String> {
    match text {
        "none" | "0" => Ok(Security::None),
        "128" => Ok(Security::Bits128),
        "192" => Ok(Security::Bits192),
        "256" => Ok(Security::Bits256),
        _ => Err("one of none, 128, 192, 256 is needed".to_owned()),
    }
}

fn parse_restart(text: &str) -> Result<(usize, u32), String> {
    let parts = text.split_once(':').and_then(|(level, bits)| Some((level.parse().ok()?, bits.parse().ok()?)));
    parts.ok_or_else(|| "a level and a number of bits are needed, such as 3:40".to_owned())
}

fn parse_secret(text: &str) -> Result<SecretDistribution, String> {
    match text.split_once(':') {
        None if text == "ternary" => Ok(SecretDistribution::Ternary),
        None if text == "gaussian" => Ok(SecretDistribution::Gaussian),
        Some(("sparse", weight)) => weight
            .parse()
            .map(SecretDistribution::SparseTernary)
            .map_err(|_| "the weight of a sparse secret must be a whole number".to_owned()),
        Some(("joint", parties)) => parties
            .parse()
            .map(SecretDistribution::Joint)
            .map_err(|_| "the parties of a joint secret must be a whole number".to_owned()),
        _ => Err("one of ternary, gaussian, sparse:WEIGHT, joint:PARTIES is needed".to_owned()),
    }
}
