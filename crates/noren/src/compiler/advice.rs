//! Advice for functions: all schemes that evaluate one, in order, with prices and reasons.

use noren_rlwe::error::Result;
use serde::Serialize;

use crate::advisor::{self, Accuracy, Advice, Candidate, Goal, Limits, Objective, Rejection, Report};
use crate::compiler::bootstraps::bootstraps;
use crate::compiler::choice::targets;
use crate::compiler::options::{Options, Scheme};
use crate::compiler::parameters::precision_of;
use crate::compiler::program::Program;
use crate::compiler::target::Target;
use crate::cost::Party;
use crate::graph::dag::Graph;
use crate::graph::simplify::simplified;

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
/// assert_eq!(schemes, [Scheme::Bgv, Scheme::Tfhe]);
/// assert_eq!(advice.candidates[0].plan.scheme().to_string(), "bgv");
/// # Ok::<(), noren::error::Error>(())
/// ```
pub fn advise(
    graph: &Graph,
    options: &Options,
    objective: Objective,
    client: &Party,
    server: &Party,
    limits: &Limits,
) -> Result<Advice<Program>> {
    options.check()?;
    limits.check()?;
    let simple = simplified(graph)?;
    let precision = precision_of(graph, options);
    let outcome = |(scheme, target): (Scheme, Result<Target>)| match target {
        Ok(target) => {
            let price = target.price(&simple, client, server)?;
            let plan = Program::new(graph.clone(), simple.clone(), target, precision);
            let (accuracy, reason) = describe(&plan)?;
            let (library, parameters, reasons) = ("noren".to_owned(), plan.target.words(), vec![reason]);
            let scheme = scheme.into();
            Ok(Ok(vec![Candidate { scheme, library, parameters, plan, price, accuracy, excluded: 0.0, reasons }]))
        }
        Err(error) => Ok(Err(Rejection { scheme: scheme.into(), reason: error.to_string() })),
    };
    let outcomes = targets(&simple, options, None).into_iter().map(outcome).collect::<Result<Vec<_>>>()?;
    let (goal, limits) = (Goal::new(objective, client, server), limits.within(client, server));
    Advice::ranked(outcomes, &goal, &limits, server, None).map_err(|refusal| refusal.error(None))
}

/// How accurate the results of a program are, and what its time follows from.
fn describe(program: &Program) -> Result<(Accuracy, String)> {
    let of_slots = |usage: &crate::circuits::recorder::CircuitUsage, slots: usize| {
        format!("depth {}, {slots} slots, {} rotations", usage.depth, usage.counts.rotations)
    };
    let within = || {
        let predicted = program.predicted()?;
        let largest = predicted.map_or(0.0, |found| found.outputs.into_iter().fold(0.0, f64::max));
        Ok::<_, noren_rlwe::error::Error>(Accuracy::Within(largest))
    };
    Ok(match &program.target {
        Target::Ckks { recording, .. } => (within()?, of_slots(&recording.usage, recording.slots)),
        Target::Deep(plan) => {
            let (slots, bootstraps) = (plan.recording.slots, plan.recording.bootstraps());
            (within()?, format!("{bootstraps} bootstraps, {slots} slots"))
        }
        Target::Bgv { recording, .. } => (Accuracy::Exact, of_slots(&recording.usage, recording.slots)),
        Target::Tfhe { parameters } => {
            let needed = program.simple.needed();
            let counts =
                (0..needed.len()).filter(|&at| needed[at]).map(|at| Ok(bootstraps(&program.simple, at)?.bootstraps));
            let count: usize = counts.sum::<Result<usize>>()?;
            let log2_failure = parameters.failure().log2 + libm::log2(count.max(1) as f64);
            (Accuracy::ExactButFor(log2_failure), format!("{count} bootstraps"))
        }
    })
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
    pub fn report<'a>(&'a self, advice: &'a Advice<Program>, client: &'a Party, server: &'a Party) -> Report<'a, Self> {
        advice.report_for(self, client, server, |_| String::new())
    }
}

impl From<Scheme> for advisor::Scheme {
    fn from(scheme: Scheme) -> Self {
        match scheme {
            Scheme::Ckks => Self::Ckks,
            Scheme::CkksBootstrapping => Self::CkksBootstrapping,
            Scheme::Bgv => Self::Bgv,
            Scheme::Tfhe => Self::Tfhe,
        }
    }
}
