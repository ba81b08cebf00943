//! Parameters for a graph: levels, precision and slots that fit each other.

use noren_math::prime::prime_power;
use noren_rlwe::error::{Error, Result};

use crate::compiler::error::CompileError;
use crate::compiler::graph::Graph;
use crate::compiler::layout::Layout;
use crate::compiler::operation::{Operation, Reduction};
use crate::compiler::options::Options;
use crate::compiler::recording::Recording;
use crate::compiler::slots::lowering::{Approximations, Lowering, Source};
use crate::compiler::slots::value::View;
use crate::schemes::bgv::Bgv;
use crate::schemes::ckks::model::{ModelVector, NoiseModel};
use crate::schemes::ckks::{self};
use crate::schemes::integers;

/// The precision without one that is asked for, relative to the largest result.
const USUAL_PRECISION: f64 = 1e-3;

/// The part of the precision that one approximation may take at first.
const SHARE_OF_APPROXIMATIONS: f64 = 1.0 / 16.0;

/// How many bits more than the precision the scheme has at first: errors add up.
const SPARE_BITS: f64 = 3.0;

/// How often parameters are tried.
const MOST_ROUNDS: usize = 16;

/// The part of the precision that the predicted bound may reach: bounds of ciphertexts differ a little from it.
const MARGIN: f64 = 0.9;

/// Parameters of CKKS for a graph.
#[derive(Debug, Clone)]
pub(super) struct CkksPlan {
    pub(super) parameters: ckks::Parameters,
    pub(super) approximations: Approximations,
    pub(super) recording: Recording,
}

impl CkksPlan {
    /// The smallest parameters with which the error bounds of all outputs are within the precision that is asked for.
    ///
    /// # Errors
    /// [`CompileError::Precision`] with the nearest precision that was found; what the graph cannot have in slots.
    pub(super) fn search(graph: &Graph, options: &Options) -> Result<Self> {
        let precision = precision_of(graph, options);
        let mut approximations =
            Approximations { error: precision * SHARE_OF_APPROXIMATIONS, dead_zone: options.dead_zone };
        let mut bits = SPARE_BITS - libm::log2(precision);
        let mut max_abs = graph.outputs().iter().map(|&at| graph.node(at).range.magnitude()).fold(1.0, f64::max);
        let wanted = slots_of(graph);
        let mut nearest = f64::INFINITY;
        let mut refused = String::new();
        // The slots depend on the ring, the levels on the slots, and the ring on the levels.
        let (mut depth, mut slots) = (0, 1);
        for _ in 0..MOST_ROUNDS {
            let requirements =
                ckks::Requirements { depth, precision_bits: bits.max(1.0), max_abs, slots, security: options.security };
            let parameters = match ckks::Parameters::smallest(&requirements) {
                Ok(parameters) => parameters,
                Err(error @ Error::Parameters { .. }) => {
                    refused = error.to_string();
                    break;
                }
                Err(error) => return Err(error),
            };
            slots = wanted.min(parameters.max_slots());
            let recording = Recording::new::<f64>(graph, slots, approximations)?;
            if recording.usage.depth > parameters.max_level() {
                depth = recording.usage.depth;
                continue;
            }
            let model = NoiseModel::new(parameters.clone(), None);
            let Predicted { outputs, .. } = predicted(graph, &model, &recording, approximations)?;
            let bound = outputs.iter().copied().fold(0.0, f64::max);
            nearest = nearest.min(bound);
            if bound <= precision * MARGIN {
                return Ok(Self { parameters, approximations, recording });
            }
            if bound.is_infinite() {
                // A message may have left its modulus: the first prime must hold more.
                max_abs *= 4.0;
                refused = format!("intermediate results of up to {max_abs:e} leave the modulus");
                continue;
            }
            let excess = bound / (precision * MARGIN);
            bits += libm::log2(excess).max(0.5);
            approximations.error /= excess.clamp(1.5, 64.0);
        }
        if refused.is_empty() {
            "the bound did not settle".clone_into(&mut refused);
        }
        let reason = format!("{refused}. Narrower ranges of inputs, fewer steps or a larger precision= help");
        if nearest.is_infinite() {
            return Err(CompileError::Budget { levels: depth, reason }.into());
        }
        Err(CompileError::Precision { wanted: precision, nearest, reason }.into())
    }
}

