//! A compiled function: what its client and its server share.

use std::sync::OnceLock;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::security::Security;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;
use serde::{Deserialize, Serialize};

use crate::compiler::choice::{Draft, order};
use crate::compiler::columns;
use crate::compiler::error::CompileError;
use crate::compiler::graph::Graph;
use crate::compiler::moduli::IntegerPlan;
use crate::compiler::operation::{Element, Operation};
use crate::compiler::options::{Options, Scheme};
use crate::compiler::parameters::{CkksPlan, Predicted, precision_of, predicted};
use crate::compiler::recording::Recording;
use crate::compiler::simplify::simplified;
use crate::compiler::slots::lowering::Approximations;
use crate::schemes::ckks::model::NoiseModel;
use crate::schemes::{ckks, integers, tfhe};

/// A compiled function: a graph, a scheme with parameters, and what is encrypted where.
///
/// It is public: it holds the function with its constants and the ranges of inputs, and no key. Both halves have the same
/// one, which [`Program::to_bytes`] carries.
///
/// # Examples
/// ```
/// use noren::compiler::{Binary, Element, Graph, Interval, Operation, Options, Program, Scheme};
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

/// A scheme with parameters for a graph.
#[derive(Debug, Clone)]
pub(super) enum Target {
    Ckks { parameters: ckks::Parameters, approximations: Approximations, recording: Recording },
    Bgv { parameters: integers::Parameters, recording: Recording },
    Tfhe { parameters: tfhe::Parameters },
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
            None => Target::choose(&simple, options)?,
        };
        Ok(Self { graph, simple, target, precision, digest: OnceLock::new() })
    }

    /// The function.
    #[must_use]
    pub const fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The scheme.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        match self.target {
            Target::Ckks { .. } => Scheme::Ckks,
            Target::Bgv { .. } => Scheme::Bgv,
            Target::Tfhe { .. } => Scheme::Tfhe,
        }
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
            Target::Bgv { parameters, recording } => (parameters.to_bytes(&(), Form::Packed), recording.slots, EXACT),
            Target::Tfhe { parameters } => (parameters.to_bytes(&(), Form::Packed), 1, EXACT),
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
                if !(record.error > 0.0 && record.error.is_finite()) {
                    return Err(refused(format!("an error of {}", record.error)));
                }
                let recording = Recording::new::<f64>(&simple, slots, approximations)?;
                check_levels(recording.usage.depth, parameters.max_level())?;
                Target::Ckks { parameters, approximations, recording }
            }
            Scheme::Bgv => {
                let parameters = integers::Parameters::from_bytes(&(), &parameters)?;
                parameters.check_rows()?;
                if slots != parameters.row_slots() {
                    return Err(refused(format!("{slots} slots")));
                }
                Target::Bgv { recording: Recording::new::<i64>(&simple, slots, EXACT)?, parameters }
            }
            Scheme::Tfhe => {
                columns::check(&simple)?;
                Target::Tfhe { parameters: tfhe::Parameters::from_bytes(&(), &parameters)? }
            }
        };
        Ok(Self { graph, simple, target, precision: record.precision, digest: OnceLock::new() })
    }

    /// For each node the bound on the error of its elements, and that of each output, as the noise of CKKS is predicted;
    /// nothing of exact schemes.
    ///
    /// # Errors
    /// None of programs that were compiled.
    pub(super) fn predicted(&self) -> Result<Option<Predicted>> {
        let Target::Ckks { parameters, approximations, recording } = &self.target else { return Ok(None) };
        predicted(&self.simple, &NoiseModel::new(parameters.clone(), None), recording, *approximations).map(Some)
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

impl Target {
    fn new(scheme: Scheme, graph: &Graph, options: &Options) -> Result<Self> {
        match scheme {
            Scheme::Ckks => {
                let CkksPlan { parameters, approximations, recording } = CkksPlan::search(graph, options)?;
                Ok(Self::Ckks { parameters, approximations, recording })
            }
            Scheme::Bgv => {
                if let Some(real) = graph
                    .nodes()
                    .iter()
                    .zip(graph.needed())
                    .find(|(node, needed)| *needed && node.element == Element::Real)
                {
                    let (place, operation) = (real.0.place.clone(), real.0.operation.name());
                    let needed = "integers: use scheme=\"ckks\" for real numbers".to_owned();
                    return Err(CompileError::Unsupported { place, operation, scheme: "bgv", needed }.into());
                }
                let IntegerPlan { parameters, recording } = IntegerPlan::search(graph, options)?;
                Ok(Self::Bgv { parameters, recording })
            }
            Scheme::Tfhe => {
                columns::check(graph)?;
                let preset = if options.security == Security::None { "TOY_2_2" } else { "2_2" };
                Ok(Self::Tfhe { parameters: tfhe::Preset::named(preset)?.parameters()? })
            }
        }
    }

    /// The scheme that ranks first of those that evaluate the graph.
    fn choose(graph: &Graph, options: &Options) -> Result<Self> {
        let needed = graph.needed();
        let real = graph.nodes().iter().zip(&needed).any(|(node, needed)| *needed && node.element == Element::Real);
        if real {
            return Self::new(Scheme::Ckks, graph, options);
        }
        let targets: Vec<Result<Self>> =
            [Scheme::Bgv, Scheme::Tfhe].map(|scheme| Self::new(scheme, graph, options)).into();
        let drafts = targets.iter().flatten().map(Self::draft).collect();
        let best = order(drafts).first().map(|draft| draft.scheme);
        let mut refusal = None;
        for target in targets {
            match target {
                Ok(target) if Some(target.scheme()) == best => return Ok(target),
                Ok(_) => {}
                Err(error) => refusal = Some(error),
            }
        }
        Err(refusal.unwrap_or_else(|| Error::parameter("scheme", "auto", "a graph that a scheme evaluates")))
    }

    const fn scheme(&self) -> Scheme {
        match self {
            Self::Ckks { .. } => Scheme::Ckks,
            Self::Bgv { .. } => Scheme::Bgv,
            Self::Tfhe { .. } => Scheme::Tfhe,
        }
    }

    fn draft(&self) -> Draft {
        let of_slots = |recording: &Recording, degree: usize| Draft {
            scheme: self.scheme(),
            usage: Some(recording.usage.clone()),
            ciphertexts: recording.ciphertexts(),
            log_n: Some(degree.ilog2()),
        };
        match self {
            Self::Ckks { parameters, recording, .. } => of_slots(recording, parameters.degree()),
            Self::Bgv { parameters, recording } => of_slots(recording, 2 * parameters.row_slots()),
            Self::Tfhe { .. } => Draft { scheme: Scheme::Tfhe, usage: None, ciphertexts: 0, log_n: None },
        }
    }
}

/// What integers need not approximate.
const EXACT: Approximations = Approximations { error: 0.0, dead_zone: None };

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

fn check_levels(needed: usize, left: usize) -> Result<()> {
    if needed <= left { Ok(()) } else { Err(Error::LevelExhausted { needed, left }) }
}
