//! Compiled functions whose comparisons are decided, at 128 bits.

use std::time::Instant;

use noren::Seed;
use noren::compiler::{Client, Options, Program, Server};
use noren::graph::{Binary, Element, Graph, Interval, Operation};

use crate::world::uniform;

const COUNT: usize = 16;
/// Four rounds of a tournament, each with that of one comparison of numbers up to 2: 0.05.
const ZONE: f64 = 0.25;

/// `x < y`, `np.where(x < y, x * y, y)` and `x.argmax()`.
fn function() -> Graph {
    let mut graph = Graph::default();
    let [x, y] = ["x", "y"].map(|name| {
        let range = Interval::new(-1.0, 1.0);
        let input = Operation::Input { name: name.into(), shape: vec![COUNT], element: Element::Real, range };
        graph.push(input, name).expect("an input")
    });
    let mut push = |operation: Operation| graph.push(operation, "f.py:2").expect("an operation");
    let less = push(Operation::Binary(Binary::Less, x, y));
    let product = push(Operation::Binary(Binary::Mul, x, y));
    let chosen = push(Operation::Select(less, product, y));
    let place = push(Operation::ArgMax(x, 0));
    graph.finish(vec![less, chosen, place]).expect("outputs");
    graph
}

#[test]
#[ignore = "4 GB and half a minute: make test-full"]
fn a_compiled_function_of_128_bits_decides_within_its_bounds() {
    let options = Options { precision: Some(1e-2), dead_zone: Some(ZONE), ..Options::on("ckks-switching") };
    let started = Instant::now();
    let done = |what: &str, at: &mut Instant| {
        println!("{what}: {:.1} s", at.elapsed().as_secs_f64());
        *at = Instant::now();
    };
    let mut at = started;
    let program = Program::compile(function(), &options).expect("a plan");
    assert_eq!(program.plan().security().bits(), 128);
    done("plan", &mut at);
    let seed = |byte: u8| Seed::from_bytes([byte; 32]);
    let client = Client::generate(program.clone(), &seed(1)).expect("a secret key");
    let server = Server::new(&program, &client.server_keys(&seed(2)).expect("keys")).expect("its keys");
    done("keys", &mut at);

    // Further apart than the dead zone.
    let mut x: Vec<f64> = uniform(70, COUNT).iter().map(|z| 0.6 * z).collect();
    x[11] = 0.9;
    let y: Vec<f64> = x.iter().map(|&x| if x > 0.0 { x - 0.3 } else { x + 0.3 }).collect();
    let inputs = vec![x, y];
    let request = client.encrypt(&inputs, seed(3)).expect("inputs");
    done("encryption", &mut at);
    let reply = server.run(&request).expect("a reply");
    done("server", &mut at);
    let found = client.decrypt(&reply).expect("outputs");
    done("decryption", &mut at);

    let expected = program.graph().evaluate(&inputs).expect("values");
    for ((values, expected), bound) in found.values.iter().zip(&expected).zip(&found.bounds) {
        let error = values.iter().zip(expected).fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs()));
        println!("error {error:.1e}, bound {bound:.1e}");
        assert!(error <= *bound && *bound <= 1e-2);
    }
}
