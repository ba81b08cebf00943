//! Functions of truth values on gates, and functions with light keys.

use std::sync::Arc;

use noren_math::random::Seed;
use noren_rlwe::torus::digits::Digits;
use noren_rlwe::torus::light::spec::LightSpec;

use crate::backends::backend::{Backend, Plan};
use crate::backends::options::Options;
use crate::backends::tests::{plan, run, toy};
use crate::backends::tfhe::Tfhe;
use crate::backends::tfhe::gates::of_truths;
use crate::backends::tfhe::plan::TfhePlan;
use crate::backends::tfhe::tests::{Choice, ELEMENTS};
use crate::cost::{Machine, Party};
use crate::graph::shape::size;
use crate::graph::{Binary, Element, Graph, Interval, Operation, Reduction, Unary};
use crate::schemes::tfhe::{Parameters, Preset};

/// A function of truth values, or of integers from 0 to 1, and inputs.
fn truths(choice: &mut Choice) -> (Graph, Vec<Vec<f64>>) {
    use Binary::*;
    let (mut graph, mut inputs) = (Graph::default(), Vec::new());
    for at in 0..4 {
        let (element, range) = (choice.of(&[Element::Bool, Element::Integer]), Interval::new(0.0, 1.0));
        let shape = if choice.below(4) == 0 { vec![] } else { vec![ELEMENTS] };
        inputs.push((0..size(&shape).expect("a size")).map(|_| choice.below(2) as f64).collect());
        graph.push(Operation::Input { name: format!("x{at}"), shape, element, range }, "").expect("an input");
    }
    let kinds = [And, Or, Xor, Minimum, Maximum, Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual];
    let numbers = [Add, Sub, Mul];
    for _ in 0..3 + choice.below(8) {
        let [a, b, c] = [(); 3].map(|()| choice.below(graph.nodes().len()));
        let index = graph.node(a).range;
        let operation = match choice.below(16) {
            0..6 => Operation::Binary(choice.of(&kinds), a, b),
            6 | 7 => Operation::Binary(choice.of(&numbers), a, b),
            8 => Operation::Binary(choice.of(&numbers), a, choice.constant(&mut graph, 2)),
            9 => Operation::Unary(choice.of(&[Unary::Not, Unary::Not, Unary::Neg, Unary::Abs]), a),
            10 | 11 => Operation::Select(a, b, c),
            12 => Operation::Reduce(choice.of(&[Reduction::Maximum, Reduction::Product]), a, vec![0]),
            13 if graph.node(a).shape.len() == 1 => {
                let positions = (0..ELEMENTS).map(|_| choice.below(ELEMENTS + 1) as i64 - 1).collect();
                Operation::Gather { of: a, shape: vec![ELEMENTS], positions }
            }
            _ if index.magnitude() < 9.0 => {
                let values = (0..=(index.high - index.low) as usize).map(|_| choice.below(2) as f64).collect();
                let element = choice.of(&[Element::Bool, Element::Integer]);
                Operation::Table { of: a, first: index.low as i64, values, element }
            }
            _ => Operation::Polynomial(a, vec![1.0, -1.0]),
        };
        let _ = graph.push(operation, "");
    }
    let last = graph.nodes().len() - 1;
    graph.finish(vec![last, choice.below(last + 1)]).expect("outputs");
    (graph, inputs)
}

/// The nodes that take a gate, or two.
fn gates(graph: &Graph) -> usize {
    let is_gate = |operation: &Operation| {
        matches!(operation, Operation::Binary(..) | Operation::Select(..) | Operation::Reduce(..))
    };
    graph.nodes().iter().zip(graph.needed()).filter(|(node, needed)| *needed && is_gate(&node.operation)).count()
}

