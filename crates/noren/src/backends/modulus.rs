//! The number that integers in slots are computed modulo.

use noren_math::prime::prime_power;
use noren_rlwe::error::{Error, Result};

use crate::graph::dag::Graph;
use crate::graph::interval::Interval;
use crate::graph::operation::{Binary, Operation};

/// Rings up to this index have slots modulo the primes that are tried first.
const SLOT_INDEX: u64 = 1 << 16;
/// The indices of larger rings, whose slots are modulo fewer primes.
const LARGER: [u64; 2] = [1 << 17, 1 << 18];

/// How the numbers of outputs follow from their residues.
#[derive(Debug, Clone)]
pub(super) struct Decoding {
    /// The lowest number of each output.
    lows: Vec<i64>,
    /// The modulus of all results after decryption, where the function has one.
    divisor: Option<i64>,
}

impl Decoding {
    /// That of a graph.
    pub(super) fn new(graph: &Graph) -> Self {
        let lows = graph.outputs().iter().map(|&output| held(graph, output).low as i64).collect();
        Self { lows, divisor: residues(graph).map(u64::cast_signed) }
    }

    /// The number of an output with this residue.
    pub(super) fn number(&self, output: usize, residue: i64, modulus: i64) -> i64 {
        let low = self.lows[output];
        let number = low + (residue - low).rem_euclid(modulus);
        self.divisor.map_or(number, |divisor| number.rem_euclid(divisor))
    }
}

/// The number that all outputs are remainders by, or elements of such, if they are.
fn residues(graph: &Graph) -> Option<u64> {
    let divisor = |&output: &usize| {
        let mut at = output;
        while let Operation::Gather { of, .. } = graph.node(at).operation {
            at = of;
        }
        let Operation::Binary(Binary::Remainder, _, b) = graph.node(at).operation else { return None };
        graph.number(b).filter(|&b| b >= 2.0).map(|b| b as u64)
    };
    let (first, rest) = graph.outputs().split_first()?;
    let modulus = divisor(first)?;
    rest.iter().all(|at| divisor(at) == Some(modulus)).then_some(modulus)
}

/// Whether integers in slots are known modulo what a node divides by: all outputs are, and either it is the modulus of the
/// scheme, or the client divides.
pub(super) fn is_residue(graph: &Graph, at: usize) -> bool {
    let Operation::Binary(Binary::Remainder, _, b) = graph.node(at).operation else { return false };
    let divides = |modulus: u64| graph.number(b) == Some(modulus as f64);
    residues(graph).is_some_and(divides)
        && (own_modulus(graph).is_some() || is_moved_alone(graph, &graph.consumers(), at))
}

/// Whether nothing is computed with a node: its elements change places, if that.
fn is_moved_alone(graph: &Graph, consumers: &[Vec<usize>], at: usize) -> bool {
    let moves = |&to: &usize| {
        matches!(graph.node(to).operation, Operation::Gather { .. }) && is_moved_alone(graph, consumers, to)
    };
    consumers[at].iter().all(moves)
}

/// The number that all outputs are remainders by, if it is a modulus with slots, and all numbers that are given are from minus
/// half of it to below it, as encoders take them.
pub(super) fn own_modulus(graph: &Graph) -> Option<u64> {
    let modulus = residues(graph).filter(|&modulus| has_slots(modulus))?;
    let needed = graph.needed();
    let (least, most) = (-((modulus / 2) as f64), (modulus - 1) as f64);
    let is_residue = |x: f64| (least..=most).contains(&x);
    let fits = |at: usize| match &graph.node(at).operation {
        Operation::Input { range, .. } => is_residue(range.low) && is_residue(range.high),
        Operation::Constant { values: given, .. }
        | Operation::MatMul { matrix: given, .. }
        | Operation::Polynomial(_, given) => given.iter().all(|&x| is_residue(x) || x == modulus as f64),
        _ => true,
    };
    (0..needed.len()).filter(|&at| needed[at]).all(fits).then_some(modulus)
}

/// Whether rings up to degree 2^15 have slots modulo a number.
pub(super) fn has_slots(modulus: u64) -> bool {
    has_slots_of(modulus, SLOT_INDEX)
}

/// Whether rings up to a power of two as index have slots modulo a number.
fn has_slots_of(modulus: u64, index: u64) -> bool {
    modulus % index == 1 && prime_power(modulus) == Some((modulus, 1))
}

/// How many residues tell the numbers of a graph apart: those of each output, and inputs and constants, which encoders take from
/// minus half of the modulus to below it.
pub(super) fn residues_needed(graph: &Graph) -> f64 {
    let mut least = 2.0_f64;
    let mut encode = |x: f64| least = least.max(if x < 0.0 { 1.0 - 2.0 * x } else { x + 1.0 });
    for (node, _) in graph.nodes().iter().zip(graph.needed()).filter(|(_, needed)| *needed) {
        let given: &[f64] = match &node.operation {
            Operation::Input { range, .. } => &[range.low, range.high],
            Operation::Constant { values: given, .. }
            | Operation::MatMul { matrix: given, .. }
            | Operation::Polynomial(_, given) => given,
            _ => &[],
        };
        given.iter().for_each(|&x| encode(x));
    }
    let width = |&output: &usize| {
        let range = held(graph, output);
        range.high - range.low + 1.0
    };
    graph.outputs().iter().map(width).fold(least, f64::max)
}

/// The range of what slots hold for an output: of what it is a remainder of, where the client divides.
fn held(graph: &Graph, output: usize) -> Interval {
    let mut at = output;
    while let Operation::Gather { of, .. } = graph.node(at).operation {
        at = of;
    }
    match graph.node(at).operation {
        // Elements that a gather takes from nowhere are zeros.
        Operation::Binary(Binary::Remainder, of, _) if own_modulus(graph).is_none() => {
            graph.node(of).range.hull(Interval::point(0.0))
        }
        _ => graph.node(output).range,
    }
}

/// Moduli stay below this.
const MOST: f64 = (1u64 << 45) as f64;

/// Whether there is a modulus that tells the numbers of a graph apart.
pub(super) fn modulus_holds(graph: &Graph) -> bool {
    residues_needed(graph) < MOST
}

/// The smallest prime above a number, and from 65537 on, for which rings up to degree 2^15 have slots.
pub(super) fn modulus_above(least: f64) -> Result<u64> {
    modulus_above_of(least, SLOT_INDEX)
}

/// The moduli that are tried for integers in slots, in turn: each for rings twice as large.
pub(super) fn moduli(graph: &Graph) -> Result<Vec<u64>> {
    if let Some(own) = own_modulus(graph) {
        return Ok(vec![own]);
    }
    let least = residues_needed(graph);
    let mut moduli = vec![modulus_above(least)?];
    for modulus in LARGER.into_iter().filter_map(|index| modulus_above_of(least, index).ok()) {
        if !moduli.contains(&modulus) {
            moduli.push(modulus);
        }
    }
    Ok(moduli)
}

/// The smallest prime above a number for which rings up to a power of two as index have slots.
fn modulus_above_of(least: f64, index: u64) -> Result<u64> {
    if least >= MOST {
        return Err(Error::parameter(
            "results",
            format!("{least:e}"),
            format!("below {MOST:e}: narrow the ranges of inputs"),
        ));
    }
    let start = (least / index as f64) as u64;
    let candidates = (start.max(1)..).map(|k| k * index + 1).filter(|&t| t as f64 >= least);
    candidates
        .take(1 << 16)
        .find(|&t| has_slots_of(t, index))
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
