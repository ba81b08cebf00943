//! Functions that are looked up: against the graph in the clear.

use std::sync::Arc;
use std::time::Instant;

use noren_math::kernels::is_fastest;
use noren_rlwe::error::Result;
use noren_rlwe::security::Security;

use crate::backends::backend::Plan;
use crate::backends::options::Options;
use crate::backends::table::Backends;
use crate::backends::tests::{run, toy};
use crate::cost::{Machine, Party};
use crate::graph::{Binary, Element, Graph, Interval, Operation, Reduction, Unary};

fn input(graph: &mut Graph, name: &str, shape: &[usize], [low, high]: [f64; 2]) -> usize {
    let (shape, range) = (shape.to_vec(), Interval::new(low, high));
    push(graph, Operation::Input { name: name.into(), shape, element: Element::Integer, range })
}

fn constant(graph: &mut Graph, values: &[f64]) -> usize {
    let (shape, values) = (vec![values.len()], values.to_vec());
    push(graph, Operation::Constant { shape, element: Element::Integer, values })
}

fn push(graph: &mut Graph, operation: Operation) -> usize {
    graph.push(operation, "f.py:3").expect("an operation")
}

fn planned(mut graph: Graph, outputs: &[usize], options: &Options) -> (Arc<Graph>, Result<Arc<dyn Plan>>) {
    graph.finish(outputs.to_vec()).expect("outputs");
    let graph = Arc::new(graph);
    let plan = Backends::ALL.plans_of(Backends::ALL.named("bfv-lookups").expect("a backend"), &graph, options);
    (graph, plan.map(|mut plans| plans.swap_remove(0)))
}

/// The refusal of a graph with this output.
fn refusal(graph: Graph, output: usize) -> String {
    planned(graph, &[output], &toy("bfv-lookups")).1.expect_err("a refusal").to_string()
}

/// Runs a graph on the inputs, and compares with the graph in the clear; how many ciphertexts go there, and how many come back.
fn check(graph: Graph, outputs: &[usize], inputs: &[Vec<f64>]) -> [usize; 2] {
    let (graph, plan) = planned(graph, outputs, &toy("bfv-lookups"));
    let plan = plan.expect("a plan");
    assert_eq!(run(&plan, inputs).values, graph.evaluate(inputs).expect("values"));
    let outline = plan.outline(None).expect("an outline");
    [outline.ciphertexts, outline.steps.iter().map(|step| step.ciphertexts).sum()]
}

#[test]
fn functions_of_two_numbers_are_composed_and_looked_up() {
    let mut graph = Graph::default();
    let x = input(&mut graph, "x", &[2, 3], [-9.0, 11.0]);
    let y = input(&mut graph, "y", &[3], [1.0, 7.0]);
    let quotient = push(&mut graph, Operation::Binary(Binary::FloorDivide, x, y));
    let remainder = push(&mut graph, Operation::Binary(Binary::Remainder, x, y));
    let product = push(&mut graph, Operation::Binary(Binary::Mul, quotient, remainder));
    let less = push(&mut graph, Operation::Binary(Binary::Less, x, y));
    let absolute = push(&mut graph, Operation::Unary(Unary::Abs, x));
    let chosen = push(&mut graph, Operation::Select(less, product, absolute));
    let xor = push(&mut graph, Operation::Binary(Binary::Xor, x, y));
    let sum = push(&mut graph, Operation::Binary(Binary::Add, chosen, xor));
    let inputs = [vec![-9.0, -1.0, 0.0, 11.0, 5.0, -4.0], vec![1.0, 7.0, 3.0]];
    // The quotient, the comparison, and the sum, each of the same two arguments.
    assert_eq!(check(graph, &[quotient, less, sum], &inputs), [2, 3]);
}

