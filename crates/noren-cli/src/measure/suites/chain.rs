//! The suite `chain`: products that follow one another, as deep as the parameters allow, in three schemes.
//!
//! The parameters are those of Tsuji and Oguchi's comparison of libraries: N = 2^15 and t = 65537 for integers, N = 2^16 and
//! 45 bits a level for CKKS, 128-bit security, for each depth the smallest modulus. A chain multiplies a ciphertext again
//! and again with a fresh one; a second record squares it as often.

use clap::Args;
use noren::advisor::Scheme;
use noren::bfv::Bfv;
use noren::bgv::Bgv;
use noren::ckks;
use noren::schemes::integers::{self, KeyRequest, Requirements};
use noren_rlwe::parameters::Parameters;

use crate::failure::Failure;
use crate::machine;
use crate::measure::judge::{Judge, drop_result, seed, values};
use crate::measure::record::Record;
use crate::measure::run::{After, Run};
use crate::measure::shape::Shape;
use crate::measure::suites::schemes;
use crate::measure::timing::{self, Timing};

/// The depths of the comparison.
const DEPTHS: [u32; 5] = [2, 4, 6, 8, 10];
/// The modulus of integers, and how many there are in a ciphertext.
const T: u64 = 65537;
const SLOTS: usize = 1 << 15;

/// The schemes of the comparison.
const SCHEMES: [Scheme; 3] = [Scheme::Bfv, Scheme::Bgv, Scheme::Ckks];

/// The options of the suite.
#[derive(Debug, Args)]
pub struct Options {
    /// Only these schemes [default: all]
    #[arg(long, value_name = "SCHEME,...", value_delimiter = ',', value_parser = schemes::parser(&SCHEMES))]
    scheme: Vec<Scheme>,
    /// How many products follow one another [default: 2,4,6,8,10]
    #[arg(long, value_name = "DEPTH,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=16))]
    depth: Vec<u32>,
}

impl Options {
    /// Measures the suite, and says after each step which it was.
    pub(in crate::measure) fn run(&self, run: &Run<'_>, after: &mut After<'_>) -> Result<(), Failure> {
        let schemes = if self.scheme.is_empty() { &SCHEMES } else { &self.scheme[..] };
        let depths = if self.depth.is_empty() { &DEPTHS } else { &self.depth[..] };
        for &scheme in schemes {
            for &depth in depths {
                measure(run, scheme, depth as usize)?;
                after(&[("--suite", "chain"), ("--scheme", scheme.name()), ("--depth", &depth.to_string())])?;
            }
        }
        Ok(())
    }
}

/// Measures chains of one depth with each number of threads.
fn measure(run: &Run<'_>, scheme: Scheme, depth: usize) -> Result<(), Failure> {
    match scheme {
        Scheme::Bfv => integers::<Bfv>(run, scheme, depth),
        Scheme::Bgv => integers::<Bgv>(run, scheme, depth),
        _ => ckks(run, scheme, depth),
    }
}

