//! The choice of a backend: the one place that ranks them.

use std::sync::Arc;
use std::thread::available_parallelism;

use noren_rlwe::error::Result;

use crate::advisor::Limits;
use crate::backends::backend::Plan;
use crate::backends::options::Options;
use crate::backends::table::Backends;
use crate::cost::{Machine, Party, Price, system};
use crate::graph::dag::Graph;
use crate::lowering::error::CompileError;

/// The server that functions are compiled for: this machine, by its [costs without a measurement](Machine::without_measuring),
/// with as many of its threads as they tell of.
pub(super) fn usual_server() -> Party {
    Party::new(Machine::without_measuring(), available_parallelism().map_or(1, usize::from))
}

/// A server with this machine and as many of its threads as it tells of; the usual one without a machine.
pub(super) fn server_with(machine: Option<&Machine>) -> Party {
    machine.map_or_else(usual_server, |machine| Party::new(machine.clone(), usize::MAX))
}

/// The client that functions are compiled for: a thread of the same machine.
pub(super) fn usual_client() -> Party {
    Party { threads: 1, ..usual_server() }
}

/// The longest that the server of a plan may take, in seconds, where nobody asks for more.
const MOST_SECONDS: f64 = 3600.0;

/// The plan with the shortest predicted time of the server, of the backend that is named, or of all that evaluate the graph.
///
/// # Errors
/// The reason of the backend that is named; [`CompileError::Refused`] with the reason of each if all of them refuse;
/// [`CompileError::Beyond`] if every plan goes beyond the machine, and options do not allow that.
pub(super) fn best(backends: &Backends<'_>, graph: &Arc<Graph>, options: &Options) -> Result<Arc<dyn Plan>> {
    if let Some(name) = &options.scheme {
        return quickest_within(usual(backends.plans_of(backends.named(name)?, graph, options)?)?, options);
    }
    let (mut found, mut reasons) = (Vec::new(), Vec::new());
    for (name, plans) in backends.plans(graph, options, None) {
        match plans {
            Ok(plans) => found.extend(usual(plans)?),
            Err(error) => reasons.push((name, error.to_string())),
        }
    }
    if found.is_empty() {
        return Err(CompileError::Refused { reasons }.into());
    }
    quickest_within(found, options)
}

/// The plan with the shortest predicted time of the server of the options, of those that its machine has memory and time for.
fn quickest_within(plans: Vec<Arc<dyn Plan>>, options: &Options) -> Result<Arc<dyn Plan>> {
    let server = server_with(options.machine.as_ref());
    let memory = options.machine.as_ref().map_or_else(system::memory, |machine| machine.memory);
    let limits = match options.unlimited {
        true => Limits::default(),
        false => Limits { server_memory: Some(memory), server_seconds: Some(MOST_SECONDS), ..Limits::default() },
    };
    let (mut within, mut beyond) = (Vec::new(), Vec::new());
    for (plan, price) in priced(plans, &usual_client(), &server)? {
        match limits.exceeded(&price) {
            None => within.push((plan, price)),
            Some((excess, found)) => beyond.push((excess, CompileError::Beyond { scheme: plan.backend(), found })),
        }
    }
    let least = beyond.into_iter().min_by(|(a, _), (b, _)| a.total_cmp(b));
    match (quickest(within), least) {
        (Some((plan, _)), _) => Ok(plan),
        (None, Some((_, error))) => Err(error.into()),
        (None, None) => Err(CompileError::Refused { reasons: Vec::new() }.into()),
    }
}

/// The plans of a backend that fail no more often than its usual one, the first: others are for those who ask for them.
pub(super) fn usual(mut plans: Vec<Arc<dyn Plan>>) -> Result<Vec<Arc<dyn Plan>>> {
    let failures = plans.iter().map(|plan| plan.log2_failure()).collect::<Result<Vec<_>>>()?;
    let Some(Some(most)) = failures.first().copied() else { return Ok(plans) };
    let mut kept = failures.iter().map(|failure| failure.is_none_or(|log2| log2 <= most));
    plans.retain(|_| kept.next() == Some(true));
    Ok(plans)
}

/// A plan with its price.
type Priced = (Arc<dyn Plan>, Price);

/// Plans with their prices.
pub(super) fn priced(plans: Vec<Arc<dyn Plan>>, client: &Party, server: &Party) -> Result<Vec<Priced>> {
    let price = |plan: Arc<dyn Plan>| plan.price(client, server).map(|price| (plan, price));
    plans.into_iter().map(price).collect()
}

