//! A backend from outside: numbers in the clear, whose operations are counted. It takes a file and a line.

use std::any::Any;
use std::sync::Arc;

use noren::backends::{
    Backend, Backends, Bounds, Options, Outcome, Outline, Parcel, PartKind, Plan, Purpose, Record, Running, SecretKey,
    ServerKeys, part,
};
use noren::compiler::{Client, Program, Server};
use noren::cost::{Party, Price};
use noren::error::Result;
use noren::graph::{Binary, Element, Graph, Interval, Operation};
use noren::security::Security;
use noren::wire::Kind;
use noren::{Error, Seed};

/// Numbers in the clear: no key hides them.
#[derive(Debug)]
struct Clear;

/// The line: all backends, and this one.
const WITH_CLEAR: Backends<'static> = Backends(&[&Clear]);

struct Keys;

impl Purpose for Keys {
    const KIND: Kind = Kind::elsewhere(1);
}

struct ClearPlan(Arc<Graph>);

impl Backend for Clear {
    fn name(&self) -> &'static str {
        "clear"
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn evaluates(&self, _: &Graph, _: usize) -> bool {
        true
    }

    fn plans(&'static self, graph: &Arc<Graph>, options: &Options) -> Result<Vec<Arc<dyn Plan>>> {
        match options.security {
            Security::None => Ok(vec![Arc::new(ClearPlan(Arc::clone(graph)))]),
            other => Err(Error::parameter("security", other, "none: nothing is hidden")),
        }
    }

    fn read(&'static self, graph: &Arc<Graph>, _: &Record) -> Result<Arc<dyn Plan>> {
        Ok(Arc::new(ClearPlan(Arc::clone(graph))))
    }
}

fn to_bytes(arrays: &[Vec<f64>]) -> Vec<Vec<u8>> {
    arrays.iter().map(|array| array.iter().flat_map(|x| x.to_le_bytes()).collect()).collect()
}

fn of_bytes(arrays: &[Vec<u8>]) -> Vec<Vec<f64>> {
    let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().expect("8 bytes"));
    arrays.iter().map(|array| array.chunks(8).map(number).collect()).collect()
}

impl Plan for ClearPlan {
    fn backend(&self) -> &'static str {
        "clear"
    }

    fn record(&self) -> Record {
        Record::new(&[], 1)
    }

    fn parameters(&self) -> &dyn Any {
        &()
    }

    fn words(&self) -> String {
        "no parameters".to_owned()
    }

    fn security(&self) -> Security {
        Security::None
    }

    /// A nanosecond for each element of each node.
    fn price(&self, _: &Party, _: &Party) -> Result<Price> {
        let elements: usize = self.0.nodes().iter().map(|node| node.shape.iter().product::<usize>()).sum();
        Ok(Price { server_seconds: elements as f64 * 1e-9, ..Price::default() })
    }

    fn outline(&self, _: Option<&Bounds>) -> Result<Outline> {
        Ok(Outline { ciphertexts: 0, slots: 0, levels: 0, rotations: vec![], steps: vec![] })
    }

    fn secret_parts(&self) -> Vec<PartKind> {
        vec![PartKind::of::<Parcel<Keys>>([0; 32])]
    }

    fn server_parts(&self) -> Vec<PartKind> {
        vec![PartKind::of::<Parcel<Keys>>([1; 32])]
    }

    fn make_secret(&self, _: &Seed) -> Result<SecretKey> {
        Ok(SecretKey::of(vec![part(Parcel::<Keys>::new([0; 32], vec![vec![]]))]))
    }

    fn make_server_keys(&self, _: &SecretKey, _: &Seed) -> Result<ServerKeys> {
        Ok(ServerKeys::of(vec![part(Parcel::<Keys>::new([1; 32], vec![vec![]]))]))
    }

    fn encrypt(&self, _: &SecretKey, inputs: &[Option<&[f64]>], _: Seed) -> Result<Vec<Vec<u8>>> {
        Ok(to_bytes(&inputs.iter().map(|values| values.unwrap_or_default().to_vec()).collect::<Vec<_>>()))
    }

    fn server(self: Arc<Self>, _: &ServerKeys) -> Result<Box<dyn Running>> {
        Ok(Box::new(Self(Arc::clone(&self.0))))
    }

    fn decrypt(&self, _: &SecretKey, outputs: &[Vec<u8>]) -> Result<Outcome> {
        Ok(Outcome::exact(of_bytes(outputs)))
    }

    fn simulate(&self, inputs: &[Vec<f64>], _: &Seed) -> Result<Outcome> {
        self.0.evaluate(inputs).map(Outcome::exact)
    }
}

impl Running for ClearPlan {
    fn run(&self, inputs: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
        Ok(to_bytes(&self.0.evaluate(&of_bytes(inputs))?))
    }
}

fn quotients() -> Graph {
    let mut graph = Graph::default();
    let mut input = |name: &str, low| {
        let range = Interval::new(low, 1000.0);
        let input = Operation::Input { name: name.into(), shape: vec![3], element: Element::Integer, range };
        graph.push(input, "").expect("an input")
    };
    let (x, y) = (input("x", 0.0), input("y", 1.0));
    let quotient = graph.push(Operation::Binary(Binary::FloorDivide, x, y), "").expect("quotients");
    graph.finish(vec![quotient]).expect("an output");
    graph
}

