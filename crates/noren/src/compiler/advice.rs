//! Advice for functions: all schemes that evaluate one, in order, with prices and reasons.

use std::sync::Arc;

use noren_rlwe::error::Result;
use serde::Serialize;

use crate::advisor::{Advice, Asked, Compiled, Goal, Limits, Objective, Report, Workload};
use crate::backends::options::Options;
use crate::backends::table::Backends;
use crate::compiler::program::Program;
use crate::cost::Party;
use crate::graph::dag::Graph;
use crate::graph::evaluated::Evaluated;
use crate::lowering::error::CompileError;

/// The schemes that evaluate a function, each with the program that is compiled for it, ordered by what is to be short; the
/// scheme of the options is not looked at.
///
/// # Errors
/// Options that are refused; a machine without costs of the threads; [`Error::Parameters`](crate::error::Error::Parameters) if
/// no scheme evaluates the function within the limits, with the nearest that is possible.
///
/// # Examples
/// ```
/// use noren::advisor::{Limits, Objective, Scheme};
/// use noren::cost::{Machine, Party};
/// use noren::compiler::{Options, advise};
/// use noren::graph::{Binary, Element, Graph, Interval, Operation};
///
/// let mut graph = Graph::default();
/// let range = Interval::new(0.0, 9.0);
/// let x = graph.push(Operation::Input { name: "x".into(), shape: vec![8], element: Element::Integer, range }, "")?;
/// let square = graph.push(Operation::Binary(Binary::Mul, x, x), "")?;
/// graph.finish(vec![square])?;
///
/// let server = Party { machine: Machine::reference(), threads: 1 };
/// let advice = advise(&graph, &Options::default(), Objective::Server, &server, &server, &Limits::default())?;
/// let schemes: Vec<Scheme> = advice.candidates.iter().map(|candidate| candidate.scheme).collect();
/// assert_eq!(schemes.last(), Some(&Scheme::Tfhe));
/// assert!(["bgv", "bfv"].contains(&advice.candidates[0].compiled.plan.backend()));
/// # Ok::<(), noren::error::Error>(())
/// ```
pub fn advise(
    graph: &Graph,
    options: &Options,
    objective: Objective,
    client: &Party,
    server: &Party,
    limits: &Limits,
) -> Result<Advice> {
    options.check()?;
    limits.check()?;
    let asked = Asked { backends: &Backends::ALL, options, runs: 1, log2_failure: None, client, server };
    let outcomes = asked.candidates(&Arc::new(graph.clone()), &Evaluated::new(graph)?, 0.0)?;
    let (goal, limits) = (Goal::new(objective, client, server), limits.within(client, server));
    Advice::ranked(outcomes, &goal, &limits, server, None).map_err(|refusal| refusal.error(None))
}

impl Compiled {
    /// The compiled function of one run.
    #[must_use]
    pub fn program(&self) -> Program {
        let (function, plan) = ((*self.function).clone(), Arc::clone(&self.plan));
        Program::new(function, self.evaluated.clone(), plan, self.precision)
    }
}

impl Workload {
    /// The workload as a [function](Workload::graph), compiled for the backend of this name, or for the quickest: what comes of
    /// advice.
    ///
    /// # Errors
    /// As [`Workload::graph`] and [`Program::compile`].
    pub fn program(&self, scheme: Option<&str>) -> Result<Program> {
        let scheme = scheme.map(str::to_owned);
        Program::compile(self.graph()?, &Options { scheme, nearest: true, unlimited: true, ..self.options() })
    }

    /// As [`Workload::program`], for the first of these schemes that compiles it, each with how far below 1 values stay: those of
    /// candidates, in the order of advice.
    ///
    /// # Errors
    /// As [`Workload::graph`]; [`CompileError::Refused`] with the reason of each scheme.
    pub fn program_of_first(&self, candidates: &[(&str, f64)]) -> Result<Program> {
        let mut reasons: Vec<(&'static str, String)> = Vec::new();
        for (place, &(name, excluded)) in candidates.iter().enumerate() {
            if candidates[..place].contains(&(name, excluded)) {
                continue;
            }
            let name = Backends::ALL.named(name)?.name();
            // Advice has limits of its own.
            let options = Options { scheme: Some(name.to_owned()), unlimited: true, ..self.options() };
            match Program::compile(self.graph_below(excluded)?, &options) {
                Ok(program) => return Ok(program),
                Err(error) => reasons.push((name, error.to_string())),
            }
        }
        Err(CompileError::Refused { reasons }.into())
    }
}

/// A function, as reports name it: what goes in, and what comes out.
#[derive(Debug, Clone, Serialize)]
pub struct Shapes {
    /// The shapes of the inputs.
    pub inputs: Vec<Vec<usize>>,
    /// The shapes of the outputs.
    pub outputs: Vec<Vec<usize>>,
}

impl Shapes {
    /// The shapes of a graph.
    #[must_use]
    pub fn of(graph: &Graph) -> Self {
        let shape = |&at: &usize| graph.node(at).shape.clone();
        Self {
            inputs: graph.inputs().iter().map(shape).collect(),
            outputs: graph.outputs().iter().map(shape).collect(),
        }
    }

    /// Advice for the function with what it is for; without scripts, which the function itself would be part of.
    #[must_use]
    pub fn report<'a>(&'a self, advice: &'a Advice, client: &'a Party, server: &'a Party) -> Report<'a, Self> {
        advice.report_for(self, client, server, |_| String::new())
    }
}
