//! CKKS with bootstraps where levels run out: parameters for a graph, and the model of its noise.

use std::any::Any;
use std::path::Path;
use std::slice;
use std::sync::Arc;

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::SecretKey as RlweSecret;
use noren_rlwe::resources::Resources;
use noren_rlwe::security::Security;
use noren_rlwe::wire::file::directory_of;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::publish::Destination;
use noren_rlwe::wire::reader::Limits;
use noren_rlwe::wire::writer::Form;

use crate::backends::backend::{Backend, Bounds, Outcome, Outline, Plan, Record, Running};
use crate::backends::ckks::{decrypted, encrypted, read_inputs, secret_kind, secret_of};
use crate::backends::decisions::{Decisions, Switches};
use crate::backends::keys::{Part, PartKind, SecretKey, ServerKeys, part};
use crate::backends::modelled::{
    HELPS, MARGIN, MARGIN_OF_SLACK, SHARE_OF_APPROXIMATIONS, in_few_digits, is_approximation,
};
use crate::backends::options::Options;
use crate::backends::renewals::{Model, is_overgrown};
use crate::backends::slots::{OnSlots, check_slots, evaluates};
use crate::bootstrapping::{
    self, BootstrapKeyFile, BootstrapKeys, BootstrapPlan, Bootstrapper, BootstrappingEvaluator, Footprint, Mode,
    Preset, WithBootstrapping,
};
use crate::circuits::recorder::CircuitUsage;
use crate::circuits::renewing::{Encoded, Renewing};
use crate::cost::price::PROCESS_BYTES;
use crate::cost::price::{Left, Party, Price};
use crate::cost::slots::{SlotDraft, Slots};
use crate::cost::work::Work;
use crate::graph::dag::Graph;
use crate::lowering::decisions::Decide;
use crate::lowering::error::CompileError;
use crate::lowering::kept::Kept;
use crate::lowering::layout::Layout;
use crate::lowering::nodes::{Approximations, Lowering};
use crate::lowering::recording::{Recording, Renewed, with_slots};
use crate::schemes::ckks;
use crate::switching::{SchemeSwitch, Steps};

/// How often polynomials are made more precise.
const MOST_ROUNDS: usize = 8;
/// By how much they are then.
const FINER: f64 = 1.0 / 4.0;

/// The factor from one precision to the next, and how many are tried, to say which is possible.
const WIDER: f64 = 2.0;
/// The same where no bound was found.
const MUCH_WIDER: f64 = 4.0;
const WIDER_ROUNDS: usize = 4;

/// Keys of bootstrapping that a client has in memory while it writes them: the peak of 478 MiB for `n16`, whose largest key has
/// 114 MiB.
const KEYS_AT_ONCE: u64 = 4;

/// CKKS with bootstraps: real numbers in slots, with an error bound, for functions of any depth.
#[derive(Debug)]
pub struct CkksBootstrapping;

/// Parameters of CKKS with bootstraps for a graph.
pub(super) struct DeepPlan {
    pub(super) parameters: bootstrapping::Parameters,
    pub(super) ckks: ckks::Parameters,
    pub(super) on: OnSlots,
    /// How comparisons are decided, where they are.
    pub(super) switches: Option<Switches>,
}

/// The server half.
pub(super) struct DeepServer {
    pub(super) plan: Arc<DeepPlan>,
    pub(super) ev: BootstrappingEvaluator,
    pub(super) switch: Option<SchemeSwitch>,
    kept: Kept<Encoded<f64, ckks::Factor>>,
}