#[test]
fn a_backend_is_compiled_for_chosen_by_its_price_and_run_by_both_halves() {
    let all: Vec<&'static dyn Backend> = Backends::ALL.0.iter().chain(WITH_CLEAR.0).copied().collect();
    let backends = Backends(&all);
    let options = Options { security: Security::None, ..Options::default() };
    let program = Program::compile_on(&backends, quotients(), &options).expect("a program");
    assert_eq!(program.plan().backend(), "clear", "the cheapest");
    let program = Program::from_bytes_on(&backends, &program.to_bytes()).expect("its own bytes");

    let seed = || Seed::from_bytes([1; 32]);
    let client = Client::generate(program.clone(), &seed()).expect("a client");
    let server = Server::new(&program, &client.server_keys(&seed()).expect("keys")).expect("a server");
    let inputs = [vec![7.0, 1000.0, 0.0], vec![2.0, 3.0, 5.0]];
    let reply = server.run(&client.encrypt(&inputs, seed()).expect("inputs")).expect("a reply");
    assert_eq!(client.decrypt(&reply).expect("results").values, [[3.0, 333.0, 0.0]]);

    let outside = client.encrypt(&[vec![7.0, 1.0, 0.0], vec![0.0, 3.0, 5.0]], seed());
    assert!(outside.is_err_and(|error| error.to_string().contains("declared range")));
    assert!(client.decrypt(&client.encrypt(&inputs, seed()).expect("inputs")).is_err(), "inputs are no results");
}

#[test]
fn what_a_backend_refuses_is_said_with_all_reasons() {
    let message = Program::compile_on(&WITH_CLEAR, quotients(), &Options::default()).expect_err("secure").to_string();
    assert!(message.contains("no scheme evaluates the function") && message.contains("\nclear: "), "{message}");
    let unknown = Program::compile_on(&WITH_CLEAR, quotients(), &Options::on("bgv")).expect_err("another").to_string();
    assert!(unknown.contains("auto, clear"), "{unknown}");
    let program = Program::compile(quotients(), &Options { security: Security::None, ..Options::default() });
    let bytes = program.expect("a program").to_bytes();
    assert!(Program::from_bytes_on(&WITH_CLEAR, &bytes).is_err(), "a program of another backend");
}

#[test]
fn inputs_are_encrypted_in_several_requests() -> Result<()> {
    let seed = |byte: u8| Seed::from_bytes([byte; 32]);
    // The second input is not needed, and stands in no ciphertext.
    let graph = || -> Result<Graph> {
        let mut graph = Graph::default();
        let range = Interval::new(0.0, 3.0);
        let mut input = |name: &str| {
            let (name, element) = (name.to_owned(), Element::Integer);
            graph.push(Operation::Input { name, shape: vec![5], element, range }, "")
        };
        let (x, _, z) = (input("x")?, input("y")?, input("z")?);
        let product = graph.push(Operation::Binary(Binary::Mul, x, z), "")?;
        graph.finish(vec![product])?;
        Ok(graph)
    };
    let [x, y, z] = [vec![0.0, 1.0, 2.0, 3.0, 3.0], vec![1.0; 5], vec![3.0, 2.0, 2.0, 1.0, 3.0]];
    for name in Backends::ALL.names() {
        let options = Options { security: Security::None, ..Options::on(name) };
        let program = Program::compile(graph()?, &options)?;
        let client = Client::generate(program.clone(), &seed(1))?;
        let server = Server::new(&program, &client.server_keys(&seed(2))?)?;
        let both = client.encrypt(&[x.clone(), y.clone(), z.clone()], seed(3))?;
        assert_eq!(server.run_joined(&[&both])?, server.run(&both)?, "{name}");
        let first = client.encrypt_some(&[Some(&x), Some(&y), None], seed(4));
        if name == "bfv-lookups" {
            assert!(first.is_err_and(|error| error.to_string().contains("share ciphertexts")));
            continue;
        }
        let first = first?;
        let again = client.encrypt_some(&[Some(&z), None, None], seed(5))?;
        let second = client.encrypt_some(&[None, None, Some(&z)], seed(6))?;
        let reply = server.run_joined(&[&second, &first])?;
        let found = client.decrypt(&reply)?;
        let close = |(found, (x, z)): (&f64, (&f64, &f64))| (found - x * z).abs() <= found.abs() / 100.0 + 0.01;
        assert!(found.values[0].iter().zip(x.iter().zip(&z)).all(close), "{name}: {:?}", found.values);
        // The first again, with another second.
        let other = client.encrypt_some(&[None, None, Some(&[1.0; 5])], seed(7))?;
        let found = client.decrypt(&server.run_joined(&[&first, &other])?)?;
        assert!(found.values[0].iter().zip(&x).all(|(found, x)| (found - x).abs() < 0.1), "{name}");
        let message = |refused: Result<Vec<u8>>| refused.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message(server.run(&first)).contains("none for \"z\""), "{name}");
        assert!(message(server.run_joined(&[&first, &again])).contains("one in two requests"), "{name}");
        assert!(message(server.run_joined(&[])).contains("requests"), "{name}");
        assert!(message(client.encrypt_some(&[None, None, None], seed(8))).contains("given"), "{name}");
    }
    Ok(())
}
