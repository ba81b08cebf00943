//! Parameters of CKKS with bootstraps for a graph, and the model of its noise.

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result, SchemeError};
use noren_rlwe::security::Security;

use crate::bootstrapping::{self, BootstrapPlan, MAX_MAGNITUDE, Mode, Preset};
use crate::circuits::renewing::{Renewable, Renewal, Renewing};
use crate::compiler::error::CompileError;
use crate::compiler::layout::Layout;
use crate::compiler::options::Options;
use crate::compiler::parameters::{
    HELPS, MARGIN, Modelled, Predicted, SHARE_OF_APPROXIMATIONS, in_few_digits, precision_of,
};
use crate::compiler::recording::{Recording, Renewed, slots_of};
use crate::compiler::slots::lowering::{Approximations, Lowering};
use crate::graph::dag::Graph;
use crate::schemes::ckks::model::{ModelVector, NoiseModel};
use crate::schemes::slots::SlotEvaluator;

/// Bits from the expected largest error of a bootstrap to the bound that its result carries: bounds are up to two bits above, and
/// expectations are right to about one (`docs/bootstrapping.md`, "The error of a result").
const BOUND_BITS: f64 = 3.0;

/// How often polynomials are made more precise.
const MOST_ROUNDS: usize = 4;
/// By how much they are then.
const FINER: f64 = 1.0 / 16.0;

/// The factor from one precision to the next, and how many are tried, to say which is possible.
const WIDER: f64 = 2.0;
/// The same where no bound was found.
const MUCH_WIDER: f64 = 4.0;
const WIDER_ROUNDS: usize = 4;

/// Parameters of CKKS with bootstraps for a graph.
#[derive(Debug, Clone)]
pub(super) struct DeepPlan {
    pub(super) parameters: bootstrapping::Parameters,
    pub(super) approximations: Approximations,
    pub(super) recording: Recording,
}

impl DeepPlan {
    /// The first preset with which the error bounds of all outputs are within the precision that is asked for.
    ///
    /// # Errors
    /// [`CompileError::Precision`] with the nearest precision that is possible; an intermediate result that may be too large to be
    /// bootstrapped; what the graph cannot have in slots.
    pub(super) fn search(graph: &Graph, options: &Options) -> Result<Self> {
        let precision = precision_of(graph, options);
        let nearest = match Self::within(graph, options, precision)? {
            Ok(plan) => return Ok(plan),
            Err(bound) => bound,
        };
        let reason = "bootstraps add errors of their own. Narrower ranges, fewer steps or a larger precision= help";
        // Polynomials are less precise for a larger precision: it is named only once it was tried.
        let (mut wider, factor) =
            if nearest.is_finite() { (nearest / MARGIN, WIDER) } else { (precision * MUCH_WIDER, MUCH_WIDER) };
        for _ in 0..WIDER_ROUNDS {
            let nearest = in_few_digits(wider);
            if Self::within(graph, options, nearest)?.is_ok() {
                return Err(CompileError::Precision { wanted: precision, nearest, reason: reason.to_owned() }.into());
            }
            wider *= factor;
        }
        Err(Error::parameter("precision", precision, format!("a much larger one: {reason}")))
    }

    /// The first preset with which the bounds are within a precision, or the smallest bound that was found.
    fn within(graph: &Graph, options: &Options, precision: f64) -> Result<std::result::Result<Self, f64>> {
        let presets: &[Preset] = match options.security {
            Security::None => &[Preset::Toy],
            Security::Bits128 => &[Preset::N16, Preset::N16Precise],
            _ => {
                let needed = "128 bits: presets of bootstrapping promise no more";
                return Err(Error::parameter("security", options.security, needed));
            }
        };
        let mut nearest = f64::INFINITY;
        for preset in presets {
            let slots = slots_of(graph).min(1 << preset.spec().log_slots);
            let parameters = preset.spec_for(slots.ilog2())?.build()?;
            let error = precision * SHARE_OF_APPROXIMATIONS;
            let mut approximations = Approximations { error, dead_zone: options.dead_zone };
            let mut last = f64::INFINITY;
            for _ in 0..MOST_ROUNDS {
                let plan = Self::with(graph, parameters.clone(), slots, approximations)?;
                let bound = match plan.predicted(graph) {
                    Ok(predicted) => predicted.outputs.into_iter().fold(0.0, f64::max),
                    Err(error) if error.downcast_ref() == Some(&Overgrown) => f64::INFINITY,
                    Err(error) => return Err(error),
                };
                nearest = nearest.min(bound);
                if bound <= precision * MARGIN {
                    return Ok(Ok(plan));
                }
                if bound.is_infinite() || bound > last * HELPS {
                    break;
                }
                last = bound;
                approximations.error *= FINER;
            }
        }
        Ok(Err(nearest))
    }

