//! CKKS without bootstrapping.

use std::time::Instant;

use noren::circuits::product::{self, product, sequential};
use noren::circuits::trace::Unrolling;
use noren::ckks::{Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest};

use crate::failure::Failure;
use crate::machine;
use crate::measure::judge::seed;
use crate::measure::record::Record;
use crate::measure::shape::Shape;
use crate::measure::suites::reduction::case::{Reduction, Way};
use crate::measure::suites::reduction::task::{Fields, Task};
use crate::measure::suites::reduction::values::{reals, reduced};
use crate::measure::timing;
use crate::measure::timing::nanoseconds;

/// Measures one reduction.
///
/// A tree takes the slots of its padded values alone; a chain of products has numbers in all slots, as the comparison has.
pub(super) fn run(task: &Task<'_>) -> Result<(), Failure> {
    machine::reset_peak_rss();
    let case = task.case;
    let padded = case.count.next_power_of_two();
    let chain = (case.reduction, case.way) == (Reduction::Product, Way::Paper);
    let depth = match case.reduction {
        Reduction::Product if chain => case.count - 1,
        Reduction::Product => product::depth(padded),
        Reduction::InnerProduct => 1,
    };
    let shape = match case.reduction {
        Reduction::Product if chain => Shape::of_product_chain(depth),
        Reduction::Product => Shape::of_product(depth),
        Reduction::InnerProduct => Shape::of_inner_product(),
    };
    let parameters = shape.parameters()?;
    let (slots, terms) = if chain { (parameters.max_slots(), case.count) } else { (padded, padded) };
    let doublings = padded.ilog2() as usize;
    let sum = match case.way {
        Way::Paper => Unrolling::unrolled(padded, 1, doublings)?,
        Way::Tree => Unrolling::usual(padded, 1),
    };
    let rotations = match case.reduction {
        Reduction::Product if chain => vec![1],
        Reduction::Product => product::rotations(padded, 1)?,
        Reduction::InnerProduct => sum.rotations(),
    };

    let context = Context::with_threads(parameters.clone(), Some(task.threads))?;
    let start = Instant::now();
    let request = KeyRequest { relinearization: true, rotations, ..KeyRequest::default() };
    let keys = context.generate_keys(seed(0), &request)?;
    let keys_ns = nanoseconds(start.elapsed());
    let evaluator = Evaluator::new(&context, keys.evaluation.clone())?;
    let encryptor = Encryptor::public(&context, &keys.public, seed(1))?;
    let values = reals(case, slots, !chain);
    let encoder = Encoder::new(&context);
    let encrypted = values.iter().filter(|values| !values.is_empty());
    let encrypted =
        encrypted.map(|values| encryptor.encrypt(&encoder.encode(values, slots, parameters.max_level())?));
    let encrypted = encrypted.collect::<noren::Result<Vec<Ciphertext>>>()?;
    let call = || match &encrypted[..] {
        [x] if chain => sequential(&evaluator, x, terms, 1),
        [x, y] => sum.apply(&evaluator, &evaluator.mul(x, y)?),
        all => product(&evaluator, &all[0], terms, 1),
    };
    let (result, timing) = timing::with_result(task.run.seconds, call)?;
    let found = Decryptor::new(&context, &keys.secret)?.decrypt_real(&result)?;
    let distances = found.iter().enumerate().map(|(j, x)| (x - reduced(case, &values, terms, j)).abs());
    let worst = distances.fold(0.0, f64::max);
    let timing = task.judged(worst, result.error_bound(), timing);
    let (suite, op) = (case.reduction.suite(), case.reduction.op());
    let record = Record { slots, ..Record::of_scheme(suite, op, &parameters, task.threads, timing, "") };
    let log_q = parameters.rlwe().log_q(parameters.rlwe().max_limbs());
    task.report(record, &Fields { log_q, depth, bootstraps: 0, keys_ns, worst_bits: Some(-worst.log2()) })
}
