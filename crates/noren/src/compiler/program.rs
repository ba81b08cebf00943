//! A compiled function: what its client and its server share.

use std::sync::Arc;

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;
use serde::{Deserialize, Serialize};

use crate::backends::backend::{Outcome, Plan, Record};
use crate::backends::options::Options;
use crate::backends::parcel::{Function, Parcel, fault_of_json};
use crate::backends::table::Backends;
use crate::compiler::choice::{best, server_with, usual_client};
use crate::cost::{Machine, Price};
use crate::graph::dag::Graph;
use crate::graph::evaluated::{Evaluated, Outside};
use crate::graph::operation::{Element, Operation};
use crate::graph::rows::rows;
use crate::lowering::error::CompileError;

/// A compiled function: a graph, and the plan of a backend for it.
///
/// It is public: it holds the function with its constants and the ranges of inputs, and no key. Both halves have the same
/// one, which [`Program::to_bytes`] carries. Cheap to clone.
///
/// # Examples
/// ```
/// use noren::compiler::{Options, Program};
/// use noren::graph::{Binary, Element, Graph, Interval, Operation};
/// use noren::Security;
///
/// let mut graph = Graph::default();
/// let range = Interval::new(-1.0, 1.0);
/// let x = graph.push(Operation::Input { name: "x".into(), shape: vec![3], element: Element::Real, range }, "")?;
/// let square = graph.push(Operation::Binary(Binary::Mul, x, x), "")?;
/// graph.finish(vec![square])?;
///
/// let options = Options { precision: Some(1e-3), security: Security::None, ..Options::default() };
/// let program = Program::compile(graph, &options)?;
/// assert_eq!(program.plan().backend(), "ckks");
/// assert_eq!(Program::from_bytes(&program.to_bytes())?, program);
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Program(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    graph: Graph,
    /// The graph that the plan evaluates, with the images of its outputs.
    evaluated: Evaluated,
    plan: Arc<dyn Plan>,
    /// The absolute error that was asked for.
    precision: f64,
    /// How arguments become inputs, and results an answer, for whoever calls it.
    interface: Option<serde_json::Value>,
    /// The digest of its JSON.
    digest: [u8; 32],
}

/// The summary of a program, without prices.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The scheme.
    pub scheme: &'static str,
    /// Its parameters, in words.
    pub parameters: String,
    /// The names of the inputs with their shapes, in the order of the arguments.
    pub inputs: Vec<(String, Vec<usize>)>,
    /// The shapes of the results.
    pub results: Vec<Vec<usize>>,
}

/// Results of a function that was [calibrated](Graph::calibrated), with what is not certain to lie where it was compiled for.
#[derive(Debug, Clone, PartialEq)]
pub struct Flagged {
    /// The results: those of rows with a flag may be anything, whatever their bounds.
    pub outcome: Outcome,
    /// For each row of the arguments whether its results may be anything: all rows that share ciphertexts with one that left a range.
    /// One flag where results depend on all rows.
    pub flags: Vec<bool>,
    /// What raised the flags: of each row and each range the first element.
    pub outside: Vec<Outside>,
}

impl Flagged {
    /// The results, if no row has a flag.
    ///
    /// # Errors
    /// [`CompileError::LeftRange`].
    pub fn all_inside(self) -> Result<Outcome> {
        let Some(Outside { place, range, value, row }) = self.outside.into_iter().next() else {
            return Ok(self.outcome);
        };
        let (count, rows) = (self.flags.iter().filter(|flag| **flag).count(), self.flags.len());
        let (row, low, high) = (row.unwrap_or(0), range.low, range.high);
        Err(CompileError::LeftRange { place, count, rows, row, value, low, high }.into())
    }
}

/// The JSON of a program.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    graph: serde_json::Value,
    scheme: String,
    plan: Record,
    precision: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    interface: Option<serde_json::Value>,
}

impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        self.digest() == other.digest()
    }
}

impl Program {
    /// Compiles a graph: chooses backend and parameters, and where rescaling happens and which keys there are follows.
    ///
    /// # Errors
    /// [`CompileError`] says which operation a backend does not have and which does, which range or precision cannot be, and the
    /// nearest that can; what parameters refuse. Without a scheme in the options: why each backend refuses.
    pub fn compile(graph: Graph, options: &Options) -> Result<Self> {
        Self::compile_on(&Backends::ALL, graph, options)
    }

