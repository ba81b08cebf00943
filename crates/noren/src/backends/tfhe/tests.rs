//! Random functions: their types by integers in the clear, and runs of them.

use std::sync::Arc;

use noren_math::kernels::is_fastest;
use noren_math::random::Seed;

use crate::backends::backend::{Plan, Running};
use crate::backends::tests::{all, plan, run, toy};
use crate::backends::tfhe::bootstraps::Count;
use crate::backends::tfhe::columns::{check, is_constant};
use crate::backends::tfhe::plan::{TfhePlan, TfheServer, evaluated};
use crate::backends::tfhe::tables::Index;
use crate::backends::tfhe::widths::{Form, Types, form};
use crate::graph::shape::{broadcast_positions, indices, position_of, size, without};
use crate::graph::{Binary, Element, Graph, Interval, Operation, Reduction, Unary};
use crate::schemes::tfhe::Preset;

/// The elements of inputs.
pub(super) const ELEMENTS: usize = 3;

/// Numbers below limits, in an order that looks random.
pub(super) struct Choice(pub(super) u64);

impl Choice {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    pub(super) fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// An integer of a random number of bits, up to `most`.
    fn number(&mut self, most: usize) -> f64 {
        let bits = self.below(most + 1) as f64;
        ((self.below(1 << 30) as f64 / libm::exp2(30.0)) * libm::exp2(bits)).floor()
    }

    /// A function of inputs of up to `bits` bits, and inputs in their ranges.
    fn function(&mut self, bits: usize, operations: usize) -> (Graph, Vec<Vec<f64>>) {
        let (mut graph, mut inputs) = (Graph::default(), Vec::new());
        for at in 0..3 {
            let low = if self.below(3) == 0 { -self.number(bits) } else { 0.0 };
            let range = Interval::new(low, self.number(bits));
            let input =
                Operation::Input { name: format!("x{at}"), shape: vec![ELEMENTS], element: Element::Integer, range };
            graph.push(input, "").expect("an input");
            let value = |choice: &mut Self| match choice.below(4) {
                0 => range.low,
                1 => range.high,
                _ => range.low + choice.below(1 << 30) as f64 % (range.high - range.low + 1.0),
            };
            inputs.push((0..ELEMENTS).map(|_| value(self)).collect());
        }
        for _ in 0..operations {
            // Mostly of what is new.
            let near = |choice: &mut Self, graph: &Graph| {
                let count = graph.nodes().len();
                count - 1 - choice.below(count).min(choice.below(count))
            };
            let (a, b, c) = (near(self, &graph), near(self, &graph), near(self, &graph));
            let operation = self.operation(&mut graph, [a, b, c]);
            if graph.node(a).shape.len() == 1 || matches!(operation, Operation::Binary(..) | Operation::Unary(..)) {
                // Operations that are not defined for the shapes are left out.
                let _ = graph.push(operation, "");
            }
        }
        let last = graph.nodes().len() - 1;
        let is_output = |at: &usize| !matches!(graph.node(*at).operation, Operation::Constant { .. });
        let outputs: Vec<usize> = [last, self.below(last + 1)].into_iter().filter(is_output).collect();
        graph.finish(if outputs.is_empty() { vec![0] } else { outputs }).expect("outputs");
        (graph, inputs)
    }

    pub(super) fn constant(&mut self, graph: &mut Graph, bits: usize) -> usize {
        let one = self.below(3) > 0;
        let (shape, count) = if one { (vec![], 1) } else { (vec![ELEMENTS], ELEMENTS) };
        let value = |choice: &mut Self| choice.number(bits) * choice.of(&[1.0, 1.0, 1.0, -1.0]);
        let values = (0..count).map(|_| value(self)).collect();
        graph.push(Operation::Constant { shape, element: Element::Integer, values }, "").expect("a constant")
    }

