//! CKKS with bootstraps, whose comparisons are decided in TFHE.

use std::any::Any;
use std::sync::Arc;

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::SecretKey as RlweSecret;
use noren_rlwe::security::Security;
use noren_rlwe::torus::keys::CompactKeys;
use noren_rlwe::torus::secret::TorusSecret;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::backends::backend::{self, Backend, Bounds, Outcome, Outline, Plan, Record, Running};
use crate::backends::ckks::secret_kind;
use crate::backends::ckks_bootstrapping::{DeepPlan, DeepServer};
use crate::backends::decisions::{Switches, add_decisions, bootstraps, set};
use crate::backends::keys::{PartKind, SecretKey, ServerKeys, part};
use crate::backends::modelled::{MARGIN, in_few_digits};
use crate::backends::options::Options;
use crate::backends::slots::{check_slots, evaluates};
use crate::bootstrapping::{self, BootstrapKeyFile};
use crate::circuits::recorder::CircuitUsage;
use crate::cost::price::{Left, Party, Price};
use crate::graph::dag::Graph;
use crate::graph::operation::{Binary, Operation, Reduction, Unary};
use crate::lowering::error::CompileError;
use crate::schemes::{ckks, tfhe};
use crate::switching::{self, Decision, Parameters, Steps};

/// How often a smallest dead zone is looked for: one that the next comparison does not reach leads to another.
const ZONE_ROUNDS: usize = 8;

/// CKKS with bootstraps and decisions: real numbers in slots, with an error bound, and comparisons that are right outside a small
/// dead zone.
#[derive(Debug)]
pub struct CkksSwitching;

/// Parameters of both schemes for a graph.
struct SwitchingPlan {
    deep: Arc<DeepPlan>,
    switches: Switches,
}

impl SwitchingPlan {
    fn new(deep: DeepPlan) -> Result<Self> {
        let switches = deep.switches.clone().ok_or_else(|| Error::parameter("decisions", "none", "those of TFHE"))?;
        Ok(Self { deep: Arc::new(deep), switches })
    }

    /// The plan with the fewest steps for each decision.
    fn within(graph: &Arc<Graph>, options: &Options) -> Result<Self> {
        let precision = options.precision_of(graph);
        match DeepPlan::within(graph, options, precision, Some(Steps::One)) {
            Ok(Ok(plan)) => return Self::new(plan),
            Err(error) if least_zone(&error).is_none() => return Err(error),
            _ => {}
        }
        Self::new(DeepPlan::search(graph, options, Some(Steps::Three))?)
    }

    /// As [`SwitchingPlan::within`]; a dead zone that is too small is refused with the smallest one.
    fn search(graph: &Arc<Graph>, options: &Options) -> Result<Self> {
        let mut found = Self::within(graph, options);
        let mut wider = options.clone();
        for _ in 0..ZONE_ROUNDS {
            let Some(least) = found.as_ref().err().and_then(least_zone) else { break };
            wider.dead_zone = Some(in_few_digits(least));
            found = Self::within(graph, &wider);
        }
        let refused = Self::within_zone(options, &wider);
        refused.map_or(found, Err)
    }

    /// The refusal of a dead zone for a wider one.
    fn within_zone(stated: &Options, wider: &Options) -> Option<Error> {
        let (stated, least) = (stated.dead_zone?, wider.dead_zone?);
        let place = String::new();
        (least > stated).then(|| CompileError::DeadZone { place, stated, least }.into())
    }

    fn tfhe(&self) -> Result<tfhe::Context> {
        tfhe::Context::new(self.switches.parameters.tfhe().clone())
    }
}

/// The dead zone that a refusal asks for.
fn least_zone(error: &Error) -> Option<f64> {
    match error.downcast_ref() {
        Some(CompileError::DeadZone { least, .. }) => Some(*least / MARGIN),
        _ => None,
    }
}