impl DeepPlan {
    /// The first preset with which the error bounds of all outputs are within the precision that is asked for.
    ///
    /// # Errors
    /// [`CompileError::Precision`] with the nearest precision that is possible; an intermediate result that may be too large to be
    /// bootstrapped; what the graph cannot have in slots.
    pub(super) fn search(graph: &Arc<Graph>, options: &Options, steps: Option<Steps>) -> Result<Self> {
        let precision = options.precision_of(graph);
        let nearest = match Self::within(graph, options, precision, steps)? {
            Ok(plan) => return Ok(plan),
            Err(bound) => bound,
        };
        if !options.nearest {
            return Err(Error::parameter("precision", precision, "a larger one, or narrower ranges of inputs"));
        }
        let reason = "bootstraps add errors of their own. Narrower ranges, fewer steps or a larger precision= help";
        // Polynomials are less precise for a larger precision: it is named only once it was tried.
        let (mut wider, factor) =
            if nearest.is_finite() { (nearest / MARGIN, WIDER) } else { (precision * MUCH_WIDER, MUCH_WIDER) };
        for _ in 0..WIDER_ROUNDS {
            let nearest = in_few_digits(wider);
            if Self::within(graph, options, nearest, steps)?.is_ok() {
                return Err(CompileError::Precision { wanted: precision, nearest, reason: reason.to_owned() }.into());
            }
            wider *= factor;
        }
        Err(Error::parameter("precision", precision, format!("a much larger one: {reason}")))
    }

    /// The first preset with which the bounds are within a precision, or the smallest bound that was found. Comparisons are decided
    /// in so many steps, or by polynomials of signs.
    pub(super) fn within(
        graph: &Arc<Graph>,
        options: &Options,
        precision: f64,
        steps: Option<Steps>,
    ) -> Result<std::result::Result<Self, f64>> {
        with_slots(graph, |wanted| Self::of_slots(graph, options, precision, steps, wanted))
    }