#[test]
fn tables_and_polynomials_of_one_number_and_sums_of_many() {
    let mut graph = Graph::default();
    let x = input(&mut graph, "x", &[3, 2], [0.0, 20.0]);
    let y = input(&mut graph, "y", &[3, 2], [-3.0, 4.0]);
    let values = (0..21).map(|x| f64::from(x * 7 % 13 - 6)).collect();
    let table = push(&mut graph, Operation::Table { of: x, first: 0, values, element: Element::Integer });
    let cubic = push(&mut graph, Operation::Polynomial(y, vec![5.0, -1.0, 0.0, 2.0]));
    let total = push(&mut graph, Operation::Binary(Binary::Add, table, cubic));
    let sums = push(&mut graph, Operation::Reduce(Reduction::Sum, total, vec![1]));
    let linear = push(&mut graph, Operation::MatMul { of: x, columns: 2, matrix: vec![1.0, -30.0, 40.0, 2.0] });
    let factors = constant(&mut graph, &[3.0, -5.0]);
    let scaled = push(&mut graph, Operation::Binary(Binary::Mul, table, factors));
    let inputs = [vec![0.0, 20.0, 7.0, 1.0, 13.0, 19.0], vec![-3.0, 4.0, 0.0, 1.0, -2.0, 3.0]];
    check(graph, &[sums, linear, scaled, total], &inputs);
}

#[test]
fn elements_are_moved_by_the_client_and_constants_are_its_own() {
    if !is_fastest() {
        return;
    }
    let mut graph = Graph::default();
    let x = input(&mut graph, "x", &[300], [0.0, 255.0]);
    let y = input(&mut graph, "y", &[], [0.0, 255.0]);
    let positions: Vec<i64> = (0..300).map(|at| if at % 7 == 0 { -1 } else { 299 - at }).collect();
    let moved = push(&mut graph, Operation::Gather { of: x, shape: vec![300], positions });
    let least = push(&mut graph, Operation::Binary(Binary::Minimum, moved, y));
    let first = push(&mut graph, Operation::Gather { of: least, shape: vec![2], positions: vec![0, 1] });
    let inputs = [(0..300).map(|at| f64::from(at * 37 % 256)).collect(), vec![100.0]];
    // Two numbers of 8 bits in 512 slots: 129 ciphertexts for 257 elements of x, and two of y, since the last has one number. The
    // other elements are one function of y. Both outputs show one of its ciphertexts and this one.
    assert_eq!(check(graph, &[least, first], &inputs), [129 + 2, 129 + 1 + 2]);
}

#[test]
fn constants_have_a_ciphertext_where_nothing_else_has() {
    let mut graph = Graph::default();
    let x = input(&mut graph, "x", &[3], [-2.0, 5.0]);
    let zero = push(&mut graph, Operation::Binary(Binary::Sub, x, x));
    let numbers = constant(&mut graph, &[7.0, 0.0, -4.0]);
    let sum = push(&mut graph, Operation::Binary(Binary::Add, zero, numbers));
    assert_eq!(check(graph, &[sum, zero], &[vec![5.0, -2.0, 0.0]])[0], 1);
}

#[test]
fn what_is_no_function_of_two_numbers_is_refused() {
    let mut graph = Graph::default();
    let [x, y, z] = ["x", "y", "z"].map(|name| input(&mut graph, name, &[4], [0.0, 40.0]));
    let product = push(&mut graph, Operation::Binary(Binary::Mul, x, y));
    let maximum = push(&mut graph, Operation::Binary(Binary::Maximum, product, z));
    let message = refusal(graph.clone(), maximum);
    let expected = "f.py:3: bfv-lookups does not evaluate maximum: a function of at most two encrypted numbers";
    assert!(message.contains(expected) && message.contains("scheme=\"tfhe\""), "{message}");
    let all = push(&mut graph, Operation::Reduce(Reduction::Sum, x, vec![0]));
    let square = push(&mut graph, Operation::Polynomial(all, vec![0.0, 0.0, 1.0]));
    assert!(refusal(graph.clone(), square).contains("this one depends on 4"));
    let wide = input(&mut graph, "w", &[1], [0.0, 32768.0]);
    let square = push(&mut graph, Operation::Binary(Binary::Equal, wide, x));
    assert!(refusal(graph.clone(), square).contains("integers of at most 32768 values"));
    let [a, b] = ["a", "b"].map(|name| input(&mut graph, name, &[1], [0.0, 300.0]));
    let product = push(&mut graph, Operation::Binary(Binary::Mul, a, b));
    assert!(refusal(graph, product).contains("results in a range of at most 65537 values"));
}