/// Whether a graph compares.
fn compares(graph: &Graph) -> bool {
    let needed = graph.needed();
    graph.nodes().iter().zip(needed).filter(|(_, needed)| *needed).any(|(node, _)| match &node.operation {
        Operation::Unary(kind, _) => matches!(kind, Unary::Abs | Unary::Sign),
        Operation::Binary(kind, ..) => kind.compares() || matches!(kind, Binary::Maximum | Binary::Minimum),
        Operation::Reduce(kind, ..) => matches!(kind, Reduction::Maximum | Reduction::Minimum),
        Operation::Sort(..) | Operation::ArgMax(..) => true,
        _ => false,
    })
}

impl Backend for CkksSwitching {
    fn name(&self) -> &'static str {
        "ckks-switching"
    }

    fn is_exact(&self) -> bool {
        false
    }

    fn unless(&self, graph: &Graph) -> &'static [&'static str] {
        if compares(graph) { &["ckks"] } else { &["ckks", "ckks-bootstrapping"] }
    }

    fn evaluates(&self, graph: &Graph, at: usize) -> bool {
        matches!(graph.node(at).operation, Operation::ArgMax(..)) || evaluates(graph, at, true)
    }

    fn plans(&'static self, graph: &Arc<Graph>, options: &Options) -> Result<Vec<Arc<dyn Plan>>> {
        Ok(vec![Arc::new(SwitchingPlan::search(graph, options)?)])
    }

    fn read(&'static self, graph: &Arc<Graph>, record: &Record) -> Result<Arc<dyn Plan>> {
        let needed = "those of TFHE, of 1 or 3 bootstraps each";
        let missing = || Error::parameter("decisions", "none", needed);
        let decisions = record.decisions.as_ref().ok_or_else(missing)?;
        let bootstrapping = bootstrapping::Parameters::from_bytes(&(), &record.bytes()?)?;
        check_slots(record.slots, bootstrapping.slots())?;
        let tfhe = tfhe::Parameters::from_bytes(&(), &Record::bytes_of(&decisions.parameters)?)?;
        let steps = [Steps::One, Steps::Three].into_iter().find(|steps| bootstraps(*steps) == decisions.bootstraps);
        let steps = steps.ok_or_else(|| Error::parameter("decisions", decisions.bootstraps, needed))?;
        let switches = Switches { parameters: Parameters::new(&bootstrapping, &tfhe)?, steps };
        let plan = DeepPlan::with(graph, bootstrapping, record.slots, record.approximations()?, Some(switches))?;
        Ok(Arc::new(SwitchingPlan::new(plan)?))
    }
}