    fn operation(&mut self, graph: &mut Graph, [a, b, c]: [usize; 3]) -> Operation {
        use Binary::*;
        let ring = [Add, Sub, Mul, Mul, And, Or, Xor];
        let whole = [FloorDivide, Remainder, Minimum, Maximum, Less, LessEqual, Greater, Equal, NotEqual];
        match self.below(21) {
            20 => {
                let factor = self.constant(graph, 3);
                let high = graph.push(Operation::Binary(Mul, a, factor), "");
                let index = high.and_then(|high| graph.push(Operation::Binary(self.of(&[Add, Sub]), high, b), ""));
                self.table(graph, index.unwrap_or(a))
            }
            0..5 => Operation::Binary(self.of(&ring), a, b),
            5 => Operation::Binary(self.of(&ring), a, self.constant(graph, 12)),
            6 => Operation::Binary(self.of(&ring), self.constant(graph, 12), a),
            7 | 8 => {
                let power = libm::exp2(self.below(20) as f64);
                let values = vec![power];
                let power = Operation::Constant { shape: vec![], element: Element::Integer, values };
                let power = graph.push(power, "").expect("a constant");
                Operation::Binary(self.of(&[Remainder, Remainder, FloorDivide]), a, power)
            }
            9 | 10 => Operation::Binary(self.of(&[ShiftLeft, ShiftRight, And]), a, self.constant(graph, 4)),
            11 => Operation::Binary(self.of(&whole), a, b),
            12 => Operation::Binary(self.of(&whole), a, self.constant(graph, 10)),
            13 => Operation::Binary(self.of(&[ShiftLeft, ShiftRight]), a, b),
            14 => Operation::Unary(self.of(&[Unary::Neg, Unary::Abs, Unary::Sign, Unary::Not]), a),
            15 => Operation::Select(a, b, c),
            16 => {
                let positions = (0..ELEMENTS).map(|_| self.below(ELEMENTS + 1) as i64 - 1).collect();
                Operation::Gather { of: a, shape: vec![ELEMENTS], positions }
            }
            17 => {
                let kinds = [Reduction::Sum, Reduction::Product, Reduction::Maximum, Reduction::Minimum];
                Operation::Reduce(self.of(&kinds), a, vec![0])
            }
            18 => {
                let matrix = (0..ELEMENTS * ELEMENTS).map(|_| self.number(9) - 40.0).collect();
                Operation::MatMul { of: a, columns: ELEMENTS, matrix }
            }
            19 if self.below(2) == 0 => Operation::Sort(a, 0),
            19 => Operation::ArgMax(a, 0),
            _ => self.table(graph, a),
        }
    }

    /// A table of a node, or of large ones a polynomial.
    fn table(&mut self, graph: &Graph, of: usize) -> Operation {
        let range = graph.node(of).range;
        if range.magnitude() < 128.0 {
            let values = (0..=(range.high - range.low) as usize).map(|_| self.number(12) - 100.0).collect();
            return Operation::Table { of, first: range.low as i64, values, element: Element::Integer };
        }
        Operation::Polynomial(of, (0..4).map(|_| self.number(6) - 9.0).collect())
    }
}

