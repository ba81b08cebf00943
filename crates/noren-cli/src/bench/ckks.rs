//! The suite `ckks`: operations on full ciphertexts.

use std::hint::black_box;

use noren::ckks::{Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Plaintext};
use noren::{Complex64, Seed};

use crate::bench::measure;
use crate::bench::record::Record;
use crate::bench::shape::Shape;
use crate::bench::suite::Run;
use crate::failure::Failure;

/// The rotations of the hoisted measurement.
const STEPS: [isize; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

/// Measures all operations at one shape with one number of threads.
pub(super) fn run(run: &Run<'_>, shape: Shape, threads: usize) -> Result<(), Failure> {
    let context = Context::with_threads(shape.parameters()?, Some(threads))?;
    let parameters = context.parameters().clone();
    let request = KeyRequest { relinearization: true, rotations: STEPS.to_vec(), ..KeyRequest::default() };
    let keys = context.generate_keys(seed(0), &request)?;
    let (encoder, evaluator) = (Encoder::new(&context), Evaluator::new(&context, keys.evaluation.clone())?);
    let encryptor = Encryptor::public(&context, &keys.public, seed(1))?;
    let decryptor = Decryptor::new(&context, &keys.secret)?;

    let (slots, level) = (parameters.max_slots(), parameters.max_level());
    let scale = *parameters.scale_at(level);
    let values: Vec<Complex64> = (0..slots).map(|j| Complex64::cis(j as f64)).collect();
    let plaintext = encoder.encode_complex(&values, slots, level, &scale)?;
    let (a, b) = (encryptor.encrypt(&plaintext)?, encryptor.encrypt(&plaintext)?);
    check(&evaluator, &decryptor, &values, [&a, &b], &plaintext)?;

    let time = |op, per, note, call: &mut dyn FnMut() -> noren::Result<()>| {
        let timing = measure::time(run.seconds, per, call)?;
        run.report(&Record::of_scheme("ckks", op, &parameters, threads, timing, note))
    };
    time("encode", 1.0, "", &mut || encoder.encode_complex(black_box(&values), slots, level, &scale).map(drop_result))?;
    time("encrypt", 1.0, "public key", &mut || encryptor.encrypt(black_box(&plaintext)).map(drop_result))?;
    time("decrypt", 1.0, "with decoding; modulo as few primes as hold the message", &mut || {
        decryptor.decrypt_complex(black_box(&a)).map(drop_result)
    })?;
    time("add", 1.0, "", &mut || evaluator.add(black_box(&a), &b).map(drop_result))?;
    time("mul_plain", 1.0, "without rescaling", &mut || {
        evaluator.mul_plain_no_rescale(black_box(&a), &plaintext).map(drop_result)
    })?;
    time("mul_relin_rescale", 1.0, "", &mut || evaluator.mul(black_box(&a), &b).map(drop_result))?;
    time("rotate", 1.0, "", &mut || evaluator.rotate(black_box(&a), 1).map(drop_result))?;
    time("rotate_hoisted", STEPS.len() as f64, "per rotation of eight", &mut || {
        evaluator.rotate_many(black_box(&a), &STEPS).map(drop_result)
    })
}

/// Refuses to time operations whose results are wrong.
fn check(
    evaluator: &Evaluator,
    decryptor: &Decryptor<'_>,
    values: &[Complex64],
    [a, b]: [&Ciphertext; 2],
    plaintext: &Plaintext,
) -> Result<(), Failure> {
    let compare = |op, result: &Ciphertext, expected: &dyn Fn(usize) -> Complex64| {
        let found = decryptor.decrypt_complex(result)?;
        let distances = found.iter().enumerate().map(|(j, x)| (x - expected(j)).norm());
        let (error, bound) = (distances.fold(0.0, f64::max), result.error_bound());
        if error <= bound { Ok(()) } else { Err(Failure::WrongResult { op, error, bound }) }
    };
    let turned = |j: usize, steps: usize| values[(j + steps) % values.len()];
    compare("encrypt", a, &|j| values[j])?;
    compare("add", &evaluator.add(a, b)?, &|j| values[j] + values[j])?;
    compare("mul_plain", &evaluator.mul_plain_no_rescale(a, plaintext)?, &|j| values[j] * values[j])?;
    compare("mul_relin_rescale", &evaluator.mul(a, b)?, &|j| values[j] * values[j])?;
    compare("rotate", &evaluator.rotate(a, 1)?, &|j| turned(j, 1))?;
    for (rotated, steps) in evaluator.rotate_many(a, &STEPS)?.iter().zip(1..) {
        compare("rotate_hoisted", rotated, &|j| turned(j, steps))?;
    }
    Ok(())
}

/// The end of a result, which belongs to the time of making it: memory goes back to where the next result takes it.
pub(super) fn drop_result<T>(result: T) {
    drop(black_box(result));
}

/// Benchmarks use the same keys each time.
pub(super) fn seed(number: u8) -> Seed {
    Seed::from_bytes([number; 32])
}
