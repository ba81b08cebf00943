//! Candidates for integers one by one: circuits of lookups in TFHE.

use noren_rlwe::error::{Error, Result};

use crate::advisor::candidate::{Accuracy, Candidate, Outcome, Plan, Scheme};
use crate::advisor::price::Party;
use crate::advisor::torus::TorusDraft;
use crate::advisor::workload::{Computation, Values, Workload};
use crate::radix::{Comparison, Cost, Operation, Shape};
use crate::schemes::tfhe::Preset;

/// The set of digits of two bits.
const SET: &str = "2_2";
/// Bits of a digit, and of a value that one bootstrap reads.
const DIGIT_BITS: u32 = 2;
const LOOKUP_BITS: u32 = 4;
/// Bits of numbers that tables of many digits are of, together.
const TABLE_BITS: u32 = 16;
/// The bootstraps that a circuit bootstrap of a digit takes as long as, with its part of the tree of choices: from the times of
/// tables of two integers of 8 bits.
pub(crate) const BOOTSTRAPS_OF_CHOICE: f64 = 4.8;

/// The most terms of a sum whose circuit is made.
const MOST_TERMS: usize = 512;

/// TFHE.
pub(super) fn tfhe(workload: &Workload, client: &Party, server: &Party) -> Result<Outcome> {
    let scheme = Scheme::Tfhe;
    let Values::Integer { bits, result_bits } = workload.values else {
        let reason = "TFHE computes with integers: scale the values to integers and give their bits to see its price";
        return Ok(scheme.rejects(reason));
    };
    let width = workload.result_bits(bits, result_bits).max(bits).next_multiple_of(DIGIT_BITS) as usize;
    let digits = width / DIGIT_BITS as usize;
    let rounds = match rounds(workload.computation, bits, width)? {
        Ok(rounds) => rounds,
        Err(reason) => return Ok(scheme.rejects(reason)),
    };
    let result_digits = match workload.computation {
        Computation::Compare => 1,
        _ => digits,
    };
    let draft = TorusDraft {
        set: SET,
        rounds,
        inputs: workload.inputs() * digits,
        results: workload.outputs() * result_digits,
        runs: workload.instances,
    };
    let price = draft.price(client, server)?;
    let parameters = Preset::named(SET)?.parameters()?;
    let log2_failure = parameters.failure().log2 + libm::log2(draft.bootstraps().max(1.0));
    let lines: usize = draft.rounds.iter().map(|&(rounds, _)| rounds).sum();
    if log2_failure > workload.log2_failure {
        let (found, asked) = (log2_failure, workload.log2_failure);
        return Ok(scheme.rejects(format!("all bootstraps together fail with 2^{found:.0}, asked for is 2^{asked:.0}")));
    }
    Ok(Ok(Candidate {
        scheme,
        library: "noren".to_owned(),
        parameters: format!("set {SET}, {digits} digits of {DIGIT_BITS} bits a number"),
        reasons: vec![format!(
            "{:.0} bootstraps, at least {lines} one after the other; no depth is too large, and nothing shares a ciphertext",
            draft.bootstraps()
        )],
        plan: Plan::Torus(draft),
        price,
        accuracy: Accuracy::ExactButFor(log2_failure),
    }))
}

/// The rounds of bootstraps of one instance, or why there are none.
fn rounds(computation: Computation, bits: u32, width: usize) -> Result<std::result::Result<Vec<(usize, f64)>, String>> {
    let cost = |operation: Operation| operation.cost(width, Shape::Lean);
    let times =
        |cost: Cost, count: usize| (cost.rounds, count as f64 * cost.bootstraps as f64 / cost.rounds.max(1) as f64);
    // As often as said, one after the other.
    let in_turn = |cost: Cost, count: usize| (cost.rounds * count, times(cost, 1).1);
    // `each` sums of `count` terms: of many terms sums of sums, since the circuit of a sum has a part for each term.
    let sums = |count: usize, each: usize| {
        let (mut left, mut rounds) = (count, Vec::new());
        while left > MOST_TERMS {
            let groups = left.div_ceil(MOST_TERMS);
            rounds.push(times(cost(Operation::Sum(left.div_ceil(groups)))?, each * groups));
            left = groups;
        }
        rounds.push(times(cost(Operation::Sum(left))?, each));
        Ok::<_, Error>(rounds)
    };
    Ok(Ok(match computation {
        Computation::Product { count } => {
            let (multiply, mut left, mut rounds) = (cost(Operation::Mul)?, count, Vec::new());
            while left > 1 {
                rounds.push(times(multiply, left / 2));
                left = left.div_ceil(2);
            }
            rounds
        }
        Computation::Sum { count } => sums(count, 1)?,
        Computation::InnerProduct { length } => [vec![times(cost(Operation::Mul)?, length)], sums(length, 1)?].concat(),
        Computation::Squarings { depth } => vec![in_turn(cost(Operation::Mul)?, depth)],
        Computation::Polynomial { degree } => {
            // By Horner.
            let (multiply, add) = (cost(Operation::Mul)?, cost(Operation::AddKnown(1))?);
            vec![in_turn(multiply, degree), in_turn(add, degree)]
        }
        Computation::Matrix { rows, columns } => {
            // Entries of as many bits as the values: the most costly number.
            let entry = u64::MAX >> (u64::BITS - bits);
            let multiply = cost(Operation::MulKnown(entry))?;
            [vec![times(multiply, rows * columns)], sums(columns, rows)?].concat()
        }
        Computation::Compare => vec![times(cost(Operation::Compare(Comparison::Lt))?, 1)],
        Computation::Table { inputs: 1 } if bits <= LOOKUP_BITS => vec![(1, f64::from(bits.div_ceil(DIGIT_BITS)))],
        Computation::Table { inputs: 2 } if bits <= DIGIT_BITS => vec![(1, 1.0)],
        Computation::Table { inputs } => {
            let all = inputs as u32 * bits.next_multiple_of(DIGIT_BITS);
            if all > TABLE_BITS {
                return Ok(Err(format!("tables are of numbers of up to {TABLE_BITS} bits together, these have {all}")));
            }
            vec![(1, BOOTSTRAPS_OF_CHOICE * f64::from(all / DIGIT_BITS))]
        }
    }))
}
