//! The steps of a compiled function.

use noren_rlwe::error::Result;
use serde::Serialize;

use crate::backends::backend::{Outline, Step};
use crate::backends::options::Options;
use crate::backends::table::{Backends, Offer};
use crate::compiler::choice::{priced, quickest, server_with, usual, usual_client};
use crate::compiler::program::Program;
use crate::cost::{Machine, Party, Price};

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
    /// The steps, in order.
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

impl Program {
    /// The steps of the function, with predicted error bounds.
    ///
    /// # Errors
    /// None of programs that were compiled.
    pub fn explain(&self) -> Result<Explanation> {
        self.explain_on(None)
    }

    /// As [`Program::explain`], with prices of a server with this machine.
    ///
    /// # Errors
    /// None of programs that were compiled.
    pub fn explain_on(&self, machine: Option<&Machine>) -> Result<Explanation> {
        let (client, server) = (usual_client(), server_with(machine));
        let (plan, bounds) = (self.plan(), self.plan().bounds()?);
        let Outline { ciphertexts, slots, levels, rotations, steps } = plan.outline(bounds.as_ref())?;
        Ok(Explanation {
            scheme: plan.backend().to_owned(),
            parameters: plan.words(),
            price: plan.price(&client, &server)?,
            machine: format!(
                "{}, kernels {}, {} threads of the server",
                server.machine.processor, server.machine.isa, server.threads
            ),
            others: self.others(&client, &server)?,
            ciphertexts,
            slots,
            levels,
            bootstraps: steps.iter().map(|step| step.bootstraps).sum(),
            rotations,
            precision: if bounds.is_some() { self.precision() } else { 0.0 },
            bound: bounds.map_or(0.0, |bounds| self.evaluated().largest_bound(&bounds.outputs)),
            steps,
        })
    }

    /// The price of the function in the other schemes, with parameters of the same security.
    fn others(&self, client: &Party, server: &Party) -> Result<Vec<OtherScheme>> {
        let precision = Some(self.evaluated().precision(self.precision()));
        let dead_zone = self.plan().record().dead_zone;
        let options =
            Options { precision, dead_zone, security: self.plan().security(), nearest: false, ..Options::default() };
        let others = Backends::ALL.plans(self.evaluated().graph(), &options, Some(self.plan().backend()));
        let other = |(scheme, plans): Offer| {
            let (server_seconds, refusal) = match plans {
                Ok(plans) => {
                    let quickest = quickest(priced(usual(plans)?, client, server)?);
                    (quickest.map(|(_, price)| price.server_seconds), String::new())
                }
                Err(error) => (None, error.to_string()),
            };
            Ok(OtherScheme { scheme: scheme.to_owned(), server_seconds, refusal })
        };
        others.into_iter().map(other).collect()
    }
}
