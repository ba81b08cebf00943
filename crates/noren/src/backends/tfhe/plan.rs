//! Plans of graphs on columns.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::security::Security;
use noren_rlwe::torus::circuit::keys::CompactCircuitKeys;
use noren_rlwe::torus::keys::CompactKeys;
use noren_rlwe::torus::light::keys::LightKeys;
use noren_rlwe::torus::secret::TorusSecret;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::backends::backend::{Backend, Bounds, Outcome, Outline, Plan, Record, Running, Step};
use crate::backends::keys::{Part, PartKind, SecretKey, ServerKeys, part};
use crate::backends::options::Options;
use crate::backends::slots::{check_input, check_length};
use crate::backends::tfhe::bootstraps::{Count, counts};
use crate::backends::tfhe::columns::{self, element_of};
use crate::backends::tfhe::gates::of_truths;
use crate::backends::tfhe::price::{BOOTSTRAPS_OF_CHOICE, TorusDraft};
use crate::backends::tfhe::widths::Types;
use crate::cost::price::{Left, Party, Price};
use crate::graph::dag::Graph;
use crate::graph::operation::Operation;
use crate::graph::shape::size;
use crate::programs::columns::{Column, ColumnEvaluator, Columns};
use crate::schemes::tfhe::{self, Encoding, FileKey, KeyFile};

/// TFHE: integers and truth values one by one, exact: comparisons, quotients and tables too.
#[derive(Debug)]
pub struct Tfhe;

/// A graph on columns.
pub(super) struct TfhePlan {
    graph: Arc<Graph>,
    types: Types,
    parameters: tfhe::Parameters,
    context: OnceLock<tfhe::Context>,
    counts: OnceLock<Vec<Count>>,
}

/// The server half.
pub(super) struct TfheServer {
    plan: Arc<TfhePlan>,
    pub(super) ev: ColumnEvaluator,
}

/// The names of the sets, the usual one first: of bits or of digits of two bits.
///
/// The usual ones fail so seldom that nobody sees it. The others are of less work: of the server, or with light keys of the client.
const fn sets(security: Security, of_bits: bool) -> &'static [&'static str] {
    match (security, of_bits) {
        (Security::None, true) => &["TOY_BOOL"],
        (Security::None, false) => &["TOY_2_2"],
        (_, true) => &["BOOL_128", "BOOL", "BOOL_LIGHT"],
        (_, false) => &["2_2", "2_2_LIGHT"],
    }
}

/// The graph that is evaluated, and whether it is of gates.
pub(super) fn evaluated(graph: &Arc<Graph>) -> Result<(Arc<Graph>, bool)> {
    match of_truths(graph) {
        Some(gates) => Ok((Arc::new(gates), true)),
        None => columns::check(graph).map(|()| (Arc::clone(graph), false)),
    }
}

impl Backend for Tfhe {
    fn name(&self) -> &'static str {
        "tfhe"
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn evaluates(&self, graph: &Graph, at: usize) -> bool {
        columns::evaluates(graph, at)
    }

    /// The plan with the usual set first, those of the other sets after it. Sets of light keys are for functions without tables of
    /// integers, as the keys of circuit bootstrapping have no light form.
    fn plans(&'static self, graph: &Arc<Graph>, options: &Options) -> Result<Vec<Arc<dyn Plan>>> {
        let (graph, of_bits) = evaluated(graph)?;
        let plan = |set: &&str| Ok(TfhePlan::new(&graph, tfhe::Preset::named(set)?.parameters()?));
        let plans = sets(options.security, of_bits).iter().map(plan).collect::<Result<Vec<_>>>()?;
        let has_keys = |plan: &TfhePlan| !(plan.is_light() && columns::needs_circuit_keys(&plan.graph, &plan.types));
        Ok(plans.into_iter().filter(has_keys).map(|plan| Arc::new(plan) as Arc<dyn Plan>).collect())
    }

