//! `noren params` for CKKS.

use clap::Args;
use noren::ckks::{Parameters, ParametersSpec, Requirements};

use crate::console::Console;
use crate::describe::{Ckks, Description};
use crate::failure::Failure;
use crate::given::CHOSEN;
use crate::parameters::{Check, Choice, report};

/// Its own options of `params choose`.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct ChoiceOptions {
    /// The error of results is at most 2^-BITS
    #[arg(long, value_name = "BITS")]
    precision: Option<f64>,
    /// The largest absolute value of inputs, intermediate values and results
    #[arg(long, value_name = "X", default_value_t = 1.0, conflicts_with = "modulus")]
    max_abs: f64,
}

/// Its own options of `params check`.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct CheckOptions {
    /// The base-two logarithm of the scale [default: the size of the last prime of --log-q]
    #[arg(long, value_name = "BITS")]
    log_scale: Option<u32>,
    /// Where the chain of scales starts anew: levels, descending, each with the base-two logarithm of its scale
    #[arg(long, value_name = "LEVEL:BITS,...", value_delimiter = ',', value_parser = parse_restart)]
    restarts: Vec<(usize, u32)>,
}

pub(super) fn choose(choice: &Choice<'_>, console: &Console) -> Result<(), Failure> {
    let &Choice { depth, slots, options, given } = choice;
    let ChoiceOptions { precision, max_abs } = given.own();
    let (output, security, precision_bits) = (options.output(console)?, options.security, precision.expect(CHOSEN));
    let requirements = Requirements { depth, precision_bits, max_abs, slots, security, ..Default::default() };
    let parameters = Parameters::for_requirements(&requirements)?;
    let description = Ckks::for_values(&parameters, slots.next_power_of_two(), max_abs);
    report(&parameters, output, Description::Ckks(description), console)
}

pub(super) fn check(check: &Check<'_>, console: &Console) -> Result<(), Failure> {
    let CheckOptions { log_scale, restarts } = check.given.own();
    let primes = check.primes;
    let build = || {
        let spec = ParametersSpec {
            log_n: primes.log_n.unwrap_or_default(),
            log_q: primes.log_q.clone(),
            log_p: primes.log_p.clone(),
            log_scale: log_scale.or(primes.log_q.last().copied()).unwrap_or_default(),
            restarts: restarts.clone(),
            dnum: primes.dnum,
            secret: primes.secret,
            security: check.options.security,
        };
        spec.build()
    };
    check.run(console, build)
}

fn parse_restart(text: &str) -> Result<(usize, u32), String> {
    let parts = text.split_once(':').and_then(|(level, bits)| Some((level.parse().ok()?, bits.parse().ok()?)));
    parts.ok_or_else(|| "a level and a number of bits are needed, such as 3:40".to_owned())
}