    /// The same in ciphertexts of as many slots as are wanted, or as presets have.
    fn of_slots(
        graph: &Arc<Graph>,
        options: &Options,
        precision: f64,
        steps: Option<Steps>,
        wanted: usize,
    ) -> Result<std::result::Result<Self, f64>> {
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
            let slots = wanted.min(1 << preset.spec().log_slots);
            let parameters = preset.spec_for(slots.ilog2())?.build()?;
            let switches = steps.map(|steps| Switches::new(&parameters, options.security, steps)).transpose()?;
            let error = precision * SHARE_OF_APPROXIMATIONS;
            let mut approximations = Approximations::of_reals(error, options.dead_zone);
            let mut last = f64::INFINITY;
            for round in 0..MOST_ROUNDS {
                let plan = match Self::with(graph, parameters.clone(), slots, approximations, switches.clone()) {
                    Err(error) if round > 0 && is_approximation(&error) => break,
                    plan => plan?,
                };
                let bound = match plan.predicted() {
                    Ok(bounds) => bounds.beside(precision * MARGIN),
                    Err(error) if is_overgrown(&error) => f64::INFINITY,
                    Err(error) => return Err(error),
                };
                nearest = nearest.min(bound);
                if bound <= precision * MARGIN {
                    return Ok(Ok(plan));
                }
                // No bound at all may be for errors of polynomials that are too large for what follows.
                if bound.is_finite() && bound > last * HELPS {
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
    /// Operations that slots do not have.
    pub(super) fn with(
        graph: &Arc<Graph>,
        parameters: bootstrapping::Parameters,
        slots: usize,
        approximations: Approximations,
        switches: Option<Switches>,
    ) -> Result<Self> {
        let (levels, decides) = (parameters.levels_left(), switches.is_some());
        let recording = Recording::with_bootstraps(graph, slots, approximations, levels, decides)?;
        let ckks = parameters.ckks()?;
        Ok(Self { parameters, ckks, on: OnSlots::new(Arc::clone(graph), approximations, recording), switches })
    }

    /// All but the bootstraps, for its price.
    fn draft(&self) -> SlotDraft {
        let limbs = SlotDraft::limbs_below(self.parameters.output_level(), self.on.recording.usage.depth);
        self.on.draft(Slots::Reals, self.ckks.rlwe(), limbs)
    }

    /// The bounds of a graph as its noise is predicted.
    ///
    /// # Errors
    /// An intermediate result that may be too large to be bootstrapped.
    pub(super) fn predicted(&self) -> Result<Bounds> {
        let model = Model::new(self.parameters.clone(), None)?;
        let (graph, slots, approximations) = (&self.on.graph, self.on.recording.slots, self.on.approximations);
        let mut nodes = vec![None; graph.nodes().len()];
        let (mut source, ev) = (model.source(slots, None), Renewing::new(&model.noise, &model));
        let decisions = self.switches.as_ref().map(|switches| Decisions { model: &model, switches, margin: MARGIN });
        let decider = decisions.as_ref().map(|decisions| decisions as &dyn Decide<_>);
        let outputs = Lowering::new(&ev, graph, slots, approximations, &mut source)
            .with_decider(decider)
            .with_margin(MARGIN_OF_SLACK)
            .run(|node, parts, _: &Layout| nodes[node] = Some(model.bound(parts)))?;
        Ok(Bounds::of(graph, nodes, outputs.iter().map(|output| model.bound(&output.parts)).collect()))
    }
}

impl Backend for CkksBootstrapping {
    fn name(&self) -> &'static str {
        "ckks-bootstrapping"
    }

    fn is_exact(&self) -> bool {
        false
    }

    fn unless(&self, _: &Graph) -> &'static [&'static str] {
        &["ckks"]
    }

    fn evaluates(&self, graph: &Graph, at: usize) -> bool {
        evaluates(graph, at, true)
    }

    fn plans(&'static self, graph: &Arc<Graph>, options: &Options) -> Result<Vec<Arc<dyn Plan>>> {
        Ok(vec![Arc::new(DeepPlan::search(graph, options, None)?)])
    }

    fn read(&'static self, graph: &Arc<Graph>, record: &Record) -> Result<Arc<dyn Plan>> {
        let parameters = bootstrapping::Parameters::from_bytes(&(), &record.bytes()?)?;
        check_slots(record.slots, parameters.slots())?;
        Ok(Arc::new(DeepPlan::with(graph, parameters, record.slots, record.approximations()?, None)?))
    }
}

impl Plan for DeepPlan {
    fn backend(&self) -> &'static str {
        CkksBootstrapping.name()
    }

    fn record(&self) -> Record {
        self.on.record(&self.parameters.to_bytes(&(), Form::Packed))
    }

    fn parameters(&self) -> &dyn Any {
        &self.parameters
    }

    fn words(&self) -> String {
        format!("bootstrapping {}", self.parameters.name())
    }

    fn security(&self) -> Security {
        self.parameters.spec().security
    }

    fn price(&self, client: &Party, server: &Party) -> Result<Price> {
        let mut price = self.draft().price(client, server)?;
        let bootstraps = self.on.recording.bootstraps() as f64;
        add_bootstraps(&mut price, client, server, &self.parameters, Mode::Real, bootstraps)?;
        Ok(price)
    }

    fn left(&self, client: &Party) -> Result<Option<Left>> {
        self.draft().left(client).map(Some)
    }

    fn bounds(&self) -> Result<Option<Bounds>> {
        self.predicted().map(Some)
    }

    fn outline(&self, bounds: Option<&Bounds>) -> Result<Outline> {
        Ok(self.on.outline(self.parameters.levels_left(), "real", bounds))
    }

    fn usage(&self) -> Option<&CircuitUsage> {
        Some(&self.on.recording.usage)
    }

    fn secret_parts(&self) -> Vec<PartKind> {
        vec![secret_kind(&self.ckks)]
    }

    fn server_parts(&self) -> Vec<PartKind> {
        let open = |path: &Path| -> Result<Arc<dyn Part>> {
            let resources = Resources::of_machine(directory_of(path));
            Ok(part(BootstrapKeyFile::open(path, &Limits::default(), &resources, &mut |_| ())?))
        };
        vec![PartKind::of::<BootstrapKeyFile>(self.parameters.fingerprint()).opened_by(open)]
    }