    /// The plan with these parameters.
    ///
    /// # Errors
    /// What the graph cannot have in slots.
    pub(super) fn with(
        graph: &Graph,
        parameters: bootstrapping::Parameters,
        slots: usize,
        approximations: Approximations,
    ) -> Result<Self> {
        let recording = Recording::with_bootstraps(graph, slots, approximations, parameters.levels_left())?;
        Ok(Self { parameters, approximations, recording })
    }

    /// The bounds of a graph as its noise is predicted.
    ///
    /// # Errors
    /// An intermediate result that may be too large to be bootstrapped.
    pub(super) fn predicted(&self, graph: &Graph) -> Result<Predicted> {
        let model = Model::new(self.parameters.clone(), None)?;
        let mut bounds = vec![None; graph.nodes().len()];
        let outputs = model.run(graph, &self.recording, self.approximations, None, |node, parts, _| {
            bounds[node] = Some(model.bound(parts));
        })?;
        Ok(Predicted { bounds, outputs: outputs.iter().map(|parts| model.bound(parts)).collect() })
    }
}

/// An intermediate result that would be small enough to be bootstrapped, but for the bound on its error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "an intermediate result has an error bound above {MAX_MAGNITUDE}, and cannot be bootstrapped: use a larger precision="
)]
struct Overgrown;

impl SchemeError for Overgrown {}

/// The noise of CKKS with bootstraps.
pub(super) struct Model {
    noise: NoiseModel,
    parameters: bootstrapping::Parameters,
    /// The expected largest error of a bootstrap of numbers up to 1.
    expected: f64,
}

/// Vectors of a model.
type Vectors = Vec<Renewable<ModelVector>>;

impl Model {
    /// The model of parameters, with the noise of this seed, or none.
    ///
    /// # Errors
    /// None of parameters that were built.
    pub(super) fn new(parameters: bootstrapping::Parameters, seed: Option<&Seed>) -> Result<Self> {
        let expected = libm::exp2(-BootstrapPlan::new(&parameters)?.precision_bits(Mode::Real));
        Ok(Self { noise: NoiseModel::new(parameters.ckks()?, seed), parameters, expected })
    }

    /// Runs a graph on the inputs of nodes, or on zeros; `done` hears of each node. Gives the vectors of each output.
    ///
    /// # Errors
    /// An intermediate result that may be too large to be bootstrapped.
    pub(super) fn run(
        &self,
        graph: &Graph,
        recording: &Recording,
        approximations: Approximations,
        inputs: Option<(&[usize], &[Vec<f64>])>,
        done: impl FnMut(usize, &[Renewable<ModelVector>], &Layout),
    ) -> Result<Vec<Vectors>> {
        let level = self.parameters.output_level();
        let mut source = Renewed(Modelled { model: &self.noise, level, slots: recording.slots, inputs });
        let ev = Renewing::new(&self.noise, self);
        let outputs = Lowering::new(&ev, graph, recording.slots, approximations, &mut source).run(done)?;
        Ok(outputs.into_iter().map(|output| output.parts).collect())
    }

    /// The largest bound on the errors of vectors.
    pub(super) fn bound(&self, parts: &[Renewable<ModelVector>]) -> f64 {
        parts.iter().map(|part| self.noise.error_bound(part.best())).fold(0.0, f64::max)
    }
}

impl Renewal<NoiseModel> for Model {
    fn left(&self, ev: &NoiseModel, x: &ModelVector) -> usize {
        ev.level(x).saturating_sub(self.parameters.input_level())
    }

    fn most(&self) -> usize {
        self.parameters.levels_left()
    }

