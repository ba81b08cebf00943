//! Finds, in encrypted temperatures, how many are above a threshold, and the hottest hour, and divides two integers.
//!
//! `cargo run --release -p noren --example 6_integers [threshold]`

use std::time::Instant;

use noren::Seed;
use noren::circuits::radix::{Comparison, Evaluator, Integer};
use noren::error::Result;
use noren::tfhe::{self, Context, Decryptor, Encryptor, Preset};

/// Tenths of a degree, hour after hour, of a day in summer.
const TEMPERATURES: [u64; 24] = [
    182, 176, 171, 168, 165, 167, 178, 196, 215, 233, 249, 262, 271, 279, 284, 286, 283, 275, 262, 246, 229, 214, 202,
    191,
];
/// The bits of a temperature.
const BITS: usize = 12;

fn main() -> Result<()> {
    let threshold = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(250);
    let context = Context::new(Preset::named("2_2")?.parameters()?)?;
    println!("{}", context.parameters());
    let keys = context.generate_keys(&Seed::random()?)?;

    let encryptor = Encryptor::new(&context, &keys.secret, Seed::random()?)?;
    let encrypt = |&value: &u64| Integer::encrypt(&encryptor, value, BITS);
    let temperatures = TEMPERATURES.iter().map(encrypt).collect::<Result<Vec<_>>>()?;

    // The server has no secret key. The threshold is known to it.
    let evaluator = Evaluator::new(&tfhe::Evaluator::new(&context, keys.server.clone())?)?;
    let start = Instant::now();
    let thresholds = vec![evaluator.trivial(threshold, BITS)?; temperatures.len()];
    let above = evaluator.compare(Comparison::Gt, &temperatures, &thresholds)?;
    // All comparisons are a batch; their sum is one element with many terms.
    let [one, zero] = [1, 0].map(|value| evaluator.trivial(value, BITS));
    let (one, zero) = (vec![one?; above.len()], vec![zero?; above.len()]);
    let counted = evaluator.select(&above, &one, &zero)?;
    let count = evaluator.sum(&counted.chunks(1).collect::<Vec<_>>())?;
    println!("above the threshold: {:.2} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let (largest, hour) = evaluator.argmax(&temperatures.chunks(1).collect::<Vec<_>>())?;
    println!("largest of {}: {:.2} s", temperatures.len(), start.elapsed().as_secs_f64());
    let start = Instant::now();
    let (quotient, remainder) = evaluator.div_rem(&largest, &temperatures[..1])?;
    println!("division: {:.2} s", start.elapsed().as_secs_f64());

    let decryptor = Decryptor::new(&context, &keys.secret)?;
    let degrees = |tenths: u64| tenths as f64 / 10.0;
    let (count, largest, hour) =
        (count[0].decrypt(&decryptor)?, largest[0].decrypt(&decryptor)?, hour[0].decrypt(&decryptor)?);
    println!(
        "{count} hours above {:.1} degrees, the hottest at {hour}:00 with {:.1}",
        degrees(threshold),
        degrees(largest)
    );
    let (quotient, remainder) = (quotient[0].decrypt(&decryptor)?, remainder[0].decrypt(&decryptor)?);
    println!("{largest} = {quotient} x {} + {remainder}", TEMPERATURES[0]);
    Ok(())
}
