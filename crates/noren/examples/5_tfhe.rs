//! Encrypted readings of a river: in how many years it had less than a limit, itself a secret, and in which it had most.
//!
//! The readings are the annual flow of the Nile at Aswan in 10^8 cubic metres, 1871 to 1970, measured at the gauge there (G. W.
//! Cobb, The problem of the Nile: conditional solution to a changepoint problem, Biometrika 65, 1978, table 1); here the 32 years
//! around the change of 1899.
//!
//! Run it with `cargo run --release --package noren --example 5_tfhe`; with `-- --preset toy` it does the same with parameters
//! that keep nothing secret.

mod options;

use std::process::ExitCode;
use std::time::Instant;

use noren::Seed;
use noren::error::Result;
use noren::programs::columns::{Binary, Column, ColumnEvaluator, Element};
use noren::radix::Comparison;
use noren::tfhe::{self, Context, Decryptor, Encryptor, Evaluator};
use options::Preset;

const FIRST_YEAR: usize = 1884;
const FLOWS: [i128; 32] = [
    994, 1020, 960, 1180, 799, 958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833,
    701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702,
];
const LIMIT: i128 = 900;

fn main() -> ExitCode {
    options::run_with_preset(include_str!("5_tfhe.rs"), example)
}

fn example(preset: Preset) -> Result<()> {
    let set = match preset {
        Preset::Secure => "2_2",
        Preset::Toy => "TOY_2_2",
    };
    let context = Context::new(tfhe::Preset::named(set)?.parameters()?)?;
    println!("{}", context.parameters());
    let keys = context.generate_keys(Seed::random()?)?;
    let encryptor = Encryptor::new(&context, &keys.secret, Seed::random()?)?;
    let flows = Column::encrypt(&encryptor, Element::Unsigned(16), &FLOWS)?;
    let limit = Column::encrypt(&encryptor, Element::Unsigned(16), &[LIMIT])?;

    // The server has no secret key.
    let evaluator = ColumnEvaluator::new(Evaluator::new(&context, keys.server.clone())?);
    let start = Instant::now();
    let limits = limit.gather(&[0; FLOWS.len()]);
    let dry = evaluator.binary(Binary::Compare(Comparison::Lt), &flows, &limits)?;
    let count = evaluator.sum(&evaluator.cast(&dry, Element::Unsigned(8))?.split())?;
    println!("threshold  {} readings in {:.2} s", FLOWS.len(), start.elapsed().as_secs_f64());
    let start = Instant::now();
    let wettest = evaluator.argmax(&flows.split())?;
    println!("argmax     {} readings in {:.2} s", FLOWS.len(), start.elapsed().as_secs_f64());

    let decryptor = Decryptor::new(&context, &keys.secret)?;
    let (count, wettest) = (count.decrypt(&decryptor)?[0], wettest.decrypt(&decryptor)?[0] as usize);
    let (year, flow) = (FIRST_YEAR + wettest, FLOWS[wettest]);
    println!("{count} of {} years below {LIMIT}; the most water in {year}: {flow}", FLOWS.len());
    Ok(())
}
