//! Parameters of exact integers for a graph, and the plaintext modulus that holds its results.

use noren_math::prime::prime_power;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::security::Security;

use crate::compiler::options::Options;
use crate::compiler::recording::{Recording, slots_of};
use crate::compiler::slots::lowering::Approximations;
use crate::graph::dag::Graph;
use crate::graph::operation::Operation;
use crate::schemes::bgv::Bgv;
use crate::schemes::integers;

/// How often parameters are tried.
const MOST_ROUNDS: usize = 16;

/// Parameters of integers for a graph.
#[derive(Debug, Clone)]
pub(super) struct IntegerPlan {
    pub(super) parameters: integers::Parameters,
    pub(super) recording: Recording,
}

/// Rings up to this index have slots modulo the primes that are tried.
const SLOT_INDEX: u64 = 1 << 16;

impl IntegerPlan {
    /// The smallest parameters that carry all operations, modulo a prime that holds all results.
    ///
    /// # Errors
    /// Graphs that BGV does not evaluate, or that no parameters carry.
    pub(super) fn search(graph: &Graph, options: &Options) -> Result<Self> {
        let modulus = modulus_above(2.0 * largest(graph) + 1.0)?;
        let wanted = slots_of(graph);
        let mut slots = wanted;
        for _ in 0..MOST_ROUNDS {
            let recording = Recording::new::<i64>(graph, slots, Approximations::EXACT)?;
            let requirements = requirements(&recording, modulus, options.security);
            let parameters = requirements.choose::<Bgv>()?;
            if parameters.row_slots() == slots {
                return Ok(Self { parameters, recording });
            }
            // A vector is a row, whatever is in it.
            slots = parameters.row_slots();
        }
        Err(Error::parameter("slots", wanted, "arrays of fewer elements"))
    }
}

/// The limbs that ciphertexts have at each depth, in the parameters of a recorded graph.
pub(super) fn limbs_by_depth(parameters: &integers::Parameters, recording: &Recording) -> Vec<usize> {
    let security = parameters.rlwe().security();
    requirements(recording, parameters.modulus().value(), security).limbs_by_depth::<Bgv>(parameters)
}

/// What a recorded graph asks of parameters.
fn requirements(recording: &Recording, modulus: u64, security: Security) -> integers::Requirements {
    let terms = recording.terms as usize;
    integers::Requirements {
        depth: recording.usage.depth,
        plaintext_modulus: modulus,
        slots: 2 * recording.slots.min(1 << 14),
        terms,
        sum: terms,
        plain_products: 0,
        security,
    }
}

/// The largest magnitude of inputs, constants and outputs.
fn largest(graph: &Graph) -> f64 {
    let needed = graph.needed();
    let mut largest = 1.0_f64;
    for (at, node) in graph.nodes().iter().enumerate().filter(|(at, _)| needed[*at]) {
        let bounded = graph.outputs().contains(&at)
            || matches!(node.operation, Operation::Input { .. } | Operation::Constant { .. });
        if bounded {
            largest = largest.max(node.range.magnitude());
        }
        let factors: &[f64] = match &node.operation {
            Operation::MatMul { matrix, .. } => matrix,
            Operation::Polynomial(_, coefficients) => coefficients,
            _ => &[],
        };
        largest = factors.iter().fold(largest, |largest, factor| largest.max(factor.abs()));
    }
    largest
}

/// The smallest prime above a number, and from 65537 on, for which rings up to degree 2^15 have slots.
fn modulus_above(least: f64) -> Result<u64> {
    /// Moduli stay below this.
    const MOST: f64 = (1u64 << 45) as f64;
    if least >= MOST {
        return Err(Error::parameter(
            "results",
            format!("{least:e}"),
            format!("below {MOST:e}: narrow the ranges of inputs"),
        ));
    }
    let start = (least / SLOT_INDEX as f64) as u64;
    let candidates = (start.max(1)..).map(|k| k * SLOT_INDEX + 1).filter(|&t| t as f64 >= least);
    candidates
        .take(1 << 16)
        .find(|&t| prime_power(t) == Some((t, 1)))
        .ok_or_else(|| Error::parameter("results", least, "smaller numbers"))
}

#[cfg(test)]
mod tests {
    use noren_math::random::Seed;

    use super::*;
    use crate::compiler::options::Scheme;
    use crate::compiler::program::Program;
    use crate::graph::interval::Interval;
    use crate::graph::operation::{Binary, Element, Reduction};
    use crate::schemes::bgv;

    #[test]
    fn plaintext_moduli_are_primes_with_slots() {
        assert_eq!(modulus_above(3.0).expect("a modulus"), 65537);
        let t = modulus_above(1e6).expect("a modulus");
        assert!(t >= 1_000_000 && t % SLOT_INDEX == 1 && prime_power(t) == Some((t, 1)), "{t}");
        assert!(modulus_above(1e15).is_err());
    }

    #[test]
    fn sums_of_sums_are_counted_as_terms_of_one_another() {
        for shape in [vec![17, 5], vec![64]] {
            let mut graph = Graph::default();
            let (axes, count) = ((0..shape.len()).collect::<Vec<_>>(), shape.iter().product::<usize>() as f64);
            let range = Interval::new(-3.0, 3.0);
            let a = Operation::Input { name: "a".into(), shape, element: Element::Integer, range };
            let a = graph.push(a, "").expect("an input");
            let sum = graph.push(Operation::Reduce(Reduction::Sum, a, axes.clone()), "").expect("a sum");
            let difference = graph.push(Operation::Binary(Binary::Sub, a, sum), "").expect("a difference");
            let total = graph.push(Operation::Reduce(Reduction::Sum, difference, axes), "").expect("a sum");
            graph.finish(vec![total]).expect("an output");
            let options = Options { scheme: Some(Scheme::Bgv), security: Security::None, ..Options::default() };
            let plan = IntegerPlan::search(&graph, &options).expect("parameters");
            assert!(plan.recording.terms >= count * (count + 1.0), "{}", plan.recording.terms);

            let context = bgv::Context::new(plan.parameters.clone()).expect("rings");
            let program = Program::compile(graph, &options).expect("a program");
            let seed = |byte: u8| Seed::from_bytes([byte; 32]);
            let keys = context.generate_keys(seed(1), &program.bgv_keys().expect("a request")).expect("keys");
            let values = vec![(0..count as usize).map(|i| (i % 7) as f64 - 3.0).collect::<Vec<f64>>()];
            let encryptor = bgv::Encryptor::symmetric(&context, &keys.secret, seed(2)).expect("a key");
            let encrypted = program.encrypt_bgv(&context, &encryptor, &values).expect("inputs in their ranges");
            let ev = bgv::Evaluator::new(&context, keys.evaluation).expect("the same keys");
            let outputs = program.run_bgv(&ev, encrypted).expect("the noise budget does not end");
            let decryptor = bgv::Decryptor::new(&context, &keys.secret).expect("a key");
            let found = program.decrypt_bgv(&context, &decryptor, &outputs).expect("outputs");
            assert_eq!(found.values, program.graph().evaluate(&values).expect("values"));
        }
    }
}
