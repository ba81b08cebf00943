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
use crate::graph::operation::{Element, Operation};
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
        let modulus = modulus_above(2.0 * largest(graph) + 1.0)?;
        let wanted = slots_of(graph);
        let mut slots = wanted;
        for _ in 0..MOST_ROUNDS {
            let recording = Recording::new::<i64>(graph, slots, Approximations::EXACT)?;
            let parameters = requirements(&recording, modulus, options.security).choose::<S>()?;
            if parameters.row_slots() == slots {
                let on = OnSlots::new(Arc::clone(graph), Approximations::EXACT, recording);
                return Ok(Self { backend, parameters, on });
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
        node.element != Element::Real && !operands.iter().any(real) && evaluates(graph, at, false)
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
        let recording = Recording::new::<i64>(graph, record.slots, Approximations::EXACT)?;
        let on = OnSlots::new(Arc::clone(graph), Approximations::EXACT, recording);
        Ok(Arc::new(IntegerPlan { backend: self, parameters, on }))
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
        let requirements =
            requirements(&self.on.recording, self.parameters.modulus().value(), self.parameters.rlwe().security());
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
            Ok(values.into_iter().take(self.on.recording.slots).map(|x| x as f64).collect())
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
fn requirements(recording: &Recording, modulus: u64, security: Security) -> integers::Requirements {
    let terms = recording.terms as usize;
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

/// The largest magnitude of inputs, constants and outputs.
fn largest(graph: &Graph) -> f64 {
    let needed = graph.needed();
    let mut largest = 1.0_f64;
    for (at, node) in graph.nodes().iter().enumerate().filter(|(at, _)| needed[*at]) {
        let bounded = graph.outputs().contains(&at)
            || matches!(node.operation, Operation::Input { .. } | Operation::Constant { .. });
        if bounded {
            largest = largest.max(node.range.magnitude());
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
        .find(|&t| prime_power(t) == Some((t, 1)))
        .ok_or_else(|| Error::parameter("results", least, "smaller numbers"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::bgv::BGV;
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
}
