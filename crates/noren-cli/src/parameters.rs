//! Rows for `params`: parameters that are chosen or checked, and the options that those of several share.

use std::path::{Path, PathBuf};

use clap::Args;
use noren::wire::Object;
use noren::{SecretDistribution, Security, security};

use crate::console::Console;
use crate::describe::{Describe, Description};
use crate::failure::Failure;
use crate::files;
use crate::given::Given;
use crate::outputs::{Content, Force, Output};
use crate::takes;

/// The bits of the statistical distance of shares, where no others are asked for.
pub(crate) const DISTANCE: u32 = 64;

/// A choice of parameters.
pub(crate) struct Choice<'a> {
    /// How many multiplications follow one another.
    pub(crate) depth: usize,
    /// How many numbers a ciphertext must hold.
    pub(crate) slots: usize,
    pub(crate) options: &'a ParameterOptions,
    /// All options, with those that schemes add.
    pub(crate) given: &'a Given,
}

/// Parameters that are checked: in a file, or of primes of these sizes.
pub(crate) struct Check<'a> {
    pub(crate) file: Option<&'a Path>,
    pub(crate) primes: &'a Primes,
    pub(crate) options: &'a ParameterOptions,
    /// All options, with those that schemes add.
    pub(crate) given: &'a Given,
}

/// The sizes of primes, and the secret.
#[derive(Debug, Args)]
pub(crate) struct Primes {
    /// The base-two logarithm of the degree of the ring
    #[arg(long, value_name = "BITS", requires = "log_q", conflicts_with = "index")]
    pub(crate) log_n: Option<u32>,
    /// The sizes of the primes of ciphertexts, the one of level 0 first
    #[arg(long, value_name = "BITS,...", value_delimiter = ',')]
    pub(crate) log_q: Vec<u32>,
    /// The sizes of the special primes of key switching
    #[arg(long, value_name = "BITS,...", value_delimiter = ',')]
    pub(crate) log_p: Vec<u32>,
    /// The number of digits of key switching; 0 chooses
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub(crate) dnum: usize,
    /// How the secret is drawn: ternary, gaussian, sparse:WEIGHT, or joint:PARTIES for the sum of ternary ones
    #[arg(long, default_value = "ternary", value_parser = parse_secret)]
    pub(crate) secret: SecretDistribution,
}

/// Options of both ways to parameters.
#[derive(Debug, Args)]
pub(crate) struct ParameterOptions {
    /// The security that is needed, in bits: none, 128, 192 or 256
    #[arg(long, value_name = "BITS", default_value = "128", value_parser = parse_security)]
    pub(crate) security: Security,
    /// Write the parameters to this file, or with - to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

impl ParameterOptions {
    /// Where the parameters are written, if they are.
    pub(crate) fn output(&self, console: &Console) -> Result<Option<Output>, Failure> {
        let output = |path| Output::or_standard(path, &self.force, Content::Binary, console);
        self.output.as_deref().map(output).transpose()
    }
}

impl Check<'_> {
    /// Checks and describes the parameters in the file, or those that are built; writes them if they are to be written.
    pub(crate) fn run<P: Object<Context = ()> + Describe>(
        &self,
        console: &Console,
        build: impl FnOnce() -> noren::Result<P>,
    ) -> Result<(), Failure> {
        let output = self.options.output(console)?;
        let parameters = match self.file {
            None => build()?,
            Some(file) => {
                // The security that the file states was checked while reading; this is that of the user.
                let parameters: P = files::read_parameters_to_show(file, &takes::PARAMS_FILE, console)?;
                let rlwe = parameters.rlwe();
                security::check("parameters", rlwe.degree(), rlwe.secret(), rlwe.log_qp(), self.options.security)
                    .map_err(Failure::file(file))?;
                parameters
            }
        };
        report(&parameters, output, parameters.describe(), console)
    }
}

/// Describes the parameters in a file.
pub(crate) fn show<P: Object<Context = ()> + Describe>(file: &Path, console: &Console) -> Result<(), Failure> {
    console.report(&files::read_parameters_to_show::<P>(file, &takes::PARAMS_FILE, console)?.describe())
}

/// Writes parameters if they are to be written, and describes them.
pub(crate) fn report(
    parameters: &impl Object<Context = ()>,
    output: Option<Output>,
    description: Description,
    console: &Console,
) -> Result<(), Failure> {
    output.map(|output| output.write(&(), parameters)).transpose()?;
    console.report(&description)
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
