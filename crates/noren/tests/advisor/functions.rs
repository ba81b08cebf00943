//! Workloads as functions: their graphs compute what they say, and what is advised compiles and keeps its promise.

use noren::Seed;
use noren::advisor::{Computation, Scheme, Values, Workload};
use noren::compiler::{Client, Server};

use crate::{advice, integer, real};

/// Numbers of one instance after another, and the results that are expected of each instance.
fn check(workload: &Workload, numbers: impl Fn(usize) -> f64, expected: impl Fn(&[Vec<f64>]) -> Vec<f64>) {
    let workload = Workload { instances: 3, ..workload.clone() };
    let graph = workload.graph().expect("a graph");
    let widths: Vec<usize> = graph.inputs().iter().map(|&at| graph.node(at).shape[1]).collect();
    let mut next = 0..;
    let mut draw = |width: usize| -> Vec<f64> { next.by_ref().take(width).map(&numbers).collect() };
    let rows: Vec<Vec<Vec<f64>>> =
        (0..workload.instances).map(|_| widths.iter().map(|&width| draw(width)).collect()).collect();
    let inputs: Vec<Vec<f64>> =
        (0..widths.len()).map(|input| rows.iter().flat_map(|row| row[input].clone()).collect()).collect();
    let found = graph.evaluate(&inputs).expect("values").concat();
    let expected: Vec<f64> = rows.iter().flat_map(|row| expected(row)).collect();
    assert_eq!(found.len(), expected.len(), "{workload:?}");
    for (a, b) in found.iter().zip(&expected) {
        assert!((a - b).abs() < 1e-12, "{workload:?}: {a} for {b}");
    }
}

#[test]
fn graphs_compute_what_workloads_say() {
    let unit = |k: usize| (k as f64 * 0.37).sin();
    let all = |row: &[Vec<f64>]| row.concat();
    check(&real(Computation::Sum { count: 5 }, 10.0), unit, |row| vec![all(row).iter().sum()]);
    check(&real(Computation::Product { count: 5 }, 10.0), unit, |row| vec![all(row).iter().product()]);
    check(&real(Computation::InnerProduct { length: 7 }, 10.0), unit, |row| {
        vec![row[0].iter().zip(&row[1]).map(|(x, y)| x * y).sum()]
    });
    check(&real(Computation::Squarings { depth: 3 }, 10.0), unit, |row| vec![row[0][0].powi(8)]);
    check(&real(Computation::Polynomial { degree: 3 }, 10.0), unit, |row| {
        vec![(0..4).map(|k| row[0][0].powi(k) / 4.0).sum()]
    });
    check(&real(Computation::Matrix { rows: 2, columns: 3 }, 10.0), unit, |row| {
        vec![row[0].iter().sum::<f64>() / 3.0; 2]
    });
    let byte = |k: usize| (k * 77 % 256) as f64;
    let modulo = |x: f64, modulus: f64| x - modulus * (x / modulus).floor();
    for count in [1, 2, 3, 7, 8] {
        let product = |row: &[Vec<f64>]| vec![row[0].iter().fold(1.0, |all, x| modulo(all * x, 256.0))];
        check(&integer(Computation::Product { count }, 8, 8), byte, product);
    }
    let residues = Workload { modulus: Some(65537), ..integer(Computation::Squarings { depth: 3 }, 8, 8) };
    let residues = Workload { values: Values::Integer { bits: 17, result_bits: None }, ..residues };
    let squared = |x: f64| (0..3).fold(x, |x, _| modulo(x * x, 65537.0));
    check(&residues, |k| (k * 30_011 % 65537) as f64, |row| vec![squared(row[0][0])]);
    check(&integer(Computation::Table { inputs: 1 }, 8, 8), byte, |row| vec![modulo(7.0 * row[0][0], 256.0)]);
    let both = |row: &[Vec<f64>]| vec![modulo(row[0][0] + 7.0 * row[1][0], 256.0)];
    check(&integer(Computation::Table { inputs: 2 }, 8, 8), byte, both);
    let remainder =
        |row: &[Vec<f64>]| vec![modulo(row[0][0] * row[0][0] + 7.0 * row[1][0], row[0][0] + row[1][0] + 1.0)];
    check(&integer(Computation::Table { inputs: 2 }, 15, 15), byte, remainder);
    check(&integer(Computation::Compare, 8, 1), byte, |row| vec![f64::from(u8::from(row[0][0] < row[1][0]))]);
}

#[test]
fn what_is_advised_compiles() {
    let sums = Workload { instances: 2, ..real(Computation::Sum { count: 1000 }, 20.0) };
    // Results of up to 1000 within 2^-20 take a prime more than one, and no bootstrap.
    let program = sums.program(Some("ckks")).expect("a program");
    let inputs = vec![(0..2000).map(|k| (f64::from(k) * 0.1).cos()).collect::<Vec<f64>>()];
    let outcome = program.simulate(&inputs, &Seed::from_bytes([7; 32])).expect("values");
    assert!(outcome.bounds[0] <= (-20f64).exp2(), "{}", outcome.bounds[0]);
    for (row, found) in inputs[0].chunks(1000).zip(&outcome.values[0]) {
        assert!((row.iter().sum::<f64>() - found).abs() <= outcome.bounds[0]);
    }
    let chain = Workload { modulus: Some(65537), ..integer(Computation::Squarings { depth: 2 }, 17, 17) };
    let chain = Workload { values: Values::Integer { bits: 17, result_bits: None }, ..chain };
    let best = advice(&chain).candidates.swap_remove(0);
    assert_eq!((best.scheme, best.compiled.program().plan().backend()), (Scheme::Bgv, "bgv"));
    assert!(["bgv", "bfv"].contains(&chain.program(None).expect("a program").plan().backend()));
    let function = integer(Computation::Table { inputs: 2 }, 15, 15);
    assert_eq!(function.program(Some("bfv-lookups")).expect("a program").plan().backend(), "bfv-lookups");
    for (workload, words) in [
        (Workload { instances: 1 << 20, ..real(Computation::Sum { count: 2 }, 10.0) }, "at most 1048576 elements"),
        (integer(Computation::Sum { count: 2 }, 60, 61), "2^53"),
        (integer(Computation::Table { inputs: 1 }, 30, 30), "at most 20"),
    ] {
        let error = workload.graph().map(|_| ()).expect_err("too large").to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn candidates_run_as_they_are_advised() {
    let table = Workload { instances: 4096, ..integer(Computation::Table { inputs: 1 }, 4, 4) };
    let advice = advice(&table);
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        let candidate = advice.candidates.iter().find(|candidate| candidate.scheme == scheme).expect("a candidate");
        let program = candidate.compiled.program();
        let client = Client::generate(program.clone(), &Seed::from_bytes([1; 32])).expect("a key");
        let keys = client.server_keys(&Seed::from_bytes([2; 32])).expect("keys");
        let inputs = [(0..4096).map(|k| f64::from(k % 16)).collect::<Vec<f64>>()];
        let request = client.encrypt(&inputs, Seed::from_bytes([3; 32])).expect("a request");
        let reply = Server::new(&program, &keys).and_then(|server| server.run(&request)).expect("a reply");
        let expected: Vec<f64> = inputs[0].iter().map(|x| 7.0 * x % 16.0).collect();
        assert_eq!(client.decrypt(&reply).expect("values").values, [expected], "{scheme}");
    }
}
