//! Divides encrypted integers of 15 bits, by a table of all quotients.
//!
//! `cargo run --release -p noren --example 4_lookup [x] [y]`

use std::time::Instant;

use noren::bfv::{Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest};
use noren::error::Result;
use noren::lookup::{Function, Lookup, LookupKeys, LookupPlan, parameters_spec};
use noren::{Security, Seed};

/// Numbers are below 2^15.
const DOMAIN: usize = 1 << 15;

fn main() -> Result<()> {
    let argument = |i: usize, default| std::env::args().nth(i).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (x, y): (usize, usize) = (argument(1, 31_415), argument(2, 271));

    let context = Context::new(parameters_spec(15, Security::Bits128).build()?)?;
    let request = KeyRequest { relinearization: true, ..KeyRequest::default() };
    let keys = context.generate_keys(Seed::random()?, &request)?;

    // A function must have a value everywhere: here the quotient by 0 is 0.
    let quotient = Function::rule([DOMAIN; 2], |x, y| Some(x.checked_div(y).unwrap_or(0)));
    let plan = LookupPlan::new(context.parameters(), quotient.domain())?;
    let start = Instant::now();
    let lookup_keys = LookupKeys::generate(&context, Seed::random()?, &keys.secret, &plan, None)?;
    println!("keys: {:.2} GB in {:.1} s", lookup_keys.bytes() as f64 / 1e9, start.elapsed().as_secs_f64());
    let start = Instant::now();
    let lookup = Lookup::prepare(&context, &plan, &quotient, None)?;
    println!("prepared: {:.2} GB in {:.1} s", lookup.bytes() as f64 / 1e9, start.elapsed().as_secs_f64());

    let encoder = Encoder::new(&context);
    let encryptor = Encryptor::public(&context, &keys.public, Seed::random()?)?;
    let encrypt = |number: usize| encryptor.encrypt(&encoder.encode(&plan.layout().spread(&[number], DOMAIN)?)?);
    let (a, b) = (encrypt(x)?, encrypt(y)?);

    let evaluator = Evaluator::new(&context, keys.evaluation.clone())?;
    let start = Instant::now();
    let result = lookup.evaluate(&evaluator, &lookup_keys, &a, &b)?;
    let seconds = start.elapsed().as_secs_f64();
    let slots = encoder.decode(&Decryptor::new(&context, &keys.secret)?.decrypt(&result)?)?;
    println!("{x} / {y} = {} in {seconds:.2} s", plan.layout().gather(&slots)[0]);
    Ok(())
}
