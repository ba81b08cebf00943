//! The bytes of objects, keys and tables are those of earlier versions, on every machine.
//!
//! The files are made again by `NOREN_REGENERATE_GOLDEN=1 cargo test -p noren --test golden`.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use noren::backends::{Inputs, KeysOfServer, Outputs, Parcel, Purpose, Secrets, ServerKeys, part};
use noren::bootstrapping::{self, BootstrapKeyFile, BootstrapKeys, Preset};
use noren::bootstrapping::{EvalMod, Primes, Transform};
use noren::bootstrapping::{GiantOrder, Group};
use noren::ckks::{Ciphertexts, Context, Encoder, Encryptor, Evaluator, KeyFile, KeyRequest, ParametersSpec};
use noren::compiler::{Options, Program};
use noren::graph::{self, Binary, Graph, Interval, Operation};
use noren::lookup::{LookupKeyFile, LookupPlan};
use noren::programs::EncryptedTable;
use noren::programs::TableLayout;
use noren::programs::columns::{Column, Columns, Element};
use noren::programs::{IntegerLayout, IntegerTable};
use noren::radix::{Flag, Integer, Integers};
use noren::schemes::integers;
use noren::wire::{Facts, Form, Kind, Limits, Object, Reader};
use noren::{Security, Seed, bfv, bgv, switching, tfhe};
use serde_json::json;

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

/// Name and bytes of every object, in both forms.
fn samples() -> Vec<(String, Vec<u8>)> {
    let spec = ParametersSpec {
        log_n: 4,
        log_q: vec![40, 30],
        log_p: vec![45],
        log_scale: 30,
        security: Security::None,
        ..ParametersSpec::default()
    };
    let context = Context::new(spec.build().expect("parameters")).expect("context");
    let request = KeyRequest { relinearization: true, rotations: vec![1], ..KeyRequest::default() };
    let keys = context.generate_keys(seed(1), &request).expect("keys");
    let encoder = Encoder::new(&context);
    let plaintext = encoder.encode(&[0.5, -0.25, 1.0 / 3.0, 1e-3], 4, 1).expect("four slots");
    let fresh = Encryptor::public(&context, &keys.public, seed(2)).and_then(|e| e.encrypt(&plaintext)).expect("public");
    let symmetric = Encryptor::symmetric(&context, &keys.secret, seed(3)).expect("secret");
    let seeded = symmetric.encrypt(&plaintext).expect("symmetric");
    let layout = TableLayout::new(2, 2, 4).and_then(|layout| layout.with_column_names(vec!["a".into(), "b".into()]));
    let table = EncryptedTable::encrypt(&encoder, &symmetric, layout.expect("layout"), &[0.1, 0.2, 0.3, 0.4], 1);
    let evaluator = Evaluator::new(&context, keys.evaluation.clone()).expect("evaluator");
    let product = evaluator.rotate(&fresh, 1).and_then(|x| evaluator.mul(&x, &seeded)).expect("one level");

    let mut samples = Vec::new();
    add(&mut samples, "parameters", &(), context.parameters());
    let staged = ParametersSpec { restarts: vec![(0, 25)], ..context.parameters().spec().clone() };
    add(&mut samples, "parameters_restarts", &(), &staged.build().expect("parameters"));
    add(&mut samples, "plaintext", &context, &plaintext);
    add(&mut samples, "ciphertext_fresh", &context, &fresh);
    add(&mut samples, "ciphertext_seeded", &context, &seeded);
    add(&mut samples, "ciphertext_product", &context, &product);
    add(&mut samples, "ciphertexts", &context, &Ciphertexts(vec![fresh, product]));
    add(&mut samples, "table", &context, &table.expect("a table"));
    let evaluation = (*keys.evaluation).clone();
    add(&mut samples, "secret_key", &(), &KeyFile { context: context.clone(), key: keys.secret });
    add(&mut samples, "public_key", &(), &KeyFile { context: context.clone(), key: keys.public });
    add(&mut samples, "evaluation_keys", &(), &KeyFile { context, key: evaluation });
    add_bootstrapping(&mut samples);
    add_integers(&mut samples);
    add_lookups(&mut samples);
    add_tfhe(&mut samples);
    add_functions(&mut samples);
    samples
}

