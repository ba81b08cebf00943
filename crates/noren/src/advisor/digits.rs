//! Candidates for integers one by one: circuits of lookups in TFHE.

use noren_rlwe::error::{Error, Result};

use crate::advisor::candidate::{Accuracy, Candidate, Outcome, Plan, Scheme};
use crate::advisor::compiled::helped;
use crate::advisor::workload::{Computation, Values, Workload};
use crate::backends::tfhe::price::{BOOTSTRAPS_OF_CHOICE, TorusDraft};
use crate::cost::price::Party;
use crate::radix::{Comparison, Cost, Operation, Shape};
use crate::schemes::tfhe::Preset;

/// The sets of digits of two bits: with keys that travel whole, and light ones.
const DIGITS: [&str; 2] = ["2_2", "2_2_LIGHT"];
/// The sets of bits.
const BITS: [&str; 3] = ["BOOL", "BOOL_128", "BOOL_LIGHT"];
/// Bits of a digit, and of a value that one bootstrap reads.
const DIGIT_BITS: u32 = 2;
const LOOKUP_BITS: u32 = 4;
/// Bits of numbers that tables of many digits are of, together.
const TABLE_BITS: u32 = 16;
/// The most terms of a sum whose circuit is made.
const MOST_TERMS: usize = 512;

/// TFHE.
pub(super) fn tfhe(workload: &Workload, client: &Party, server: &Party) -> Result<Outcome> {
    let scheme = Scheme::Tfhe;
    let Values::Integer { bits, result_bits } = workload.values else {
        let reason = "TFHE computes with integers: scale the values to integers and give their bits to see its price";
        return Ok(scheme.rejects(reason));
    };
    if workload.modulus.is_some_and(|modulus| !modulus.is_power_of_two()) {
        return Ok(scheme.rejects("results of digits are modulo a power of two, not this modulus"));
    }
    let result_bits = workload.modulus.map(u64::ilog2).or(result_bits);
    let is_gate = bits == 1 && matches!(workload.computation, Computation::Table { .. } | Computation::Compare);
    let (sets, draft) = match is_gate {
        true => {
            let [inputs, results] = [workload.inputs(), workload.outputs()];
            (&BITS[..], TorusDraft { set: "", rounds: vec![(1, 1.0)], inputs, results, runs: workload.instances })
        }
        false => match draft(workload, bits, result_bits)? {
            Ok(draft) => (&DIGITS[..], draft),
            Err(reason) => return Ok(scheme.rejects(reason)),
        },
    };
    let (mut found, mut refused) = (Vec::new(), String::new());
    for set in sets {
        let draft = TorusDraft { set, ..draft.clone() };
        let parameters = Preset::named(set)?.parameters()?;
        let log2_failure = parameters.failure().log2 + libm::log2(draft.bootstraps().max(1.0));
        if log2_failure > workload.log2_failure {
            let asked = workload.log2_failure;
            refused = format!("all bootstraps together fail with 2^{log2_failure:.0}, asked for is 2^{asked:.0}");
            continue;
        }
        let own = candidate(scheme, draft.clone(), log2_failure, client, server)?;
        let priced = |helper: &Party| Ok(draft.price(helper, server)?.keys_seconds);
        found.extend(helped(&own, draft.left(client)?, client, server, priced)?);
        found.push(own);
    }
    match found.is_empty() {
        true => Ok(scheme.rejects(refused)),
        false => Ok(Ok(found)),
    }
}

/// The circuit on digits, for no set yet, or why there is none.
fn draft(workload: &Workload, bits: u32, result_bits: Option<u32>) -> Result<std::result::Result<TorusDraft, String>> {
    let width = workload.result_bits(bits, result_bits).max(bits).next_multiple_of(DIGIT_BITS) as usize;
    let digits = width / DIGIT_BITS as usize;
    let rounds = match rounds(workload.computation, bits, width)? {
        Ok(rounds) => rounds,
        Err(reason) => return Ok(Err(reason)),
    };
    let result_digits = match workload.computation {
        Computation::Compare => 1,
        _ => digits,
    };
    Ok(Ok(TorusDraft {
        set: "",
        rounds,
        inputs: workload.inputs() * digits,
        results: workload.outputs() * result_digits,
        runs: workload.instances,
    }))
}

fn candidate(
    scheme: Scheme,
    draft: TorusDraft,
    log2_failure: f64,
    client: &Party,
    server: &Party,
) -> Result<Candidate> {
    let lines: usize = draft.rounds.iter().map(|&(rounds, _)| rounds).sum();
    let mut reasons = vec![format!(
        "{:.0} bootstraps, at least {lines} one after the other; no depth is too large, and nothing shares a ciphertext",
        draft.bootstraps()
    )];
    if draft.set.ends_with("LIGHT") {
        reasons
            .push("light keys: the client makes and sends little, the server expands them and takes longer".to_owned());
    }
    let values = match BITS.contains(&draft.set) {
        true => "one bit a number".to_owned(),
        false => format!("digits of {DIGIT_BITS} bits"),
    };
    Ok(Candidate {
        scheme,
        library: "noren".to_owned(),
        parameters: format!("set {}, {values}", draft.set),
        reasons,
        price: draft.price(client, server)?,
        plan: Plan::Torus(draft),
        accuracy: Accuracy::ExactButFor(log2_failure),
        excluded: 0.0,
    })
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
