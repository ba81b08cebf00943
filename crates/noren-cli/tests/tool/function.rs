//! Compiled functions through the tool: keys, encryption, evaluation, decryption, and what is refused of them.

use noren::Security;
use noren::backends::{KeysOfServer, Parcel, Secrets};
use noren::compiler::{Options, Program};
use noren::graph::{Binary, Element, Graph, Interval, Operation, Reduction};
use noren::wire::{Form, Object};
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// The products of two tables of two rows and three columns, and their sums over rows, of numbers up to 9.
fn products(element: Element) -> Graph {
    let mut graph = Graph::default();
    let mut input = |name: &str| {
        let range = Interval::new(-9.0, 9.0);
        let input = Operation::Input { name: name.into(), shape: vec![2, 3], element, range };
        graph.push(input, "f.py:1").expect("an input")
    };
    let (x, y) = (input("x"), input("y"));
    let product = graph.push(Operation::Binary(Binary::Mul, x, y), "f.py:2").expect("products");
    let sums = graph.push(Operation::Reduce(Reduction::Sum, product, vec![0]), "f.py:3").expect("sums");
    graph.finish(vec![product, sums]).expect("outputs");
    graph
}

/// A sandbox with a function for a backend, and a table for each of its inputs.
pub fn with_function(name: &str, scheme: &str) -> Sandbox {
    let sandbox = Sandbox::new(name);
    let element = if scheme.starts_with("ckks") { Element::Real } else { Element::Integer };
    let options = Options { security: Security::None, ..Options::on(scheme) };
    let program = Program::compile(products(element), &options).expect("a program");
    sandbox.write("f.function", &program.to_bytes());
    sandbox.write("x.csv", b"a,b,c\n1,2,3\n-4,5,9\n");
    sandbox.write("y.csv", b"a,b,c\n7,0,-1\n2,2,9\n");
    sandbox
}

const KEYGEN: [&str; 5] = ["function", "keygen", "f.function", "--out", "keys"];
const ENCRYPT: [&str; 9] =
    ["function", "encrypt", "f.function", "--key", "keys/secret.key", "x.csv", "y.csv", "-o", "request"];
const RUN: [&str; 7] = ["function", "run", "f.function", "--keys", "keys/server.keys", "request", "-o"];
const DECRYPT: [&str; 10] =
    ["function", "decrypt", "f.function", "--key", "keys/secret.key", "reply", "-o", "products.csv", "-o", "sums.csv"];

#[test]
fn functions_of_every_scheme_go_through_files() {
    for scheme in ["ckks", "bgv", "bfv", "bfv-lookups", "tfhe"] {
        let sandbox = with_function(&format!("function-{scheme}"), scheme);
        let shown = sandbox.json(&["function", "show", "f.function"]);
        assert_eq!(shown["scheme"], scheme);
        sandbox.done(&[&KEYGEN[..], &["--seed", &"3".repeat(64)]].concat());
        sandbox.done(&ENCRYPT);
        sandbox.done(&[&RUN[..], &["reply"]].concat());
        let compiled = &sandbox.json(&["inspect", "f.function"])["compiled"];
        assert_eq!(compiled["scheme"], scheme);
        assert_eq!(compiled["inputs"], json!([["x", [2, 3]], ["y", [2, 3]]]));
        assert_eq!(compiled["results"], json!([[2, 3], [3]]));
        let owner = sandbox.json(&["inspect", "keys/server.keys"])["owner"].clone();
        assert!(owner.is_string(), "{scheme}");
        for file in ["request", "reply"] {
            let contents = sandbox.json(&["inspect", file])["contents"].as_array().expect("objects").clone();
            // Lists of ciphertexts do not say whose they are.
            let fits = |object: &Value| object["owner"].is_null() || object["owner"] == owner;
            assert!(!contents.is_empty() && contents.iter().all(fits), "{scheme}, {file}");
        }
        let report = sandbox.json(&DECRYPT);
        let expected = [vec![vec![7.0, 0.0, -3.0], vec![-8.0, 10.0, 81.0]], vec![vec![-1.0], vec![10.0], vec![78.0]]];
        for ((file, expected), at) in ["products.csv", "sums.csv"].into_iter().zip(expected).zip(0..) {
            let bound = report["error_bounds"][at].as_f64().expect("a bound");
            assert!(if scheme == "ckks" { bound > 0.0 && bound < 0.1 } else { bound == 0.0 }, "{scheme}: {bound}");
            for (row, expected) in sandbox.numbers(file, 0).iter().zip(&expected) {
                assert_eq!(row.len(), expected.len(), "{scheme}, {file}");
                row.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() <= bound, "{scheme}: {a} for {b}"));
            }
        }
        sandbox.refused(&KEYGEN, &["keys/secret.key", "exists"]);
    }
}

