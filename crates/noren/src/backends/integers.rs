//! Exact integers in slots, of any scheme that has them: parameters for a graph, and the plaintext modulus that holds its
//! results.

use std::any::Any;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

use noren_math::prime::prime_power;
use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::{EvaluationKeys, SecretKey as RlweSecret};
use noren_rlwe::security::Security;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Limits;
use noren_rlwe::wire::writer::Form;

use crate::backends::backend::{Backend, Bounds, Outcome, Outline, Plan, Record, Running};
use crate::backends::ckks::in_words;
use crate::backends::keys::{Part, PartKind, SecretKey, ServerKeys, part};
use crate::backends::options::Options;
use crate::backends::parcel::single;
use crate::backends::slots::{OnSlots, evaluates, in_pool};
use crate::circuits::recorder::CircuitUsage;
use crate::cost::price::{Party, Price};
use crate::cost::slots::Slots;
use crate::graph::dag::Graph;
use crate::graph::operation::{Binary, Element, Operation, Unary};
use crate::lowering::error::CompileError;
use crate::lowering::nodes::Approximations;
use crate::lowering::recording::{Recording, slots_of};
use crate::schemes::integers::scheme::Scheme;
use crate::schemes::integers::{self, Ciphertext, Ciphertexts, Evaluator, KeyFile, KeyRequest};

/// How often parameters are tried.
const MOST_ROUNDS: usize = 16;

/// Exact integers in slots: sums and products.
#[derive(Debug)]
pub struct Integers<S> {
    /// The name of the backend.
    pub(super) name: &'static str,
    /// The meaning of slots, for their costs.
    pub(super) slots: Slots,
    pub(super) scheme: PhantomData<S>,
}

/// Parameters of integers for a graph.
struct IntegerPlan<S: 'static> {
    backend: &'static Integers<S>,
    parameters: integers::Parameters,
    /// What the client takes results modulo.
    residues: Option<u64>,
    on: OnSlots,
}

/// The server half.
struct IntegerServer<S: 'static> {
    plan: Arc<IntegerPlan<S>>,
    ev: Evaluator<S>,
}

/// Rings up to this index have slots modulo the primes that are tried.
const SLOT_INDEX: u64 = 1 << 16;

impl<S: Scheme> IntegerPlan<S> {
    /// The smallest parameters that carry all operations, modulo a prime that holds all results.
    ///
    /// # Errors
    /// Graphs of real numbers, or that no parameters carry.
    fn search(backend: &'static Integers<S>, graph: &Arc<Graph>, options: &Options) -> Result<Self> {
        let needed = graph.needed();
        let real = (0..needed.len()).find(|&at| needed[at] && graph.node(at).element == Element::Real);
        if let Some(real) = real {
            return Err(CompileError::unsupported(graph, real, "integers").into());
        }
        let divides = |&at: &usize| matches!(graph.node(at).operation, Operation::Binary(Binary::Remainder, ..));
        if let Some(at) = (0..needed.len()).filter(|&at| needed[at]).filter(divides).find(|&at| !is_residue(graph, at))
        {
            let needed =
                "remainders by one number alone, of all outputs: within the function only by a prime above 65536";
            return Err(CompileError::unsupported(graph, at, needed).into());
        }
        let residues = residues(graph);
        let modulus = match own_modulus(graph) {
            Some(modulus) => modulus,
            None => modulus_above(2.0 * largest(graph) + 1.0)?,
        };
        let approximations = Approximations::modulo(modulus);
        let wanted = slots_of(graph);
        let mut slots = wanted;
        for _ in 0..MOST_ROUNDS {
            let recording = Recording::new::<i64>(graph, slots, approximations)?;
            let parameters = requirements(graph, &recording, modulus, options.security).choose::<S>()?;
            if parameters.row_slots() == slots {
                let on = OnSlots::new(Arc::clone(graph), approximations, recording);
                return Ok(Self { backend, parameters, residues, on });
            }
            // A vector is a row, whatever is in it.
            slots = parameters.row_slots();
        }
        Err(Error::parameter("slots", wanted, "arrays of fewer elements"))
    }
}

