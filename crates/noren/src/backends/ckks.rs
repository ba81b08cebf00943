//! CKKS with as many levels as a function takes: levels, precision and slots that fit each other.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;

use noren_math::random::Seed;
use noren_ring::engine::Engine;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::{EvaluationKeys, SecretKey as RlweSecret};
use noren_rlwe::security::Security;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Limits;
use noren_rlwe::wire::writer::Form;

use crate::backends::backend::{Backend, Bounds, Outcome, Outline, Plan, Record, Running};
use crate::backends::ckks_search::{Found, Refused, Search};
use crate::backends::keys::{Part, PartKind, SecretKey, ServerKeys, part};
use crate::backends::modelled::{MARGIN, Modelled, encrypted_range, in_few_digits, predicted};
use crate::backends::options::Options;
use crate::backends::parcel::{ciphertexts, containers, single};
use crate::backends::slots::{OnSlots, Packed, check_slots, evaluates, in_pool};
use crate::circuits::recorder::CircuitUsage;
use crate::cost::price::{Party, Price};
use crate::cost::slots::{SlotDraft, Slots};
use crate::graph::dag::Graph;
use crate::lowering::error::CompileError;
use crate::lowering::kept::Kept;
use crate::lowering::recording::{Recording, with_slots};
use crate::schemes::ckks;
use crate::schemes::ckks::model::NoiseModel;
use crate::schemes::slots::SlotEvaluator;

/// The factor from one precision to the next, and how many are tried, to say which is possible.
const WIDER: f64 = 2.0;
const WIDER_ROUNDS: usize = 12;

/// CKKS: real numbers in slots, with an error bound.
#[derive(Debug)]
pub struct Ckks;

/// Parameters of CKKS for a graph.
struct CkksPlan {
    parameters: ckks::Parameters,
    on: OnSlots,
}

/// The server half.
struct CkksServer {
    plan: Arc<CkksPlan>,
    ev: ckks::Evaluator,
    kept: Kept<ckks::Factor>,
}

impl CkksPlan {
    /// The keys of the function.
    fn request(&self) -> Result<ckks::KeyRequest> {
        self.on.recording.usage.key_request(self.parameters.max_level())
    }

    /// The smallest parameters with which the error bounds of all outputs are within the precision that is asked for.
    ///
    /// # Errors
    /// [`CompileError::Precision`] with the nearest precision that is possible, [`CompileError::Budget`] if none is; what the
    /// graph cannot have in slots.
    fn search(graph: &Arc<Graph>, options: &Options) -> Result<Self> {
        let precision = options.precision_of(graph);
        let Refused { levels, nearest, reason } = match Self::within(graph, options, precision)? {
            Ok(plan) => return Ok(plan),
            Err(refused) => refused,
        };
        let reason = format!("{reason}. Narrower ranges of inputs, fewer steps or a larger precision= help");
        let mut wider = nearest.filter(|_| options.nearest).map(|bound| bound / MARGIN);
        for _ in 0..WIDER_ROUNDS {
            // Polynomials are less precise for a larger precision: it is named only once it was tried.
            let Some(nearest) = wider.map(in_few_digits) else { break };
            if Self::within(graph, options, nearest)?.is_ok() {
                let nearest = Self::nearest(graph, options, [precision, nearest])?;
                return Err(CompileError::Precision { wanted: precision, nearest, reason }.into());
            }
            wider = Some(nearest * WIDER);
        }
        Err(CompileError::Budget { levels, reason }.into())
    }

    /// The smallest precision that is found to be possible, by halving, between one that is not and one that is. It is told as it
    /// was tried, in few digits.
    fn nearest(graph: &Arc<Graph>, options: &Options, [mut refused, mut possible]: [f64; 2]) -> Result<f64> {
        /// How often the interval is halved.
        const HALVINGS: usize = 4;
        for _ in 0..HALVINGS {
            let middle = in_few_digits((refused * possible).sqrt());
            if middle >= possible {
                break;
            }
            match Self::within(graph, options, middle)? {
                Ok(_) => possible = middle,
                Err(_) => refused = middle,
            }
        }
        Ok(possible)
    }

    /// The smallest parameters with which the bounds are within a precision, or why there are none.
    fn within(graph: &Arc<Graph>, options: &Options, precision: f64) -> Result<std::result::Result<Self, Refused>> {
        let found = with_slots(graph, |wanted| Search::new(graph, options, precision, wanted).run())?;
        let plan = |Found { parameters, approximations, recording }| Self {
            parameters,
            on: OnSlots::new(Arc::clone(graph), approximations, recording),
        };
        Ok(found.map(plan))
    }
}