/// Parameters of bootstrapping, in both forms, and keys, which are large, in one.
fn add_bootstrapping(samples: &mut Vec<(String, Vec<u8>)>) {
    let transform =
        |bits| Transform { bits, groups: vec![Group { layers: 3, baby_steps: 2 }], giants: GiantOrder::Horner };
    let toy = Preset::Toy.spec();
    let spec = bootstrapping::ParametersSpec {
        log_n: 4,
        log_slots: 3,
        slot_to_coeff: transform(34),
        application: Primes { count: 1, bits: 42 },
        coeff_to_slot: transform(48),
        eval_mod: EvalMod { interval: 4, doublings: 1, degree: 15, ..toy.eval_mod },
        dnum: 2,
        ephemeral_weight: 2,
        ..toy
    };
    let parameters = spec.build().expect("a tiny ring without security");
    add(samples, "bootstrap_parameters", &(), &parameters);
    let context = Context::new(parameters.ckks().expect("primes")).expect("context");
    let secret = context.generate_keys(seed(1), &KeyRequest::default()).expect("keys").secret;
    let keys = BootstrapKeys::generate(&context, &parameters, &secret, seed(2), None).expect("keys");
    let file = BootstrapKeyFile { context: context.clone(), parameters: parameters.clone(), keys: Arc::new(keys) };
    samples.push(("bootstrap_keys.packed.noren".to_owned(), file.to_bytes(&(), Form::Packed)));
    let digits = tfhe::Encoding::Integers { message_bits: 2, carry_bits: 2 };
    let torus = tfhe::Context::new(tfhe_spec(digits).build().expect("parameters")).expect("context");
    let parameters = switching::Parameters::new(&parameters, torus.parameters()).expect("one polynomial, a small ring");
    let switch = switching::Context::new(&parameters, &context, &torus).expect("a context");
    let owner = torus.secret_key(&seed(3));
    let between = switching::KeyFile::generate(&switch, &secret, &owner, &seed(4)).expect("keys");
    add(samples, "switching_keys", &(), &between);
    let keys = torus.compact_keys(&seed(3), &owner).expect("its own secret");
    let server = tfhe::KeyFile { parameters: torus.parameters().clone(), key: keys };
    let all = ServerKeys::of(vec![part(file), part(server), part(between)]);
    samples.push(("function_ckks-switching_server_keys.noren".to_owned(), all.to_bytes()));
}

/// A tiny set of TFHE without security.
fn tfhe_spec(encoding: tfhe::Encoding) -> tfhe::ParametersSpec {
    tfhe::ParametersSpec {
        torus: tfhe::TorusSpec {
            n: 8,
            k: 1,
            log_degree: 4,
            lwe_noise: tfhe::TorusNoise::Gaussian(1e-7),
            glwe_noise: tfhe::TorusNoise::TUniform(20),
            log_base: 8,
            levels: 2,
            grouping: tfhe::Grouping::Single,
            light: None,
            switch_log_base: 4,
            switch_levels: 3,
            security: Security::None,
        },
        encoding,
        max_noise: 3.0,
        max_failure_log2: 0.0,
    }
}

/// Objects of BGV and BFV: keys, and what a product of each is.
fn add_integers(samples: &mut Vec<(String, Vec<u8>)>) {
    let spec = bgv::ParametersSpec {
        log_n: 4,
        plaintext_modulus: 97,
        log_q: vec![40, 40],
        log_p: vec![45],
        security: Security::None,
        ..bgv::ParametersSpec::default()
    };
    let context = bgv::Context::new(spec.build().expect("parameters")).expect("context");
    let request = bgv::KeyRequest { relinearization: true, ..bgv::KeyRequest::default() };
    let keys = context.generate_keys(seed(1), &request).expect("keys");
    let plaintext = bgv::Encoder::new(&context).encode(&[1, -2, 3, 96]).expect("in range");
    let encryptor: bgv::Encryptor = bgv::Encryptor::public(&context, &keys.public, seed(2)).expect("public");
    let fresh = encryptor.encrypt(&plaintext).expect("encrypted");
    let bgv = bgv::Evaluator::new(&context, keys.evaluation.clone()).expect("evaluator");
    let bfv = bfv::Evaluator::new(&context, keys.evaluation.clone()).expect("evaluator");
    add(samples, "integer_parameters", &(), context.parameters());
    add(samples, "integer_plaintext", &context, &plaintext);
    add(samples, "bgv_product", &context, &bgv.square(&fresh).expect("one level"));
    add(samples, "bfv_product", &context, &bfv.square(&fresh.clone().convert()).expect("one level"));
    add(samples, "bgv_ciphertexts", &context, &integers::Ciphertexts(vec![fresh.clone(), fresh.clone()]));
    add(samples, "bgv_fresh", &context, &fresh);
    let layout = IntegerLayout::new(3, 2, 16, 8).and_then(|layout| layout.with_sizes(vec![10, 97]));
    let layout = layout.and_then(|layout| layout.with_column_names(vec!["x".into(), "y".into()])).expect("layout");
    let encoder = bfv::Encoder::new(&context);
    let symmetric = bfv::Encryptor::symmetric(&context, &keys.secret, seed(3)).expect("secret");
    let table = IntegerTable::encrypt(&encoder, &symmetric, layout, &[9, 96, 0, 1, 2, 3]).expect("in range");
    add(samples, "integer_table", &context, &table);
    add(samples, "integer_public_key", &(), &bgv::KeyFile { context, key: keys.public });
}

