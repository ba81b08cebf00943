//! The suite `ckks`: operations on full ciphertexts.

use std::hint::black_box;

use clap::{Args, ValueEnum};
use noren::Complex64;
use noren::ckks::{Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest};
use noren_cli::measure::{After, Failure, Judge, Record, Run, Shape, drop_result, reset_peak_rss, seed, time, values};

use crate::shapes::{self, Family};

/// The rotations of the hoisted measurement.
const STEPS: [isize; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

/// The constant of products with a number.
const CONSTANT: f64 = 0.707;

/// The options of the suite.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Base-two logarithms of the degrees of rings [default: all of the family]
    #[arg(long, value_name = "BITS,...", value_delimiter = ',')]
    log_n: Vec<u32>,
    /// The family of parameters
    #[arg(long, value_enum, default_value = "hybrid")]
    shape: Family,
}

impl Options {
    /// Measures the suite, and says after each step which it was.
    pub(crate) fn run(&self, run: &Run<'_>, after: &mut After<'_>) -> Result<(), Failure> {
        let family = self.shape.to_possible_value().expect("no family is hidden");
        for shape in shapes::of_ckks(self.shape, &self.log_n)? {
            measure(run, shape)?;
            let log_n = shape.log_n.to_string();
            after(&[("--suite", "ckks"), ("--log-n", &log_n), ("--shape", family.get_name())])?;
        }
        Ok(())
    }
}

/// Measures all operations at one shape with each number of threads.
fn measure(run: &Run<'_>, shape: Shape) -> Result<(), Failure> {
    reset_peak_rss();
    let parameters = shape.parameters()?;
    let context = Context::new(parameters.clone())?;
    let request = KeyRequest { relinearization: true, rotations: STEPS.to_vec(), ..KeyRequest::default() };
    let keys = context.generate_keys(seed(0), &request)?;
    for &threads in run.threads {
        let context = Context::with_threads(parameters.clone(), Some(threads))?;
        let (encoder, evaluator) = (Encoder::new(&context), Evaluator::new(&context, keys.evaluation.clone())?);
        let encryptor = Encryptor::public(&context, &keys.public, seed(1))?;
        let decryptor = Decryptor::new(&context, &keys.secret)?;
        let judge = Judge { run, decryptor: &decryptor };

        let (slots, level) = (parameters.max_slots(), parameters.max_level());
        let scale = *parameters.scale_at(level);
        let values = values(slots);
        let plaintext = encoder.encode_complex(&values, slots, level, &scale)?;
        let (a, b) = (encryptor.encrypt(&plaintext)?, encryptor.encrypt(&plaintext)?);

        let time = |op, per, bytes: usize, note, right: bool, call: &mut dyn FnMut() -> noren::Result<()>| {
            let timing = right.then(|| time(run.seconds, per, call)).transpose()?;
            let mut record = Record::of_scheme("ckks", op, &parameters, threads, timing, note);
            if let (1.., Some(timing)) = (bytes, timing) {
                record = record.with("gb_per_s", bytes as f64 / timing.median_ns);
            }
            run.report(&record)
        };
        let fresh = judge.is_right("encrypt", &a, |j| values[j])?;
        time("encode", 1.0, 0, "", fresh, &mut || {
            encoder.encode_complex(black_box(&values), slots, level, &scale).map(drop_result)
        })?;
        time("encrypt", 1.0, 0, "public key", fresh, &mut || {
            encryptor.encrypt(black_box(&plaintext)).map(drop_result)
        })?;
        time("decrypt", 1.0, 0, "with decoding; modulo as few primes as hold the message", fresh, &mut || {
            decryptor.decrypt_complex(black_box(&a)).map(drop_result)
        })?;
        // A sum and a plaintext product read and write: polynomials of all limbs.
        let polynomial = size_of::<u64>() * parameters.degree() * shape.limbs;
        let right = judge.is_right("add", &evaluator.add(&a, &b)?, |j| values[j] + values[j])?;
        time("add", 1.0, 6 * polynomial, "", right, &mut || evaluator.add(black_box(&a), &b).map(drop_result))?;
        let product = evaluator.mul_plain_no_rescale(&a, &plaintext)?;
        let right = judge.is_right("mul_plain", &product, |j| values[j] * values[j])?;
        time("mul_plain", 1.0, 5 * polynomial, "without rescaling", right, &mut || {
            evaluator.mul_plain_no_rescale(black_box(&a), &plaintext).map(drop_result)
        })?;
        let constant = Complex64::new(CONSTANT, 0.0);
        let right = judge.is_right("mul_const", &evaluator.mul_const(&a, constant)?, |j| values[j] * CONSTANT)?;
        time("mul_const", 1.0, 0, "by a real number, with rescaling", right, &mut || {
            evaluator.mul_const(black_box(&a), constant).map(drop_result)
        })?;
        let right = judge.is_right("mul_relin_rescale", &evaluator.mul(&a, &b)?, |j| values[j] * values[j])?;
        time("mul_relin_rescale", 1.0, 0, "", right, &mut || evaluator.mul(black_box(&a), &b).map(drop_result))?;
        let right = judge.is_right("rotate", &evaluator.rotate(&a, 1)?, |j| values[(j + 1) % slots])?;
        time("rotate", 1.0, 0, "", right, &mut || evaluator.rotate(black_box(&a), 1).map(drop_result))?;
        let mut right = true;
        for (rotated, steps) in evaluator.rotate_many(&a, &STEPS)?.iter().zip(1..) {
            right &= judge.is_right("rotate_hoisted", rotated, |j| values[(j + steps) % slots])?;
        }
        time("rotate_hoisted", STEPS.len() as f64, 0, "per rotation of eight", right, &mut || {
            evaluator.rotate_many(black_box(&a), &STEPS).map(drop_result)
        })?;
    }
    Ok(())
}