impl Backend for Ckks {
    fn name(&self) -> &'static str {
        "ckks"
    }

    fn is_exact(&self) -> bool {
        false
    }

    fn evaluates(&self, graph: &Graph, at: usize) -> bool {
        evaluates(graph, at, true)
    }

    fn plans(&'static self, graph: &Arc<Graph>, options: &Options) -> Result<Vec<Arc<dyn Plan>>> {
        Ok(vec![Arc::new(CkksPlan::search(graph, options)?)])
    }

    fn read(&'static self, graph: &Arc<Graph>, record: &Record) -> Result<Arc<dyn Plan>> {
        let parameters = ckks::Parameters::from_bytes(&(), &record.bytes()?)?;
        let approximations = record.approximations()?;
        check_slots(record.slots, parameters.max_slots())?;
        let recording = Recording::new::<f64>(graph, record.slots, approximations)?;
        let (needed, left) = (recording.usage.depth, parameters.max_level());
        if needed > left {
            return Err(Error::LevelExhausted { needed, left });
        }
        Ok(Arc::new(CkksPlan { parameters, on: OnSlots::new(Arc::clone(graph), approximations, recording) }))
    }
}

impl Plan for CkksPlan {
    fn backend(&self) -> &'static str {
        Ckks.name()
    }

    fn record(&self) -> Record {
        self.on.record(&self.parameters.to_bytes(&(), Form::Packed))
    }

    fn parameters(&self) -> &dyn Any {
        &self.parameters
    }

    fn words(&self) -> String {
        format!("{}, scale 2^{}", in_words(self.parameters.rlwe()), self.parameters.spec().log_scale)
    }

    fn security(&self) -> Security {
        self.parameters.rlwe().security()
    }

    fn price(&self, client: &Party, server: &Party) -> Result<Price> {
        let limbs = SlotDraft::limbs_below(self.parameters.max_level(), self.on.recording.usage.depth);
        let draft = self.on.draft(Slots::Reals, self.parameters.rlwe(), limbs);
        draft.price(client, server)
    }

    fn bounds(&self) -> Result<Option<Bounds>> {
        let OnSlots { graph, recording, approximations } = &self.on;
        predicted(graph, &NoiseModel::new(self.parameters.clone(), None), recording, *approximations, None).map(Some)
    }

    fn outline(&self, bounds: Option<&Bounds>) -> Result<Outline> {
        Ok(self.on.outline(self.parameters.max_level(), "real", bounds))
    }

    fn usage(&self) -> Option<&CircuitUsage> {
        Some(&self.on.recording.usage)
    }

    fn secret_parts(&self) -> Vec<PartKind> {
        vec![secret_kind(&self.parameters)]
    }

    fn server_parts(&self) -> Vec<PartKind> {
        let open = |path: &Path| -> Result<Arc<dyn Part>> {
            Ok(part(ckks::KeyFile::<EvaluationKeys>::open(path, &Limits::default())?))
        };
        vec![PartKind::of::<ckks::KeyFile<EvaluationKeys>>(self.parameters.fingerprint()).opened_by(open)]
    }

    fn make_secret(&self, seed: &Seed) -> Result<SecretKey> {
        secret_of(&self.parameters, seed)
    }

    fn make_server_keys(&self, secret: &SecretKey, seed: &Seed) -> Result<ServerKeys> {
        let ckks::KeyFile { context, key } = secret.get::<ckks::KeyFile<RlweSecret>>(0)?;
        let key = context.evaluation_keys(key, seed.clone(), &self.request()?, None)?;
        Ok(ServerKeys::of(vec![part(ckks::KeyFile { context: context.clone(), key })]))
    }

    fn encrypt(&self, secret: &SecretKey, inputs: &[Option<&[f64]>], seed: Seed) -> Result<Vec<Vec<u8>>> {
        encrypted(&self.on, secret, inputs, self.parameters.max_level(), seed)
    }

    fn server(self: Arc<Self>, keys: &ServerKeys) -> Result<Box<dyn Running>> {
        let ckks::KeyFile { context, key } = keys.get::<ckks::KeyFile<EvaluationKeys>>(0)?;
        key.check_request(&context.automorphisms_of(&self.request()?)?)?;
        let ev = ckks::Evaluator::new(context, Arc::new(key.clone()))?;
        Ok(Box::new(CkksServer { plan: self, ev, kept: Kept::default() }))
    }

    fn decrypt(&self, secret: &SecretKey, outputs: &[Vec<u8>]) -> Result<Outcome> {
        decrypted(&self.on, secret, outputs)
    }

    fn simulate(&self, inputs: &[Vec<f64>], seed: &Seed) -> Result<Outcome> {
        let model = NoiseModel::new(self.parameters.clone(), Some(seed));
        let (nodes, level) = (self.on.graph.inputs(), self.parameters.max_level());
        let slots = self.on.recording.slots;
        let mut source = Modelled::new(&model, level, slots, Some((&nodes, inputs)));
        let parts = self.on.run(&model, &mut source, None, None)?.concat();
        let values: Vec<Vec<f64>> = parts.iter().map(|part| part.values().to_vec()).collect();
        let errors: Vec<f64> = parts.iter().map(|part| model.error_bound(part)).collect();
        self.on.unpacked(&values, &errors)
    }
}

