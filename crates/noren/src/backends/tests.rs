//! All backends: what comes out of a run, and the price of one.

use std::sync::Arc;

use noren_math::random::Seed;
use noren_rlwe::security::Security;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::backends::backend::{Outcome, Plan, Record};
use crate::backends::keys::{Part, SecretKey, ServerKeys, part};
use crate::backends::options::Options;
use crate::backends::parcel::{Function, Inputs, Parcel};
use crate::backends::table::Backends;
use crate::cost::{Machine, Party};
use crate::graph::{Binary, Element, Graph, Interval, Operation, Reduction};
use crate::schemes::{ckks, integers};

/// Options for a backend on small rings without security.
pub(super) fn toy(scheme: &str) -> Options {
    Options { security: Security::None, ..Options::on(scheme) }
}

/// The plan of the backend that options name.
pub(super) fn plan(graph: &Arc<Graph>, options: &Options) -> Arc<dyn Plan> {
    let name = options.scheme.as_deref().expect("a scheme");
    let backend = Backends::ALL.named(name).expect("a backend");
    Backends::ALL.plans_of(backend, graph, options).expect("a plan").swap_remove(0)
}

/// Inputs that are all given.
pub(super) fn all(inputs: &[Vec<f64>]) -> Vec<Option<&[f64]>> {
    inputs.iter().map(|values| Some(&values[..])).collect()
}

/// The outputs of a run with keys that went through their bytes.
pub(super) fn run(plan: &Arc<dyn Plan>, inputs: &[Vec<f64>]) -> Outcome {
    let seed = |byte: u8| Seed::from_bytes([byte; 32]);
    let secret = plan.make_secret(&seed(1)).expect("a secret key");
    let keys = plan.make_server_keys(&secret, &seed(2)).expect("keys");
    let secret = SecretKey::from_bytes(&plan.secret_parts(), &secret.to_bytes()).expect("its own bytes");
    let keys = ServerKeys::from_bytes(&plan.server_parts(), &keys.to_bytes()).expect("its own bytes");
    let request = plan.encrypt(&secret, &all(inputs), seed(3)).expect("inputs");
    let reply = Arc::clone(plan).server(&keys).and_then(|server| server.run(&request)).expect("a reply");
    plan.decrypt(&secret, &reply).expect("outputs")
}

/// The squares of integers up to 15, or of an operation on two such.
fn product(elements: usize) -> Arc<Graph> {
    let mut graph = Graph::default();
    let range = Interval::new(0.0, 15.0);
    let input = Operation::Input { name: "x".into(), shape: vec![elements], element: Element::Integer, range };
    let x = graph.push(input, "").expect("an input");
    let square = graph.push(Operation::Binary(Binary::Mul, x, x), "").expect("a product");
    graph.finish(vec![square]).expect("an output");
    Arc::new(graph)
}

#[test]
fn every_backend_computes_what_the_graph_says() {
    let graph = product(5);
    let inputs = vec![vec![0.0, 3.0, 15.0, 7.0, 1.0]];
    let expected = graph.evaluate(&inputs).expect("values");
    for name in Backends::ALL.names() {
        let plan = plan(&graph, &toy(name));
        let record: Record =
            serde_json::from_value(serde_json::to_value(plan.record()).expect("JSON")).expect("a record");
        let again = Backends::ALL.read(name, &graph, &record).expect("its own record");
        let found = run(&again, &inputs);
        for ((values, expected), bound) in found.values.iter().zip(&expected).zip(&found.bounds) {
            values.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() <= *bound, "{name}: {a} for {b}"));
        }
        let exact = Backends::ALL.named(name).expect("a backend").is_exact();
        assert_eq!(found.bounds.iter().all(|bound| *bound == 0.0), exact, "{name}");
    }
}

#[test]
fn a_column_costs_by_its_elements_and_a_vector_of_slots_does_not() {
    let party = Party { machine: Machine::reference(), threads: 1 };
    let price =
        |name: &str, elements: usize| plan(&product(elements), &toy(name)).price(&party, &party).expect("a price");
    let [one, many] = [1, 256].map(|elements| price("tfhe", elements));
    assert!(many.server_seconds > 50.0 * one.server_seconds && many.input_bytes > 100 * one.input_bytes);
    for name in ["bgv", "bfv", "ckks"] {
        let [one, many] = [1, 256].map(|elements| price(name, elements));
        assert!(many.server_seconds < 2.0 * one.server_seconds, "{name}");
        assert!(one.server_seconds > 0.0 && one.key_bytes > 0 && one.server_memory > 0, "{name}");
    }
}

