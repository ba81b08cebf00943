//! The compiled function of a candidate, measured.

use noren::advisor::Scheme;
use noren::compiler::{Client, Server};
use noren::graph::{Element, Graph};
use noren_cli::measure::{Failure, seed};

use crate::advise::measurement::Measurement;

/// Candidates whose predicted time is longer are not measured.
const LONGEST_SECONDS: f64 = 10.0;

/// Keys, encryption, the function and decryption of all runs, each timed.
pub(super) fn run(measurement: &Measurement<'_>) -> Result<(), Failure> {
    if matches!(measurement.candidate.scheme, Scheme::CkksBootstrapping | Scheme::CkksSwitching) {
        measurement.run.warn("bootstraps and comparisons by switching are measured by suites of their own");
        return Ok(());
    }
    if measurement.candidate.price.server_seconds > LONGEST_SECONDS {
        measurement.run.warn("candidates that take longer than ten seconds are not measured");
        return Ok(());
    }
    let (price, compiled) = (&measurement.candidate.price, &measurement.candidate.compiled);
    let program = compiled.program();
    let graph = program.graph();
    let client = Client::generate(program.clone(), &seed(0))?;
    let generate = || client.server_keys(&seed(1));
    let keys = generate()?;
    let prepare = || Server::new(&program, &keys);
    let server = prepare()?;
    let values = values(graph);
    let encrypt = || (0..compiled.runs).map(|_| client.encrypt(&values, seed(2))).collect::<noren::Result<Vec<_>>>();
    let inputs = encrypt()?;
    let run = || inputs.iter().map(|inputs| server.run(inputs)).collect::<noren::Result<Vec<_>>>();
    let results = measurement.first(run)?;
    let decrypt = || results.iter().map(|result| client.decrypt(result)).collect::<noren::Result<Vec<_>>>();
    let expected = graph.evaluate(&values)?;
    let right = decrypt()?.iter().all(|found| {
        let outputs = found.values.iter().zip(&expected).zip(&found.bounds);
        outputs.into_iter().all(|((a, b), bound)| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= *bound))
    });
    measurement.part("server", right, price.server_seconds, run)?;
    if price.prepare_seconds > 0.0 {
        // A server prepares in its first run.
        let first = || prepare()?.run(&inputs[0]);
        measurement.part(
            "first run",
            right,
            price.prepare_seconds + price.server_seconds / inputs.len() as f64,
            first,
        )?;
    }
    if price.key_bytes > 0 {
        measurement.part("keys", right, price.keys_seconds, generate)?;
    }
    measurement.part("encrypt", right, price.encrypt_seconds, encrypt)?;
    measurement.part("decrypt", right, price.decrypt_seconds, decrypt)
}

/// Values of all inputs: 0.9, or the largest real number of a narrower range; of integers the middle of the range.
fn values(graph: &Graph) -> Vec<Vec<f64>> {
    let of = |&at: &usize| {
        let node = graph.node(at);
        let value = match node.element {
            Element::Real => 0.9_f64.min(node.range.high),
            _ => ((node.range.low + node.range.high) / 2.0).floor(),
        };
        vec![value; node.shape.iter().product()]
    };
    graph.inputs().iter().map(of).collect()
}