impl Running for CkksServer {
    fn run(&self, inputs: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
        let (on, context) = (&self.plan.on, self.ev.context());
        let mut source = on.stored(read_inputs(context, inputs)?, ckks::Ciphertext::slots)?;
        let outputs = in_pool(&self.ev, || on.run(&self.ev, &mut source, None, Some(&self.kept)))?.concat();
        Ok(vec![ckks::Ciphertexts(outputs).to_bytes(context, Form::Packed)])
    }

    fn engine(&self) -> Option<&Engine> {
        self.ev.engine()
    }
}

/// Parameters of a ring in words.
pub(super) fn in_words(parameters: &noren_rlwe::parameters::Parameters) -> String {
    let limbs = parameters.max_limbs();
    format!(
        "N = 2^{}, log q = {:.0} in {limbs} primes, log p = {:.0} in {}, {} digits, {} security",
        parameters.degree().ilog2(),
        parameters.log_q(limbs),
        parameters.log_p(),
        parameters.p().len(),
        parameters.dnum(),
        parameters.security(),
    )
}

/// The secret key of these parameters.
pub(super) fn secret_kind(parameters: &ckks::Parameters) -> PartKind {
    PartKind::of::<ckks::KeyFile<RlweSecret>>(parameters.fingerprint())
}

/// A secret key of these parameters.
pub(super) fn secret_of(parameters: &ckks::Parameters, seed: &Seed) -> Result<SecretKey> {
    let context = ckks::Context::new(parameters.clone())?;
    let key = context.generate_keys(seed.clone(), &ckks::KeyRequest::default())?.secret;
    Ok(SecretKey::of(vec![part(ckks::KeyFile { context, key })]))
}

/// Inputs of a graph in ciphertexts of this level, in a container for each.
pub(super) fn encrypted(
    on: &OnSlots,
    secret: &SecretKey,
    inputs: &[Option<&[f64]>],
    level: usize,
    seed: Seed,
) -> Result<Vec<Vec<u8>>> {
    let ckks::KeyFile { context, key } = secret.get::<ckks::KeyFile<RlweSecret>>(0)?;
    let (encoder, encryptor) = (ckks::Encoder::new(context), ckks::Encryptor::symmetric(context, key, seed)?);
    let encrypt = |Packed { view, number, slots }: Packed| {
        let plaintext = encoder.encode(&slots, on.recording.slots, level)?;
        encryptor.encrypt_numbered(&plaintext, encrypted_range(&on.recording.views[view]), number)
    };
    let each = |slots: Vec<Packed>| slots.into_iter().map(encrypt).collect();
    let inputs = on.packed(inputs)?.into_iter().map(each).collect::<Result<_>>()?;
    Ok(containers(inputs, |ciphertexts| ckks::Ciphertexts(ciphertexts).to_bytes(context, Form::Packed)))
}

/// The ciphertexts of each input, from their containers.
pub(super) fn read_inputs(context: &ckks::Context, items: &[Vec<u8>]) -> Result<Vec<Vec<ckks::Ciphertext>>> {
    ciphertexts(items, |item| Ok(ckks::Ciphertexts::from_bytes(context, item)?.0))
}

