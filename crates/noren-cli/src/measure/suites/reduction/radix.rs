//! TFHE: integers of digits of two bits.

use std::slice;
use std::time::Instant;

use noren::radix::{Evaluator, Integer, Operation, Shape};
use noren::tfhe::{self, Context, Decryptor, Encryptor, Preset};

use crate::failure::Failure;
use crate::machine;
use crate::measure::judge::seed;
use crate::measure::record::Record;
use crate::measure::suites::reduction::case::{Case, Reduction, Way};
use crate::measure::suites::reduction::task::{Fields, Task};
use crate::measure::suites::reduction::values::{integers, reduced_integers};
use crate::measure::timing;
use crate::measure::timing::nanoseconds;

/// The set of integers of digits.
const SET: &str = "2_2";
/// The bits of a word of a sample: its modulus.
const WORD_BITS: f64 = 64.0;

/// Measures one reduction.
pub(super) fn run(task: &Task<'_>) -> Result<(), Failure> {
    machine::reset_peak_rss();
    let case = task.case;
    let context = Context::with_threads(Preset::named(SET)?.parameters()?, Some(task.threads))?;
    let start = Instant::now();
    let keys = context.generate_keys(seed(0))?;
    let keys_ns = nanoseconds(start.elapsed());
    let encryptor = Encryptor::new(&context, &keys.secret, seed(1))?;
    let decryptor = Decryptor::new(&context, &keys.secret)?;
    let evaluator = Evaluator::new(&tfhe::Evaluator::new(&context, keys.server)?)?;
    let values = integers(case);
    let encrypt = |values: &Vec<u64>| values.iter().map(|&x| Integer::encrypt(&encryptor, x, case.bits)).collect();
    let [x, y]: [noren::Result<Vec<Integer>>; 2] = values.each_ref().map(encrypt);
    let (x, y) = (x?, y?);
    let call = || match (case.reduction, case.way) {
        (Reduction::Product, Way::Paper) => in_a_row(&x, |product, x| evaluator.mul(product, x)),
        (Reduction::Product, Way::Tree) => tree(&evaluator, &x),
        (Reduction::InnerProduct, Way::Paper) => {
            let products = x.iter().zip(&y);
            let products = products.map(|(x, y)| evaluator.mul(slice::from_ref(x), slice::from_ref(y)));
            let products = products.collect::<noren::Result<Vec<_>>>()?.concat();
            in_a_row(&products, |sum, x| evaluator.add(sum, x))
        }
        (Reduction::InnerProduct, Way::Tree) => {
            let products = evaluator.mul(&x, &y)?;
            let terms: Vec<_> = products.iter().map(slice::from_ref).collect();
            evaluator.sum(&terms)
        }
    };
    let (result, timing) = timing::with_result(task.run.seconds, call)?;
    let right = result[0].decrypt(&decryptor)? == reduced_integers(case, &values);
    let timing = task.judged(if right { 0.0 } else { 1.0 }, 0.0, timing);
    let parameters = context.parameters();
    let record = Record::of_torus(case.reduction.op(), &parameters.spec().torus, task.threads, timing);
    let record = record.with("bits", case.bits).with("set", SET).with("log2_failure", parameters.failure().log2);
    let depth = match (case.reduction, case.way) {
        (Reduction::Product, Way::Paper) => case.count - 1,
        (Reduction::Product, Way::Tree) => case.count.next_power_of_two().ilog2() as usize,
        (Reduction::InnerProduct, _) => 1,
    };
    task.report(record, &Fields { log_q: WORD_BITS, depth, bootstraps: bootstraps(case)?, keys_ns, worst_bits: None })
}

/// Each value after the other.
fn in_a_row(
    values: &[Integer],
    op: impl Fn(&[Integer], &[Integer]) -> noren::Result<Vec<Integer>>,
) -> noren::Result<Vec<Integer>> {
    let (first, rest) = values.split_at(1);
    rest.iter().try_fold(first.to_vec(), |result, x| op(&result, slice::from_ref(x)))
}

/// Pairs, pairs of pairs, and so on; a value without another goes on to the next layer.
fn tree(evaluator: &Evaluator, values: &[Integer]) -> noren::Result<Vec<Integer>> {
    let mut layer = values.to_vec();
    while layer.len() > 1 {
        let (halves, odd) = layer.split_at(layer.len() / 2 * 2);
        let (low, high) = halves.split_at(halves.len() / 2);
        layer = [evaluator.mul(low, high)?, odd.to_vec()].concat();
    }
    Ok(layer)
}

/// The bootstraps of samples, by the costs of the operations: single ones are circuits of few rounds, those of a batch circuits of
/// few bootstraps.
fn bootstraps(case: &Case) -> noren::Result<u64> {
    let cost = |operation: Operation, batch: usize| {
        let shape = if batch == 1 { Shape::Flat } else { Shape::Lean };
        noren::Result::Ok(batch * operation.cost(case.bits, shape)?.bootstraps)
    };
    let rest = case.count - 1;
    let total = match (case.reduction, case.way) {
        (Reduction::Product, Way::Paper) => rest * cost(Operation::Mul, 1)?,
        (Reduction::Product, Way::Tree) => {
            let layers = std::iter::successors(Some(case.count), |&length| (length > 1).then(|| length.div_ceil(2)));
            let costs = layers.filter(|&length| length > 1).map(|length| cost(Operation::Mul, length / 2));
            costs.sum::<noren::Result<usize>>()?
        }
        (Reduction::InnerProduct, Way::Paper) => {
            case.count * cost(Operation::Mul, 1)? + rest * cost(Operation::Add, 1)?
        }
        (Reduction::InnerProduct, Way::Tree) => {
            cost(Operation::Mul, case.count)? + cost(Operation::Sum(case.count), 1)?
        }
    };
    Ok(total as u64)
}
