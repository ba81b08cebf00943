//! CKKS from parameters to decryption: a weighted moving average of encrypted measurements, and its square.
//!
//! Run it with `cargo run --release --package noren --example 1_ckks`.

mod options;

use std::process::ExitCode;

use noren::Seed;
use noren::ckks::{Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Parameters, Requirements};

/// The average gives neighbours these weights.
const WEIGHTS: [(isize, f64); 3] = [(-1, 0.25), (0, 0.5), (1, 0.25)];

fn main() -> ExitCode {
    options::run(include_str!("1_ckks.rs"), example)
}

fn example() -> Result<(), noren::Error> {
    // The needs of the computation decide the parameters: two multiplications after each other, at 128-bit security.
    let requirements = Requirements { depth: 2, precision_bits: 15.0, slots: 1024, ..Requirements::default() };
    let parameters = Parameters::for_requirements(&requirements)?;
    println!(
        "degree {}, {} slots, {} levels, modulus of {:.0} bits, keys in {} digits",
        parameters.degree(),
        parameters.max_slots(),
        parameters.max_level(),
        parameters.rlwe().log_qp(),
        parameters.rlwe().dnum(),
    );
    let context = Context::new(parameters)?;

    // The owner makes the keys, and encrypts.
    let rotations = WEIGHTS.map(|(steps, _)| steps).to_vec();
    let request = KeyRequest { relinearization: true, rotations, ..KeyRequest::default() };
    let keys = context.generate_keys(Seed::random()?, &request)?;
    let measurements: Vec<f64> = (0..1024).map(|i| f64::from(i % 64) / 64.0).collect();
    let plaintext = Encoder::new(&context).encode(&measurements, 1024, context.parameters().max_level())?;
    let x = Encryptor::public(&context, &keys.public, Seed::random()?)?.encrypt(&plaintext)?;

    // A server holds the evaluation keys, which decrypt nothing.
    let evaluator = Evaluator::new(&context, keys.evaluation.clone())?;
    let neighbours = evaluator.rotate_many(&x, &WEIGHTS.map(|(steps, _)| steps))?;
    let terms: Vec<_> = neighbours.iter().zip(WEIGHTS).map(|(rotated, (_, weight))| (rotated, weight)).collect();
    let average = evaluator.weighted_sum(&terms, 0.0)?;
    let result = evaluator.square(&average)?;
    println!("level {} of {}, errors at most {:.1e}", result.level(), x.level(), result.error_bound());

    // The owner decrypts. What is to be shown to others goes through `decrypt_for_release`.
    let values = Decryptor::new(&context, &keys.secret)?.decrypt_real(&result)?;
    let neighbour = |j: usize, steps: isize| measurements[(j as isize + steps).rem_euclid(1024) as usize];
    let exact = |j| WEIGHTS.iter().map(|&(steps, weight)| weight * neighbour(j, steps)).sum::<f64>().powi(2);
    let worst = values.iter().enumerate().map(|(j, value)| (value - exact(j)).abs()).fold(0.0, f64::max);
    println!("worst error {worst:.1e}");
    assert!(worst <= result.error_bound());
    Ok(())
}
