//! What a compiled function does, step by step.

use noren_rlwe::error::Result;
use serde::Serialize;

use crate::circuits::recorder::Counts;
use crate::compiler::bootstraps::bootstraps;
use crate::compiler::choice::{targets, usual_client, usual_server};
use crate::compiler::columns;
use crate::compiler::options::{Options, Scheme};
use crate::compiler::program::Program;
use crate::compiler::recording::Recording;
use crate::compiler::target::Target;
use crate::cost::{Party, Price};
use crate::graph::interval::Interval;
use crate::graph::operation::Operation;

/// Everything that is known of a compiled function before it runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The scheme.
    pub scheme: String,
    /// Its parameters, in words.
    pub parameters: String,
    /// The predicted price of one run.
    pub price: Price,
    /// The machine that prices are of.
    pub machine: String,
    /// The other schemes.
    pub others: Vec<OtherScheme>,
    /// The ciphertexts of all inputs.
    pub ciphertexts: usize,
    /// The slots of each; 0 of columns.
    pub slots: usize,
    /// The levels that inputs have, and with bootstraps those that results of bootstraps have, for the function.
    pub levels: usize,
    /// The bootstraps of all steps: on columns those of integers, on slots those that give ciphertexts new levels. Those of tables, which are circuit bootstraps, are not counted.
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

/// A scheme that a function is not compiled for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OtherScheme {
    /// The scheme.
    pub scheme: String,
    /// The server's time there; none if the scheme does not evaluate the function.
    pub server_seconds: Option<f64>,
    /// Why it does not, or empty.
    pub refusal: String,
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
        let recording = self.target.recording();
        let levels = match &self.target {
            Target::Ckks { parameters, .. } => parameters.max_level(),
            Target::Deep(plan) => plan.parameters.levels_left(),
            Target::Bgv { recording, .. } => recording.usage.depth,
            Target::Tfhe { .. } => 0,
        };
        let (client, server) = (usual_client(), usual_server());
        let predicted = self.predicted()?;
        let bound = |at: usize| predicted.as_ref().and_then(|predicted| predicted.bounds[at]).unwrap_or(0.0);
        let mut steps = Vec::new();
        let mut push = |at: usize, level: usize, ciphertexts: usize, counts: Counts, renewed: usize| -> Result<()> {
            let node = self.simple.node(at);
            let bootstraps = match self.target {
                Target::Tfhe { .. } => bootstraps(&self.simple, at)?.bootstraps,
                _ => renewed,
            };
            let element = match self.target {
                Target::Tfhe { .. } => columns::element_of(&self.simple, at)?.to_string(),
                Target::Bgv { .. } => "integer".to_owned(),
                Target::Ckks { .. } | Target::Deep(_) => "real".to_owned(),
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
                    push(step.node, levels.saturating_sub(step.depth), step.ciphertexts, step.counts, step.bootstraps)?;
                }
            }
            None => {
                let needed = self.simple.needed();
                for at in (0..needed.len()).filter(|&at| needed[at]) {
                    if !matches!(self.simple.node(at).operation, Operation::Constant { .. } | Operation::Input { .. }) {
                        let count = self.simple.node(at).shape.iter().product();
                        push(at, 0, count, Counts::default(), 0)?;
                    }
                }
            }
        }
        let largest = predicted.as_ref().map(|predicted| predicted.outputs.iter().copied().fold(0.0, f64::max));
        let elements = |at: usize| self.graph.node(at).shape.iter().product::<usize>();
        Ok(Explanation {
            scheme: self.scheme().to_string(),
            parameters: self.target.words(),
            price: self.target.price(&self.simple, &client, &server)?,
            machine: format!(
                "{}, kernels {}, {} threads of the server",
                server.machine.processor, server.machine.isa, server.threads
            ),
            others: self.others(&client, &server)?,
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

    /// What the function takes in the other schemes, with parameters of the same security.
    fn others(&self, client: &Party, server: &Party) -> Result<Vec<OtherScheme>> {
        let dead_zone = self.target.dead_zone();
        let options = Options { scheme: None, precision: Some(self.precision()), dead_zone, security: self.security() };
        let others = targets(&self.simple, &options, Some(self.scheme()));
        let other = |(scheme, target): (Scheme, Result<Target>)| {
            let (server_seconds, refusal) = match target {
                Ok(target) => (Some(target.price(&self.simple, client, server)?.server_seconds), String::new()),
                Err(error) => (None, error.to_string()),
            };
            Ok(OtherScheme { scheme: scheme.to_string(), server_seconds, refusal })
        };
        others.into_iter().map(other).collect()
    }
}