fn integers<S: integers::Scheme>(run: &Run<'_>, scheme: Scheme, depth: usize) -> Result<(), Failure> {
    let requirements = Requirements { depth, plaintext_modulus: T, slots: SLOTS, ..Requirements::default() };
    let parameters = requirements.choose::<S>()?;
    machine::reset_peak_rss();
    let request = KeyRequest { relinearization: true, ..KeyRequest::default() };
    for &threads in run.threads {
        let context = integers::Context::with_threads(parameters.clone(), Some(threads))?;
        let keys = context.generate_keys(seed(0), &request)?;
        let evaluator = integers::Evaluator::<S>::new(&context, keys.evaluation.clone())?;
        let encryptor = integers::Encryptor::<S>::public(&context, &keys.public, seed(1))?;
        let (encoder, decryptor) =
            (integers::Encoder::new(&context), integers::Decryptor::new(&context, &keys.secret)?);
        let numbers = |step: u64| -> Vec<u64> { (0..SLOTS as u64).map(|j| (j * step + 3) % T).collect() };
        let encrypt = |numbers: &[u64]| {
            let signed: Vec<i64> = numbers.iter().map(|&x| x as i64).collect();
            encryptor.encrypt(&encoder.encode(&signed)?)
        };
        let (x, y) = (numbers(5), numbers(7));
        let (a, b) = (encrypt(&x)?, encrypt(&y)?);
        let chain = |squares: bool| -> noren::Result<integers::Ciphertext<S>> {
            let first = if squares { evaluator.square(&a)? } else { evaluator.mul(&a, &b)? };
            (1..depth).try_fold(first, |x, _| if squares { evaluator.square(&x) } else { evaluator.mul(&x, &b) })
        };
        for squares in [false, true] {
            let step = |x: u64, y: u64| if squares { x * x % T } else { x * y % T };
            let expected = x.iter().zip(&y).map(|(&x, &y)| (0..depth).fold(x, |x, _| step(x, y)) as i64);
            let result = chain(squares)?;
            let right = encoder.decode(&decryptor.decrypt(&result)?)?.into_iter().eq(expected);
            let timing =
                right.then(|| timing::time(run.seconds, 1.0, || chain(squares).map(drop_result))).transpose()?;
            report(run, scheme, depth, squares, parameters.rlwe(), SLOTS, threads, timing)?;
        }
    }
    Ok(())
}

fn ckks(run: &Run<'_>, scheme: Scheme, depth: usize) -> Result<(), Failure> {
    let parameters = Shape::of_chain(depth).parameters()?;
    machine::reset_peak_rss();
    let request = ckks::KeyRequest { relinearization: true, ..ckks::KeyRequest::default() };
    for &threads in run.threads {
        let context = ckks::Context::with_threads(parameters.clone(), Some(threads))?;
        let keys = context.generate_keys(seed(0), &request)?;
        let evaluator = ckks::Evaluator::new(&context, keys.evaluation.clone())?;
        let encryptor = ckks::Encryptor::public(&context, &keys.public, seed(1))?;
        let decryptor = ckks::Decryptor::new(&context, &keys.secret)?;
        let judge = Judge { run, decryptor: &decryptor };
        let (slots, level) = (parameters.max_slots(), parameters.max_level());
        let values = values(slots);
        let encoder = ckks::Encoder::new(&context);
        let plaintext = encoder.encode_complex(&values, slots, level, parameters.scale_at(level))?;
        let (a, b) = (encryptor.encrypt(&plaintext)?, encryptor.encrypt(&plaintext)?);
        let chain = |squares: bool| -> noren::Result<ckks::Ciphertext> {
            let first = if squares { evaluator.square(&a)? } else { evaluator.mul(&a, &b)? };
            (1..depth).try_fold(first, |x, _| if squares { evaluator.square(&x) } else { evaluator.mul(&x, &b) })
        };
        for squares in [false, true] {
            let power = if squares { 1 << depth } else { depth as i32 + 1 };
            let right = judge.is_right("chain", &chain(squares)?, |j| values[j].powi(power))?;
            let timing =
                right.then(|| timing::time(run.seconds, 1.0, || chain(squares).map(drop_result))).transpose()?;
            report(run, scheme, depth, squares, parameters.rlwe(), slots, threads, timing)?;
        }
    }
    Ok(())
}

#[allow(clippy::too_many_arguments, reason = "the fields of one record")]
fn report(
    run: &Run<'_>,
    scheme: Scheme,
    depth: usize,
    squares: bool,
    parameters: &Parameters,
    slots: usize,
    threads: usize,
    timing: Option<Timing>,
) -> Result<(), Failure> {
    let op = if squares { "chain_squares" } else { "chain" };
    let record = Record { slots, ..Record::of_rlwe("chain", op, parameters, threads, timing, "") };
    let log_q = parameters.log_q(parameters.max_limbs());
    run.report(&record.with("scheme", scheme.name()).with("depth", depth).with("log_q", log_q))
}
