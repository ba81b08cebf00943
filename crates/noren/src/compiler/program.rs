//! A compiled function: what its client and its server share.

use std::sync::OnceLock;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::security::Security;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;
use serde::{Deserialize, Serialize};

use crate::bootstrapping;
use crate::compiler::choice::best;
use crate::compiler::columns;
use crate::compiler::deep::DeepPlan;
use crate::compiler::error::CompileError;
use crate::compiler::options::{Options, Scheme};
use crate::compiler::parameters::{Predicted, precision_of, predicted};
use crate::compiler::recording::Recording;
use crate::compiler::slots::lowering::Approximations;
use crate::compiler::target::Target;
use crate::graph::dag::Graph;
use crate::graph::operation::{Element, Operation};
use crate::graph::simplify::simplified;
use crate::schemes::ckks::model::NoiseModel;
use crate::schemes::{ckks, integers, tfhe};

/// A compiled function: a graph, a scheme with parameters, and what is encrypted where.
///
/// It is public: it holds the function with its constants and the ranges of inputs, and no key. Both halves have the same
/// one, which [`Program::to_bytes`] carries.
///
/// # Examples
/// ```
/// use noren::compiler::{Options, Program, Scheme};
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
/// assert_eq!(program.scheme(), Scheme::Ckks);
/// assert_eq!(Program::from_bytes(&program.to_bytes())?, program);
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Program {
    pub(super) graph: Graph,
    /// What is evaluated.
    pub(super) simple: Graph,
    pub(super) target: Target,
    /// The absolute error that was asked for.
    precision: f64,
    /// The digest of the bytes, once it was asked for.
    pub(super) digest: OnceLock<[u8; 32]>,
}

/// The JSON of a program.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    noren_program: u32,
    graph: serde_json::Value,
    scheme: Scheme,
    /// The bytes of the parameters, in hexadecimal.
    parameters: String,
    slots: usize,
    precision: f64,
    error: f64,
    dead_zone: Option<f64>,
}

/// The format of the JSON.
const FORMAT: u32 = 1;

impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        self.to_bytes() == other.to_bytes()
    }
}

impl Program {
    /// Compiles a graph: chooses scheme and parameters, and where rescaling happens and which keys there are follows.
    ///
    /// # Errors
    /// [`CompileError`] says which operation the scheme does not have, which range or precision cannot be, and the nearest that
    /// can; what parameters refuse.
    pub fn compile(graph: Graph, options: &Options) -> Result<Self> {
        options.check()?;
        let precision = precision_of(&graph, options);
        let simple = simplified(&graph)?;
        let target = match options.scheme {
            Some(scheme) => Target::new(scheme, &simple, options)?,
            None => best(&simple, options)?,
        };
        Ok(Self::new(graph, simple, target, precision))
    }

    /// A graph, the same simplified, and its target.
    pub(super) const fn new(graph: Graph, simple: Graph, target: Target, precision: f64) -> Self {
        Self { graph, simple, target, precision, digest: OnceLock::new() }
    }

