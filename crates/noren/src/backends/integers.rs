//! Exact integers in slots, of any scheme that has them: parameters for a graph, and the plaintext modulus that holds its
//! results.

use std::any::Any;
use std::borrow::Cow;
use std::marker::PhantomData;
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
use crate::backends::ckks::in_words;
use crate::backends::keys::{Part, PartKind, SecretKey, ServerKeys, part};
use crate::backends::modulus::{Decoding, is_residue, moduli, own_modulus, residues_needed};
use crate::backends::options::Options;
use crate::backends::parcel::{ciphertexts, containers, single};
use crate::backends::slots::{OnSlots, evaluates, in_pool};
use crate::circuits::recorder::CircuitUsage;
use crate::cost::price::{Party, Price};
use crate::cost::slots::{SlotDraft, Slots};
use crate::graph::dag::Graph;
use crate::graph::operation::{Binary, Element, Operation, Unary};
use crate::graph::rows::{first_rows, repeated_rows, rows};
use crate::graph::shape::size;
use crate::lowering::error::CompileError;
use crate::lowering::kept::Kept;
use crate::lowering::nodes::{Approximations, Lowering, Output, Source};
use crate::lowering::recording::{Recording, slots_of};
use crate::lowering::value::View;
use crate::schemes::integers::error::IntegerError;
use crate::schemes::integers::model::{ModelVector, NoiseModel};
use crate::schemes::integers::scheme::Scheme;
use crate::schemes::integers::{self, Ciphertext, Ciphertexts, Evaluator, KeyFile, KeyRequest};
use crate::schemes::slots::SlotEvaluator;

/// No row of slots of parameters that are chosen is shorter.
const LEAST_SLOTS: usize = 1 << 9;
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
    graph: Arc<Graph>,
    parameters: integers::Parameters,
    decoding: Decoding,
    lanes: Lanes,
    /// The work of each lane.
    on: OnSlots,
    /// The keys of the function, each for the limbs that it is used at.
    keys: KeyRequest,
}

/// The contents of the two rows of slots: the same, or each a half of the rows of a function that
/// [computes its rows apart](first_rows).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lanes {
    Alike,
    /// So many rows of arrays in each.
    Halves(usize),
}

impl Lanes {
    /// How many rows of slots hold elements of their own.
    const fn count(self) -> usize {
        match self {
            Self::Alike => 1,
            Self::Halves(_) => 2,
        }
    }
}

/// The server half.
struct IntegerServer<S: 'static> {
    plan: Arc<IntegerPlan<S>>,
    ev: Evaluator<S>,
    kept: Kept<integers::Plaintext>,
}

impl<S: Scheme> IntegerPlan<S> {
    /// Parameters that carry all operations, modulo a prime that holds all results: those of the smallest ring with few slots, and
    /// of the smallest whose rows hold the largest array.
    ///
    /// # Errors
    /// Graphs of real numbers, or that no parameters carry.
    fn search(backend: &'static Integers<S>, graph: &Arc<Graph>, options: &Options) -> Result<Vec<Self>> {
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
        let decoding = Decoding::new(graph);
        let moduli = moduli(graph)?;
        let halves = halves(graph).map(|(count, half)| (Lanes::Halves(count), half));
        let (mut found, mut refused): (Vec<Self>, _) = (Vec::new(), None);
        for (lanes, lane) in halves.into_iter().chain([(Lanes::Alike, Arc::clone(graph))]) {
            let wanted = slots_of(&lane);
            for slots in [LEAST_SLOTS, wanted] {
                let Settled { parameters, approximations, recording, keys } =
                    match settled::<S>(&lane, slots, &moduli, options) {
                        Ok(settled) => settled,
                        Err(error) => {
                            refused = Some(error);
                            continue;
                        }
                    };
                // Halves of what a row has room for would be in as many ciphertexts.
                let is_half_empty = lanes != Lanes::Alike && wanted < parameters.row_slots();
                if is_half_empty || found.iter().any(|plan| plan.parameters.degree() == parameters.degree()) {
                    continue;
                }
                let on = OnSlots::new(Arc::clone(&lane), approximations, recording);
                let (graph, decoding) = (Arc::clone(graph), decoding.clone());
                found.push(Self { backend, graph, parameters, decoding, lanes, on, keys });
            }
        }
        match (found.is_empty(), refused) {
            (true, Some(error)) => Err(error),
            _ => Ok(found),
        }
    }