impl<S: Scheme> Backend for Integers<S> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn evaluates(&self, graph: &Graph, at: usize) -> bool {
        let node = graph.node(at);
        let operands = node.operation.operands();
        let real = |of: &usize| graph.node(*of).element == Element::Real;
        let has = match node.operation {
            Operation::Binary(Binary::Remainder, ..) => is_residue(graph, at),
            _ => evaluates(graph, at, false),
        };
        node.element != Element::Real && !operands.iter().any(real) && has
    }

    fn plan(&'static self, graph: &Arc<Graph>, options: &Options) -> Result<Arc<dyn Plan>> {
        Ok(Arc::new(IntegerPlan::search(self, graph, options)?))
    }

    fn read(&'static self, graph: &Arc<Graph>, record: &Record) -> Result<Arc<dyn Plan>> {
        let parameters = integers::Parameters::from_bytes(&(), &record.bytes()?)?;
        parameters.check_rows()?;
        if record.slots != parameters.row_slots() {
            return Err(Error::parameter("slots", record.slots, parameters.row_slots()));
        }
        let approximations = Approximations::modulo(parameters.modulus().value());
        let recording = Recording::new::<i64>(graph, record.slots, approximations)?;
        let on = OnSlots::new(Arc::clone(graph), approximations, recording);
        Ok(Arc::new(IntegerPlan { backend: self, parameters, residues: residues(graph), on }))
    }
}

impl<S: Scheme> Plan for IntegerPlan<S> {
    fn backend(&self) -> &'static str {
        self.backend.name
    }

    fn record(&self) -> Record {
        self.on.record(&self.parameters.to_bytes(&(), Form::Packed))
    }

    fn parameters(&self) -> &dyn Any {
        &self.parameters
    }

    fn words(&self) -> String {
        in_words(self.parameters.degree(), self.parameters.rlwe())
    }

    fn security(&self) -> Security {
        self.parameters.rlwe().security()
    }

    fn price(&self, client: &Party, server: &Party) -> Result<Price> {
        let (modulus, security) = (self.parameters.modulus().value(), self.parameters.rlwe().security());
        let requirements = requirements(&self.on.graph, &self.on.recording, modulus, security);
        let limbs = requirements.limbs_by_depth::<S>(&self.parameters);
        self.on.draft(self.backend.slots, self.parameters.rlwe(), limbs).price(client, server)
    }

    fn outline(&self, _: Option<&Bounds>) -> Result<Outline> {
        Ok(self.on.outline(self.on.recording.usage.depth, "integer", None))
    }

    fn usage(&self) -> Option<&CircuitUsage> {
        Some(&self.on.recording.usage)
    }

    fn secret_parts(&self) -> Vec<PartKind> {
        vec![PartKind::of::<KeyFile<RlweSecret>>(self.parameters.fingerprint())]
    }

    fn server_parts(&self) -> Vec<PartKind> {
        let open = |path: &Path| -> Result<Arc<dyn Part>> {
            Ok(part(KeyFile::<EvaluationKeys>::open(path, &Limits::default())?))
        };
        vec![PartKind::of::<KeyFile<EvaluationKeys>>(self.parameters.fingerprint()).opened_by(open)]
    }

    fn make_secret(&self, seed: &Seed) -> Result<SecretKey> {
        let context = integers::Context::new(self.parameters.clone())?;
        let key = context.generate_keys(seed.clone(), &KeyRequest::default())?.secret;
        Ok(SecretKey::of(vec![part(KeyFile { context, key })]))
    }

    fn make_server_keys(&self, secret: &SecretKey, seed: &Seed) -> Result<ServerKeys> {
        let KeyFile { context, key } = secret.get::<KeyFile<RlweSecret>>(0)?;
        let usage = &self.on.recording.usage;
        let request = KeyRequest {
            relinearization: usage.relinearization.is_some(),
            rotations: usage.rotations.keys().copied().collect(),
            ..KeyRequest::default()
        };
        let key = context.evaluation_keys(key, seed.clone(), &request, None)?;
        Ok(ServerKeys::of(vec![part(KeyFile { context: context.clone(), key })]))
    }

    fn encrypt(&self, secret: &SecretKey, inputs: &[Vec<f64>], seed: Seed) -> Result<Vec<Vec<u8>>> {
        let KeyFile { context, key } = secret.get::<KeyFile<RlweSecret>>(0)?;
        let encoder = integers::Encoder::new(context);
        let encryptor = integers::Encryptor::<S>::symmetric(context, key, seed)?;
        let encrypt = |(_, slots): (usize, Vec<f64>)| {
            let numbers: Vec<i64> = slots.iter().map(|&x| x as i64).collect();
            encryptor.encrypt(&encoder.encode_row(&numbers)?)
        };
        let ciphertexts = self.on.packed(inputs)?.into_iter().map(encrypt).collect::<Result<_>>()?;
        Ok(vec![Ciphertexts::<S>(ciphertexts).to_bytes(context, Form::Packed)])
    }

    fn server(self: Arc<Self>, keys: &ServerKeys) -> Result<Box<dyn Running>> {
        let KeyFile { context, key } = keys.get::<KeyFile<EvaluationKeys>>(0)?;
        let ev = Evaluator::new(context, Arc::new(key.clone()))?;
        Ok(Box::new(IntegerServer { plan: self, ev }))
    }

    fn decrypt(&self, secret: &SecretKey, outputs: &[Vec<u8>]) -> Result<Outcome> {
        let KeyFile { context, key } = secret.get::<KeyFile<RlweSecret>>(0)?;
        let Ciphertexts(outputs) = Ciphertexts::<S>::from_bytes(context, single(outputs)?)?;
        let (encoder, decryptor) = (integers::Encoder::new(context), integers::Decryptor::new(context, key)?);
        let decrypt = |ciphertext: &Ciphertext<S>| {
            let values = encoder.decode_signed(&decryptor.decrypt(ciphertext)?)?;
            let reduced = |x: i64| self.residues.map_or(x, |modulus| x.rem_euclid(modulus.cast_signed()));
            Ok(values.into_iter().take(self.on.recording.slots).map(|x| reduced(x) as f64).collect())
        };
        let slots = outputs.iter().map(decrypt).collect::<Result<Vec<Vec<f64>>>>()?;
        self.on.unpacked(&slots, &vec![0.0; slots.len()])
    }

    fn simulate(&self, inputs: &[Vec<f64>], _: &Seed) -> Result<Outcome> {
        self.on.graph.evaluate(inputs).map(Outcome::exact)
    }
}