/// The outputs in the types that nodes have, modulo 2^bits, in the clear.
fn typed(graph: &Graph, inputs: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let (types, positions) = (Types::new(graph), graph.inputs());
    let mut results: Vec<Vec<i128>> = Vec::new();
    for (at, node) in graph.nodes().iter().enumerate() {
        let wide = types.operands(at);
        let own = |of: usize| -> Vec<i128> {
            let constant = matches!(graph.node(of).operation, Operation::Constant { .. });
            let enough = constant || types.is_whole(of) || wide.bits() <= types.result(of).bits();
            assert!(enough, "{at} takes more bits of {of} than it has in {graph:?}");
            results[of].iter().map(|&x| wide.wrapped(x)).collect()
        };
        let spread = |of: usize| -> Vec<i128> {
            let own = own(of);
            broadcast_positions(&graph.node(of).shape, &node.shape).into_iter().map(|from| own[from]).collect()
        };
        let of_wide = |kind: Binary, x: i128, y: i128| match kind {
            Binary::Add => x + y,
            Binary::Sub => x - y,
            Binary::Mul => x.wrapping_mul(y),
            Binary::And => x & y,
            Binary::Or => x | y,
            Binary::Xor => x ^ y,
            Binary::ShiftLeft => x << y,
            _ => kind.of(x as f64, y as f64) as i128,
        };
        let folded = |kind: Binary, terms: Vec<i128>| {
            terms.into_iter().reduce(|x, y| wide.wrapped(of_wide(kind, x, y))).expect("terms")
        };
        let input = positions.iter().position(|&position| position == at);
        let found: Vec<i128> = match &node.operation {
            _ if !types.is_used(at) => Vec::new(),
            Operation::Input { .. } => inputs[input.expect("an input")].iter().map(|&x| x as i128).collect(),
            Operation::Constant { values, .. } => values.iter().map(|&x| x as i128).collect(),
            Operation::Gather { of, positions, .. } => {
                positions.iter().map(|&at| usize::try_from(at).map_or(0, |at| results[*of][at])).collect()
            }
            // Exact, for 64 bits too.
            Operation::Unary(Unary::Neg, of) => spread(*of).into_iter().map(|x| -x).collect(),
            Operation::Unary(kind, of) => spread(*of).into_iter().map(|x| kind.of(x as f64) as i128).collect(),
            Operation::Binary(kind, a, b) => match form(graph, at) {
                Form::Mask { of, mask } => spread(of).into_iter().map(|x| x & i128::from(mask)).collect(),
                Form::Right { of, by } => spread(of).into_iter().map(|x| x >> by).collect(),
                Form::Against { .. } => {
                    let definition = |of: usize| {
                        let positions = broadcast_positions(&graph.node(of).shape, &node.shape);
                        positions.into_iter().map(|from| results[of][from] as f64).collect::<Vec<_>>()
                    };
                    definition(*a).into_iter().zip(definition(*b)).map(|(x, y)| kind.of(x, y) as i128).collect()
                }
                _ => spread(*a).into_iter().zip(spread(*b)).map(|(x, y)| of_wide(*kind, x, y)).collect(),
            },
            Operation::Select(condition, a, b) => {
                let truths: Vec<i128> = {
                    let positions = broadcast_positions(&graph.node(*condition).shape, &node.shape);
                    positions.into_iter().map(|from| results[*condition][from]).collect()
                };
                let pairs = spread(*a).into_iter().zip(spread(*b));
                truths.into_iter().zip(pairs).map(|(c, (x, y))| if c == 1 { x } else { y }).collect()
            }
            Operation::MatMul { of, columns, matrix } => {
                let x = own(*of);
                let term = |c: usize, k: usize| x[c] * matrix[c * columns + k] as i128;
                (0..*columns).map(|k| (0..x.len()).map(|c| term(c, k)).sum()).collect()
            }
            Operation::Reduce(kind, of, axes) => {
                let mut terms: Vec<Vec<i128>> = vec![Vec::new(); size(&node.shape).expect("a size")];
                for (index, x) in indices(&graph.node(*of).shape).zip(own(*of)) {
                    terms[position_of(&without(&index, axes), &node.shape)].push(x);
                }
                terms.into_iter().map(|terms| folded(kind.binary(), terms)).collect()
            }
            Operation::Polynomial(of, coefficients) => {
                let value = |x: i128| {
                    coefficients.iter().rev().fold(0, |sum, &c| wide.wrapped(sum).wrapping_mul(x) + c as i128)
                };
                own(*of).into_iter().map(value).collect()
            }
            Operation::Table { first, values, .. } => {
                let index = Index::of(graph, at).expect("a table");
                let part = |of: usize| {
                    let positions = broadcast_positions(&graph.node(of).shape, &node.shape);
                    positions.into_iter().map(|from| results[of][from]).collect::<Vec<_>>()
                };
                let parts: Vec<Vec<i128>> = index.terms.iter().map(|&(of, _)| part(of)).collect();
                let x = |k: usize| index.at(&parts.iter().map(|part| part[k]).collect::<Vec<_>>());
                (0..parts[0].len()).map(|k| values[(x(k) - i128::from(*first)) as usize] as i128).collect()
            }
            Operation::Sort(of, _) => {
                let mut x = own(*of);
                x.sort_unstable();
                x
            }
            Operation::ArgMax(of, _) => {
                let x = own(*of);
                let largest = x.iter().max().expect("an element");
                vec![x.iter().position(|value| value == largest).expect("its place") as i128]
            }
            other => panic!("{}", other.name()),
        };
        results.push(found.into_iter().map(|x| types.result(at).wrapped(x)).collect());
    }
    let output = |&at: &usize| results[at].iter().map(|&x| x as f64).collect();
    graph.outputs().iter().map(output).collect()
}

