//! `noren params`: chooses parameters, checks them, shows them.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use noren::ckks::{Parameters, ParametersSpec, Requirements};
use noren::{SecretDistribution, Security, security};

use crate::console::Console;
use crate::describe::Description;
use crate::failure::Failure;
use crate::files::{self, Force, Output};

/// Chooses, checks and shows parameters
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        noren params choose --depth 4 --precision 20 -o ckks.params\n  \
        noren params check --log-n 14 --log-q 50,45,45,45 --log-p 50,50 --log-scale 45\n  \
        noren params show ckks.params --json")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Finds the smallest parameters for a depth and a precision
    Choose(Choose),
    /// Checks parameters, from a file or from sizes of primes, against the security tables
    Check(Box<Check>),
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
    #[arg(long, value_name = "BITS")]
    precision: f64,
    /// The largest absolute value of inputs, intermediate values and results
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    max_abs: f64,
    /// How many numbers a ciphertext must hold
    #[arg(long, default_value_t = 1)]
    slots: usize,
    #[command(flatten)]
    wanted: Wanted,
}

/// What both ways to parameters are asked for.
#[derive(Debug, Args)]
struct Wanted {
    /// The security that is needed, in bits: none, 128, 192 or 256
    #[arg(long, value_name = "BITS", default_value = "128", value_parser = parse_security)]
    security: Security,
    /// Write the parameters to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

#[derive(Debug, Args)]
struct Check {
    /// The file of parameters
    #[arg(required_unless_present = "log_n", conflicts_with_all = ["log_n", "log_q", "log_p", "log_scale", "restarts", "dnum", "secret"])]
    file: Option<PathBuf>,
    /// The base-two logarithm of the degree of the ring
    #[arg(long, value_name = "BITS", requires = "log_q")]
    log_n: Option<u32>,
    /// The sizes of the primes of ciphertexts, the one of level 0 first
    #[arg(long, value_name = "BITS,...", value_delimiter = ',')]
    log_q: Vec<u32>,
    /// The sizes of the special primes of key switching
    #[arg(long, value_name = "BITS,...", value_delimiter = ',')]
    log_p: Vec<u32>,
    /// The base-two logarithm of the scale [default: the size of the last prime of --log-q]
    #[arg(long, value_name = "BITS")]
    log_scale: Option<u32>,
    /// Where the ladder of scales starts anew: levels, descending, each with the base-two logarithm of its scale
    #[arg(long, value_name = "LEVEL:BITS,...", value_delimiter = ',', value_parser = parse_restart)]
    restarts: Vec<(usize, u32)>,
    /// The number of digits of key switching; 0 chooses
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    dnum: usize,
    /// How the secret is drawn: ternary, gaussian, or sparse:WEIGHT
    #[arg(long, default_value = "ternary", value_parser = parse_secret)]
    secret: SecretDistribution,
    #[command(flatten)]
    wanted: Wanted,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let report = |parameters: &Parameters, output: Option<Output>, description: Description| {
        output.map(|output| output.write(&(), parameters)).transpose()?;
        console.report(&description)
    };
    match &arguments.verb {
        Verb::Choose(choose) => {
            let &Choose { depth, precision: precision_bits, max_abs, slots, ref wanted } = choose;
            let output = wanted.output()?;
            let requirements = Requirements { depth, precision_bits, max_abs, slots, security: wanted.security };
            let parameters = Parameters::for_requirements(&requirements)?;
            let description = Description::for_values(&parameters, slots.next_power_of_two(), max_abs);
            report(&parameters, output, description)
        }
        Verb::Check(check) => {
            let output = check.wanted.output()?;
            let parameters = check.parameters(console)?;
            report(&parameters, output, Description::new(&parameters))
        }
        Verb::Show { file } => {
            let parameters = files::read_parameters(file, console)?;
            report(&parameters, None, Description::new(&parameters))
        }
    }
}

impl Check {
    fn parameters(&self, console: &Console) -> Result<Parameters, Failure> {
        let Some(file) = &self.file else {
            let spec = ParametersSpec {
                log_n: self.log_n.unwrap_or_default(),
                log_q: self.log_q.clone(),
                log_p: self.log_p.clone(),
                log_scale: self.log_scale.or(self.log_q.last().copied()).unwrap_or_default(),
                restarts: self.restarts.clone(),
                dnum: self.dnum,
                secret: self.secret,
                security: self.wanted.security,
            };
            return Ok(spec.build()?);
        };
        // What the file asks for itself was checked while reading; here is what the user asks for.
        let parameters = files::read_parameters(file, console)?;
        let rlwe = parameters.rlwe();
        security::check("parameters", rlwe.degree(), rlwe.secret(), rlwe.log_qp(), self.wanted.security)
            .map_err(Failure::file(file))?;
        Ok(parameters)
    }
}

impl Wanted {
    fn output(&self) -> Result<Option<Output>, Failure> {
        self.output.as_ref().map(|path| Output::new(path, &self.force)).transpose()
    }
}

fn parse_security(text: &str) -> Result<Security, String> {
    match text {
        "none" => Ok(Security::None),
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
        _ => Err("one of ternary, gaussian, sparse:WEIGHT is needed".to_owned()),
    }
}