/// The plan with the shortest predicted time of the server, if there is one.
pub(super) fn quickest(plans: Vec<Priced>) -> Option<Priced> {
    plans.into_iter().min_by(|(_, a), (_, b)| a.server_seconds.total_cmp(&b.server_seconds))
}

#[cfg(test)]
mod tests {
    use noren_rlwe::security::Security;

    use super::*;
    use crate::graph::interval::Interval;
    use crate::graph::operation::{Binary, Element, Operation, Reduction};

    /// `f(x, y)` for integers in `[0, high]`.
    fn of_integers(kind: Binary, elements: usize, high: f64) -> Graph {
        let mut graph = Graph::default();
        let mut input = |name: &str| {
            let (shape, range) = (vec![elements], Interval::new(0.0, high));
            let input = Operation::Input { name: name.into(), shape, element: Element::Integer, range };
            graph.push(input, "").expect("an input")
        };
        let (x, y) = (input("x"), input("y"));
        let at = graph.push(Operation::Binary(kind, x, y), "").expect("an operation");
        graph.finish(vec![at]).expect("an output");
        graph
    }

    #[test]
    fn the_plan_with_the_shortest_predicted_time_is_taken() {
        let options = Options { security: Security::None, ..Options::default() };
        let (client, server) = (usual_client(), usual_server());
        for (kind, elements) in [(Binary::Mul, 1000), (Binary::Add, 1), (Binary::Xor, 5)] {
            let graph = Arc::new(of_integers(kind, elements, 100.0));
            let taken = best(&Backends::ALL, &graph, &options).expect("a plan");
            let seconds = |plan: &Arc<dyn Plan>| plan.price(&client, &server).expect("a price").server_seconds;
            let all = Backends::ALL.plans(&graph, &options, None);
            let times = all.iter().filter_map(|(_, plans)| plans.as_ref().ok()).flatten().map(seconds);
            assert_eq!(seconds(&taken), times.fold(f64::INFINITY, f64::min));
            assert_eq!(taken.backend() == "tfhe", kind == Binary::Xor, "{kind:?}");
        }
    }

    #[test]
    fn plans_beyond_the_machine_are_refused_unless_they_are_asked_for() {
        let graph = Arc::new(of_integers(Binary::Mul, 1000, 100.0));
        let machine = Machine { memory: 13 << 20, ..Machine::reference() };
        let options = Options { machine: Some(machine.clone()), ..Options::default() };
        let error = best(&Backends::ALL, &graph, &options).expect_err("a plan in 13 MiB");
        assert!(matches!(error.downcast_ref(), Some(CompileError::Beyond { .. })), "{error}");
        let message = error.to_string();
        assert!(message.contains("of memory on the server, 13 MiB are allowed"), "{message}");
        for allowed in [
            Options { unlimited: true, ..options.clone() },
            Options { machine: Some(Machine { memory: 1 << 30, ..machine.clone() }), ..options },
        ] {
            assert!(best(&Backends::ALL, &graph, &allowed).is_ok());
        }
        // Bootstraps for days, where products take milliseconds.
        let slow = Options { machine: Some(Machine::reference()), ..Options::on("tfhe") };
        let graph = Arc::new(of_integers(Binary::Mul, 1 << 17, 200.0));
        let message = best(&Backends::ALL, &graph, &slow).expect_err("more than an hour").to_string();
        assert!(message.contains("of tfhe, takes ") && message.contains(" s on the server, 3600.000 s"), "{message}");
    }

    #[test]
    fn what_no_scheme_evaluates_is_refused_with_the_reason_of_each() {
        let mut graph = of_integers(Binary::Add, 4, 10_000.0);
        let sum = graph.push(Operation::Reduce(Reduction::Sum, 2, vec![0]), "").expect("a sum");
        let values = vec![1.0; 80_001];
        let table = Operation::Table { of: sum, first: 0, values, element: Element::Integer };
        let found = graph.push(table, "here").expect("a table");
        graph.finish(vec![found]).expect("an output");
        let error = best(&Backends::ALL, &Arc::new(graph), &Options::default()).expect_err("a long table");
        let message = error.to_string();
        assert!(message.contains("\ntfhe: here: ") && message.contains("tables of integers of 16 bits"), "{message}");
        assert!(message.contains("\nbfv-lookups: here: ") && message.contains("this one depends on 8"), "{message}");
        assert_eq!(message.lines().count(), 1 + Backends::ALL.0.len(), "{message}");
    }
}