/// Outputs of a graph from their container, with the bounds that ciphertexts carry.
pub(super) fn decrypted(on: &OnSlots, secret: &SecretKey, outputs: &[Vec<u8>]) -> Result<Outcome> {
    let ckks::KeyFile { context, key } = secret.get::<ckks::KeyFile<RlweSecret>>(0)?;
    let ckks::Ciphertexts(outputs) = ckks::Ciphertexts::from_bytes(context, single(outputs)?)?;
    let decryptor = ckks::Decryptor::new(context, key)?;
    let slots = outputs.iter().map(|output| decryptor.decrypt_real(output)).collect::<Result<Vec<_>>>()?;
    let errors: Vec<f64> = outputs.iter().map(ckks::Ciphertext::error_bound).collect();
    on.unpacked(&slots, &errors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::Backends;
    use crate::backends::tests::{plan, run, toy};
    use crate::graph::interval::Interval;
    use crate::graph::operation::{Binary, Element, Function, Operation, Reduction, Unary};
    use crate::graph::shape::size;
    use crate::schemes::error::readable;

    fn with_input(low: f64, high: f64, build: impl Fn(&mut Graph, usize) -> usize) -> Arc<Graph> {
        with_array(&[8], Interval::new(low, high), &build)
    }

    fn with_array(shape: &[usize], range: Interval, build: &dyn Fn(&mut Graph, usize) -> usize) -> Arc<Graph> {
        let mut graph = Graph::default();
        let x = Operation::Input { name: "x".into(), shape: shape.into(), element: Element::Real, range };
        let x = graph.push(x, "").expect("an input");
        let output = build(&mut graph, x);
        graph.finish(vec![output]).expect("an output");
        Arc::new(graph)
    }

    fn with_constant(graph: &mut Graph, kind: Binary, x: usize, c: f64) -> usize {
        let c = Operation::Constant { shape: vec![], element: Element::Real, values: vec![c] };
        let c = graph.push(c, "").expect("a constant");
        graph.push(Operation::Binary(kind, x, c), "").expect("an operation")
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
        for graph in graphs {
            let range = graph.node(0).range;
            let inputs = [(0..8).map(|i| range.low + (range.high - range.low) * f64::from(i) / 7.0).collect()];
            let found = run(&plan(&graph, &toy("ckks")), &inputs);
            let expected = graph.evaluate(&inputs).expect("values");
            for (a, b) in found.values[0].iter().zip(&expected[0]) {
                assert!((a - b).abs() <= found.bounds[0], "{a} for {b}, bound {}", found.bounds[0]);
            }
        }
    }

    #[test]
    fn results_that_are_larger_than_the_first_prime_holds_take_one_prime_more_and_no_bootstrap() {
        // Of so many bits and such a size no result fits one prime of 50 bits.
        for (count, precision) in [(1000.0, 1e-6), (256.0, 1e-7), (1.0, 1e-6)] {
            let sums = with_input(-1.0, 1.0, |graph, x| {
                let square = graph.push(Operation::Binary(Binary::Mul, x, x), "").expect("a square");
                with_constant(graph, Binary::Mul, square, count)
            });
            let options = Options { precision: Some(precision), ..Options::on("ckks") };
            let found = CkksPlan::search(&sums, &options).expect("parameters");
            assert!(found.parameters.degree() <= 1 << 14, "{}", found.words());
            let inputs = vec![(0..8).map(|i| f64::from(i) / 4.0 - 1.0).collect()];
            let plan: Arc<dyn Plan> = Arc::new(found);
            let (found, expected) = (run(&plan, &inputs), sums.evaluate(&inputs).expect("values"));
            assert!(found.bounds[0] <= precision, "{}", found.bounds[0]);
            for (a, b) in found.values[0].iter().zip(&expected[0]) {
                assert!((a - b).abs() <= found.bounds[0], "{a} for {b}, bound {}", found.bounds[0]);
            }
        }
    }

    #[test]
    fn no_more_bits_are_taken_than_the_precision_asks_for() {
        for (depth, bits) in [(2, 20.0), (4, 20.0), (6, 20.0), (8, 12.0)] {
            let chain = with_input(-1.0, 1.0, |graph, x| {
                let square = |x, _| graph.push(Operation::Binary(Binary::Mul, x, x), "").expect("a square");
                (0..depth).fold(x, square)
            });
            let options = Options { precision: Some(libm::exp2(-bits)), ..Options::on("ckks") };
            let plan = CkksPlan::search(&chain, &options).expect("parameters");
            let bound = plan.bounds().expect("bounds").expect("of real numbers").largest() * libm::exp2(bits);
            assert!((0.2..=MARGIN).contains(&bound), "depth {depth}: {bound} of the precision");
        }
    }

    /// Errors are named in a request as in the model: those that meet in one meet in the other.
    #[test]
    fn bounds_of_all_requests_are_predicted() {
        let table = |shape: [usize; 2], build: &dyn Fn(&mut Graph, usize) -> usize| {
            with_array(&shape, Interval::new(-1.0, 1.0), build)
        };
        let push = |graph: &mut Graph, operation| graph.push(operation, "").expect("an operation");
        let matrix = |k: usize| (0..64).map(|at| ((at * at + k * at) % 17) as f64 / 8.0 - 1.0).collect();
        let product = |graph: &mut Graph, x, k| push(graph, Operation::MatMul { of: x, columns: 8, matrix: matrix(k) });
        let graphs = [
            table([387, 3], &|graph, x| push(graph, Operation::Reduce(Reduction::Sum, x, vec![0]))),
            table([387, 3], &|graph, x| {
                let square = push(graph, Operation::Binary(Binary::Mul, x, x));
                let sum = push(graph, Operation::Reduce(Reduction::Sum, square, vec![1]));
                with_constant(graph, Binary::Add, sum, 0.5)
            }),
            table([1, 8], &|graph, x| {
                let (a, b) = (product(graph, x, 3), product(graph, x, 5));
                push(graph, Operation::Binary(Binary::Add, a, b))
            }),
            table([16, 8], &|graph, x| {
                let a = product(graph, x, 3);
                let difference = push(graph, Operation::Binary(Binary::Sub, a, x));
                push(graph, Operation::Binary(Binary::Mul, difference, x))
            }),
            table([2, 8], &|graph, x| push(graph, Operation::Function { name: Function::Exp, of: x, error: 0.0 })),
        ];
        for (at, graph) in graphs.iter().enumerate() {
            let found = plan(graph, &Options { precision: Some(1e-3), ..toy("ckks") });
            let predicted = found.bounds().expect("bounds").expect("of real numbers").largest();
            let seed = |byte: u8| Seed::from_bytes([byte; 32]);
            let secret = found.make_secret(&seed(1)).expect("a secret key");
            let keys = found.make_server_keys(&secret, &seed(2)).expect("keys");
            let server = Arc::clone(&found).server(&keys).expect("a server");
            let values = vec![0.5; size(&graph.node(0).shape).expect("a size")];
            let bound = |request: u8| {
                let request = found.encrypt(&secret, &[Some(&values)], seed(request)).expect("inputs");
                found.decrypt(&secret, &server.run(&request).expect("a reply")).expect("outputs").bounds[0]
            };
            let bounds: Vec<f64> = (3..6).map(bound).collect();
            // Plain operands miss their values by as much as roundings turn out to, not by as much as they do in the mean.
            assert!((bounds[0] / predicted - 1.0).abs() < 0.01, "graph {at}: {bounds:?}, {predicted} was predicted");
            assert!(bounds.iter().all(|&bound| bound == bounds[0]), "graph {at}: {bounds:?}");
        }
    }

    /// All of the range may be positive, and some of it in the dead zone.
    #[test]
    fn signs_of_what_is_close_to_zero_lie_anywhere() {
        let graph = with_input(0.01, 1.0, |graph, x| graph.push(Operation::Unary(Unary::Sign, x), "").expect("signs"));
        let options = Options { precision: Some(0.1), dead_zone: Some(0.25), ..toy("ckks") };
        let found = run(&plan(&graph, &options), &[[[0.01; 4], [0.9; 4]].concat()]);
        assert!(found.values[0][..4].iter().all(|sign| sign.abs() <= 1.0 + found.bounds[0]), "{:?}", found.values);
        assert!(found.values[0][4..].iter().all(|sign| (sign - 1.0).abs() <= found.bounds[0]), "{:?}", found.values);
    }

    #[test]
    fn what_no_polynomial_is_near_enough_to_is_refused_by_its_name() {
        let graph = with_input(-1e9, 1e9, |graph, x| with_constant(graph, Binary::Maximum, x, 0.0));
        for scheme in ["ckks", "ckks-bootstrapping"] {
            let options = Options { precision: Some(0.03), ..toy(scheme) };
            let refused = Backends::ALL.plans_of(Backends::ALL.named(scheme).expect("a backend"), &graph, &options);
            let error = refused.expect_err("signs of numbers from 1e-10 on");
            assert!(matches!(error.downcast_ref(), Some(CompileError::Approximation { .. })), "{scheme}: {error}");
            let message = error.to_string();
            assert!(
                message.contains("maximum") && message.contains("narrow the ranges of inputs"),
                "{scheme}: {message}"
            );
        }
    }

    #[test]
    fn the_nearest_precision_that_is_named_is_possible() {
        let graph = with_input(-1.0, 1.0, |graph, x| with_constant(graph, Binary::Mul, x, 0.2));
        let options = Options { precision: Some(1e-13), ..Options::default() };
        let error = CkksPlan::search(&graph, &options).err().expect("a precision that is not possible");
        let Some(CompileError::Precision { nearest, .. }) = error.downcast_ref() else { panic!("{error}") };
        assert!(*nearest > 1e-13 && readable(*nearest).to_string().parse() == Ok(*nearest), "{error}");
        let options = Options { precision: Some(*nearest), ..options };
        assert!(CkksPlan::search(&graph, &options).is_ok(), "{error}");
    }
}
