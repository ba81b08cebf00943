//! Exact integers from parameters to decryption: how often does a number occur in an encrypted column?
//!
//! Run it with `cargo run --release --package noren --example 3_integers`.

mod options;

use std::process::ExitCode;
use std::time::Instant;

use noren::Seed;
use noren::bfv::{Bfv, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Requirements};
use noren::circuits::trace::Unrolling;

/// A Fermat prime: x^65536 is 1 modulo 65537 but for x = 0.
const MODULUS: u64 = 65537;
/// The number of squarings that lead to that power.
const SQUARINGS: usize = 16;

fn main() -> ExitCode {
    options::run(include_str!("3_integers.rs"), example)
}

fn example() -> Result<(), noren::Error> {
    // The needs of the computation decide the parameters, at 128-bit security.
    let requirements = Requirements {
        depth: SQUARINGS,
        plaintext_modulus: MODULUS,
        terms: 2,
        sum: 1 << 15,
        ..Requirements::default()
    };
    let parameters = requirements.choose::<Bfv>()?;
    let (n, row) = (parameters.degree(), parameters.row_slots());
    println!(
        "degree {n}, {} limbs, modulus of {:.0} bits, keys in {} digits",
        parameters.max_limbs(),
        parameters.rlwe().log_qp(),
        parameters.rlwe().dnum(),
    );
    let context = Context::new(parameters)?;

    // The owner makes the keys, and encrypts the column, and the number.
    let total = Unrolling::usual(row, 1);
    let rotations = total.rotations();
    let request = KeyRequest { relinearization: true, rotations, swap: true, ..KeyRequest::default() };
    let keys = context.generate_keys(Seed::random()?, &request)?;
    let encoder = Encoder::new(&context);
    let encryptor: Encryptor = Encryptor::public(&context, &keys.public, Seed::random()?)?;
    let column: Vec<i64> = (0..n as i64).map(|i| i * i % 1009).collect();
    let number = 25;
    let x = encryptor.encrypt(&encoder.encode(&column)?)?;
    let y = encryptor.encrypt(&encoder.encode(&vec![number; n])?)?;

    // A server holds the evaluation keys, which decrypt nothing. It learns neither the column nor the number.
    let start = Instant::now();
    let evaluator = Evaluator::new(&context, keys.evaluation.clone())?;
    let mut power = evaluator.sub(&x, &y)?;
    for _ in 0..SQUARINGS {
        power = evaluator.square(&power)?;
    }
    let equal = evaluator.add_scalar(&evaluator.neg(&power)?, 1)?;
    let rows = total.apply(&evaluator, &equal)?;
    let count = evaluator.add(&rows, &evaluator.swap_rows(&rows)?)?;
    println!(
        "counted in {:.2} s, {:.0} bits of noise budget left",
        start.elapsed().as_secs_f64(),
        count.noise_budget()
    );

    // The owner decrypts: the count is in every slot.
    let found = encoder.decode(&Decryptor::new(&context, &keys.secret)?.decrypt(&count)?)?[0];
    let expected = column.iter().filter(|&&entry| entry == number).count();
    println!("{number} occurs {found} times");
    assert_eq!(found as usize, expected);
    Ok(())
}