    /// The function.
    #[must_use]
    pub const fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The scheme.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.target.scheme()
    }

    /// The absolute error that results of real numbers may have.
    #[must_use]
    pub const fn precision(&self) -> f64 {
        self.precision
    }

    /// The security that the parameters promise.
    #[must_use]
    pub fn security(&self) -> Security {
        match &self.target {
            Target::Ckks { parameters, .. } => parameters.rlwe().security(),
            Target::Deep(plan) => plan.parameters.spec().security,
            Target::Bgv { parameters, .. } => parameters.rlwe().security(),
            Target::Tfhe { parameters } => parameters.spec().torus.security,
        }
    }

    /// Whether the server needs circuit keys of TFHE, besides server keys: for tables.
    #[must_use]
    pub fn needs_circuit_keys(&self) -> bool {
        matches!(self.target, Target::Tfhe { .. }) && columns::needs_circuit_keys(&self.simple)
    }

    /// The parameters, of a function on CKKS.
    #[must_use]
    pub const fn ckks(&self) -> Option<&ckks::Parameters> {
        match &self.target {
            Target::Ckks { parameters, .. } => Some(parameters),
            _ => None,
        }
    }

    /// The parameters, of a function on CKKS with bootstraps.
    #[must_use]
    pub const fn bootstrapping(&self) -> Option<&bootstrapping::Parameters> {
        match &self.target {
            Target::Deep(plan) => Some(&plan.parameters),
            _ => None,
        }
    }

    /// The parameters, of a function on BGV.
    #[must_use]
    pub const fn bgv(&self) -> Option<&integers::Parameters> {
        match &self.target {
            Target::Bgv { parameters, .. } => Some(parameters),
            _ => None,
        }
    }

    /// The parameters, of a function on TFHE.
    #[must_use]
    pub const fn tfhe(&self) -> Option<&tfhe::Parameters> {
        match &self.target {
            Target::Tfhe { parameters } => Some(parameters),
            _ => None,
        }
    }

    /// The bytes of a program, for a file or for the other half: JSON.
    ///
    /// # Panics
    /// Never: every program has a JSON form.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let (parameters, slots, approximations) = match &self.target {
            Target::Ckks { parameters, approximations, recording } => {
                (parameters.to_bytes(&(), Form::Packed), recording.slots, *approximations)
            }
            Target::Deep(plan) => {
                (plan.parameters.to_bytes(&(), Form::Packed), plan.recording.slots, plan.approximations)
            }
            Target::Bgv { parameters, recording } => {
                (parameters.to_bytes(&(), Form::Packed), recording.slots, Approximations::EXACT)
            }
            Target::Tfhe { parameters } => (parameters.to_bytes(&(), Form::Packed), 1, Approximations::EXACT),
        };
        let record = Record {
            noren_program: FORMAT,
            graph: serde_json::from_str(&self.graph.to_json()).expect("a graph is JSON"),
            scheme: self.scheme(),
            parameters: parameters.iter().map(|byte| format!("{byte:02x}")).collect(),
            slots,
            precision: self.precision,
            error: approximations.error,
            dead_zone: approximations.dead_zone,
        };
        serde_json::to_vec(&record).expect("numbers, strings and lists have a JSON form")
    }

    /// The program of these bytes, of this security at least.
    ///
    /// Nothing is allocated by a number in the text that is not the length of a list in it, but for the slots and levels of
    /// its parameters.
    ///
    /// # Errors
    /// Text that is not the JSON of a program; a program that could not have been compiled.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let refused = |reason: String| {
            Error::parameter("program", format!("refused ({reason})"), "a file of a compiled function")
        };
        let record: Record = serde_json::from_slice(bytes).map_err(|error| refused(error.to_string()))?;
        if record.noren_program != FORMAT {
            return Err(refused(format!("format {}", record.noren_program)));
        }
        let graph = Graph::from_json(&record.graph.to_string())?;
        let options = Options { precision: Some(record.precision), dead_zone: record.dead_zone, ..Options::default() };
        options.check()?;
        let simple = simplified(&graph)?;
        let parameters = bytes_of(&record.parameters).ok_or_else(|| refused("parameters".to_owned()))?;
        let approximations = Approximations { error: record.error, dead_zone: record.dead_zone };
        let slots = record.slots;
        let target = match record.scheme {
            Scheme::Ckks => {
                let parameters = ckks::Parameters::from_bytes(&(), &parameters)?;
                check_slots(slots, parameters.max_slots())?;
                check_error(record.error)?;
                let recording = Recording::new::<f64>(&simple, slots, approximations)?;
                check_levels(recording.usage.depth, parameters.max_level())?;
                Target::Ckks { parameters, approximations, recording }
            }
            Scheme::CkksBootstrapping => {
                let parameters = bootstrapping::Parameters::from_bytes(&(), &parameters)?;
                check_slots(slots, parameters.slots())?;
                check_error(record.error)?;
                Target::Deep(DeepPlan::with(&simple, parameters, slots, approximations)?.into())
            }
            Scheme::Bgv => {
                let parameters = integers::Parameters::from_bytes(&(), &parameters)?;
                parameters.check_rows()?;
                if slots != parameters.row_slots() {
                    return Err(refused(format!("{slots} slots")));
                }
                Target::Bgv { recording: Recording::new::<i64>(&simple, slots, Approximations::EXACT)?, parameters }
            }
            Scheme::Tfhe => {
                columns::check(&simple)?;
                Target::Tfhe { parameters: tfhe::Parameters::from_bytes(&(), &parameters)? }
            }
        };
        Ok(Self::new(graph, simple, target, record.precision))
    }

    /// For each node the bound on the error of its elements, and that of each output, as the noise of CKKS is predicted;
    /// nothing of exact schemes.
    ///
    /// # Errors
    /// None of programs that were compiled.
    pub(super) fn predicted(&self) -> Result<Option<Predicted>> {
        match &self.target {
            Target::Ckks { parameters, approximations, recording } => {
                let model = NoiseModel::new(parameters.clone(), None);
                predicted(&self.simple, &model, recording, *approximations).map(Some)
            }
            Target::Deep(plan) => plan.predicted(&self.simple).map(Some),
            Target::Bgv { .. } | Target::Tfhe { .. } => Ok(None),
        }
    }

    /// Checks inputs against their shapes, types and ranges.
    ///
    /// # Errors
    /// [`CompileError::OutsideRange`], [`Error::Length`].
    pub(super) fn check_inputs(&self, inputs: &[Vec<f64>]) -> Result<()> {
        let nodes = self.graph.inputs();
        if inputs.len() != nodes.len() {
            let needed = nodes.len().to_string();
            return Err(Error::Length { what: "inputs", found: inputs.len(), needed });
        }
        for (values, at) in inputs.iter().zip(nodes) {
            let node = self.graph.node(at);
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

/// The bytes of a text in hexadecimal.
fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

fn check_slots(found: usize, most: usize) -> Result<()> {
    if found.is_power_of_two() && found <= most {
        return Ok(());
    }
    Err(Error::parameter("slots", found, format!("a power of two up to {most}")))
}

fn check_error(found: f64) -> Result<()> {
    if found > 0.0 && found.is_finite() {
        return Ok(());
    }
    Err(Error::parameter("error of approximations", found, "finite, and above 0"))
}

fn check_levels(needed: usize, left: usize) -> Result<()> {
    if needed <= left { Ok(()) } else { Err(Error::LevelExhausted { needed, left }) }
}