impl Plan for SwitchingPlan {
    fn backend(&self) -> &'static str {
        CkksSwitching.name()
    }

    fn record(&self) -> Record {
        let parameters = self.switches.parameters.tfhe().to_bytes(&(), Form::Packed);
        let (parameters, bootstraps) = (Record::hexadecimal(&parameters), bootstraps(self.switches.steps));
        Record { decisions: Some(backend::Decisions { parameters, bootstraps }), ..self.deep.record() }
    }

    fn parameters(&self) -> &dyn Any {
        &self.switches.parameters
    }

    fn words(&self) -> String {
        format!("{}, decisions by TFHE {}", self.deep.words(), set(self.security()))
    }

    fn security(&self) -> Security {
        let torus = self.switches.parameters.tfhe().spec().torus.security;
        std::cmp::min_by_key(self.deep.security(), torus, |security| security.bits())
    }

    fn price(&self, client: &Party, server: &Party) -> Result<Price> {
        let recording = &self.deep.on.recording;
        let mut price = self.deep.price(client, server)?;
        let batch = recording.decided / recording.switches.max(1);
        let count = recording.decided * bootstraps(self.switches.steps);
        add_decisions(&mut price, client, server, set(self.security()), [count, batch])?;
        Ok(price)
    }

    fn left(&self, client: &Party) -> Result<Option<Left>> {
        self.deep.left(client)
    }

    fn bounds(&self) -> Result<Option<Bounds>> {
        self.deep.bounds()
    }

    fn log2_failure(&self) -> Result<Option<f64>> {
        let switches = self.deep.on.recording.switches;
        Ok((switches > 0).then(|| Decision::LOG2_FAILURE + libm::log2(switches as f64)))
    }

    fn outline(&self, bounds: Option<&Bounds>) -> Result<Outline> {
        self.deep.outline(bounds)
    }

    fn usage(&self) -> Option<&CircuitUsage> {
        self.deep.usage()
    }

    fn secret_parts(&self) -> Vec<PartKind> {
        let tfhe = self.switches.parameters.tfhe().fingerprint();
        vec![secret_kind(&self.deep.ckks), PartKind::of::<tfhe::KeyFile<TorusSecret>>(tfhe)]
    }

    fn server_parts(&self) -> Vec<PartKind> {
        let parameters = &self.switches.parameters;
        vec![
            PartKind::of::<BootstrapKeyFile>(self.deep.parameters.fingerprint()),
            PartKind::of::<tfhe::KeyFile<CompactKeys>>(parameters.tfhe().fingerprint()),
            PartKind::of::<switching::KeyFile>(parameters.fingerprint()),
        ]
    }

    fn make_secret(&self, seed: &Seed) -> Result<SecretKey> {
        let key = self.tfhe()?.secret_key(&seed.derive("tfhe"));
        let samples = part(tfhe::KeyFile { parameters: self.switches.parameters.tfhe().clone(), key });
        Ok(self.deep.make_secret(seed)?.with(samples))
    }

    fn make_server_keys(&self, secret: &SecretKey, seed: &Seed) -> Result<ServerKeys> {
        let parameters = &self.switches.parameters;
        let ckks::KeyFile { context, key } = secret.get::<ckks::KeyFile<RlweSecret>>(0)?;
        let samples = &secret.get::<tfhe::KeyFile<TorusSecret>>(1)?.key;
        let torus = self.tfhe()?;
        let both = switching::Context::new(parameters, context, &torus)?;
        let server = torus.compact_keys(&seed.derive("tfhe"), samples)?;
        let between = switching::KeyFile::generate(&both, key, samples, &seed.derive("switching"))?;
        let keys = self.deep.make_server_keys(secret, seed)?;
        let server = tfhe::KeyFile { parameters: parameters.tfhe().clone(), key: server };
        Ok(keys.with(part(server)).with(part(between)))
    }

    fn encrypt(&self, secret: &SecretKey, inputs: &[Option<&[f64]>], seed: Seed) -> Result<Vec<Vec<u8>>> {
        self.deep.encrypt(secret, inputs, seed)
    }

    fn server(self: Arc<Self>, keys: &ServerKeys) -> Result<Box<dyn Running>> {
        Ok(Box::new(DeepServer::new(Arc::clone(&self.deep), keys)?))
    }

    fn decrypt(&self, secret: &SecretKey, outputs: &[Vec<u8>]) -> Result<Outcome> {
        self.deep.decrypt(secret, outputs)
    }

    fn simulate(&self, inputs: &[Vec<f64>], seed: &Seed) -> Result<Outcome> {
        self.deep.simulate(inputs, seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::table::Backends;
    use crate::backends::tests::{all, plan, run, toy};
    use crate::graph::interval::Interval;
    use crate::graph::operation::Element;

    const COUNT: usize = 8;
    const ZONE: f64 = 0.25;

    fn inputs() -> (Graph, [usize; 2]) {
        let mut graph = Graph::default();
        let of = |name: &str| {
            let range = Interval::new(-1.0, 1.0);
            let input = Operation::Input { name: name.into(), shape: vec![COUNT], element: Element::Real, range };
            graph.push(input, name).expect("an input")
        };
        let both = ["x", "y"].map(of);
        (graph, both)
    }

    /// A comparison, a sign, a choice, an absolute value and extremes, with products between decisions.
    fn deciding() -> Graph {
        let (mut graph, [x, y]) = inputs();
        let mut push = |operation: Operation| graph.push(operation, "f.py:2").expect("an operation");
        let less = push(Operation::Binary(Binary::Less, x, y));
        let sign = push(Operation::Unary(Unary::Sign, y));
        let product = push(Operation::Binary(Binary::Mul, x, sign));
        let chosen = push(Operation::Select(less, product, y));
        let size = push(Operation::Unary(Unary::Abs, chosen));
        let larger = push(Operation::Binary(Binary::Maximum, product, y));
        let smaller = push(Operation::Binary(Binary::Minimum, x, y));
        let most = push(Operation::Reduce(Reduction::Maximum, x, vec![0]));
        graph.finish(vec![less, sign, chosen, size, larger, smaller, most]).expect("outputs");
        graph
    }

    fn options(dead_zone: f64) -> Options {
        Options { precision: Some(0.5), dead_zone: Some(dead_zone), ..toy("ckks-switching") }
    }

    #[test]
    fn comparisons_are_decided_as_planned_within_their_bounds() {
        let graph = Arc::new(deciding());
        let found = plan(&graph, &options(ZONE));
        let record: Record =
            serde_json::from_str(&serde_json::to_string(&found.record()).expect("JSON")).expect("a record");
        let again = Backends::ALL.read("ckks-switching", &graph, &record).expect("its own record");
        assert_eq!(again.record(), record);
        // x and y are further apart, and y further from 0, than the dead zone.
        let x = vec![0.9, -1.0, 0.3, 1.0, -0.2, 0.0, -0.6, 0.7];
        let y = vec![0.4, -0.5, 0.8, -0.3, 0.6, -1.0, 0.3, 1.0];
        let inputs = vec![x, y];
        let expected = graph.evaluate(&inputs).expect("values");
        let predicted: Vec<f64> = again.bounds().expect("bounds").expect("of real numbers").outputs;
        let simulated = again.simulate(&inputs, &Seed::from_bytes([4; 32])).expect("a simulation");
        for outcome in [run(&again, &inputs), simulated] {
            for ((values, expected), (bound, predicted)) in
                outcome.values.iter().zip(&expected).zip(outcome.bounds.iter().zip(&predicted))
            {
                assert!(
                    *bound <= predicted / MARGIN && predicted / MARGIN <= 0.5,
                    "{bound}, {predicted} was predicted"
                );
                values.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() <= *bound, "{a} for {b}"));
            }
        }
    }

    /// The order of five numbers, which takes five layers, and of the differences of others; and the places of the largest.
    fn ordering() -> Graph {
        let (mut graph, [x, y]) = inputs();
        let mut push = |operation: Operation| graph.push(operation, "f.py:2").expect("an operation");
        let few = push(Operation::Gather { of: x, shape: vec![5], positions: vec![0, 1, 2, 3, 4] });
        let sorted = push(Operation::Sort(few, 0));
        let difference = push(Operation::Binary(Binary::Sub, x, y));
        let places = push(Operation::ArgMax(few, 0));
        let place = push(Operation::ArgMax(difference, 0));
        graph.finish(vec![sorted, places, place]).expect("outputs");
        graph
    }

    #[test]
    fn orders_and_places_are_within_their_bounds() {
        let graph = Arc::new(ordering());
        let options = Options { precision: Some(0.75), ..options(1.0) };
        let plan = plan(&graph, &options);
        let inputs =
            vec![vec![0.9, -1.0, -0.3, -0.2, 0.1, 0.0, -0.6, 0.7], vec![0.1, 0.5, -0.1, 0.3, 0.6, -1.0, 0.3, 1.0]];
        let expected = graph.evaluate(&inputs).expect("values");
        assert_eq!(expected[1..], [[0.0], [5.0]]);
        let simulated = plan.simulate(&inputs, &Seed::from_bytes([4; 32])).expect("a simulation");
        for outcome in [run(&plan, &inputs), simulated] {
            for ((values, expected), bound) in outcome.values.iter().zip(&expected).zip(&outcome.bounds) {
                assert!(*bound <= 0.75, "{bound}");
                values.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() <= *bound, "{a} for {b}: {bound}"));
            }
        }
        let refused = Backends::ALL.plans_of(Backends::ALL.named("ckks").expect("a backend"), &graph, &options);
        let message = refused.expect_err("places are decided").to_string();
        assert!(message.contains("argmax: use scheme=\"ckks-switching\""), "{message}");
        let zone = Options { dead_zone: Some(1e-6), ..options };
        let error = SwitchingPlan::search(&graph, &zone).err().expect("a dead zone that is too small");
        assert!(matches!(error.downcast_ref(), Some(CompileError::DeadZone { .. })), "{error}");
    }

    #[test]
    fn slots_hold_the_elements_that_are_compared_with_each_other() {
        // Four elements beside the partial sums of six, whose range has no zero for padding: 32 slots, where arrays have eight.
        let mut graph = Graph::default();
        let mut push = |operation: Operation| graph.push(operation, "f.py:2").expect("an operation");
        let input = |name: &str, count: usize, low: f64| {
            let range = Interval::new(low, 1.0);
            Operation::Input { name: name.into(), shape: vec![count], element: Element::Real, range }
        };
        let (x, few) = (push(input("x", 6, 0.25)), push(input("y", 4, -1.0)));
        let sum = push(Operation::Reduce(Reduction::Sum, x, vec![0]));
        let sums = push(Operation::Binary(Binary::Add, few, sum));
        let (place, sorted) = (push(Operation::ArgMax(sums, 0)), push(Operation::Sort(sums, 0)));
        graph.finish(vec![place, sorted]).expect("outputs");
        let graph = Arc::new(graph);
        let plan = plan(&graph, &Options { precision: Some(0.75), ..options(1.0) });
        assert_eq!(plan.record().slots, 32);
        let inputs = vec![vec![0.3, 0.25, 0.4, 0.25, 0.3, 0.25], vec![-0.9, 0.9, 0.1, -0.4]];
        let expected = graph.evaluate(&inputs).expect("values");
        let found = plan.simulate(&inputs, &Seed::from_bytes([4; 32])).expect("a simulation");
        for ((values, expected), bound) in found.values.iter().zip(&expected).zip(&found.bounds) {
            values.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() <= *bound, "{a} for {b}: {bound}"));
        }
    }

    #[test]
    fn decisions_and_bootstraps_are_those_that_were_counted() {
        let graph = Arc::new(deciding());
        let plan = SwitchingPlan::search(&graph, &options(ZONE)).expect("a plan");
        let seed = |byte: u8| Seed::from_bytes([byte; 32]);
        let secret = plan.make_secret(&seed(1)).expect("a secret key");
        let keys = plan.make_server_keys(&secret, &seed(2)).expect("keys");
        let server = DeepServer::new(Arc::clone(&plan.deep), &keys).expect("its keys");
        let inputs = vec![vec![0.5; COUNT], vec![-0.5; COUNT]];
        server.run(&plan.encrypt(&secret, &all(&inputs), seed(3)).expect("inputs")).expect("a reply");
        let (recording, switch) = (&plan.deep.on.recording, server.switch.as_ref().expect("decisions"));
        let each = bootstraps(plan.switches.steps);
        // The way up of each ciphertext counts as one.
        assert_eq!(switch.evaluator().bootstraps(), (recording.decided * each + recording.switches) as u64);
        assert_eq!(server.ev.bootstraps(), (recording.bootstraps() - recording.switches) as u64);
        assert!(recording.switches >= 8 && recording.bootstraps() > recording.switches, "{recording:?}");
        let failure = plan.log2_failure().expect("a number").expect("decisions may fail");
        assert!((-64.0..-50.0).contains(&failure), "{failure}");
    }

    #[test]
    fn dead_zones_that_are_too_small_are_refused_with_the_smallest() {
        let (mut graph, [x, y]) = inputs();
        let less = graph.push(Operation::Binary(Binary::Less, x, y), "f.py:2").expect("a comparison");
        graph.finish(vec![less]).expect("an output");
        let graph = Arc::new(graph);
        let refused = |dead_zone| SwitchingPlan::search(&graph, &Options { dead_zone, ..options(ZONE) }).err();
        let error = refused(Some(1e-9)).expect("a dead zone that is too small");
        let Some(CompileError::DeadZone { least, .. }) = error.downcast_ref() else { panic!("{error}") };
        assert!(*least > 1e-9 && *least < ZONE && refused(Some(*least)).is_none(), "{error}");
        let message = refused(None).expect("none was stated").to_string();
        assert!(message.contains("dead_zone"), "{message}");
    }
}
