//! Divides encrypted integers of 15 bits, by a table of all quotients.
//!
//! Run it with `cargo run --release --package noren --example 4_lookup`, in 4 GB of memory; with `-- --preset toy` it divides
//! integers of 7 bits in a small ring without security.

mod options;

use std::process::ExitCode;
use std::time::Instant;

use noren::bfv::{Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest};
use noren::error::Result;
use noren::lookup::{Function, Lookup, LookupKeys, LookupPlan, parameters_spec};
use noren::{Security, Seed};
use options::Preset;

fn main() -> ExitCode {
    options::run_with_preset(include_str!("4_lookup.rs"), example)
}

fn example(preset: Preset) -> Result<()> {
    // The degree of the ring and its security, what numbers are below, and the two numbers.
    let (log_n, security, domain, [x, y]) = match preset {
        Preset::Secure => (15, Security::Bits128, 1 << 15, [31_415, 271]),
        Preset::Toy => (9, Security::None, 1 << 7, [100, 7]),
    };
    let context = Context::new(parameters_spec(log_n, security).build()?)?;
    let request = KeyRequest { relinearization: true, ..KeyRequest::default() };
    let keys = context.generate_keys(Seed::random()?, &request)?;

    // A function must have a value everywhere: here the quotient by 0 is 0.
    let quotient = Function::rule([domain; 2], |x, y| Some(x.checked_div(y).unwrap_or(0)));
    let plan = LookupPlan::new(context.parameters(), quotient.domain())?;
    let start = Instant::now();
    let lookup_keys = LookupKeys::generate(&context, Seed::random()?, &keys.secret, &plan, None)?;
    println!("keys: {:.2} GB in {:.1} s", lookup_keys.bytes() as f64 / 1e9, start.elapsed().as_secs_f64());
    let start = Instant::now();
    let lookup = Lookup::prepare(&context, &plan, &quotient, None)?;
    println!("prepared: {:.2} GB in {:.1} s", lookup.bytes() as f64 / 1e9, start.elapsed().as_secs_f64());

    let encoder = Encoder::new(&context);
    let encryptor = Encryptor::public(&context, &keys.public, Seed::random()?)?;
    let encrypt = |number: usize| encryptor.encrypt(&plan.layout().encode(&encoder, &[number], domain)?);
    let (a, b) = (encrypt(x)?, encrypt(y)?);

    let evaluator = Evaluator::new(&context, keys.evaluation.clone())?;
    let start = Instant::now();
    let result = lookup.evaluate(&evaluator, &lookup_keys, &a, &b)?;
    let seconds = start.elapsed().as_secs_f64();
    let slots = encoder.decode(&Decryptor::new(&context, &keys.secret)?.decrypt(&result)?)?;
    println!("{x} / {y} = {} in {seconds:.2} s", plan.layout().gather(&slots)[0]);
    Ok(())
}