#[test]
fn no_bit_that_an_output_depends_on_is_left_out() {
    let (mut choice, mut narrowed) = (Choice(1), 0);
    for _ in 0..20_000 {
        let operations = 2 + choice.below(9);
        let (graph, inputs) = choice.function(20, operations);
        if check(&graph).is_err() || graph.first_wide().is_some() {
            continue;
        }
        assert_eq!(typed(&graph, &inputs), graph.evaluate(&inputs).expect("values"), "{graph:?} {inputs:?}");
        let types = Types::new(&graph);
        narrowed += usize::from((0..graph.nodes().len()).any(|at| types.is_used(at) && !types.is_whole(at)));
    }
    assert!(narrowed > 2000, "{narrowed} functions with types that do not hold the ranges");
}

/// Compares a run with the definition of the function, and its bootstraps with those that were counted before.
pub(super) fn check_run(graph: Graph, inputs: &[Vec<f64>]) {
    let graph = Arc::new(graph);
    let (evaluated, of_bits) = evaluated(&graph).expect("columns have it");
    let set = Preset::named(if of_bits { "TOY_BOOL" } else { "TOY_2_2" }).expect("a set");
    let plan = Arc::new(TfhePlan::new(&evaluated, set.parameters().expect("parameters")));
    let seed = Seed::from_bytes([1; 32]);
    let secret = plan.make_secret(&seed).expect("a secret key");
    let keys = plan.make_server_keys(&secret, &seed).expect("keys");
    let request = plan.encrypt(&secret, &all(inputs), seed).expect("ciphertexts");
    let server = TfheServer::new(Arc::clone(&plan), &keys).expect("a server");
    let reply = server.run(&request).expect("results");
    let found = plan.decrypt(&secret, &reply).expect("values");
    assert_eq!(found.values, graph.evaluate(inputs).expect("values"), "{graph:?} {inputs:?}");
    let counts = plan.counts().expect("counts");
    let (counted, made) = (counts.iter().map(Count::all).sum::<usize>() as u64, server.ev.digits().bootstraps());
    // Circuit bootstraps leave less noise than counts.
    let is_exact = counts.iter().all(|count| count.circuit_bootstraps == 0);
    assert!(if is_exact { made == counted } else { made <= counted }, "{made} of {counted}: {counts:?} {graph:?}");
}

#[test]
fn random_functions_run_as_their_definition() {
    if !is_fastest() {
        return;
    }
    let mut choice = Choice(2);
    let mut done = 0;
    while done < 24 {
        let operations = 2 + choice.below(4);
        let (graph, inputs) = choice.function(10, operations);
        let types = Types::new(&graph);
        let count = graph.nodes().len();
        let slow = |at: usize| types.is_used(at) && types.operands(at).bits() > Some(16);
        let is_narrow = (0..count).any(|at| types.is_used(at) && !types.is_whole(at));
        // Nodes that the simplifier leaves out: numbers from numbers.
        let is_known = |at: usize| {
            let operands = graph.node(at).operation.operands();
            types.is_used(at) && !operands.is_empty() && operands.into_iter().all(|of| is_constant(&graph, of))
        };
        if check(&graph).is_err() || (0..count).any(is_known) || (0..count).any(slow) || !is_narrow {
            continue;
        }
        check_run(graph, &inputs);
        done += 1;
    }
}