#[test]
fn sums_whose_noise_is_too_large_are_refused_at_128_bits() {
    let options = Options { security: Security::Bits128, ..toy("bfv-lookups") };
    let sum = |count: usize| {
        let mut graph = Graph::default();
        let [x, y] = ["x", "y"].map(|name| input(&mut graph, name, &[count], [0.0, 32767.0]));
        let equal = push(&mut graph, Operation::Binary(Binary::Equal, x, y));
        let all = push(&mut graph, Operation::Reduce(Reduction::Sum, equal, vec![0]));
        planned(graph, &[all], &options).1
    };
    assert!(sum(8).is_ok());
    let message = sum(1000).expect_err("noise").to_string();
    assert!(message.contains("sums of at most") && message.contains("not 1000"), "{message}");
}

#[test]
fn the_price_has_the_lookups_of_all_ciphertexts() {
    let party = Party { machine: Machine::reference(), threads: 1 };
    let price = |elements: usize| {
        let mut graph = Graph::default();
        let [x, y] = ["x", "y"].map(|name| input(&mut graph, name, &[elements], [0.0, 255.0]));
        let quotient = push(&mut graph, Operation::Binary(Binary::Equal, x, y));
        let options = Options::on("bfv-lookups");
        planned(graph, &[quotient], &options).1.and_then(|plan| plan.price(&party, &party)).expect("a price")
    };
    // 128 pairs of 8 bits share two ciphertexts.
    let [one, full, more] = [1, 128, 129].map(price);
    assert_eq!((one.server_seconds, one.input_bytes), (full.server_seconds, full.input_bytes));
    assert!((more.server_seconds / full.server_seconds - 2.0).abs() < 1e-9);
    assert!(more.input_bytes.abs_diff(2 * full.input_bytes) <= 1, "bytes are rounded down");
    assert!(one.key_bytes > 0 && one.prepare_seconds > 0.0);
}

#[test]
#[ignore = "128-bit parameters: about a minute and 6 GB"]
fn arrays_of_12_bits_and_a_number_of_15_bits_are_looked_up_at_128_bits() {
    let options = Options::on("bfv-lookups");
    for (bits, count) in [(12, 13), (15, 1)] {
        let mut graph = Graph::default();
        let high = f64::from((1 << bits) - 1);
        let x = input(&mut graph, "x", &[count], [0.0, high]);
        let y = input(&mut graph, "y", &[count], [1.0, high]);
        let quotient = push(&mut graph, Operation::Binary(Binary::FloorDivide, x, y));
        let remainder = push(&mut graph, Operation::Binary(Binary::Remainder, x, y));
        let larger = push(&mut graph, Operation::Binary(Binary::Maximum, quotient, remainder));
        let sums = push(&mut graph, Operation::Binary(Binary::Add, larger, x));
        let (graph, plan) = planned(graph, &[sums], &options);
        let number = |at: usize| (at * 2_654_435_761 % high as usize) as f64;
        let inputs = [0, 7].map(|of| (0..count).map(|at| 1.0 + number(5 + of + 31 * at)).collect::<Vec<_>>());
        let start = Instant::now();
        let found = run(&plan.expect("a plan"), &inputs).values;
        assert_eq!(found, graph.evaluate(&inputs).expect("values"));
        println!("{count} pairs of {bits} bits, keys and preparation included: {:.1} s", start.elapsed().as_secs_f64());
    }
}
