//! Prices of graphs on their schemes, by the advisor's costs.

use noren_rlwe::error::Result;

use crate::advisor::{BOOTSTRAPS_OF_CHOICE, SlotDraft, Slots, TorusDraft, add_bootstraps};
use crate::bootstrapping::Mode;
use crate::compiler::bootstraps::bootstraps;
use crate::compiler::columns::element_of;
use crate::compiler::moduli::limbs_by_depth;
use crate::compiler::recording::Recording;
use crate::compiler::target::{Target, set};
use crate::cost::{Party, Price};
use crate::graph::dag::Graph;
use crate::graph::operation::Operation;
use crate::graph::shape::size;
use crate::schemes::tfhe;

impl Target {
    /// The price of one run.
    ///
    /// # Errors
    /// A machine without costs of the threads.
    pub(super) fn price(&self, graph: &Graph, client: &Party, server: &Party) -> Result<Price> {
        match self {
            Self::Ckks { parameters, recording, .. } => {
                let limbs = SlotDraft::limbs_below(parameters.max_level(), recording.usage.depth);
                slots(Slots::Reals, parameters.rlwe(), recording, limbs).price(client, server)
            }
            Self::Deep(plan) => {
                let (parameters, recording) = (&plan.parameters, &plan.recording);
                let limbs = SlotDraft::limbs_below(parameters.output_level(), recording.usage.depth);
                let draft = slots(Slots::Reals, parameters.ckks()?.rlwe(), recording, limbs);
                let mut price = draft.price(client, server)?;
                add_bootstraps(&mut price, client, server, parameters, Mode::Real, recording.bootstraps() as f64)?;
                Ok(price)
            }
            Self::Bgv { parameters, recording } => {
                let limbs = limbs_by_depth(parameters, recording);
                slots(Slots::Residues, parameters.rlwe(), recording, limbs).price(client, server)
            }
            Self::Tfhe { parameters } => columns(graph, parameters)?.price(client, server),
        }
    }
}

/// A recorded graph, for its price.
fn slots(
    slots: Slots,
    parameters: &noren_rlwe::parameters::Parameters,
    recording: &Recording,
    limbs: Vec<usize>,
) -> SlotDraft {
    SlotDraft {
        slots,
        parameters: parameters.clone(),
        usage: recording.usage.clone(),
        limbs,
        width: recording.slots,
        inputs: recording.ciphertexts(),
        results: recording.layouts.iter().map(|layout| layout.parts(recording.slots)).sum(),
        runs: 1,
    }
}

/// A graph on columns, for its price: node after node, each with the elements of its result side by side.
fn columns(graph: &Graph, parameters: &tfhe::Parameters) -> Result<TorusDraft> {
    let samples = |at: usize| -> Result<usize> {
        Ok(size(&graph.node(at).shape).unwrap_or(0) * element_of(graph, at)?.digits(parameters)?)
    };
    let mut rounds = Vec::new();
    let needed = graph.needed();
    for at in (0..needed.len()).filter(|&at| needed[at]) {
        let node = graph.node(at);
        if let Operation::Table { of, .. } = &node.operation {
            rounds.push((1, BOOTSTRAPS_OF_CHOICE * samples(*of)? as f64));
        } else if !matches!(node.operation, Operation::Constant { .. }) {
            let found = bootstraps(graph, at)?;
            if found.rounds > 0 {
                rounds.push((found.rounds, found.bootstraps as f64 / found.rounds as f64));
            }
        }
    }
    Ok(TorusDraft {
        set: set(parameters.spec().torus.security),
        rounds,
        inputs: graph.inputs().into_iter().map(samples).sum::<Result<usize>>()?,
        results: graph.outputs().iter().map(|&at| samples(at)).sum::<Result<usize>>()?,
        runs: 1,
    })
}

#[cfg(test)]
mod tests {
    use noren_rlwe::security::Security;

    use super::*;
    use crate::compiler::options::{Options, Scheme};
    use crate::cost::Machine;
    use crate::graph::interval::Interval;
    use crate::graph::operation::{Binary, Element};

    fn product(elements: usize) -> Graph {
        let mut graph = Graph::default();
        let range = Interval::new(0.0, 15.0);
        let input = Operation::Input { name: "x".into(), shape: vec![elements], element: Element::Integer, range };
        let x = graph.push(input, "").expect("an input");
        let square = graph.push(Operation::Binary(Binary::Mul, x, x), "").expect("a product");
        graph.finish(vec![square]).expect("an output");
        graph
    }

    #[test]
    fn a_column_costs_by_its_elements_and_a_vector_of_slots_does_not() {
        let options = Options { security: Security::None, ..Options::default() };
        let party = Party { machine: Machine::reference(), threads: 1 };
        let price = |scheme: Scheme, elements: usize| {
            let graph = product(elements);
            let target = Target::new(scheme, &graph, &options).expect("a target");
            target.price(&graph, &party, &party).expect("a price")
        };
        let [one, many] = [1, 256].map(|elements| price(Scheme::Tfhe, elements));
        assert!(many.server_seconds > 50.0 * one.server_seconds && many.input_bytes > 100 * one.input_bytes);
        for scheme in [Scheme::Bgv, Scheme::Ckks] {
            let [one, many] = [1, 256].map(|elements| price(scheme, elements));
            assert!(many.server_seconds < 2.0 * one.server_seconds, "{scheme}");
            assert!(one.server_seconds > 0.0 && one.key_bytes > 0 && one.server_memory > 0, "{scheme}");
        }
    }

    #[test]
    fn tables_are_priced_by_the_digits_that_they_are_looked_up_for() {
        let mut graph = Graph::default();
        let range = Interval::new(0.0, 255.0);
        let input = Operation::Input { name: "x".into(), shape: vec![10], element: Element::Integer, range };
        let x = graph.push(input, "").expect("an input");
        let table =
            Operation::Table { of: x, first: 0, values: (0..256).map(f64::from).collect(), element: Element::Integer };
        let found = graph.push(table, "").expect("a table");
        graph.finish(vec![found]).expect("an output");
        let parameters = tfhe::Preset::named("2_2").and_then(|set| set.parameters()).expect("a set");
        let draft = columns(&graph, &parameters).expect("a draft");
        assert_eq!(draft.rounds, [(1, 40.0 * BOOTSTRAPS_OF_CHOICE)]);
        assert_eq!((draft.inputs, draft.results), (40, 40));
    }
}