impl<S: Scheme> Running for IntegerServer<S> {
    fn run(&self, inputs: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
        let (on, context) = (&self.plan.on, self.ev.context());
        let Ciphertexts(inputs) = Ciphertexts::<S>::from_bytes(context, single(inputs)?)?;
        let mut source = on.stored(inputs, |ciphertext| ciphertext.parameters().row_slots())?;
        let outputs = in_pool(&self.ev, || on.run(&self.ev, &mut source, None))?.concat();
        Ok(vec![Ciphertexts::<S>(outputs).to_bytes(context, Form::Packed)])
    }
}

/// What a recorded graph asks of parameters.
fn requirements(graph: &Graph, recording: &Recording, modulus: u64, security: Security) -> integers::Requirements {
    let terms = recording.terms as usize;
    // Coefficients of tabulated functions are anything modulo t.
    let is_tabulated = |at: usize| match graph.node(at).operation {
        Operation::Table { .. } | Operation::Unary(Unary::Abs | Unary::Sign, _) => true,
        Operation::Binary(kind, ..) => kind.compares() || matches!(kind, Binary::Maximum | Binary::Minimum),
        _ => false,
    };
    let needed = graph.needed();
    let tables = (0..needed.len()).filter(|&at| needed[at] && is_tabulated(at)).count();
    integers::Requirements {
        depth: recording.usage.depth,
        plaintext_modulus: modulus,
        slots: 2 * recording.slots.min(1 << 14),
        terms,
        sum: terms,
        plain_products: tables,
        security,
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
fn is_residue(graph: &Graph, at: usize) -> bool {
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
fn own_modulus(graph: &Graph) -> Option<u64> {
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
fn has_slots(modulus: u64) -> bool {
    modulus % SLOT_INDEX == 1 && prime_power(modulus) == Some((modulus, 1))
}

/// The largest magnitude of inputs, constants and outputs, and of what functions are tabulated of.
fn largest(graph: &Graph) -> f64 {
    let needed = graph.needed();
    let mut largest = 1.0_f64;
    for (at, node) in graph.nodes().iter().enumerate().filter(|(at, _)| needed[*at]) {
        let bounded = graph.outputs().contains(&at)
            || matches!(node.operation, Operation::Input { .. } | Operation::Constant { .. });
        if bounded {
            largest = largest.max(node.range.magnitude());
        }
        if let Operation::Binary(Binary::Remainder, of, _) = node.operation {
            largest = largest.max(graph.node(of).range.magnitude());
        }
        let factors: &[f64] = match &node.operation {
            Operation::MatMul { matrix, .. } => matrix,
            Operation::Polynomial(_, coefficients) => coefficients,
            _ => &[],
        };
        largest = factors.iter().fold(largest, |largest, factor| largest.max(factor.abs()));
    }
    largest
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
        .find(|&t| has_slots(t))
        .ok_or_else(|| Error::parameter("results", least, "smaller numbers"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::bgv::BGV;
    use crate::backends::table::Backends;
    use crate::backends::tests::{run, toy};
    use crate::graph::interval::Interval;
    use crate::graph::operation::{Binary, Reduction};

    #[test]
    fn plaintext_moduli_are_primes_with_slots() {
        assert_eq!(modulus_above(3.0).expect("a modulus"), 65537);
        let t = modulus_above(1e6).expect("a modulus");
        assert!(t >= 1_000_000 && t % SLOT_INDEX == 1 && prime_power(t) == Some((t, 1)), "{t}");
        assert!(modulus_above(1e15).is_err());
    }

    #[test]
    fn sums_of_sums_are_counted_as_terms_of_one_another() {
        for shape in [vec![17, 5], vec![64]] {
            let mut graph = Graph::default();
            let (axes, count) = ((0..shape.len()).collect::<Vec<_>>(), shape.iter().product::<usize>() as f64);
            let range = Interval::new(-3.0, 3.0);
            let a = Operation::Input { name: "a".into(), shape, element: Element::Integer, range };
            let a = graph.push(a, "").expect("an input");
            let sum = graph.push(Operation::Reduce(Reduction::Sum, a, axes.clone()), "").expect("a sum");
            let difference = graph.push(Operation::Binary(Binary::Sub, a, sum), "").expect("a difference");
            let total = graph.push(Operation::Reduce(Reduction::Sum, difference, axes), "").expect("a sum");
            graph.finish(vec![total]).expect("an output");
            let graph = Arc::new(graph);
            let plan = IntegerPlan::search(&BGV, &graph, &toy("bgv")).expect("parameters");
            assert!(plan.on.recording.terms >= count * (count + 1.0), "{}", plan.on.recording.terms);
            let values = vec![(0..count as usize).map(|i| (i % 7) as f64 - 3.0).collect::<Vec<f64>>()];
            let plan: Arc<dyn Plan> = Arc::new(plan);
            assert_eq!(run(&plan, &values).values, graph.evaluate(&values).expect("values"));
        }
    }

    fn integers(graph: &mut Graph, name: &str, count: usize, [low, high]: [f64; 2]) -> usize {
        let range = Interval::new(low, high);
        let input = Operation::Input { name: name.into(), shape: vec![count], element: Element::Integer, range };
        graph.push(input, "").expect("an input")
    }

    /// Checks a graph of the operation on `x` from 0 to 15 and `y` from -7 to 8 with both schemes, on all pairs of some numbers.
    fn check(operation: impl Fn(&mut Graph, usize, usize) -> usize) {
        let (x, y): (Vec<f64>, Vec<f64>) = (0..256).map(|k| (f64::from(k % 16), f64::from(k / 16 - 7))).unzip();
        let mut graph = Graph::default();
        let (a, b) = (integers(&mut graph, "x", 256, [0.0, 15.0]), integers(&mut graph, "y", 256, [-7.0, 8.0]));
        let at = operation(&mut graph, a, b);
        graph.finish(vec![at]).expect("an output");
        let (graph, values) = (Arc::new(graph), vec![x, y]);
        let expected = graph.evaluate(&values).expect("values");
        for scheme in ["bgv", "bfv"] {
            let backend = Backends::ALL.named(scheme).expect("a scheme");
            assert!(backend.evaluates(&graph, at), "{graph:?}");
            let plan = Backends::ALL.plan(backend, &graph, &toy(scheme)).expect("a plan");
            assert_eq!(run(&plan, &values).values, expected, "{scheme}: {graph:?}");
        }
    }

    fn push(graph: &mut Graph, operation: Operation) -> usize {
        graph.push(operation, "").expect("an operation")
    }

    fn constant(graph: &mut Graph, number: f64) -> usize {
        push(graph, Operation::Constant { shape: vec![], element: Element::Integer, values: vec![number] })
    }

    #[test]
    fn functions_of_few_integers_are_polynomials_modulo_t() {
        let table = |graph: &mut Graph, of: usize, first: i64| {
            let values = (0..32).map(|k| f64::from(k * k % 29 * 1000 - 7000)).collect();
            push(graph, Operation::Table { of, first, values, element: Element::Integer })
        };
        check(|graph, x, _| table(graph, x, 0));
        check(|graph, x, _| table(graph, x, -16));
        check(|graph, x, y| {
            let sum = push(graph, Operation::Binary(Binary::Mul, x, x));
            let inner = push(graph, Operation::Binary(Binary::Less, sum, y));
            let outer = table(graph, y, -7);
            push(graph, Operation::Select(inner, outer, x))
        });
        for kind in [Unary::Abs, Unary::Sign] {
            check(|graph, _, y| push(graph, Operation::Unary(kind, y)));
        }
        use Binary::{Equal, Greater, GreaterEqual, Less, LessEqual, Maximum, Minimum, NotEqual};
        for kind in [Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual, Minimum, Maximum] {
            check(|graph, x, y| push(graph, Operation::Binary(kind, x, y)));
        }
    }

    #[test]
    fn remainders_of_outputs_are_those_of_the_modulus_or_of_the_client() {
        // Modulo a prime with slots, in every place; by another number, at the end.
        check(|graph, x, y| {
            let prime = constant(graph, 65537.0);
            (0..3).fold(push(graph, Operation::Binary(Binary::Mul, x, y)), |z, _| {
                let square = push(graph, Operation::Binary(Binary::Mul, z, z));
                let square = push(graph, Operation::Binary(Binary::Remainder, square, prime));
                let moved = push(graph, Operation::Binary(Binary::Add, square, y));
                push(graph, Operation::Binary(Binary::Remainder, moved, prime))
            })
        });
        check(|graph, x, _| {
            let (shape, values) = (vec![2, 1], vec![10.0; 2]);
            let tens = push(graph, Operation::Constant { shape, element: Element::Integer, values });
            push(graph, Operation::Binary(Binary::Remainder, x, tens))
        });
        check(|graph, x, y| {
            let sum = push(graph, Operation::Binary(Binary::Add, x, y));
            let ten = constant(graph, 10.0);
            let of = push(graph, Operation::Binary(Binary::Remainder, sum, ten));
            push(graph, Operation::Gather { of, shape: vec![3], positions: vec![255, -1, 17] })
        });
        check(|graph, x, y| {
            let (product, ten) = (push(graph, Operation::Binary(Binary::Mul, x, y)), constant(graph, 10.0));
            push(graph, Operation::Binary(Binary::Remainder, product, ten))
        });
    }

    #[test]
    fn remainders_and_tables_that_slots_do_not_have_are_refused() {
        let refused = |operation: &dyn Fn(&mut Graph, usize) -> usize, words: &str| {
            let mut graph = Graph::default();
            let x = integers(&mut graph, "x", 4, [0.0, 300.0]);
            let at = operation(&mut graph, x);
            graph.finish(vec![at]).expect("an output");
            let error = IntegerPlan::search(&BGV, &Arc::new(graph), &toy("bgv")).map(|_| ()).expect_err("refused");
            assert!(error.to_string().contains(words), "{error}");
        };
        refused(
            &|graph, x| push(graph, Operation::Unary(Unary::Abs, x)),
            "functions of at most 256 integers, found 301",
        );
        refused(
            &|graph, x| {
                let ten = constant(graph, 10.0);
                let digit = push(graph, Operation::Binary(Binary::Remainder, x, ten));
                push(graph, Operation::Binary(Binary::Mul, digit, digit))
            },
            "remainders by one number alone, of all outputs",
        );
    }
}