#[test]
fn functions_of_truth_values_are_gates_and_no_more_of_them() {
    let (mut choice, mut done) = (Choice(3), 0);
    for _ in 0..10_000 {
        let (graph, inputs) = truths(&mut choice);
        let Some(made) = of_truths(&graph) else { continue };
        assert_eq!(made.evaluate(&inputs).expect("values"), graph.evaluate(&inputs).expect("values"), "{graph:?}");
        assert!(made.nodes().iter().all(|node| node.element == Element::Bool), "{made:?}");
        assert!(gates(&made) <= gates(&graph) + made.outputs().len(), "{made:?} of {graph:?}");
        if done % 400 == 0 {
            let plan = plan(&Arc::new(graph), &toy("tfhe"));
            assert!(plan.words().starts_with("set TOY_BOOL, bits"), "{}", plan.words());
            assert_eq!(run(&plan, &inputs).values, made.evaluate(&inputs).expect("values"), "{made:?}");
        }
        done += 1;
    }
    assert!(done > 2000, "{done} functions of truth values");
}

/// `values[x]`, or `values[2^bits x + y]`, of integers of some bits.
fn table(bits: i32, inputs: usize, values: &[f64]) -> Graph {
    let (mut graph, factor) = (Graph::default(), libm::exp2(f64::from(bits)));
    let input = |graph: &mut Graph, name: &str| {
        let (element, range) = (Element::Integer, Interval::new(0.0, factor - 1.0));
        graph.push(Operation::Input { name: name.into(), shape: vec![1], element, range }, "").expect("an input")
    };
    let x = input(&mut graph, "x");
    let index = if inputs == 1 {
        x
    } else {
        let y = input(&mut graph, "y");
        let factor = Operation::Constant { shape: vec![], element: Element::Integer, values: vec![factor] };
        let factor = graph.push(factor, "").expect("a constant");
        let high = graph.push(Operation::Binary(Binary::Mul, x, factor), "").expect("a product");
        graph.push(Operation::Binary(Binary::Add, high, y), "").expect("a sum")
    };
    let table = Operation::Table { of: index, first: 0, values: values.to_vec(), element: Element::Integer };
    let table = graph.push(table, "").expect("a table");
    graph.finish(vec![table]).expect("an output");
    graph
}

#[test]
fn a_table_of_two_bits_is_one_gate_and_one_of_a_bit_none() {
    for values in 1..15 {
        let values: Vec<f64> = (0..4).map(|at| f64::from(values >> at & 1)).collect();
        let degenerate = values[..2] == values[2..] || values[0] == values[1] && values[2] == values[3];
        let made = of_truths(&table(1, 2, &values)).expect("truth values");
        assert_eq!(gates(&made), usize::from(!degenerate), "{values:?}");
    }
    let constant = table(1, 2, &[1.0; 4]);
    assert!(of_truths(&constant).is_none(), "a constant is no ciphertext");
    let not = of_truths(&table(1, 1, &[1.0, 0.0])).expect("truth values");
    assert_eq!(gates(&not), 0);
    let large = Arc::new(table(2, 2, &[3.0; 16]));
    assert!(of_truths(&large).is_none());
    let graph = Arc::new(table(1, 2, &[0.0, 1.0, 1.0, 0.0]));
    for (x, y) in [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)] {
        let inputs = [vec![x], vec![y]];
        assert_eq!(run(&plan(&graph, &toy("tfhe")), &inputs).values, graph.evaluate(&inputs).expect("values"));
    }
    let party = Party { machine: Machine::reference(), threads: 1 };
    let plan = plan(&graph, &Options::on("tfhe"));
    // Files hold the parameters: those of digits are read as such.
    let digits = Preset::named("2_2").and_then(|set| set.parameters()).expect("a set");
    let old = TfhePlan::new(&graph, digits);
    let [gate, lookup] = [&*plan, &old as &dyn Plan].map(|plan| plan.price(&party, &party).expect("a price"));
    assert!(gate.server_seconds < lookup.server_seconds && 3 * gate.key_bytes < lookup.key_bytes, "{gate:?}");
    for (plan, words) in [(plan, "set BOOL_128, bits"), (Arc::new(old) as Arc<dyn Plan>, "set 2_2, 2 + 2 bits")] {
        let again = Tfhe.read(&graph, &plan.record()).expect("its own record");
        assert!(again.words().starts_with(words), "{}", again.words());
        assert_eq!(again.record(), plan.record());
        assert!(again.price(&party, &party).expect("a price").server_seconds > 0.0);
    }
    let bits = Tfhe.plans(&graph, &Options::default()).expect("plans")[0].record();
    let message = Tfhe.read(&large, &bits).expect_err("parameters of bits").to_string();
    assert!(message.contains("those of bits"), "{message}");
}

