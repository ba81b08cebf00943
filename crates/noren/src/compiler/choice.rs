//! The choice of a scheme: the one place that ranks them.

use std::thread::available_parallelism;

use noren_rlwe::error::{Error, Result};

use crate::advisor::{Goal, Objective};
use crate::compiler::options::{Options, Scheme};
use crate::compiler::target::Target;
use crate::cost::{Machine, Party};
use crate::graph::dag::Graph;
use crate::graph::operation::Element;

/// The server that functions are compiled for: this machine, by its [costs without a measurement](Machine::without_measuring),
/// with as many of its threads as they tell of.
pub(super) fn usual_server() -> Party {
    Party::new(Machine::without_measuring(), available_parallelism().map_or(1, usize::from))
}

/// The client that functions are compiled for: a thread of the same machine.
pub(super) fn usual_client() -> Party {
    Party { threads: 1, ..usual_server() }
}

/// What the compiler makes of a graph in each scheme but one: parameters, or why there are none.
pub(super) fn targets(graph: &Graph, options: &Options, but: Option<Scheme>) -> Vec<(Scheme, Result<Target>)> {
    let real = has_real_numbers(graph);
    let mut targets: Vec<(Scheme, Result<Target>)> = Vec::new();
    for scheme in Scheme::ALL.into_iter().filter(|&scheme| Some(scheme) != but) {
        let leveled = but == Some(Scheme::Ckks) || matches!(targets.first(), Some((Scheme::Ckks, Ok(_))));
        let target = match scheme {
            Scheme::Ckks | Scheme::CkksBootstrapping if !real => Err(Error::parameter(
                "scheme",
                "integers, which are to be exact",
                "real numbers: scheme=\"ckks\" computes with integers too, within an error bound",
            )),
            Scheme::CkksBootstrapping if leveled => Err(Error::parameter(
                "scheme",
                "a function that parameters without bootstrapping have the levels for",
                "a deeper one: bootstraps only take time here",
            )),
            _ => Target::new(scheme, graph, options),
        };
        targets.push((scheme, target));
    }
    targets
}

/// The target with the shortest predicted time of the server, of those that evaluate the graph.
///
/// # Errors
/// If all schemes refuse: what CKKS refuses of real numbers, and TFHE, which has most operations, of integers.
pub(super) fn best(graph: &Graph, options: &Options) -> Result<Target> {
    let (mut found, mut refusals) = (Vec::new(), Vec::new());
    for (_, target) in targets(graph, options, None) {
        match target {
            Ok(target) => found.push(target),
            Err(error) => refusals.push(error),
        }
    }
    if found.is_empty() {
        return Err(refusals.swap_remove(if has_real_numbers(graph) { 0 } else { Scheme::ALL.len() - 1 }));
    }
    if found.len() == 1 {
        return Ok(found.swap_remove(0));
    }
    let (client, server) = (usual_client(), usual_server());
    let goal = Goal::new(Objective::Server, &client, &server);
    let seconds = |target: &Target| Ok(goal.seconds(&target.price(graph, &client, &server)?));
    let times = found.iter().map(seconds).collect::<Result<Vec<f64>>>()?;
    let shortest = (0..times.len()).min_by(|&a, &b| times[a].total_cmp(&times[b]));
    Ok(found.swap_remove(shortest.unwrap_or(0)))
}

/// Whether an output depends on real numbers.
fn has_real_numbers(graph: &Graph) -> bool {
    graph.nodes().iter().zip(graph.needed()).any(|(node, needed)| needed && node.element == Element::Real)
}

#[cfg(test)]
mod tests {
    use noren_rlwe::security::Security;

    use super::*;
    use crate::graph::interval::Interval;
    use crate::graph::operation::{Binary, Operation};

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
    fn the_scheme_with_the_shortest_predicted_time_is_taken() {
        let options = Options { security: Security::None, ..Options::default() };
        let (client, server) = (usual_client(), usual_server());
        for (kind, elements) in [(Binary::Mul, 1000), (Binary::Add, 1), (Binary::Less, 5)] {
            let graph = of_integers(kind, elements, 100.0);
            let taken = best(&graph, &options).expect("a scheme");
            let seconds = |target: &Target| target.price(&graph, &client, &server).expect("a price").server_seconds;
            let all = targets(&graph, &options, None);
            let times = all.iter().filter_map(|(_, target)| target.as_ref().ok()).map(seconds);
            assert_eq!(seconds(&taken), times.fold(f64::INFINITY, f64::min));
            let expected = if kind == Binary::Less { Scheme::Tfhe } else { Scheme::Bgv };
            assert_eq!(taken.scheme(), expected, "{kind:?}");
        }
    }

    #[test]
    fn what_no_scheme_evaluates_of_integers_is_refused_as_tfhe_refuses_it() {
        let mut graph = of_integers(Binary::Add, 4, 400.0);
        let values = vec![1.0; 801];
        let table = Operation::Table { of: 2, first: 0, values, element: Element::Integer };
        let found = graph.push(table, "here").expect("a table");
        graph.finish(vec![found]).expect("an output");
        let message = best(&graph, &Options::default()).expect_err("a long table").to_string();
        assert!(message.contains("tables of integers of 8 bits"), "{message}");
    }
}