    /// The inputs of each lane. Where the last has fewer rows than the others, its last row is there more than once.
    fn in_lanes<'a>(&self, inputs: &[Option<&'a [f64]>]) -> Vec<Vec<Option<Cow<'a, [f64]>>>> {
        let Lanes::Halves(count) = self.lanes else {
            return vec![inputs.iter().map(|values| values.map(Cow::Borrowed)).collect()];
        };
        let half = |lane: usize| {
            let rows = |(values, at): (&Option<&[f64]>, usize)| {
                let shape = &self.graph.node(at).shape;
                values.map(|values| Cow::Owned(repeated_rows(values, shape[0], lane * count, count)))
            };
            inputs.iter().zip(self.graph.inputs()).map(rows).collect()
        };
        (0..2).map(half).collect()
    }

    /// The results of all lanes, one after the other: the numbers in the ranges of outputs that have these residues.
    fn joined(&self, lanes: Vec<Outcome>) -> Outcome {
        let modulus = self.parameters.modulus().value().cast_signed();
        let output = |(k, &at): (usize, &usize)| {
            let count = size(&self.graph.node(at).shape).unwrap_or(0);
            let number = |&residue: &f64| self.decoding.number(k, residue as i64, modulus) as f64;
            lanes.iter().flat_map(|lane| &lane.values[k]).map(number).take(count).collect()
        };
        Outcome::exact(self.graph.outputs().iter().enumerate().map(output).collect())
    }
}

/// The first half of the rows of a function that computes its rows apart, and how many these are.
fn halves(graph: &Graph) -> Option<(usize, Arc<Graph>)> {
    let count = rows(graph).filter(|&rows| rows > 1)?.div_ceil(2);
    Some((count, Arc::new(first_rows(graph, count)?)))
}

/// Parameters for a graph, with a recording in their slots and the keys of a run.
struct Settled {
    parameters: integers::Parameters,
    approximations: Approximations,
    recording: Recording,
    keys: KeyRequest,
}