/// Bounds of a graph on a model of noise.
pub(super) struct Predicted {
    /// For each node the bound on the error of its elements, as far as it has ciphertexts.
    pub(super) bounds: Vec<Option<f64>>,
    /// For each output.
    pub(super) outputs: Vec<f64>,
}

/// The absolute error that outputs may have.
pub(super) fn precision_of(graph: &Graph, options: &Options) -> f64 {
    let largest = graph.outputs().iter().map(|&at| graph.node(at).range.magnitude()).fold(1.0, f64::max);
    options.precision.unwrap_or(USUAL_PRECISION * largest)
}

/// Runs a graph on a model, with zeros as inputs.
pub(super) fn predicted(
    graph: &Graph,
    model: &NoiseModel,
    recording: &Recording,
    approximations: Approximations,
) -> Result<Predicted> {
    let mut source = Modelled { model, slots: recording.slots, inputs: None };
    let mut bounds = vec![None; graph.nodes().len()];
    let bound = |parts: &[ModelVector]| parts.iter().map(|part| model.error_bound(part)).fold(0.0, f64::max);
    let outputs = Lowering::new(model, graph, recording.slots, approximations, &mut source)
        .run(|node, parts, _: &Layout| bounds[node] = Some(bound(parts)))?;
    Ok(Predicted { bounds, outputs: outputs.iter().map(|output| bound(&output.parts)).collect() })
}

/// Inputs of a model: given ones, or zeros.
pub(super) struct Modelled<'a> {
    pub(super) model: &'a NoiseModel,
    pub(super) slots: usize,
    /// The nodes of inputs, and the inputs.
    pub(super) inputs: Option<(&'a [usize], &'a [Vec<f64>])>,
}

impl Source<ModelVector> for Modelled<'_> {
    fn view(&mut self, view: View) -> Result<Vec<ModelVector>> {
        let range = encrypted_range(&view);
        let input = |(nodes, inputs): (&[usize], &'_ [Vec<f64>])| {
            let at = nodes.iter().position(|&node| node == view.free.input);
            at.map(|at| view.pack(&inputs[at], self.slots))
        };
        let zeros = || vec![vec![view.free.padding(); self.slots]; view.layout.parts(self.slots)];
        let vectors = self.inputs.and_then(input).unwrap_or_else(zeros);
        let level = self.model.parameters().max_level();
        vectors.iter().map(|slots| self.model.encrypt(slots, range, level)).collect()
    }
}

/// Where all slots of a view lie.
pub(super) fn encrypted_range(view: &View) -> [f64; 2] {
    let padding = view.free.padding();
    [view.free.range.low.min(padding), view.free.range.high.max(padding)]
}

/// As many slots as the largest array takes.
fn slots_of(graph: &Graph) -> usize {
    let needed = graph.needed();
    let nodes = graph.nodes().iter().enumerate().filter(|(at, _)| needed[*at]).map(|(_, node)| node);
    let padded = |shape: &[usize]| {
        shape.iter().fold(1usize, |product, extent| product.saturating_mul(extent.next_power_of_two()))
    };
    nodes.map(|node| padded(&node.shape)).max().unwrap_or(1)
}

/// Parameters of integers for a graph.
#[derive(Debug, Clone)]
pub(super) struct IntegerPlan {
    pub(super) parameters: integers::Parameters,
    pub(super) recording: Recording,
}

/// Rings up to this index have slots modulo the primes that are tried.
const SLOT_INDEX: u64 = 1 << 16;

/// What integers need not approximate.
const EXACT: Approximations = Approximations { error: 0.0, dead_zone: None };

impl IntegerPlan {
    /// The smallest parameters that carry all operations, modulo a prime that holds all results.
    ///
    /// # Errors
    /// Graphs that BGV does not evaluate, or that no parameters carry.
    pub(super) fn search(graph: &Graph, options: &Options) -> Result<Self> {
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
        let modulus = modulus_above(2.0 * largest + 1.0)?;
        let wanted = slots_of(graph);
        let mut slots = wanted;
        for _ in 0..MOST_ROUNDS {
            let recording = Recording::new::<i64>(graph, slots, EXACT)?;
            let requirements = integers::Requirements {
                depth: recording.usage.depth,
                plaintext_modulus: modulus,
                slots: 2 * slots.min(1 << 14),
                terms,
                sum: terms,
                plain_products: 0,
                security: options.security,
            };
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