/// Keys of lookups, which are large, in one form.
fn add_lookups(samples: &mut Vec<(String, Vec<u8>)>) {
    let spec = bfv::ParametersSpec {
        log_n: 3,
        plaintext_modulus: 17,
        log_q: vec![40; 8],
        log_p: vec![40; 2],
        security: Security::None,
        ..bfv::ParametersSpec::default()
    };
    let context = bfv::Context::new(spec.build().expect("parameters")).expect("context");
    let secret = context.generate_keys(seed(1), &bfv::KeyRequest::default()).expect("keys").secret;
    let plan = LookupPlan::new(context.parameters(), [4, 3]).expect("room for it");
    let keys = LookupKeyFile::generate(&context, &plan, &secret, seed(2), None).expect("keys");
    samples.push(("lookup_keys.packed.noren".to_owned(), keys.to_bytes(&(), Form::Packed)));
}

/// Parameters and keys of TFHE, and fresh ciphertexts: the results of bootstraps have noise that instruction sets may
/// round in different ways.
fn add_tfhe(samples: &mut Vec<(String, Vec<u8>)>) {
    let context = |encoding| tfhe::Context::new(tfhe_spec(encoding).build().expect("parameters")).expect("context");
    let context = (context(tfhe::Encoding::Bits), context(tfhe::Encoding::Integers { message_bits: 1, carry_bits: 1 }));
    let secrets = (context.0.secret_key(&seed(1)), context.1.secret_key(&seed(1)));
    let encryptor = tfhe::Encryptor::new(&context.0, &secrets.0, seed(2)).expect("secret");
    let bits = [true, false].map(|value| encryptor.encrypt_bit(value).expect("a bit")).to_vec();
    let encryptor = tfhe::Encryptor::new(&context.1, &secrets.1, seed(2)).expect("secret");
    let integers = [1, 0, 1].map(|value| encryptor.encrypt(value).expect("a message")).to_vec();
    let digits = tfhe::Encoding::Integers { message_bits: 2, carry_bits: 2 };
    let digits = tfhe::Context::new(tfhe_spec(digits).build().expect("parameters")).expect("context");
    let owner = digits.secret_key(&seed(1));
    let encryptor = tfhe::Encryptor::new(&digits, &owner, seed(2)).expect("secret");
    let wide = [200, 7].map(|value| Integer::encrypt(&encryptor, value, 8).expect("an integer")).to_vec();
    let keys = context.0.compact_keys(&seed(1), &secrets.0).expect("its own secret");
    let parameters = context.0.parameters().clone();
    add(samples, "tfhe_parameters", &(), &parameters);
    add(samples, "tfhe_parameters_integers", &(), context.1.parameters());
    add(samples, "tfhe_bits", &parameters, &tfhe::Bits(bits));
    add(samples, "tfhe_ciphertexts", context.1.parameters(), &tfhe::Ciphertexts(integers));
    add(samples, "tfhe_integers", digits.parameters(), &Integers(wide));
    // -3 and 7 by their digits, and two truth values: what computations leave.
    let numbers = [1, 3, 3, 3, 3, 1, 0, 0].map(|digit| encryptor.encrypt(digit).expect("a message"));
    let truths = [true, false].map(|value| Flag::encrypt(&encryptor, value).expect("a truth value").value().clone());
    let column = |element, values| Column::of_digits(digits.parameters(), element, values).expect("digits");
    let fresh = |element, values: &[i128]| Column::encrypt(&encryptor, element, values).expect("values");
    let (signed, truth) = (Element::Signed(8), Element::Bool);
    for (name, a, b) in [
        ("tfhe_columns", column(signed, numbers.to_vec()), column(truth, truths.to_vec())),
        ("tfhe_columns_seeded", fresh(signed, &[-3, 7]), fresh(truth, &[1, 0])),
    ] {
        let columns = Columns::new(vec![1, 2], vec![("a".to_owned(), a), (String::new(), b)]);
        add(samples, name, digits.parameters(), &columns.expect("two values each"));
    }
    add(samples, "tfhe_keys", &(), &tfhe::KeyFile { parameters: parameters.clone(), key: keys });
    add(samples, "tfhe_secret_key", &(), &tfhe::KeyFile { parameters, key: secrets.0 });
    let mut light = tfhe_spec(tfhe::Encoding::Bits);
    let (trace, square) = (tfhe::Digits::new(4, 8), tfhe::Digits::new(7, 5));
    light.torus.light = Some(tfhe::LightSpec { log_count: 2, trace, square });
    let light = tfhe::Context::new(light.build().expect("parameters")).expect("context");
    let keys = light.light_keys(&seed(1), &light.secret_key(&seed(1))).expect("its own secret");
    add(samples, "tfhe_light_keys", &(), &tfhe::KeyFile { parameters: light.parameters().clone(), key: keys });
}

