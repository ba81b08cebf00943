//! What a compiled function does, step by step.

use noren_rlwe::error::Result;
use serde::Serialize;

use crate::circuits::recorder::Counts;
use crate::compiler::bootstraps::bootstraps;
use crate::compiler::columns;
use crate::compiler::interval::Interval;
use crate::compiler::operation::Operation;
use crate::compiler::program::{Program, Target};
use crate::compiler::recording::Recording;

/// Everything that is known of a compiled function before it runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The scheme.
    pub scheme: String,
    /// Its parameters, in words.
    pub parameters: String,
    /// The ciphertexts of all inputs.
    pub ciphertexts: usize,
    /// The slots of each; 0 of columns.
    pub slots: usize,
    /// The levels that inputs have.
    pub levels: usize,
    /// The bootstraps of all steps; those of tables, which are circuit bootstraps, are not counted.
    pub bootstraps: usize,
    /// The rotations that have a key.
    pub rotations: Vec<isize>,
    /// The absolute error that was asked for; 0 of exact schemes.
    pub precision: f64,
    /// The largest predicted bound on the error of an output.
    pub bound: f64,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

/// A node of a compiled function that does something.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// The operation.
    pub operation: String,
    /// Where the function asks for it.
    pub place: String,
    /// The shape of the result.
    pub shape: Vec<usize>,
    /// Where its elements lie.
    pub range: Interval,
    /// The type of its elements, as the scheme holds them.
    pub element: String,
    /// The levels that are left after it.
    pub level: usize,
    /// The ciphertexts of the result.
    pub ciphertexts: usize,
    /// Products of ciphertexts.
    pub products: usize,
    /// Products with numbers in clear.
    pub plain_products: usize,
    /// Rotations.
    pub rotations: usize,
    /// Bootstraps.
    pub bootstraps: usize,
    /// The predicted bound on the error of its elements; 0 of exact schemes.
    pub bound: f64,
}

impl Program {
    /// What the function does, step by step, with predicted error bounds.
    ///
    /// # Errors
    /// None of programs that were compiled.
    pub fn explain(&self) -> Result<Explanation> {
        let (parameters, recording, levels) = match &self.target {
            Target::Ckks { parameters, recording, .. } => {
                (words(parameters.degree(), parameters.rlwe()), Some(recording), parameters.max_level())
            }
            Target::Bgv { parameters, recording } => {
                (words(parameters.degree(), parameters.rlwe()), Some(recording), recording.usage.depth)
            }
            Target::Tfhe { parameters } => (parameters.to_string(), None, 0),
        };
        let predicted = self.predicted()?;
        let bound = |at: usize| predicted.as_ref().and_then(|predicted| predicted.bounds[at]).unwrap_or(0.0);
        let mut steps = Vec::new();
        let mut push = |at: usize, level: usize, ciphertexts: usize, counts: Counts| -> Result<()> {
            let node = self.simple.node(at);
            let bootstraps = match self.target {
                Target::Tfhe { .. } => bootstraps(&self.simple, at)?,
                _ => 0,
            };
            let element = match self.target {
                Target::Tfhe { .. } => columns::element_of(&self.simple, at)?.to_string(),
                Target::Bgv { .. } => "integer".to_owned(),
                Target::Ckks { .. } => "real".to_owned(),
            };
            steps.push(Step {
                operation: node.operation.name(),
                place: node.place.clone(),
                shape: node.shape.clone(),
                range: node.range,
                element,
                level,
                ciphertexts,
                products: counts.products,
                plain_products: counts.plain_products,
                rotations: counts.rotations,
                bootstraps,
                bound: bound(at),
            });
            Ok(())
        };
        match recording {
            Some(recording) => {
                for step in &recording.steps {
                    push(step.node, levels.saturating_sub(step.depth), step.ciphertexts, step.counts)?;
                }
            }
            None => {
                let needed = self.simple.needed();
                for at in (0..needed.len()).filter(|&at| needed[at]) {
                    if !matches!(self.simple.node(at).operation, Operation::Constant { .. } | Operation::Input { .. }) {
                        let count = self.simple.node(at).shape.iter().product();
                        push(at, 0, count, Counts::default())?;
                    }
                }
            }
        }
        let largest = predicted.as_ref().map(|predicted| predicted.outputs.iter().copied().fold(0.0, f64::max));
        let elements = |at: usize| self.graph.node(at).shape.iter().product::<usize>();
        Ok(Explanation {
            scheme: self.scheme().to_string(),
            parameters,
            ciphertexts: recording
                .map_or_else(|| self.graph.inputs().into_iter().map(elements).sum(), Recording::ciphertexts),
            slots: recording.map_or(0, |recording| recording.slots),
            levels,
            bootstraps: steps.iter().map(|step| step.bootstraps).sum(),
            rotations: recording.map_or_else(Vec::new, |recording| recording.usage.rotations.keys().copied().collect()),
            precision: if predicted.is_some() { self.precision() } else { 0.0 },
            bound: largest.unwrap_or(0.0),
            steps,
        })
    }
}

/// A ring and its moduli in words.
fn words(degree: usize, parameters: &noren_rlwe::parameters::Parameters) -> String {
    let (bits, security) = (parameters.log_qp(), parameters.security());
    format!("degree {degree}, modulus of {bits:.0} bits, {security} security")
}
