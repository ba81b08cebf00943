//! Parameters of exact integers for a graph, and the plaintext modulus that holds its results.

use noren_math::prime::prime_power;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::security::Security;

use crate::compiler::graph::Graph;
use crate::compiler::operation::{Operation, Reduction};
use crate::compiler::options::Options;
use crate::compiler::recording::{Recording, slots_of};
use crate::compiler::slots::lowering::Approximations;
use crate::schemes::bgv::Bgv;
use crate::schemes::integers;

/// How often parameters are tried.
const MOST_ROUNDS: usize = 16;

/// Parameters of integers for a graph.
#[derive(Debug, Clone)]
pub(super) struct IntegerPlan {
    pub(super) parameters: integers::Parameters,
    pub(super) recording: Recording,
}

/// Rings up to this index have slots modulo the primes that are tried.
const SLOT_INDEX: u64 = 1 << 16;

impl IntegerPlan {
    /// The smallest parameters that carry all operations, modulo a prime that holds all results.
    ///
    /// # Errors
    /// Graphs that BGV does not evaluate, or that no parameters carry.
    pub(super) fn search(graph: &Graph, options: &Options) -> Result<Self> {
        let (largest, terms) = sizes(graph);
        let modulus = modulus_above(2.0 * largest + 1.0)?;
        let wanted = slots_of(graph);
        let mut slots = wanted;
        for _ in 0..MOST_ROUNDS {
            let recording = Recording::new::<i64>(graph, slots, Approximations::EXACT)?;
            let requirements = requirements(&recording, modulus, terms, options.security);
            let parameters = requirements.choose::<Bgv>()?;
            if parameters.row_slots() == slots {
                return Ok(Self { parameters, recording });
            }
            // A vector is a row, whatever is in it.
            slots = parameters.row_slots();
        }
        Err(Error::parameter("slots", wanted, "arrays of fewer elements"))
    }
}

/// The limbs that ciphertexts have at each depth, in the parameters of a recorded graph.
pub(super) fn limbs_by_depth(graph: &Graph, parameters: &integers::Parameters, recording: &Recording) -> Vec<usize> {
    let (_, terms) = sizes(graph);
    let security = parameters.rlwe().security();
    requirements(recording, parameters.modulus().value(), terms, security).limbs_by_depth::<Bgv>(parameters)
}

/// What a recorded graph asks of parameters.
fn requirements(recording: &Recording, modulus: u64, terms: usize, security: Security) -> integers::Requirements {
    integers::Requirements {
        depth: recording.usage.depth,
        plaintext_modulus: modulus,
        slots: 2 * recording.slots.min(1 << 14),
        terms,
        sum: terms,
        plain_products: 0,
        security,
    }
}

/// The largest magnitude of inputs, constants and outputs, and the most terms of a sum.
fn sizes(graph: &Graph) -> (f64, usize) {
    let needed = graph.needed();
    let mut largest = 1.0_f64;
    let mut terms = 1;
    for (at, node) in graph.nodes().iter().enumerate().filter(|(at, _)| needed[*at]) {
        let bounded = graph.outputs().contains(&at)
            || matches!(node.operation, Operation::Input { .. } | Operation::Constant { .. });
        if bounded {
            largest = largest.max(node.range.magnitude());
        }
        match &node.operation {
            Operation::Reduce(Reduction::Sum, of, axes) => {
                let shape = &graph.node(*of).shape;
                terms = terms.max(axes.iter().map(|&axis| shape[axis]).product());
            }
            Operation::MatMul { columns, matrix, .. } => {
                largest = matrix.iter().fold(largest, |largest, entry| largest.max(entry.abs()));
                terms = terms.max(matrix.len() / columns);
            }
            Operation::Polynomial(_, coefficients) => {
                largest = coefficients.iter().fold(largest, |largest, c| largest.max(c.abs()));
            }
            _ => {}
        }
    }
    (largest, terms)
}

/// The smallest prime above a number, and from 65537 on, for which rings up to degree 2^15 have slots.
fn modulus_above(least: f64) -> Result<u64> {
    /// Moduli stay below this.
    const MOST: f64 = (1u64 << 45) as f64;
    if least >= MOST {
        return Err(Error::parameter(
            "results",
            format!("{least:e}"),
            format!("below {MOST:e}: narrow the ranges of inputs"),
        ));
    }
    let start = (least / SLOT_INDEX as f64) as u64;
    let candidates = (start.max(1)..).map(|k| k * SLOT_INDEX + 1).filter(|&t| t as f64 >= least);
    candidates
        .take(1 << 16)
        .find(|&t| prime_power(t) == Some((t, 1)))
        .ok_or_else(|| Error::parameter("results", least, "smaller numbers"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plaintext_moduli_are_primes_with_slots() {
        assert_eq!(modulus_above(3.0).expect("a modulus"), 65537);
        let t = modulus_above(1e6).expect("a modulus");
        assert!(t >= 1_000_000 && t % SLOT_INDEX == 1 && prime_power(t) == Some((t, 1)), "{t}");
        assert!(modulus_above(1e15).is_err());
    }
}