#[test]
fn keys_of_several_objects_are_inspected() {
    let sandbox = with_function("function-inspect", "bgv");
    sandbox.done(&KEYGEN);
    sandbox.done(&["keygen", "--out", "tfhe", "--tfhe", "TOY_BOOL"]);
    let server = ["keys/server.keys", "tfhe/server.keys"];
    let secrets = ["keys/secret.key", "tfhe/secret.key"];
    let [of_server, of_owner] = [server, secrets].map(|files| files.map(|file| sandbox.read(file)).to_vec());
    sandbox.write("several.keys", &Parcel::<KeysOfServer>::new([7; 32], of_server).to_bytes(&(), Form::Packed));
    sandbox.write("several.key", &Parcel::<Secrets>::new([8; 32], of_owner).to_bytes(&(), Form::Packed));
    for (file, kind, fingerprint, files) in [
        ("several.keys", "server keys of a compiled function", "07", server),
        ("several.key", "secret keys of a compiled function", "08", secrets),
    ] {
        let report = sandbox.json(&["inspect", file]);
        assert_eq!((&report["kind"], &report["owner"]), (&kind.into(), &Value::Null));
        assert!(report["fingerprint"].as_str().is_some_and(|shown| shown.starts_with(fingerprint)), "{report}");
        let text = sandbox.done(&["inspect", file]);
        for (at, part) in files.into_iter().enumerate() {
            let alone = sandbox.json(&["inspect", part]);
            let content = &report["contents"][at];
            assert_eq!((&content["kind"], &content["bytes"]), (&alone["kind"], &alone["bytes"]), "{part}");
            // The identity of a secret key of learning with errors over rings is not in its file, but follows from it.
            let stated = if part == "keys/secret.key" { &Value::Null } else { &alone["owner"] };
            assert_eq!(&content["owner"], stated, "{part}");
            let owner = stated.as_str().map_or_else(String::new, |owner| format!(", of key {owner}"));
            let kind = alone["kind"].as_str().expect("a name");
            assert!(text.lines().any(|line| line.starts_with(kind) && line.ends_with(&owner)), "{text}");
        }
        assert_eq!(report["contents"].as_array().map(Vec::len), Some(files.len()));
    }
    sandbox.write("bad.keys", &Parcel::<KeysOfServer>::new([7; 32], vec![vec![1; 99]]).to_bytes(&(), Form::Packed));
    sandbox.refused(&["inspect", "bad.keys"], &["bad.keys", "not a file of noren"]);
}

#[test]
fn what_does_not_belong_to_a_function_is_refused() {
    let sandbox = with_function("function-refusals", "bgv");
    sandbox.done(&KEYGEN);
    sandbox.done(&ENCRYPT);
    let run = |output: &str| [&RUN[..], &[output]].concat().into_iter().map(str::to_owned).collect::<Vec<_>>();
    let call = |words: &[String]| words.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let refused = |words: &str, needed: &[&str]| sandbox.refused(&words.split(' ').collect::<Vec<_>>(), needed);
    sandbox.write("short.csv", b"a,b,c\n1,2,3\n");
    let encrypt = ENCRYPT.join(" ");
    refused(&encrypt.replace("y.csv -o request", "short.csv -o out"), &["short.csv", "1 row", "2 rows", "\"y\""]);
    refused(&encrypt.replace("y.csv -o request", "-o out"), &["the inputs", "1 table", "2 tables"]);
    sandbox.write("large.csv", b"a,b,c\n1,2,3\n1,10,1\n");
    refused(&encrypt.replace("y.csv -o request", "large.csv -o out"), &["large.csv", "row 2, column 2", "-9 to 9"]);
    sandbox.write("parts.csv", b"a,b,c\n1,2,3\n1,0.5,1\n");
    refused(&encrypt.replace("y.csv -o request", "parts.csv -o out"), &["parts.csv", "0.5", "whole number"]);
    refused(&call(&run("out")).replace("keys/server.keys", "keys/secret.key"), &["keys/secret.key", "server keys"]);
    refused(&call(&run("out")).replace("request", "f.function"), &["f.function", "encrypted inputs"]);
    sandbox.done(&[&RUN[..], &["reply"]].concat());
    refused(&DECRYPT.join(" ").replace(" -o sums.csv", ""), &["--output", "1 file", "2 files"]);
    refused(&DECRYPT.join(" ").replace("sums.csv", "products.csv"), &["--output", "products.csv twice"]);
    refused(&DECRYPT.join(" ").replace("reply", "request"), &["request", "encrypted results"]);
    let other = with_function("function-other", "bfv");
    sandbox.write("other.function", &other.read("f.function"));
    let of_other = call(&run("out")).replace("f.function", "other.function");
    refused(&of_other, &["keys/server.keys", "the same parameters"]);
    let strict = sandbox.strict_command(&["function", "show", "f.function"]).output().expect("the tool starts");
    assert!(String::from_utf8_lossy(&strict.stderr).contains("security"), "less than 128 bits");
}