    /// As [`Program::compile`], on one of these backends.
    ///
    /// # Errors
    /// As [`Program::compile`].
    pub fn compile_on(backends: &Backends<'_>, graph: Graph, options: &Options) -> Result<Self> {
        options.check()?;
        if graph.is_draft() {
            return Err(Error::parameter("graph", "a draft", "one that is calibrated"));
        }
        let precision = options.precision_of(&graph);
        let evaluated = Evaluated::new(&graph)?;
        let options = Options { precision: Some(evaluated.precision(precision)), ..options.clone() };
        let plan = best(backends, evaluated.graph(), &options)?;
        Ok(Self::new(graph, evaluated, plan, precision))
    }

    /// A graph, what is evaluated of it, and the plan of that.
    pub(super) fn new(graph: Graph, evaluated: Evaluated, plan: Arc<dyn Plan>, precision: f64) -> Self {
        Self::with_text(Inner { graph, evaluated, plan, precision, interface: None, digest: [0; 32] })
    }

    /// The program of what it holds, without a digest.
    fn with_text(inner: Inner) -> Self {
        let digest = digest_of(&inner.text());
        Self(Arc::new(Inner { digest, ..inner }))
    }

    /// The same program, which says how arguments become inputs, and results an answer: it stands in its file, and is not looked at
    /// here.
    #[must_use]
    pub fn with_interface(&self, interface: serde_json::Value) -> Self {
        let Inner { graph, evaluated, plan, precision, .. } = &*self.0;
        let (graph, evaluated, plan, interface) = (graph.clone(), evaluated.clone(), Arc::clone(plan), Some(interface));
        Self::with_text(Inner { graph, evaluated, plan, precision: *precision, interface, digest: [0; 32] })
    }

    /// How arguments become inputs, and results an answer, if the program says so.
    #[must_use]
    pub fn interface(&self) -> Option<&serde_json::Value> {
        self.0.interface.as_ref()
    }