    fn read(&'static self, graph: &Arc<Graph>, record: &Record) -> Result<Arc<dyn Plan>> {
        let parameters = tfhe::Parameters::from_bytes(&(), &record.bytes()?)?;
        if let Encoding::Integers { .. } = parameters.encoding() {
            columns::check(graph)?;
            return Ok(Arc::new(TfhePlan::new(graph, parameters)));
        }
        match evaluated(graph)? {
            (graph, true) => Ok(Arc::new(TfhePlan::new(&graph, parameters))),
            (_, false) => {
                Err(Error::parameter("parameters", "those of bits", "those of integers, as the function has some"))
            }
        }
    }
}

impl TfhePlan {
    pub(super) fn new(graph: &Arc<Graph>, parameters: tfhe::Parameters) -> Self {
        let (context, counts) = (OnceLock::new(), OnceLock::new());
        Self { graph: Arc::clone(graph), types: Types::new(graph), parameters, context, counts }
    }

    /// Whether keys travel in their light form.
    fn is_light(&self) -> bool {
        self.parameters.spec().torus.light.is_some()
    }

    /// The name of the set, if it is a preset.
    fn preset(&self) -> Option<&'static str> {
        let own = tfhe::PRESETS.iter().find(|preset| preset.spec == *self.parameters.spec());
        own.map(|preset| preset.name)
    }

    /// The name of the set, or of the one that is most like it.
    fn set(&self) -> &'static str {
        let spec = self.parameters.spec();
        let sets = sets(spec.torus.security, spec.encoding == Encoding::Bits);
        self.preset().unwrap_or(if self.is_light() { sets[sets.len() - 1] } else { sets[0] })
    }

    /// The bootstraps of each node.
    pub(super) fn counts(&self) -> Result<&[Count]> {
        if let Some(counts) = self.counts.get() {
            return Ok(counts);
        }
        let counts = counts(&self.graph, &self.types, self.parameters.encoding())?;
        Ok(self.counts.get_or_init(|| counts))
    }

    /// The context, whose tables are made once.
    fn context(&self) -> Result<&tfhe::Context> {
        if let Some(context) = self.context.get() {
            return Ok(context);
        }
        let context = tfhe::Context::new(self.parameters.clone())?;
        Ok(self.context.get_or_init(|| context))
    }

    /// The nodes that an output depends on.
    fn nodes(&self) -> impl Iterator<Item = usize> {
        (0..self.graph.nodes().len()).filter(|&at| self.types.is_used(at))
    }

    fn samples(&self, at: usize) -> Result<usize> {
        Ok(size(&self.graph.node(at).shape).unwrap_or(0) * element_of(&self.graph, at)?.digits(&self.parameters)?)
    }

    /// For its price: node after node, each with the elements of its result side by side.
    fn draft(&self) -> Result<TorusDraft> {
        let mut rounds = Vec::new();
        for count in self.counts()? {
            if count.rounds > 0 {
                rounds.push((count.rounds, count.bootstraps as f64 / count.rounds as f64));
            }
            if count.circuit_bootstraps > 0 {
                rounds.push((1, BOOTSTRAPS_OF_CHOICE * count.circuit_bootstraps as f64));
            }
        }
        Ok(TorusDraft {
            set: self.set(),
            rounds,
            inputs: self.graph.inputs().into_iter().map(|at| self.samples(at)).sum::<Result<usize>>()?,
            results: self.graph.outputs().iter().map(|&at| self.samples(at)).sum::<Result<usize>>()?,
        })
    }

    /// A key with its parameters.
    fn key_part<K: FileKey + Send + Sync + 'static>(&self, key: K) -> Arc<dyn Part> {
        part(KeyFile { parameters: self.parameters.clone(), key })
    }

    /// A column alone in a container.
    fn container(&self, column: Column) -> Result<Vec<u8>> {
        let shape = vec![column.count()];
        Ok(Columns::new(shape, vec![(String::new(), column)])?.to_bytes(&self.parameters, Form::Packed))
    }

    fn column(&self, bytes: &[u8]) -> Result<Column> {
        let mut columns = Columns::from_bytes(&self.parameters, bytes)?.into_columns();
        check_length("columns of a container", columns.len(), 1)?;
        columns.pop().ok_or_else(|| Error::parameter("columns", 0, 1))
    }

    /// The columns in containers, of the shapes of these nodes.
    fn columns(&self, what: &'static str, containers: &[Vec<u8>], nodes: &[usize]) -> Result<Vec<Column>> {
        check_length(what, containers.len(), nodes.len())?;
        let column = |(bytes, &at): (&Vec<u8>, &usize)| {
            check_input(&self.graph, at, bytes.is_empty())?;
            let column = self.column(bytes)?;
            check_length("elements of a column", column.count(), size(&self.graph.node(at).shape).unwrap_or(0))?;
            let needed = element_of(&self.graph, at)?;
            if column.element() != needed {
                return Err(Error::parameter("elements of a column", column.element(), needed.to_string()));
            }
            Ok(column)
        };
        containers.iter().zip(nodes).map(column).collect()
    }
}