/// `x * y % 256 < x`, and whether truth values differ.
fn small_functions() -> [(Graph, Vec<Vec<f64>>); 2] {
    let input = |graph: &mut Graph, name: &str, element: Element, high: f64| {
        let range = Interval::new(0.0, high);
        graph.push(Operation::Input { name: name.into(), shape: vec![2], element, range }, "").expect("an input")
    };
    let mut numbers = Graph::default();
    let [x, y] = ["x", "y"].map(|name| input(&mut numbers, name, Element::Integer, 255.0));
    let modulus = Operation::Constant { shape: vec![], element: Element::Integer, values: vec![256.0] };
    let modulus = numbers.push(modulus, "").expect("a constant");
    let product = numbers.push(Operation::Binary(Binary::Mul, x, y), "").expect("products");
    let low = numbers.push(Operation::Binary(Binary::Remainder, product, modulus), "").expect("remainders");
    let less = numbers.push(Operation::Binary(Binary::Less, low, x), "").expect("comparisons");
    numbers.finish(vec![low, less]).expect("outputs");
    let mut truths = Graph::default();
    let [a, b] = ["a", "b"].map(|name| input(&mut truths, name, Element::Bool, 1.0));
    let differ = truths.push(Operation::Binary(Binary::NotEqual, a, b), "").expect("gates");
    let chosen = truths.push(Operation::Select(differ, a, b), "").expect("choices");
    truths.finish(vec![differ, chosen]).expect("outputs");
    [(numbers, vec![vec![200.0, 3.0], vec![77.0, 5.0]]), (truths, vec![vec![0.0, 1.0], vec![1.0, 1.0]])]
}

#[test]
fn light_keys_run_functions() {
    for (graph, inputs) in small_functions() {
        let usual = plan(&Arc::new(graph.clone()), &toy("tfhe"));
        let mut spec = usual.parameters().downcast_ref::<Parameters>().expect("TFHE").spec().clone();
        (spec.torus.log_base, spec.torus.levels) = (8, 3);
        spec.torus.light = Some(LightSpec { log_count: 4, trace: Digits::new(5, 9), square: Digits::new(10, 5) });
        let made = of_truths(&graph).unwrap_or_else(|| graph.clone());
        let light = TfhePlan::new(&Arc::new(made), spec.build().expect("parameters"));
        let light = Tfhe.read(&Arc::new(graph.clone()), &light.record()).expect("its own record");
        assert!(light.words().contains("light keys"), "{}", light.words());
        assert_eq!(run(&light, &inputs).values, graph.evaluate(&inputs).expect("values"));
    }
}

#[test]
#[ignore = "sets of 128 bits"]
fn all_plans_of_128_bits_run_and_light_keys_are_small() {
    let party = Party { machine: Machine::reference(), threads: 1 };
    for (graph, inputs) in small_functions() {
        let graph = Arc::new(graph);
        let plans = Tfhe.plans(&graph, &Options::default()).expect("plans");
        let prices: Vec<_> = plans.iter().map(|plan| plan.price(&party, &party).expect("a price")).collect();
        let (first, last) = (&prices[0], &prices[prices.len() - 1]);
        assert!(6 * last.key_bytes < first.key_bytes && last.server_seconds > first.server_seconds, "{prices:?}");
        for (plan, price) in plans.iter().zip(&prices) {
            assert_eq!(run(plan, &inputs).values, graph.evaluate(&inputs).expect("values"), "{}", plan.words());
            let seed = Seed::from_bytes([1; 32]);
            let secret = plan.make_secret(&seed).expect("a secret key");
            let bytes = plan.make_server_keys(&secret, &seed).expect("keys").to_bytes().len() as f64;
            assert!((bytes / price.key_bytes as f64 - 1.0).abs() < 0.1, "{bytes} bytes, {price:?}");
        }
    }
}
