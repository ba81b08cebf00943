//! Workloads in TFHE.

use noren::advisor::{Computation, Values};
use noren::backends::TorusDraft;
use noren::radix::{Comparison, Evaluator, Integer, Operation};
use noren::tfhe::{self, Context, Decryptor, Encryptor, Preset};

use crate::bench::advise::step::Step;
use crate::bench::ckks::seed;
use crate::failure::Failure;

/// Workloads of more bootstraps take minutes: they are not measured.
const MOST_BOOTSTRAPS: f64 = 20_000.0;

/// Keys, encryption, the circuit and decryption, each timed.
pub(super) fn run(step: &Step<'_>, draft: &TorusDraft) -> Result<(), Failure> {
    let Values::Integer { bits, result_bits } = step.workload.values else { return Ok(()) };
    if draft.bootstraps() > MOST_BOOTSTRAPS || matches!(step.workload.computation, Computation::Table { .. }) {
        return Ok(());
    }
    let price = &step.candidate.price;
    let context = Context::with_threads(Preset::named(draft.set)?.parameters()?, Some(step.threads))?;
    let keys = context.generate_keys(seed(0))?;
    let encryptor = Encryptor::new(&context, &keys.secret, seed(1))?;
    let decryptor = Decryptor::new(&context, &keys.secret)?;
    let evaluator = Evaluator::new(&tfhe::Evaluator::new(&context, keys.server.clone())?)?;
    let width = step.workload.result_bits(bits, result_bits).max(bits).next_multiple_of(2) as usize;
    let (count, instances) = (step.workload.inputs(), step.workload.instances);
    let encrypt = || {
        let number = || Integer::encrypt(&encryptor, VALUE, width);
        (0..count).map(|_| (0..instances).map(|_| number()).collect()).collect::<noren::Result<Vec<Vec<Integer>>>>()
    };
    let inputs = encrypt()?;
    let run = || compute(&evaluator, step.workload.computation, &inputs);
    let results = step.first(run)?;
    let expected = expected(step.workload.computation) & (u64::MAX >> (64 - width));
    let decrypt = || {
        let of = |results: &Outcome| match results {
            Outcome::Integers(all) => all.iter().map(|x| x.decrypt(&decryptor)).collect::<noren::Result<Vec<u64>>>(),
            Outcome::Flags(all) => all.iter().map(|x| x.decrypt(&decryptor).map(u64::from)).collect(),
        };
        results.iter().map(of).collect::<noren::Result<Vec<_>>>()
    };
    let right = decrypt()?.iter().flatten().all(|&found| found == expected);
    step.part("server", right, price.server_seconds, run)?;
    let keys_seconds = price.keys_seconds;
    match context.parameters().spec().torus.light {
        Some(_) => step.part("keys", right, keys_seconds, || context.light_keys(&seed(0), &keys.secret))?,
        None => step.part("keys", right, keys_seconds, || context.compact_keys(&seed(0), &keys.secret))?,
    }
    step.part("encrypt", right, price.encrypt_seconds, encrypt)?;
    step.part("decrypt", right, price.decrypt_seconds, decrypt)
}

/// The value of every input.
const VALUE: u64 = 3;

enum Outcome {
    Integers(Vec<Integer>),
    Flags(Vec<noren::radix::Flag>),
}

/// The results of all instances.
fn compute(ev: &Evaluator, computation: Computation, inputs: &[Vec<Integer>]) -> noren::Result<Vec<Outcome>> {
    let all = |terms: &[Vec<Integer>]| terms.iter().map(Vec::as_slice).collect::<Vec<_>>().concat();
    let instances = inputs[0].len();
    let product = |a: &[Vec<Integer>], b: &[Vec<Integer>]| -> noren::Result<Vec<Vec<Integer>>> {
        let products = ev.mul(&all(a), &all(b))?;
        Ok(products.chunks(instances).map(<[Integer]>::to_vec).collect())
    };
    let sum = |terms: &[Vec<Integer>]| ev.sum(&terms.iter().map(Vec::as_slice).collect::<Vec<_>>());
    Ok(vec![match computation {
        Computation::Product { .. } => {
            let mut left = inputs.to_vec();
            while left.len() > 1 {
                let rest = (left.len() % 2 == 1).then(|| left.pop().expect("an odd number"));
                let half = left.len() / 2;
                left = product(&left[..half], &left[half..])?;
                left.extend(rest);
            }
            Outcome::Integers(left.swap_remove(0))
        }
        Computation::Sum { .. } => Outcome::Integers(sum(inputs)?),
        Computation::InnerProduct { length } => {
            Outcome::Integers(sum(&product(&inputs[..length], &inputs[length..])?)?)
        }
        Computation::Squarings { depth } => {
            Outcome::Integers((0..depth).try_fold(inputs[0].clone(), |x, _| ev.mul(&x, &x))?)
        }
        Computation::Polynomial { degree } => {
            // By Horner, with coefficients of 1.
            let add = |x: Vec<Integer>| ev.apply(Operation::AddKnown(1), &[&x]);
            let first = add(inputs[0].clone())?;
            let next = |x: Vec<Integer>| add(ev.mul(&x, &inputs[0])?);
            Outcome::Integers((1..degree).try_fold(first, |x, _| next(x))?)
        }
        Computation::Matrix { rows, .. } => {
            let row = || {
                let products = inputs.iter().map(|x| ev.apply(Operation::MulKnown(1), &[x]));
                sum(&products.collect::<noren::Result<Vec<_>>>()?)
            };
            return (0..rows).map(|_| row().map(Outcome::Integers)).collect();
        }
        Computation::Compare => Outcome::Flags(ev.compare(Comparison::Lt, &inputs[0], &inputs[1])?),
        Computation::Table { .. } => Outcome::Integers(Vec::new()),
    }])
}

/// The result of each instance, before it is taken modulo a power of two.
fn expected(computation: Computation) -> u64 {
    let power = |exponent: usize| VALUE.wrapping_pow(exponent as u32);
    match computation {
        Computation::Product { count } => power(count),
        Computation::Sum { count } => VALUE.wrapping_mul(count as u64),
        Computation::InnerProduct { length } => (VALUE * VALUE).wrapping_mul(length as u64),
        Computation::Squarings { depth } => power(1 << depth),
        Computation::Polynomial { degree } => (0..=degree).fold(0, |sum: u64, k| sum.wrapping_add(power(k))),
        Computation::Matrix { columns, .. } => VALUE.wrapping_mul(columns as u64),
        Computation::Compare | Computation::Table { .. } => 0,
    }
}