impl Plan for TfhePlan {
    fn backend(&self) -> &'static str {
        Tfhe.name()
    }

    fn record(&self) -> Record {
        Record::new(&self.parameters.to_bytes(&(), Form::Packed), 1)
    }

    fn parameters(&self) -> &dyn Any {
        &self.parameters
    }

    fn words(&self) -> String {
        self.preset().map_or_else(String::new, |name| format!("set {name}, ")) + &self.parameters.to_string()
    }

    fn security(&self) -> Security {
        self.parameters.spec().torus.security
    }

    fn price(&self, client: &Party, server: &Party) -> Result<Price> {
        self.draft()?.price(client, server)
    }

    fn left(&self, client: &Party) -> Result<Option<Left>> {
        self.draft()?.left(client).map(Some)
    }

    fn log2_failure(&self) -> Result<Option<f64>> {
        let count: usize = self.counts()?.iter().map(Count::all).sum();
        // Circuit bootstraps of digits fail no more often than parameters allow.
        let log2 = match columns::needs_circuit_keys(&self.graph, &self.types) {
            true => self.parameters.spec().max_failure_log2,
            false => self.parameters.failure().log2,
        };
        Ok(Some(log2 + libm::log2(count.max(1) as f64)))
    }

    fn outline(&self, _: Option<&Bounds>) -> Result<Outline> {
        let (graph, counts) = (&self.graph, self.counts()?);
        let given =
            |at: &usize| matches!(graph.node(*at).operation, Operation::Constant { .. } | Operation::Input { .. });
        let step = |at: usize| {
            let node = graph.node(at);
            Step {
                operation: node.operation.name(),
                place: node.place.clone(),
                shape: node.shape.clone(),
                range: node.range,
                element: self.types.result(at).to_string(),
                level: 0,
                ciphertexts: size(&node.shape).unwrap_or(0),
                products: 0,
                plain_products: 0,
                rotations: 0,
                bootstraps: counts[at].all(),
                bound: 0.0,
            }
        };
        let elements = |at: usize| size(&graph.node(at).shape).unwrap_or(0);
        Ok(Outline {
            ciphertexts: graph.inputs().into_iter().map(elements).sum(),
            slots: 0,
            levels: 0,
            rotations: Vec::new(),
            steps: self.nodes().filter(|at| !given(at)).map(step).collect(),
        })
    }

    fn secret_parts(&self) -> Vec<PartKind> {
        vec![PartKind::of::<KeyFile<TorusSecret>>(self.parameters.fingerprint())]
    }

    /// Bootstrapping keys, and those of circuit bootstrapping for tables.
    fn server_parts(&self) -> Vec<PartKind> {
        let fingerprint = self.parameters.fingerprint();
        let mut kinds = vec![match self.is_light() {
            true => PartKind::of::<KeyFile<LightKeys>>(fingerprint),
            false => PartKind::of::<KeyFile<CompactKeys>>(fingerprint),
        }];
        if columns::needs_circuit_keys(&self.graph, &self.types) {
            kinds.push(PartKind::of::<KeyFile<CompactCircuitKeys>>(fingerprint));
        }
        kinds
    }

    fn make_secret(&self, seed: &Seed) -> Result<SecretKey> {
        Ok(SecretKey::of(vec![self.key_part(self.context()?.secret_key(seed))]))
    }

    fn make_server_keys(&self, secret: &SecretKey, seed: &Seed) -> Result<ServerKeys> {
        let context = self.context()?;
        let secret = &secret.get::<KeyFile<TorusSecret>>(0)?.key;
        let mut parts = vec![match self.is_light() {
            true => self.key_part(context.light_keys(seed, secret)?),
            false => self.key_part(context.compact_keys(seed, secret)?),
        }];
        if columns::needs_circuit_keys(&self.graph, &self.types) {
            parts.push(self.key_part(context.circuit_keys(seed, secret)?));
        }
        Ok(ServerKeys::of(parts))
    }

    fn encrypt(&self, secret: &SecretKey, inputs: &[Option<&[f64]>], seed: Seed) -> Result<Vec<Vec<u8>>> {
        let encryptor = tfhe::Encryptor::new(self.context()?, &secret.get::<KeyFile<TorusSecret>>(0)?.key, seed)?;
        let container = |(values, at): (&Option<&[f64]>, usize)| {
            let Some(values) = values else { return Ok(Vec::new()) };
            let values: Vec<i128> = values.iter().map(|&x| x as i128).collect();
            self.container(Column::encrypt(&encryptor, element_of(&self.graph, at)?, &values)?)
        };
        inputs.iter().zip(self.graph.inputs()).map(container).collect()
    }

    fn server(self: Arc<Self>, keys: &ServerKeys) -> Result<Box<dyn Running>> {
        Ok(Box::new(TfheServer::new(self, keys)?))
    }

    fn decrypt(&self, secret: &SecretKey, outputs: &[Vec<u8>]) -> Result<Outcome> {
        let decryptor = tfhe::Decryptor::new(self.context()?, &secret.get::<KeyFile<TorusSecret>>(0)?.key)?;
        let columns = self.columns("columns of the outputs", outputs, self.graph.outputs())?;
        let decrypt = |column: Column| Ok(column.decrypt(&decryptor)?.into_iter().map(|x| x as f64).collect());
        columns.into_iter().map(decrypt).collect::<Result<_>>().map(Outcome::exact)
    }

    fn simulate(&self, inputs: &[Vec<f64>], _: &Seed) -> Result<Outcome> {
        self.graph.evaluate(inputs).map(Outcome::exact)
    }
}

impl TfheServer {
    pub(super) fn new(plan: Arc<TfhePlan>, keys: &ServerKeys) -> Result<Self> {
        let context = plan.context()?;
        let server = match plan.is_light() {
            true => context.expand_light(&keys.get::<KeyFile<LightKeys>>(0)?.key)?,
            false => context.expand(&keys.get::<KeyFile<CompactKeys>>(0)?.key)?,
        };
        let mut ev = tfhe::Evaluator::new(context, Arc::new(server))?;
        if columns::needs_circuit_keys(&plan.graph, &plan.types) {
            let circuit = context.expand_circuit(&keys.get::<KeyFile<CompactCircuitKeys>>(1)?.key)?;
            ev = ev.with_circuit_keys(Arc::new(circuit))?;
        }
        Ok(Self { plan, ev: ColumnEvaluator::new(ev) })
    }
}

impl Running for TfheServer {
    fn run(&self, inputs: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
        let plan = &self.plan;
        let inputs = plan.columns("columns of the inputs", inputs, &plan.graph.inputs())?;
        let outputs = columns::run(&plan.graph, &plan.types, &self.ev, &inputs)?;
        outputs.into_iter().map(|column| plan.container(column)).collect()
    }
}