#[test]
fn tables_of_two_integers_are_looked_up_of_both() {
    // Digits of two bits: one bootstrap reads both numbers, or a circuit bootstrap each digit of them.
    for (bits, bootstraps) in [(2, 1), (8, 8)] {
        let (mut graph, most) = (Graph::default(), f64::from((1 << bits) - 1));
        let mut input = |name: &str| {
            let range = Interval::new(0.0, most);
            let input = Operation::Input { name: name.into(), shape: vec![2], element: Element::Integer, range };
            graph.push(input, "").expect("an input")
        };
        let (x, y) = (input("x"), input("y"));
        let mut push = |operation| graph.push(operation, "").expect("an operation");
        let values = vec![most + 1.0];
        let factor = push(Operation::Constant { shape: vec![], element: Element::Integer, values });
        let high = push(Operation::Binary(Binary::Mul, x, factor));
        let index = push(Operation::Binary(Binary::Add, high, y));
        let values = (0..1 << (2 * bits)).map(|k| f64::from((7 * k + (k >> bits)) % (1 << bits))).collect();
        let table = push(Operation::Table { of: index, first: 0, values, element: Element::Integer });
        graph.finish(vec![table]).expect("an output");
        let (graph, inputs) = (Arc::new(graph), [vec![1.0, most], vec![most - 1.0, 2.0]]);
        let plan = plan(&graph, &toy("tfhe"));
        let steps = plan.outline(None).expect("an outline").steps;
        assert_eq!(steps.iter().map(|step| step.bootstraps).sum::<usize>(), 2 * bootstraps, "{steps:?}");
        assert_eq!(run(&plan, &inputs).values, graph.evaluate(&inputs).expect("values"), "{bits} bits");
    }
}

#[test]
fn sums_of_many_terms_take_the_bootstraps_that_are_counted() {
    if !is_fastest() {
        return;
    }
    // Truth values and digits, whose sums are wider; one row and two.
    for (most, shape, terms) in [(1.0, vec![1100], 1100), (3.0, vec![2, 40], 40), (1.0, vec![30, 3], 3)] {
        let mut graph = Graph::default();
        let (name, range, count) = ("x".into(), Interval::new(0.0, most), size(&shape).expect("a size"));
        let (axes, element) = (vec![shape.len() - 1], Element::Integer);
        let x = graph.push(Operation::Input { name, shape, element, range }, "").expect("an input");
        let sum = graph.push(Operation::Reduce(Reduction::Sum, x, axes), "").expect("a sum");
        graph.finish(vec![sum]).expect("an output");
        check_run(graph, &[(0..count).map(|k| (k % terms) as f64 % (most + 1.0)).collect()]);
    }
}

#[test]
fn products_with_many_numbers_take_the_bootstraps_that_are_counted() {
    if !is_fastest() {
        return;
    }
    // Sums of several groups of terms, with other bounds in each.
    let (mut graph, rows) = (Graph::default(), 900);
    let (name, range, element) = ("x".into(), Interval::new(0.0, 1.0), Element::Integer);
    let x = graph.push(Operation::Input { name, shape: vec![rows], element, range }, "").expect("an input");
    let matrix = (0..rows).map(|k| if k < rows / 2 { 1.0 } else { (k % 4) as f64 }).collect();
    let sum = graph.push(Operation::MatMul { of: x, columns: 1, matrix }, "").expect("a product");
    graph.finish(vec![sum]).expect("an output");
    check_run(graph, &[(0..rows).map(|k| (k % 2) as f64).collect()]);
}