/// The smallest parameters for a graph in ciphertexts of at least this many slots, modulo the first number for which their ring has
/// slots.
fn settled<S: Scheme>(graph: &Graph, slots: usize, moduli: &[u64], options: &Options) -> Result<Settled> {
    let mut refused = None;
    for &modulus in moduli {
        let found = settled_modulo::<S>(graph, slots, modulus, options)?;
        match check_slots(&found.parameters) {
            Ok(()) => return Ok(found),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.expect("a modulus is tried"))
}

/// Refuses parameters whose ring has no slots modulo their plaintext modulus.
fn check_slots(parameters: &integers::Parameters) -> Result<()> {
    if parameters.has_slots() {
        return Ok(());
    }
    let needed = format!("a prime that is 1 modulo {}: fewer operations, or another modulus", 2 * parameters.degree());
    Err(Error::parameter("plaintext_modulus", parameters.modulus().value(), needed))
}

/// The same, modulo one number, with slots or not.
fn settled_modulo<S: Scheme>(graph: &Graph, slots: usize, modulus: u64, options: &Options) -> Result<Settled> {
    let approximations = Approximations::modulo(modulus);
    let wanted = slots;
    let mut slots = slots;
    for _ in 0..MOST_ROUNDS {
        let recording = Recording::new::<i64>(graph, slots, approximations)?;
        let requirements = requirements(graph, &recording, modulus, options.security);
        let mut parameters = requirements.choose::<S>()?;
        if parameters.row_slots() == slots {
            let keys = |parameters: &_| carried::<S>(graph, &recording, approximations, parameters);
            let mut found = keys(&parameters)?;
            // Counts are enough for most graphs.
            if found.is_none() {
                parameters = requirements.choose_where::<S>(&|parameters| Ok(keys(parameters)?.is_some()))?;
                found = keys(&parameters)?;
            }
            if let Some(keys) = found.filter(|_| parameters.row_slots() == slots) {
                return Ok(Settled { parameters, approximations, recording, keys });
            }
        }
        // A vector is a row, whatever is in it.
        slots = parameters.row_slots();
    }
    Err(Error::parameter("slots", wanted, "arrays of fewer elements"))
}

/// The keys of a run of a graph, if parameters leave a noise budget in each of its ciphertexts, as its model says.
fn carried<S: Scheme>(
    graph: &Graph,
    recording: &Recording,
    approximations: Approximations,
    parameters: &integers::Parameters,
) -> Result<Option<KeyRequest>> {
    let context = integers::Context::new(parameters.clone())?;
    let model = NoiseModel::<S>::new(&context);
    let refused = |error: &Error| {
        error.downcast_ref().is_some_and(|error| matches!(error, IntegerError::NoiseExhausted { .. }))
            || matches!(error, Error::LevelExhausted { .. })
    };
    match modelled(graph, recording, approximations, &model) {
        Ok(outputs) => {
            let is_decrypted = outputs.iter().flat_map(|output| &output.parts).all(|part| model.is_decrypted(part));
            Ok(is_decrypted.then(|| model.needs()))
        }
        Err(error) if refused(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The outputs of a graph on a model.
fn modelled<S: Scheme>(
    graph: &Graph,
    recording: &Recording,
    approximations: Approximations,
    model: &NoiseModel<S>,
) -> Result<Vec<Output<ModelVector>>> {
    let mut source = Modelled { model, slots: recording.slots };
    Lowering::new(model, graph, recording.slots, approximations, &mut source).run(|_, _, _| {})
}

/// Inputs of a model of noise.
struct Modelled<'a, S> {
    model: &'a NoiseModel<'a, S>,
    slots: usize,
}

impl<S: Scheme> Source<ModelVector> for Modelled<'_, S> {
    fn view(&mut self, view: View) -> Result<Vec<ModelVector>> {
        let fresh = self.model.fresh(self.slots, view.layout.period().min(self.slots));
        Ok(vec![fresh; view.layout.parts(self.slots)])
    }
}

impl<S: Scheme> Backend for Integers<S> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn has_moduli(&self) -> bool {
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

    fn plans(&'static self, graph: &Arc<Graph>, options: &Options) -> Result<Vec<Arc<dyn Plan>>> {
        Ok(IntegerPlan::search(self, graph, options)?.into_iter().map(|plan| Arc::new(plan) as Arc<dyn Plan>).collect())
    }

    fn read(&'static self, graph: &Arc<Graph>, record: &Record) -> Result<Arc<dyn Plan>> {
        let parameters = integers::Parameters::from_bytes(&(), &record.bytes()?)?;
        parameters.check_rows()?;
        let (modulus, own, least) = (parameters.modulus().value(), own_modulus(graph), residues_needed(graph));
        if own.map_or((modulus as f64) < least, |own| own != modulus) {
            let needed = own.map_or_else(|| format!("at least {least}, to hold all results"), |own| own.to_string());
            return Err(Error::parameter("plaintext_modulus", modulus, needed));
        }
        check_slots(&parameters)?;
        if record.slots != parameters.row_slots() {
            return Err(Error::parameter("slots", record.slots, parameters.row_slots()));
        }
        let (lanes, lane) = match (record.lanes, halves(graph)) {
            (1, _) => (Lanes::Alike, Arc::clone(graph)),
            (2, Some((count, half))) => (Lanes::Halves(count), half),
            (found, halves) => {
                let needed = if halves.is_some() { "1 or 2" } else { "1: the rows of arrays depend on one another" };
                return Err(Error::parameter("lanes", found, needed));
            }
        };
        let approximations = Approximations::modulo(parameters.modulus().value());
        let recording = Recording::new::<i64>(&lane, record.slots, approximations)?;
        let keys = carried::<S>(&lane, &recording, approximations, &parameters)?;
        let keys = keys.ok_or_else(|| Error::parameter("parameters", "too small", "those with a noise budget left"))?;
        let on = OnSlots::new(lane, approximations, recording);
        let (graph, decoding) = (Arc::clone(graph), Decoding::new(graph));
        Ok(Arc::new(IntegerPlan { backend: self, graph, parameters, decoding, lanes, on, keys }))
    }
}

impl<S: Scheme> Plan for IntegerPlan<S> {
    fn backend(&self) -> &'static str {
        self.backend.name
    }

    fn record(&self) -> Record {
        Record { lanes: self.lanes.count(), ..self.on.record(&self.parameters.to_bytes(&(), Form::Packed)) }
    }

    fn parameters(&self) -> &dyn Any {
        &self.parameters
    }

    fn words(&self) -> String {
        format!("{}, t = {}", in_words(self.parameters.rlwe()), self.parameters.modulus().value())
    }

    fn security(&self) -> Security {
        self.parameters.rlwe().security()
    }

    fn price(&self, client: &Party, server: &Party) -> Result<Price> {
        let (modulus, security) = (self.parameters.modulus().value(), self.parameters.rlwe().security());
        let requirements = requirements(&self.on.graph, &self.on.recording, modulus, security);
        let limbs = requirements.limbs_by_depth::<S>(&self.parameters);
        let draft = self.on.draft(self.backend.slots, self.parameters.rlwe(), limbs);
        let relinearization = self.keys.limbs.filter(|_| self.keys.relinearization);
        let key_limbs = self.keys.rotations_at.iter().map(|&(_, limbs)| limbs).chain(relinearization).collect();
        SlotDraft { key_limbs, ..draft }.price(client, server)
    }

    fn outline(&self, _: Option<&Bounds>) -> Result<Outline> {
        let mut outline = self.on.outline(self.on.recording.usage.depth, "integer", None);
        for (step, recorded) in outline.steps.iter_mut().zip(&self.on.recording.steps) {
            step.shape.clone_from(&self.graph.node(recorded.node).shape);
        }
        Ok(outline)
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
        let key = context.evaluation_keys(key, seed.clone(), &self.keys, None)?;
        Ok(ServerKeys::of(vec![part(KeyFile { context: context.clone(), key })]))
    }

    fn encrypt(&self, secret: &SecretKey, inputs: &[Option<&[f64]>], seed: Seed) -> Result<Vec<Vec<u8>>> {
        let KeyFile { context, key } = secret.get::<KeyFile<RlweSecret>>(0)?;
        let encoder = integers::Encoder::new(context);
        let encryptor = integers::Encryptor::<S>::symmetric(context, key, seed)?;
        let lanes = self.in_lanes(inputs);
        let packed = |inputs: &Vec<Option<Cow<'_, [f64]>>>| {
            self.on.packed(&inputs.iter().map(Option::as_deref).collect::<Vec<_>>())
        };
        let lanes = lanes.iter().map(packed).collect::<Result<Vec<_>>>()?;
        let encrypt = |input: usize, at: usize| {
            let numbers: Vec<i64> = lanes.iter().flat_map(|lane| &lane[input][at].slots).map(|&x| x as i64).collect();
            let recording = &self.on.recording;
            let period = recording.views[lanes[0][input][at].view].layout.period().min(recording.slots);
            // Rows that differ repeat each for itself: nothing here mixes them.
            let encoded = match lanes.len() {
                1 => encoder.encode_row(&numbers),
                _ => encoder.encode(&numbers)?.with_period(period),
            };
            encryptor.encrypt(&encoded?)
        };
        let each = |input: usize| (0..lanes[0][input].len()).map(|at| encrypt(input, at)).collect();
        let inputs = (0..inputs.len()).map(each).collect::<Result<_>>()?;
        Ok(containers(inputs, |ciphertexts| Ciphertexts::<S>(ciphertexts).to_bytes(context, Form::Packed)))
    }

    fn server(self: Arc<Self>, keys: &ServerKeys) -> Result<Box<dyn Running>> {
        let KeyFile { context, key } = keys.get::<KeyFile<EvaluationKeys>>(0)?;
        key.check_request(&context.automorphisms_of(&self.keys)?)?;
        let ev = Evaluator::new(context, Arc::new(key.clone()))?;
        Ok(Box::new(IntegerServer { plan: self, ev, kept: Kept::default() }))
    }

    fn decrypt(&self, secret: &SecretKey, outputs: &[Vec<u8>]) -> Result<Outcome> {
        let KeyFile { context, key } = secret.get::<KeyFile<RlweSecret>>(0)?;
        let Ciphertexts(outputs) = Ciphertexts::<S>::from_bytes(context, single(outputs)?)?;
        let (encoder, decryptor) = (integers::Encoder::new(context), integers::Decryptor::new(context, key)?);
        let decrypt = |ciphertext: &Ciphertext<S>| {
            let values = encoder.decode(&decryptor.decrypt(ciphertext)?)?;
            Ok(values.into_iter().map(|x| x as f64).collect())
        };
        let slots = outputs.iter().map(decrypt).collect::<Result<Vec<Vec<f64>>>>()?;
        let row = self.on.recording.slots;
        let lane = |lane: usize| {
            let slots: Vec<Vec<f64>> = slots.iter().map(|slots| slots[lane * row..(lane + 1) * row].to_vec()).collect();
            self.on.unpacked(&slots, &vec![0.0; slots.len()])
        };
        Ok(self.joined((0..self.lanes.count()).map(lane).collect::<Result<_>>()?))
    }

    fn simulate(&self, inputs: &[Vec<f64>], _: &Seed) -> Result<Outcome> {
        Ok(Outcome::whole(&self.graph, self.graph.evaluate_whole(inputs)?))
    }
}

impl<S: Scheme> Running for IntegerServer<S> {
    fn run(&self, inputs: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
        let (on, context) = (&self.plan.on, self.ev.context());
        let inputs = ciphertexts(inputs, |item| Ok(Ciphertexts::<S>::from_bytes(context, item)?.0))?;
        let mut source = on.stored(inputs, |ciphertext| ciphertext.parameters().row_slots())?;
        let outputs = in_pool(&self.ev, || on.run(&self.ev, &mut source, None, Some(&self.kept)))?.concat();
        Ok(vec![Ciphertexts::<S>(outputs).to_bytes(context, Form::Packed)])
    }

    fn engine(&self) -> Option<&Engine> {
        self.ev.engine()
    }
}

/// The requirements of a recorded graph.
fn requirements(graph: &Graph, recording: &Recording, modulus: u64, security: Security) -> integers::Requirements {
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
        terms: recording.terms.before as usize,
        sum: recording.terms.most as usize,
        plain_products: tables,
        security,
        opening: None,
    }
}

#[cfg(test)]
mod tests;