/// Compiled functions of each backend that is quick to plan, and what travels.
fn add_functions(samples: &mut Vec<(String, Vec<u8>)>) {
    for name in ["ckks", "bgv", "bfv", "bfv-lookups", "tfhe"] {
        let element = if name == "ckks" { graph::Element::Real } else { graph::Element::Integer };
        let mut graph = Graph::default();
        let range = Interval::new(0.0, 3.0);
        let input = Operation::Input { name: "x".into(), shape: vec![2], element, range };
        let x = graph.push(input, "f.py:1").expect("an input");
        let square = graph.push(Operation::Binary(Binary::Mul, x, x), "f.py:2").expect("a product");
        graph.finish(vec![square]).expect("an output");
        let options = Options { security: Security::None, ..Options::on(name) };
        let program = Program::compile(graph, &options).expect("a program");
        samples.push((format!("function_{name}.noren"), program.to_bytes()));
    }
    add_parcel::<Inputs>(samples, "inputs");
    add_parcel::<Outputs>(samples, "results");
    add_parcel::<KeysOfServer>(samples, "server_keys");
    add_parcel::<Secrets>(samples, "secret_keys");
}

fn add_parcel<P: Purpose>(samples: &mut Vec<(String, Vec<u8>)>, name: &str) {
    let parcel = Parcel::<P>::new([7; 32], vec![vec![1, 2, 3], vec![]]);
    samples.push((format!("function_{name}.noren"), parcel.to_bytes(&(), Form::Packed)));
}

fn add<T: Object>(samples: &mut Vec<(String, Vec<u8>)>, name: &str, context: &T::Context, object: &T) {
    for (form, suffix) in [(Form::Raw, "raw"), (Form::Packed, "packed")] {
        samples.push((format!("{name}.{suffix}.noren"), object.to_bytes(context, form)));
    }
}

#[test]
fn golden_bytes_are_unchanged() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden");
    let regenerate = std::env::var_os("NOREN_REGENERATE_GOLDEN").is_some_and(|value| value == "1");
    for (name, bytes) in samples() {
        let path = directory.join(&name);
        if regenerate {
            fs::create_dir_all(&directory)
                .and_then(|()| fs::write(&path, &bytes))
                .expect("the source tree is writable");
        } else {
            let golden = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert!(golden == bytes, "{name} has changed: old files can no longer be read, or machines disagree");
        }
    }
}

#[test]
fn golden_files_tell_of_their_objects_without_a_key() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden");
    for (file, pointer, needed) in [
        ("ciphertext_seeded.raw", "/ciphertexts/seeded", json!(1)),
        ("ciphertexts.packed", "/ciphertexts/count", json!(2)),
        ("table.packed", "/layout/column_names/1", json!("b")),
        ("evaluation_keys.raw", "/evaluation_keys/1/kind", json!("rotation by 1 (X -> X^5)")),
        ("bootstrap_keys.packed", "/evaluation_keys/0/kind", json!("the switch to the ephemeral secret")),
        ("switching_keys.packed", "/bootstrapping", json!("23d36e53")),
        ("function_ckks-switching_server_keys", "/contents/2/kind", json!(Kind::SWITCHING_KEYS.name())),
        ("bgv_ciphertexts.packed", "/ciphertexts/slots", json!(null)),
        ("integer_table.packed", "/ciphertexts/count", json!(4)),
        ("lookup_keys.packed", "/evaluation_keys/2/kind", json!("relinearisation of one-hot vectors")),
        ("tfhe_columns.raw", "/layout/columns/0/name", json!("a")),
        ("function_bfv", "/compiled/inputs/0/0", json!("x")),
    ] {
        let bytes = fs::read(directory.join(format!("{file}.noren"))).expect("a golden file");
        let mut reader = Reader::open_any(&bytes, &Limits::default()).expect("undamaged");
        let facts = serde_json::to_value(Facts::of(&mut reader).expect(file)).expect("JSON");
        assert_eq!(facts.pointer(pointer), Some(&needed), "{file}");
    }
}