    fn renew(&self, ev: &NoiseModel, x: &ModelVector) -> Result<ModelVector> {
        let size = x.range().magnitude() + ev.error_bound(x);
        if size.is_nan() || size > MAX_MAGNITUDE {
            if x.range().magnitude() <= MAX_MAGNITUDE {
                return Err(Overgrown.into());
            }
            let found = format!("an intermediate result of up to {size:e}");
            let needed = format!("at most {MAX_MAGNITUDE}, to be bootstrapped: narrow the ranges of inputs, or scale");
            return Err(Error::parameter("magnitude", found, needed));
        }
        // Larger messages are divided by a power of two on their way.
        let expected = self.expected * libm::exp2(libm::log2(size).ceil().max(0.0));
        // The largest of n normal numbers is about sqrt(2 ln n) deviations.
        let deviations = (2.0 * libm::log(ev.slots(x).max(2) as f64)).sqrt();
        ev.renewed(x, self.parameters.output_level(), expected / deviations, expected * libm::exp2(BOUND_BITS))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::bootstrapping::{BootstrapKeyFile, Bootstrapper, WithBootstrapping};
    use crate::compiler::options::Scheme;
    use crate::compiler::program::Program;
    use crate::graph::interval::Interval;
    use crate::graph::operation::{Binary, Element, Function, Operation, Reduction};
    use crate::schemes::ckks;
    use crate::wire::Limits;

    const COUNT: usize = 6;

    fn input(graph: &mut Graph, name: &str, range: Interval) -> usize {
        let input = Operation::Input { name: name.into(), shape: vec![COUNT], element: Element::Real, range };
        graph.push(input, name).expect("an input")
    }

    /// `y <- (y + x) z / 2`, eight times, then a tanh that is deeper than the levels between two bootstraps, and a sum.
    fn deep_graph() -> Graph {
        let mut graph = Graph::default();
        let [x, z] = ["x", "z"].map(|name| input(&mut graph, name, Interval::new(-1.0, 1.0)));
        let mut push = |operation: Operation| graph.push(operation, "deep.py:1").expect("an operation");
        let half = push(Operation::Constant { shape: vec![], element: Element::Real, values: vec![0.5] });
        let mut y = x;
        for _ in 0..8 {
            let sum = push(Operation::Binary(Binary::Add, y, x));
            let product = push(Operation::Binary(Binary::Mul, sum, z));
            y = push(Operation::Binary(Binary::Mul, product, half));
        }
        let smooth = push(Operation::Function { name: Function::Tanh, of: y, error: 1e-4 });
        let total = push(Operation::Reduce(Reduction::Sum, smooth, vec![0]));
        graph.finish(vec![smooth, total]).expect("outputs");
        graph
    }

    #[test]
    fn deep_functions_run_with_the_bootstraps_that_were_planned() {
        let options = Options {
            scheme: Some(Scheme::CkksBootstrapping),
            precision: Some(1e-2),
            security: Security::None,
            ..Options::default()
        };
        let program = Program::compile(deep_graph(), &options).expect("a program");
        let program = Program::from_bytes(&program.to_bytes()).expect("its own bytes");
        let explanation = program.explain().expect("an explanation");
        assert!(explanation.bootstraps >= 8 && explanation.bound <= 1e-2, "{explanation:?}");
        assert!(explanation.steps.iter().all(|step| step.level <= explanation.levels));

        let seed = |byte: u8| Seed::from_bytes([byte; 32]);
        let parameters = program.bootstrapping().expect("bootstraps").clone();
        let context = ckks::Context::new(parameters.ckks().expect("primes")).expect("rings");
        let keys = context.generate_keys(seed(1), &ckks::KeyRequest::default()).expect("keys");
        let mut file = std::env::temp_dir();
        file.push(format!("noren-deep-{}", std::process::id()));
        let request = program.ckks_keys().expect("a request");
        let generated =
            BootstrapKeyFile::generate(&*file, &context, &parameters, &keys.secret, seed(2), &request, &mut |_| {});
        generated.expect("a file");
        let read = BootstrapKeyFile::read(&file, &Limits::default(), &mut |_| {}).expect("its own file");
        std::fs::remove_file(&file).expect("the file is there");
        let bootstrapper = Bootstrapper::new(&context, &parameters, read.keys.clone(), Mode::Real).expect("all keys");
        let ev = ckks::Evaluator::new(&context, read.keys.evaluation.clone())
            .and_then(|ev| ev.with_bootstrapping(Arc::new(bootstrapper)))
            .expect("the same keys");

        let inputs = vec![vec![0.9, -1.0, 0.3, 1.0, -0.2, 0.0], vec![1.0, -1.0, -0.7, 0.4, 1.0, -1.0]];
        let encryptor = ckks::Encryptor::symmetric(&context, &keys.secret, seed(3)).expect("a key");
        let encrypted = program.encrypt_ckks(&context, &encryptor, &inputs).expect("inputs in their ranges");
        let outputs = program.run_bootstrapping(&ev, encrypted).expect("the levels do not end");
        assert_eq!(ev.bootstraps(), explanation.bootstraps as u64);

        let decryptor = ckks::Decryptor::new(&context, &keys.secret).expect("a key");
        let found = program.decrypt_ckks(&decryptor, &outputs).expect("outputs");
        let expected = program.graph().evaluate(&inputs).expect("values");
        for ((values, expected), bound) in found.values.iter().zip(&expected).zip(&found.bounds) {
            assert!(*bound <= 1e-2, "a bound of {bound}");
            values.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() <= explanation.bound, "{a} for {b}"));
        }
        let simulated = program.simulate(&inputs, &seed(4)).expect("a simulation");
        for (values, expected) in simulated.values.iter().zip(&expected) {
            values.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() <= explanation.bound, "{a} for {b}"));
        }
    }

    #[test]
    fn functions_beyond_the_levels_of_secure_parameters_are_planned_with_bootstraps() {
        let mut graph = Graph::default();
        let [x, z] = ["x", "z"].map(|name| input(&mut graph, name, Interval::new(-1.0, 1.0)));
        let product = |y, _| graph.push(Operation::Binary(Binary::Mul, y, z), "").expect("a product");
        let y = (0..60).fold(x, product);
        graph.finish(vec![y]).expect("an output");
        let program = Program::compile(graph, &Options { precision: Some(1e-3), ..Options::default() });
        let program = program.expect("a program with bootstraps");
        assert_eq!(program.scheme(), Scheme::CkksBootstrapping);
        let explanation = program.explain().expect("an explanation");
        // Two operands, of which z stays at the level of inputs: a bootstrap after each twelve products.
        assert_eq!((explanation.levels, explanation.bootstraps), (12, 4));
        assert!(explanation.price.parts.iter().any(|part| part.name == "bootstraps of CKKS" && part.count == 4.0));
        assert!(explanation.others[0].refusal.contains("levels"), "{:?}", explanation.others);
    }

    /// A comparison that is too steep for the noise of bootstraps: its error bound grows beyond what they take.
    #[test]
    fn the_nearest_precision_that_is_named_is_possible() {
        let mut graph = Graph::default();
        let [x, z] = ["x", "z"].map(|name| input(&mut graph, name, Interval::new(-1.0, 1.0)));
        let y = graph.push(Operation::Binary(Binary::Maximum, x, z), "").expect("a maximum");
        graph.finish(vec![y]).expect("an output");
        let options = Options {
            scheme: Some(Scheme::CkksBootstrapping),
            precision: Some(1e-3),
            security: Security::None,
            ..Options::default()
        };
        let error = DeepPlan::search(&graph, &options).expect_err("a precision that is not possible");
        let Some(CompileError::Precision { nearest, .. }) = error.downcast_ref() else { panic!("{error}") };
        assert!(*nearest > 1e-3, "{error}");
        assert!(DeepPlan::search(&graph, &Options { precision: Some(*nearest), ..options }).is_ok(), "{error}");
    }

    #[test]
    fn what_cannot_be_bootstrapped_is_refused_with_its_size() {
        let mut graph = Graph::default();
        let [x, z] = ["x", "z"].map(|name| input(&mut graph, name, Interval::new(-40.0, 40.0)));
        let product = |y, _| graph.push(Operation::Binary(Binary::Mul, y, z), "").expect("a product");
        let y = (0..4).fold(x, product);
        graph.finish(vec![y]).expect("an output");
        let options =
            Options { scheme: Some(Scheme::CkksBootstrapping), security: Security::None, ..Options::default() };
        let message = Program::compile(graph, &options).expect_err("numbers up to 64000").to_string();
        assert!(message.contains("1024") && message.contains("narrow the ranges"), "{message}");
    }
}