    /// The function.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.0.graph
    }

    /// The function as it is evaluated.
    pub(super) fn evaluated(&self) -> &Evaluated {
        &self.0.evaluated
    }

    /// The plan, with the verbs of both halves.
    #[must_use]
    pub fn plan(&self) -> &Arc<dyn Plan> {
        &self.0.plan
    }

    /// The absolute error that results of real numbers may have.
    #[must_use]
    pub fn precision(&self) -> f64 {
        self.0.precision
    }

    /// The price of a run, for a server with this machine; the usual one without.
    ///
    /// # Errors
    /// None of programs that were compiled.
    pub fn price(&self, machine: Option<&Machine>) -> Result<Price> {
        self.plan().price(&usual_client(), &server_with(machine))
    }

    /// The summary of the program.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let input = |at: usize| match &self.graph().node(at).operation {
            Operation::Input { name, shape, .. } => Some((name.clone(), shape.clone())),
            _ => None,
        };
        Summary {
            scheme: self.plan().backend(),
            parameters: self.plan().words(),
            inputs: self.graph().inputs().into_iter().filter_map(input).collect(),
            results: self.graph().outputs().iter().map(|&at| self.graph().node(at).shape.clone()).collect(),
        }
    }

    /// The bytes of a program, for a file or for the other half.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        Parcel::<Function>::new(self.digest(), vec![self.0.text()]).to_bytes(&(), Form::Packed)
    }

    /// The digest by which messages name the program.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.0.digest
    }

    /// The program of these bytes.
    ///
    /// Nothing is allocated by a number in them that is not the length of a list in it, but for the slots and levels of its
    /// parameters.
    ///
    /// # Errors
    /// Bytes of no program; a program that could not have been compiled.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::from_bytes_on(&Backends::ALL, bytes)
    }

    /// As [`Program::from_bytes`], of one of these backends.
    ///
    /// # Errors
    /// As [`Program::from_bytes`].
    pub fn from_bytes_on(backends: &Backends<'_>, bytes: &[u8]) -> Result<Self> {
        Self::of_on(backends, &Parcel::from_bytes(&(), bytes)?)
    }

    /// The program in a container.
    ///
    /// # Errors
    /// As [`Program::from_bytes`].
    pub fn of(parcel: &Parcel<Function>) -> Result<Self> {
        Self::of_on(&Backends::ALL, parcel)
    }

    fn of_on(backends: &Backends<'_>, parcel: &Parcel<Function>) -> Result<Self> {
        let refused = |reason: String| {
            Error::parameter("program", format!("refused ({reason})"), "a file of a compiled function")
        };
        let text = parcel.single()?;
        if digest_of(text) != parcel.fingerprint {
            return Err(refused("a fingerprint of another function".to_owned()));
        }
        let Text { graph, scheme, plan, precision, interface } =
            serde_json::from_slice(text).map_err(|error| refused(fault_of_json(&error)))?;
        let graph = Graph::from_json(&graph.to_string())?;
        Options { precision: Some(precision), dead_zone: plan.dead_zone, ..Options::default() }.check()?;
        let evaluated = Evaluated::new(&graph)?;
        let plan = backends.read(&scheme, evaluated.graph(), &plan)?;
        Ok(Self::with_text(Inner { graph, evaluated, plan, precision, interface, digest: [0; 32] }))
    }

    /// The results of the function, of what the plan evaluates, with a flag for each row: for all that share ciphertexts with one that
    /// left a range, which may have left the modulus of a ciphertext too.
    pub(super) fn results(&self, found: Result<Outcome>) -> Result<Flagged> {
        let evaluated = self.evaluated();
        let Outcome { values, bounds, integers } = Outcome::or_unknown(found, evaluated.graph())?;
        let outside = evaluated.outside(&values, &bounds);
        let mut flags = vec![false; rows(evaluated.graph()).unwrap_or(1)];
        let batch = self.plan().record().batch.unwrap_or(flags.len());
        for row in outside.iter().map(|outside| outside.row.unwrap_or(0)) {
            let (start, count) = (row / batch * batch, flags.len());
            flags[start..(start + batch).min(count)].fill(true);
        }
        let outcome = Outcome {
            bounds: evaluated.bounds(&bounds),
            values: evaluated.results(values),
            integers: evaluated.integers(integers),
        };
        Ok(Flagged { outcome, flags, outside })
    }

    /// Evaluates the function in the clear, with the noise that the scheme would add: as the noise is modelled; exact schemes add
    /// none.
    ///
    /// # Errors
    /// [`CompileError::OutsideRange`], [`CompileError::LeftRange`].
    pub fn simulate(&self, inputs: &[Vec<f64>], seed: &Seed) -> Result<Outcome> {
        self.simulate_flagged(inputs, seed)?.all_inside()
    }

    /// As [`Program::simulate`], with flags in place of a refusal.
    ///
    /// # Errors
    /// [`CompileError::OutsideRange`].
    pub fn simulate_flagged(&self, inputs: &[Vec<f64>], seed: &Seed) -> Result<Flagged> {
        self.check_inputs(inputs.iter().map(|values| Some(&values[..])))?;
        self.results(self.plan().simulate(inputs, seed))
    }

    /// Checks inputs that are given against their shapes, types and ranges.
    ///
    /// # Errors
    /// [`CompileError::OutsideRange`], [`Error::Length`].
    pub(super) fn check_inputs<'a>(&self, inputs: impl ExactSizeIterator<Item = Option<&'a [f64]>>) -> Result<()> {
        let nodes = self.graph().inputs();
        if inputs.len() != nodes.len() {
            let needed = nodes.len().to_string();
            return Err(Error::Length { what: "inputs", found: inputs.len(), needed });
        }
        for (values, at) in inputs.zip(nodes) {
            let Some(values) = values else { continue };
            let node = self.graph().node(at);
            let Operation::Input { name, shape, .. } = &node.operation else { continue };
            let needed: usize = shape.iter().product();
            if values.len() != needed {
                let needed = format!("{needed}, for shape {shape:?}");
                return Err(Error::Length { what: "elements of an input", found: values.len(), needed });
            }
            let whole = |x: f64| node.element == Element::Real || x.fract() == 0.0;
            let outside = values.iter().position(|&x| !(node.range.contains(x) && whole(x)));
            if let Some(index) = outside {
                let (low, high) = (node.range.low, node.range.high);
                return Err(
                    CompileError::OutsideRange { input: name.clone(), index, value: values[index], low, high }.into()
                );
            }
        }
        Ok(())
    }
}

impl Inner {
    fn text(&self) -> Vec<u8> {
        let text = Text {
            graph: self.graph.to_value(),
            scheme: self.plan.backend().to_owned(),
            plan: self.plan.record(),
            precision: self.precision,
            interface: self.interface.clone(),
        };
        serde_json::to_vec(&text).expect("numbers, strings and lists have a JSON form")
    }
}

fn digest_of(text: &[u8]) -> [u8; 32] {
    *blake3::hash(text).as_bytes()
}
