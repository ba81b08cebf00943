//! Parameters of CKKS for a graph: levels, precision and slots that fit each other.

use noren_rlwe::error::{Error, Result};

use crate::compiler::error::CompileError;
use crate::compiler::layout::Layout;
use crate::compiler::options::Options;
use crate::compiler::recording::{Recording, slots_of};
use crate::compiler::slots::lowering::{Approximations, Lowering, Source};
use crate::compiler::slots::value::View;
use crate::graph::dag::Graph;
use crate::schemes::ckks::model::{ModelVector, NoiseModel};
use crate::schemes::ckks::{self, CkksError};
use crate::schemes::error::readable;

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
        let refused = match Self::within(graph, options, precision)? {
            Ok(plan) => return Ok(plan),
            Err(refused) => refused,
        };
        let reason = format!("{}. Narrower ranges of inputs, fewer steps or a larger precision= help", refused.reason);
        let mut wider = precision;
        for _ in 0..WIDER_ROUNDS {
            wider *= WIDER;
            if Self::within(graph, options, wider)?.is_ok() {
                let nearest = Self::nearest(graph, options, [precision, wider])?;
                return Err(CompileError::Precision { wanted: precision, nearest, reason }.into());
            }
        }
        Err(CompileError::Budget { levels: refused.levels, reason }.into())
    }

    /// The smallest precision that is found to be possible, by halving, between one that is not and one that is. It is told as it
    /// was tried, in few digits.
    fn nearest(graph: &Graph, options: &Options, [mut refused, mut possible]: [f64; 2]) -> Result<f64> {
        /// How often the interval is halved.
        const HALVINGS: usize = 4;
        for _ in 0..HALVINGS {
            let middle = in_few_digits((refused * possible).sqrt());
            match Self::within(graph, options, middle)? {
                Ok(_) => possible = middle,
                Err(_) => refused = middle,
            }
        }
        let told = in_few_digits(possible);
        // Rounding may have led to one that was not tried.
        Ok(if told == possible || Self::within(graph, options, told)?.is_ok() { told } else { possible })
    }

    /// The smallest parameters with which the bounds are within a precision, or why there are none.
    fn within(graph: &Graph, options: &Options, precision: f64) -> Result<std::result::Result<Self, Refused>> {
        let mut approximations =
            Approximations { error: precision * SHARE_OF_APPROXIMATIONS, dead_zone: options.dead_zone };
        let mut bits = SPARE_BITS - libm::log2(precision);
        let mut max_abs = graph.outputs().iter().map(|&at| graph.node(at).range.magnitude()).fold(1.0, f64::max);
        // The largest value that the first prime must hold, constants among them.
        let mut room = max_abs;
        let wanted = slots_of(graph);
        let (mut slots, mut last) = (1, f64::INFINITY);
        let mut refused = Refused { levels: 0, reason: "the bound did not settle".to_owned() };
        // The slots depend on the ring, the levels on the slots, and the ring on the levels.
        for _ in 0..MOST_ROUNDS {
            let requirements = ckks::Requirements {
                depth: refused.levels,
                precision_bits: bits.max(1.0),
                max_abs,
                slots,
                security: options.security,
                ..ckks::Requirements::default()
            };
            let parameters = match ckks::Parameters::smallest(&requirements, room) {
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
            let outputs = match predicted(graph, &model, &recording, approximations) {
                Ok(Predicted { outputs, .. }) => outputs,
                Err(error) => {
                    let Some(CkksError::Overflow { value, .. }) = error.downcast_ref() else { return Err(error) };
                    room = (2.0 * room).max(value.abs());
                    refused.reason = format!("a constant or factor {} leaves the modulus", readable(*value));
                    continue;
                }
            };
            let bound = outputs.iter().copied().fold(0.0, f64::max);
            if bound <= precision * MARGIN {
                return Ok(Ok(Self { parameters, approximations, recording }));
            }
            if bound.is_infinite() {
                // A message may have left its modulus: the first prime must hold more.
                max_abs *= 4.0;
                room = room.max(max_abs);
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
    reason: String,
}

/// A number that is not below, of two digits.
pub(super) fn in_few_digits(x: f64) -> f64 {
    let exponent = libm::log10(x).floor() as i32 - 1;
    let digits = (x / libm::pow(10.0, f64::from(exponent))).ceil();
    // As the text is read, so that what is shown is what was tried.
    format!("{digits:.0}e{exponent}").parse().unwrap_or(x)
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

#[cfg(test)]
mod tests {
    use noren_math::random::Seed;
    use noren_rlwe::security::Security;

    use super::*;
    use crate::compiler::options::Scheme;
    use crate::compiler::program::Program;
    use crate::graph::interval::Interval;
    use crate::graph::operation::{Binary, Element, Function, Operation};

    fn with_input(low: f64, high: f64, build: impl Fn(&mut Graph, usize) -> usize) -> Graph {
        let mut graph = Graph::default();
        let range = Interval::new(low, high);
        let x = Operation::Input { name: "x".into(), shape: vec![8], element: Element::Real, range };
        let x = graph.push(x, "").expect("an input");
        let output = build(&mut graph, x);
        graph.finish(vec![output]).expect("an output");
        graph
    }

    fn with_constant(graph: &mut Graph, kind: Binary, x: usize, c: f64) -> usize {
        let c = Operation::Constant { shape: vec![], element: Element::Real, values: vec![c] };
        let c = graph.push(c, "").expect("a constant");
        graph.push(Operation::Binary(kind, x, c), "").expect("an operation")
    }

    /// Compiles a graph, and runs it on ciphertexts.
    fn run(graph: Graph, inputs: &[Vec<f64>], options: &Options) {
        let program = Program::compile(graph, options).expect("a program");
        let context = ckks::Context::new(program.ckks().expect("CKKS").clone()).expect("rings");
        let seed = |byte: u8| Seed::from_bytes([byte; 32]);
        let keys = context.generate_keys(seed(1), &program.ckks_keys().expect("a request")).expect("keys");
        let encryptor = ckks::Encryptor::symmetric(&context, &keys.secret, seed(2)).expect("a key");
        let encrypted = program.encrypt_ckks(&context, &encryptor, inputs).expect("inputs in their ranges");
        let ev = ckks::Evaluator::new(&context, keys.evaluation).expect("the same keys");
        let outputs = program.run_ckks(&ev, encrypted).expect("parameters that hold all constants");
        let found = program.decrypt_ckks(&ckks::Decryptor::new(&context, &keys.secret).expect("a key"), &outputs);
        let found = found.expect("outputs");
        let expected = program.graph().evaluate(inputs).expect("values");
        for (a, b) in found.values[0].iter().zip(&expected[0]) {
            assert!((a - b).abs() <= found.bounds[0], "{a} for {b}, bound {}", found.bounds[0]);
        }
    }

    #[test]
    fn constants_and_factors_fit_the_parameters() {
        let square = |graph: &mut Graph, x| graph.push(Operation::Binary(Binary::Mul, x, x), "").expect("a square");
        let function = |graph: &mut Graph, name, of| {
            graph.push(Operation::Function { name, of, error: 0.0 }, "").expect("a function")
        };
        let scaled = |graph: &mut Graph, x| {
            let x = with_constant(graph, Binary::Sub, x, 120.0);
            let x = with_constant(graph, Binary::Mul, x, 1.0 / 15.0);
            square(graph, x)
        };
        let shifted = |graph: &mut Graph, x| {
            let x = with_constant(graph, Binary::Sub, x, 2000.0);
            let x = with_constant(graph, Binary::Mul, x, 0.01);
            with_constant(graph, Binary::Add, x, 0.5)
        };
        let graphs = [
            with_input(60.0, 180.0, scaled),
            with_input(35.0, 42.0, |graph, x| {
                let x = with_constant(graph, Binary::Sub, x, 37.0);
                square(graph, x)
            }),
            with_input(1990.0, 2010.0, shifted),
            with_input(100.0, 101.0, |graph, x| function(graph, Function::Reciprocal, x)),
            with_input(0.5, 0.5, |graph, x| function(graph, Function::Exp, x)),
            with_input(-1e-6, 1e-6, |graph, x| {
                let x = with_constant(graph, Binary::Add, x, 1.0);
                function(graph, Function::Log, x)
            }),
        ];
        let options = Options { security: Security::None, ..Options::default() };
        for graph in graphs {
            let range = graph.node(0).range;
            let inputs = [(0..8).map(|i| range.low + (range.high - range.low) * f64::from(i) / 7.0).collect()];
            run(graph, &inputs, &options);
        }
    }

    #[test]
    fn the_nearest_precision_that_is_named_is_possible() {
        let graph = with_input(-1.0, 1.0, |graph, x| with_constant(graph, Binary::Maximum, x, 0.2));
        let options = Options { scheme: Some(Scheme::Ckks), precision: Some(1e-3), ..Options::default() };
        let error = CkksPlan::search(&graph, &options).expect_err("a precision that is not possible");
        let Some(CompileError::Precision { nearest, .. }) = error.downcast_ref() else { panic!("{error}") };
        assert!(*nearest > 1e-3 && readable(*nearest).to_string().parse() == Ok(*nearest), "{error}");
        let options = Options { precision: Some(*nearest), ..options };
        assert!(CkksPlan::search(&graph, &options).is_ok(), "{error}");
    }

    #[test]
    fn few_digits_are_not_below() {
        assert_eq!([1e-3, 1.01e-3, 0.1249, 99.5].map(in_few_digits), [1e-3, 1.1e-3, 0.13, 100.0]);
    }
}
