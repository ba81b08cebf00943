//! Parameters of CKKS for a graph: levels, precision and slots that fit each other.

use noren_rlwe::error::{Error, Result};

use crate::compiler::error::CompileError;
use crate::compiler::graph::Graph;
use crate::compiler::layout::Layout;
use crate::compiler::options::Options;
use crate::compiler::recording::{Recording, slots_of};
use crate::compiler::slots::lowering::{Approximations, Lowering, Source};
use crate::compiler::slots::value::View;
use crate::schemes::ckks::model::{ModelVector, NoiseModel};
use crate::schemes::ckks::{self};

/// The precision without one that is asked for, relative to the largest result.
const USUAL_PRECISION: f64 = 1e-3;

/// The part of the precision that one approximation may take at first.
pub(super) const SHARE_OF_APPROXIMATIONS: f64 = 1.0 / 16.0;

/// How many bits more than the precision the scheme has at first: errors add up.
const SPARE_BITS: f64 = 3.0;

/// The part of the last bound that a bound must fall to, so that more bits count as a help.
pub(super) const HELPS: f64 = 0.75;

/// The factor from one precision to the next, and how many are tried, to say which is possible.
const WIDER: f64 = 8.0;
const WIDER_ROUNDS: usize = 12;

/// How often parameters are tried.
const MOST_ROUNDS: usize = 16;

/// The part of the precision that the predicted bound may reach: bounds of ciphertexts differ a little from it.
pub(super) const MARGIN: f64 = 0.9;

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
    /// [`CompileError::Precision`] with the nearest precision that is possible, [`CompileError::Budget`] if none is; what the
    /// graph cannot have in slots.
    pub(super) fn search(graph: &Graph, options: &Options) -> Result<Self> {
        let precision = precision_of(graph, options);
        let Refused { levels, mut nearest, reason } = match Self::within(graph, options, precision)? {
            Ok((plan, _)) => return Ok(plan),
            Err(refused) => refused,
        };
        let mut wider = precision;
        for _ in 0..WIDER_ROUNDS {
            wider *= WIDER;
            if wider >= nearest {
                break;
            }
            if let Ok((_, bound)) = Self::within(graph, options, wider)? {
                nearest = bound;
                break;
            }
        }
        let reason = format!("{reason}. Narrower ranges of inputs, fewer steps or a larger precision= help");
        if nearest.is_infinite() {
            return Err(CompileError::Budget { levels, reason }.into());
        }
        Err(CompileError::Precision { wanted: precision, nearest, reason }.into())
    }

    /// The smallest parameters with which the bounds are within a precision, and the largest bound; or why there are none.
    fn within(graph: &Graph, options: &Options, precision: f64) -> Result<std::result::Result<(Self, f64), Refused>> {
        let mut approximations =
            Approximations { error: precision * SHARE_OF_APPROXIMATIONS, dead_zone: options.dead_zone };
        let mut bits = SPARE_BITS - libm::log2(precision);
        let mut max_abs = graph.outputs().iter().map(|&at| graph.node(at).range.magnitude()).fold(1.0, f64::max);
        let wanted = slots_of(graph);
        let (mut slots, mut last) = (1, f64::INFINITY);
        let mut refused = Refused { levels: 0, nearest: f64::INFINITY, reason: "the bound did not settle".to_owned() };
        // The slots depend on the ring, the levels on the slots, and the ring on the levels.
        for _ in 0..MOST_ROUNDS {
            let requirements = ckks::Requirements {
                depth: refused.levels,
                precision_bits: bits.max(1.0),
                max_abs,
                slots,
                security: options.security,
            };
            let parameters = match ckks::Parameters::smallest(&requirements, requirements.max_abs) {
                Ok(parameters) => parameters,
                Err(error @ Error::Parameters { .. }) => {
                    return Ok(Err(Refused { reason: error.to_string(), ..refused }));
                }
                Err(error) => return Err(error),
            };
            slots = wanted.min(parameters.max_slots());
            let recording = Recording::new::<f64>(graph, slots, approximations)?;
            if recording.usage.depth > parameters.max_level() {
                refused.levels = recording.usage.depth;
                continue;
            }
            let model = NoiseModel::new(parameters.clone(), None);
            let Predicted { outputs, .. } = predicted(graph, &model, &recording, approximations)?;
            let bound = outputs.iter().copied().fold(0.0, f64::max);
            refused.nearest = refused.nearest.min(bound);
            if bound <= precision * MARGIN {
                return Ok(Ok((Self { parameters, approximations, recording }, bound)));
            }
            if bound.is_infinite() {
                // A message may have left its modulus: the first prime must hold more.
                max_abs *= 4.0;
                refused.reason = format!("intermediate results of up to {max_abs:e} leave the modulus");
                continue;
            }
            // Where more bits do not help, polynomials are what is off.
            let excess = bound / (precision * MARGIN);
            if bound > last * HELPS {
                approximations.error /= excess.clamp(1.5, 64.0);
            } else {
                bits += libm::log2(excess).max(0.5);
            }
            last = bound;
        }
        Ok(Err(refused))
    }
}

/// Why there are no parameters.
struct Refused {
    /// The levels that the graph takes, as far as it was recorded.
    levels: usize,
    /// The smallest bound that was found.
    nearest: f64,
    reason: String,
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
    let mut source = Modelled { model, level: model.parameters().max_level(), slots: recording.slots, inputs: None };
    let mut bounds = vec![None; graph.nodes().len()];
    let bound = |parts: &[ModelVector]| parts.iter().map(|part| model.error_bound(part)).fold(0.0, f64::max);
    let outputs = Lowering::new(model, graph, recording.slots, approximations, &mut source)
        .run(|node, parts, _: &Layout| bounds[node] = Some(bound(parts)))?;
    Ok(Predicted { bounds, outputs: outputs.iter().map(|output| bound(&output.parts)).collect() })
}

/// Inputs of a model: given ones, or zeros.
pub(super) struct Modelled<'a> {
    pub(super) model: &'a NoiseModel,
    /// The level of inputs.
    pub(super) level: usize,
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
        vectors.iter().map(|slots| self.model.encrypt(slots, range, self.level)).collect()
    }
}

/// Where all slots of a view lie.
pub(super) fn encrypted_range(view: &View) -> [f64; 2] {
    let padding = view.free.padding();
    [view.free.range.low.min(padding), view.free.range.high.max(padding)]
}