    fn make_secret(&self, seed: &Seed) -> Result<SecretKey> {
        secret_of(&self.ckks, seed)
    }

    fn make_server_keys(&self, secret: &SecretKey, seed: &Seed) -> Result<ServerKeys> {
        let ckks::KeyFile { context, key } = secret.get::<ckks::KeyFile<RlweSecret>>(0)?;
        let (parameters, request) = (self.parameters.clone(), self.request()?);
        Footprint { disk: 0, ..Footprint::bootstrap(&parameters)? }.check(&Resources::of_machine(Path::new(".")))?;
        let keys = BootstrapKeys::generate_for(context, &parameters, key, seed.clone(), &request, None)?;
        Ok(ServerKeys::of(vec![part(BootstrapKeyFile { context: context.clone(), parameters, keys: Arc::new(keys) })]))
    }

    /// Holds one key at a time.
    fn write_server_keys(
        &self,
        secret: &SecretKey,
        seed: &Seed,
        to: Destination<'_>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<()> {
        let ckks::KeyFile { context, key } = secret.get::<ckks::KeyFile<RlweSecret>>(0)?;
        let mut hear = |made: bootstrapping::Progress| progress(made.done, made.of);
        let request = self.request()?;
        BootstrapKeyFile::generate(to, context, &self.parameters, key, seed.clone(), &request, &mut hear).map(|_| ())
    }

    fn encrypt(&self, secret: &SecretKey, inputs: &[Option<&[f64]>], seed: Seed) -> Result<Vec<Vec<u8>>> {
        encrypted(&self.on, secret, inputs, self.parameters.output_level(), seed)
    }

    fn server(self: Arc<Self>, keys: &ServerKeys) -> Result<Box<dyn Running>> {
        Ok(Box::new(DeepServer::new(self, keys)?))
    }

    fn decrypt(&self, secret: &SecretKey, outputs: &[Vec<u8>]) -> Result<Outcome> {
        decrypted(&self.on, secret, outputs)
    }

    fn simulate(&self, inputs: &[Vec<f64>], seed: &Seed) -> Result<Outcome> {
        let model = Model::new(self.parameters.clone(), Some(seed))?;
        let nodes = self.on.graph.inputs();
        let mut source = model.source(self.on.recording.slots, Some((&nodes, inputs)));
        let decisions = self.switches.as_ref().map(|switches| Decisions { model: &model, switches, margin: 1.0 });
        let decider = decisions.as_ref().map(|decisions| decisions as &dyn Decide<_>);
        let parts = self.on.run(&Renewing::new(&model.noise, &model), &mut source, decider, None)?.concat();
        let values: Vec<Vec<f64>> = parts.iter().map(|part| part.best().values().to_vec()).collect();
        let errors: Vec<f64> = parts.iter().map(|part| model.bound(slice::from_ref(part))).collect();
        self.on.unpacked(&values, &errors)
    }
}

impl DeepPlan {
    /// The keys of the function beside those of bootstraps.
    pub(super) fn request(&self) -> Result<ckks::KeyRequest> {
        self.on.recording.usage.key_request(self.parameters.output_level())
    }
}

impl DeepServer {
    pub(super) fn new(plan: Arc<DeepPlan>, keys: &ServerKeys) -> Result<Self> {
        let BootstrapKeyFile { context, parameters, keys: own } = keys.get(0)?;
        own.evaluation.check_request(&context.automorphisms_of(&plan.request()?)?)?;
        let bootstrapper = Arc::new(Bootstrapper::new(context, parameters, Arc::clone(own), Mode::Real)?);
        let evaluation = Arc::clone(&own.evaluation);
        let switch = match &plan.switches {
            Some(switches) => Some(switches.switch(Arc::clone(&bootstrapper), keys)?),
            None => None,
        };
        let ev = ckks::Evaluator::new(context, evaluation)?.with_bootstrapping(bootstrapper)?;
        Ok(Self { plan, ev, switch, kept: Kept::default() })
    }
}