#[test]
fn keys_of_other_parameters_and_of_other_kinds_are_refused() {
    let [reals, small] = ["ckks", "bgv"].map(|name| plan(&product(4), &toy(name)));
    let bgv = Backends::ALL.named("bgv").expect("a backend");
    let large = Backends::ALL.plans_of(bgv, &product(5000), &toy("bgv")).expect("plans").pop().expect("a larger ring");
    let seed = Seed::from_bytes([1; 32]);
    let secret = small.make_secret(&seed).expect("a secret key");
    let message = secret.check(&reals.secret_parts()).expect_err("another kind").to_string();
    assert!(message.contains("secret key with CKKS parameters"), "{message}");
    assert!(secret.check(&large.secret_parts()).is_err(), "other parameters");
    let bytes = secret.to_bytes();
    assert!(SecretKey::from_bytes(&large.secret_parts(), &bytes).is_err(), "other parameters");
    assert!(SecretKey::from_bytes(&small.secret_parts(), &bytes[..bytes.len() - 1]).is_err(), "a short file");
    assert!(ServerKeys::from_bytes(&small.server_parts(), &bytes).is_err(), "another kind");
}

#[test]
fn keys_that_a_function_needs_are_asked_for_before_it_runs() {
    let mut graph = Graph::default();
    let range = Interval::new(0.0, 3.0);
    let input = Operation::Input { name: "x".into(), shape: vec![4], element: Element::Integer, range };
    let x = graph.push(input, "").expect("an input");
    let square = graph.push(Operation::Binary(Binary::Mul, x, x), "").expect("a product");
    let sum = graph.push(Operation::Reduce(Reduction::Sum, square, vec![0]), "").expect("a sum");
    graph.finish(vec![sum]).expect("an output");
    let graph = Arc::new(graph);
    let seed = Seed::from_bytes([1; 32]);
    let missing = |plan: Arc<dyn Plan>, part: Arc<dyn Part>| {
        let error = plan.server(&ServerKeys::of(vec![part])).err().expect("no keys").to_string();
        assert!(error.contains("relinearisation") && error.contains("rotation"), "{error}");
    };

    let reals = plan(&graph, &toy("ckks"));
    let parameters = reals.parameters().downcast_ref::<ckks::Parameters>().expect("those of CKKS").clone();
    let context = ckks::Context::new(parameters).expect("a context");
    let own = context.generate_keys(seed.clone(), &ckks::KeyRequest::default()).expect("keys");
    missing(reals, part(ckks::KeyFile { context, key: (*own.evaluation).clone() }));

    for scheme in ["bgv", "bfv"] {
        let whole = plan(&graph, &toy(scheme));
        let parameters = whole.parameters().downcast_ref::<integers::Parameters>().expect("those of integers").clone();
        let context = integers::Context::new(parameters).expect("a context");
        let own = context.generate_keys(seed.clone(), &integers::KeyRequest::default()).expect("keys");
        missing(whole, part(integers::KeyFile { context, key: (*own.evaluation).clone() }));
    }
}

#[test]
fn an_operation_that_a_backend_lacks_is_refused_with_those_that_have_it() {
    let mut graph = Graph::default();
    let range = Interval::new(0.0, 9.0);
    let input = Operation::Input { name: "x".into(), shape: vec![2], element: Element::Integer, range };
    let x = graph.push(input, "").expect("an input");
    let remainder = graph.push(Operation::Binary(Binary::Xor, x, x), "f.py:3").expect("an operation");
    graph.finish(vec![remainder]).expect("an output");
    let graph = Arc::new(graph);
    for name in ["ckks", "bgv", "bfv"] {
        let refused = Backends::ALL.plans_of(Backends::ALL.named(name).expect("a backend"), &graph, &toy(name));
        let message = refused.expect_err("an operation on bits").to_string();
        assert!(
            message.contains(&format!("f.py:3: {name} does"))
                && message.contains("use scheme=\"bfv-lookups\" or scheme=\"tfhe\""),
            "{message}"
        );
    }
}

#[test]
fn bytes_that_are_no_parcel_are_refused() {
    let parcel = Parcel::<Inputs>::new([3; 32], vec![vec![9; 5], vec![], vec![1]]);
    let bytes = parcel.to_bytes(&(), Form::Packed);
    assert_eq!(Parcel::<Inputs>::from_bytes(&(), &bytes).expect("a parcel"), parcel);
    assert!(Parcel::<Function>::from_bytes(&(), &bytes).is_err(), "another purpose");
    for cut in 0..bytes.len() {
        assert!(Parcel::<Inputs>::from_bytes(&(), &bytes[..cut]).is_err(), "{cut} bytes");
    }
}