impl Running for DeepServer {
    fn run(&self, inputs: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
        let (on, context) = (&self.plan.on, self.ev.evaluator().context());
        let mut source = Renewed(on.stored(read_inputs(context, inputs)?, ckks::Ciphertext::slots)?);
        let decider = self.switch.as_ref().map(|switch| switch as &dyn Decide<_>);
        let outputs =
            on.run(&Renewing::new(self.ev.evaluator(), self.ev.renewal()), &mut source, decider, Some(&self.kept))?;
        let outputs = outputs.into_iter().flatten().map(|part| part.best().clone()).collect();
        Ok(vec![ckks::Ciphertexts(outputs).to_bytes(context, Form::Packed)])
    }
}

/// Adds bootstraps, and their keys.
///
/// # Errors
/// A machine without costs of the threads.
pub(crate) fn add_bootstraps(
    price: &mut Price,
    client: &Party,
    server: &Party,
    parameters: &bootstrapping::Parameters,
    mode: Mode,
    count: f64,
) -> Result<()> {
    let plan = BootstrapPlan::new(parameters)?;
    let seconds = plan.seconds(mode, server)?;
    price.add_part("bootstraps of CKKS", count, count * seconds);
    price.key_bytes += plan.disk_bytes();
    price.server_memory += plan.memory_bytes();
    let meter = client.meter(parameters.ckks()?.rlwe())?;
    let work: Work = plan.keys().iter().map(|class| meter.keys_of(class)).sum();
    price.keys_seconds += client.seconds(&work)?;
    let key = |limbs: usize, digits: usize| 2 * (limbs * digits * parameters.degree() * size_of::<u64>()) as u64;
    let largest = plan.keys().iter().map(|class| key(class.limbs + class.special, class.digits)).max();
    price.client_memory = price.client_memory.max(PROCESS_BYTES + KEYS_AT_ONCE * largest.unwrap_or_default());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::tests::{all, toy};
    use crate::compiler::Program;
    use crate::graph::interval::Interval;
    use crate::graph::operation::{Binary, Element, Function, Operation, Reduction};

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
        let options = Options { precision: Some(1e-2), ..toy("ckks-bootstrapping") };
        let graph = Arc::new(deep_graph());
        let plan = Arc::new(DeepPlan::search(&graph, &options, None).expect("a plan"));
        let bounds = plan.predicted().expect("bounds");
        let (outline, bound) = (plan.outline(Some(&bounds)).expect("steps"), bounds.largest());
        let bootstraps: usize = outline.steps.iter().map(|step| step.bootstraps).sum();
        assert!(bootstraps >= 8 && bound <= 1e-2, "{outline:?}");
        assert!(outline.steps.iter().all(|step| step.level <= outline.levels));

        let seed = |byte: u8| Seed::from_bytes([byte; 32]);
        let secret = plan.make_secret(&seed(1)).expect("a secret key");
        let file = std::env::temp_dir().join(format!("noren-deep-{}", std::process::id()));
        let mut heard = (0, 0);
        let written =
            plan.write_server_keys(&secret, &seed(2), Destination::keeping(&file), &mut |done, of| heard = (done, of));
        written.expect("a file");
        assert!(heard.0 > 10 && heard.0 == heard.1, "{heard:?}");
        let keys = ServerKeys::open(&plan.server_parts(), &file).expect("its own file");
        std::fs::remove_file(&file).expect("the file is there");
        let made = plan.make_server_keys(&secret, &seed(2)).expect("keys");
        assert!(made.to_bytes() == keys.to_bytes(), "keys of one seed");

        let inputs = vec![vec![0.9, -1.0, 0.3, 1.0, -0.2, 0.0], vec![1.0, -1.0, -0.7, 0.4, 1.0, -1.0]];
        let server = DeepServer::new(Arc::clone(&plan), &keys).expect("the same keys");
        let reply =
            server.run(&plan.encrypt(&secret, &all(&inputs), seed(3)).expect("inputs")).expect("the levels do not end");
        assert_eq!(server.ev.bootstraps(), bootstraps as u64);

        let expected = graph.evaluate(&inputs).expect("values");
        let found = plan.decrypt(&secret, &reply).expect("outputs");
        assert!(found.bounds.iter().all(|bound| *bound <= 1e-2), "{:?}", found.bounds);
        let simulated = plan.simulate(&inputs, &seed(4)).expect("a simulation");
        for outcome in [found, simulated] {
            for (values, expected) in outcome.values.iter().zip(&expected) {
                values.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() <= bound, "{a} for {b}"));
            }
        }
    }

    #[test]
    fn deep_functions_are_planned_with_bootstraps_where_these_take_less_time() {
        let mut graph = Graph::default();
        let [x, z] = ["x", "z"].map(|name| input(&mut graph, name, Interval::new(-1.0, 1.0)));
        let product = |y, _| graph.push(Operation::Binary(Binary::Mul, y, z), "").expect("a product");
        let y = (0..60).fold(x, product);
        graph.finish(vec![y]).expect("an output");
        let program =
            Program::compile(graph, &Options { precision: Some(1e-3), unlimited: true, ..Options::default() });
        let program = program.expect("a program with bootstraps");
        assert_eq!(program.plan().backend(), "ckks-bootstrapping");
        let explanation = program.explain().expect("an explanation");
        // Two operands, of which z stays at the level of inputs: a bootstrap after each twelve products.
        assert_eq!((explanation.levels, explanation.bootstraps), (12, 4));
        assert!(explanation.price.parts.iter().any(|part| part.name == "bootstraps of CKKS" && part.count == 4.0));
        let without = explanation.others[0].server_seconds.expect("rings of degree 2^17 have sixty levels");
        assert!(without > explanation.price.server_seconds, "{without} s");
    }

    /// A comparison that is too steep for the noise of bootstraps: its error bound grows beyond what they take.
    #[test]
    fn the_nearest_precision_that_is_named_is_possible() {
        let mut graph = Graph::default();
        let [x, z] = ["x", "z"].map(|name| input(&mut graph, name, Interval::new(-1.0, 1.0)));
        let y = graph.push(Operation::Binary(Binary::Maximum, x, z), "").expect("a maximum");
        graph.finish(vec![y]).expect("an output");
        let (graph, options) = (Arc::new(graph), Options { precision: Some(1e-5), ..toy("ckks-bootstrapping") });
        let error = DeepPlan::search(&graph, &options, None).err().expect("a precision that is not possible");
        let Some(CompileError::Precision { nearest, .. }) = error.downcast_ref() else { panic!("{error}") };
        assert!(*nearest > 1e-5, "{error}");
        assert!(DeepPlan::search(&graph, &Options { precision: Some(*nearest), ..options }, None).is_ok(), "{error}");
    }

    #[test]
    fn what_cannot_be_bootstrapped_is_refused_with_its_size() {
        let mut graph = Graph::default();
        let [x, z] = ["x", "z"].map(|name| input(&mut graph, name, Interval::new(-40.0, 40.0)));
        let product = |y, _| graph.push(Operation::Binary(Binary::Mul, y, z), "").expect("a product");
        let y = (0..4).fold(x, product);
        graph.finish(vec![y]).expect("an output");
        let message = Program::compile(graph, &toy("ckks-bootstrapping")).expect_err("numbers up to 64000").to_string();
        assert!(message.contains("1024") && message.contains("narrow the ranges"), "{message}");
    }
}
