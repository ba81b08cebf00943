//! Writes a corpus: a few valid files for each target.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use noren::backends::{Backends, Inputs, Parcel};
use noren::bootstrapping::{BootstrapKeyFile, BootstrapKeys, Preset};
use noren::ckks;
use noren::compiler::{Options, Program};
use noren::cost::Machine;
use noren::graph::{self, Binary, Function, Graph, Interval, Operation, Reduction};
use noren::lookup::{LookupKeyFile, LookupPlan};
use noren::owners::{Party, Request};
use noren::programs::EncryptedTable;
use noren::programs::TableLayout;
use noren::programs::columns::{Column, Columns, Element};
use noren::programs::{IntegerLayout, IntegerTable};
use noren::radix::{Integer, Integers};
use noren::retrieval::{self, Rows, intersection};
use noren::switching;
use noren::tables::{self, Query, Schema, Values};
use noren::{bfv, bgv, tfhe};
use noren_files::encrypted;
use noren_files::passphrase::{Passphrase, Work};
use noren_files::signature;
use noren_files::signing_key::SigningKey;
use noren_fuzz::{
    TFHE_DIGITS, TFHE_INTEGERS, bootstrap_parameters, ckks_context, context, integer_context, joint_session,
    slot_context, switch_context, tfhe_light_parameters, tfhe_parameters,
};
use noren_math::random::Seed;
use noren_ring::engine::Engine;
use noren_ring::parallel::Parallel;
use noren_ring::torus::product::TorusProduct;
use noren_ring::torus::ring::TorusRing;
use noren_rlwe::ciphertext::Plaintext;
use noren_rlwe::encrypt::Encryptor;
use noren_rlwe::key_request::KeyRequest;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::SecretKey;
use noren_rlwe::multiply::tensor;
use noren_rlwe::security::{SecretDistribution, Security};
use noren_rlwe::torus::digits::Digits;
use noren_rlwe::torus::keygen::TorusKeyGenerator;
use noren_rlwe::torus::scheme_switch::keys::CompactSwitchKeys;
use noren_rlwe::torus::scheme_switch::spec::SwitchSpec;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::publish::Existing;
use noren_rlwe::wire::reader::Limits;
use noren_rlwe::wire::writer::Form;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let context = context();
    let generator = KeyGenerator::new(context, Seed::from_bytes([1; 32]));
    let secret = generator.secret();
    let public = generator.public(&secret)?;
    let request = KeyRequest { relinearization: Some(2), galois: vec![(5, 1), (31, 2)] };
    let plaintext = |limbs| {
        let ring = context.ring_q(limbs);
        Plaintext { poly: ring.ntt(ring.from_signed(&[5; 16])) }
    };
    let fresh = Encryptor::public(context, &public, Seed::from_bytes([2; 32]))?.encrypt(&plaintext(2))?;
    let seeded = Encryptor::symmetric(context, &secret, Seed::from_bytes([3; 32]))?.encrypt(&plaintext(1))?;
    write("parameters", "all", &(), context.parameters())?;
    write("secret_key", "ternary", context, &secret)?;
    for (name, distribution) in
        [("sparse", SecretDistribution::SparseTernary(3)), ("gaussian", SecretDistribution::Gaussian)]
    {
        write("secret_key", name, context, &generator.ephemeral_secret(name, distribution)?)?;
    }
    write("public_key", "all", context, &public)?;
    write("key_switch_key", "one", context, &generator.relinearization(&secret, Some(1))?)?;
    write("key_switch_key", "two", context, &generator.relinearization(&secret, Some(2))?)?;
    write("switch_keys", "all", switch_context(), &switch_keys(&secret)?)?;
    write("evaluation_keys", "three", context, &generator.evaluation_keys(&secret, &request, None)?)?;
    write("evaluation_keys", "none", context, &generator.evaluation_keys(&secret, &KeyRequest::default(), None)?)?;
    write("plaintext", "one", context, &plaintext(1))?;
    write("plaintext", "two", context, &plaintext(2))?;
    write("ciphertext", "product", context, &tensor(context, &fresh, &fresh)?)?;
    write("ciphertext", "fresh", context, &fresh)?;
    write("ciphertext", "seeded", context, &seeded)?;
    write_ckks()?;
    write_integers()?;
    write_files()?;
    write_tfhe()
}

fn write_files() -> Result<()> {
    let passphrase = Passphrase::new("fuzz")?;
    for (name, content) in [("empty", &[][..]), ("short", &[7; 100]), ("chunks", &[7; 70_000])] {
        put("under_passphrase", name, &encrypted::encrypt(content, &passphrase, Work::LEAST)?)?;
    }
    let key = SigningKey::generate()?;
    put("signature", "key", key.to_text(None)?.as_bytes())?;
    put("signature", "key-under-passphrase", key.to_text(Some((&passphrase, Work::LEAST)))?.as_bytes())?;
    put("signature", "signer", key.signer().to_text().as_bytes())?;
    let signed = signature::sign(&corpus("signature").join("signer"), &key, Existing::Replace, None)?;
    Ok(put("signature", "signature", signed.signature.to_text().as_bytes())?)
}

fn write_tfhe() -> Result<()> {
    let seed = Seed::from_bytes([4; 32]);
    let bits = tfhe::Context::with_threads(tfhe_parameters(tfhe::Encoding::Bits), Some(1))?;
    let integers = tfhe::Context::with_threads(tfhe_parameters(TFHE_INTEGERS), Some(1))?;
    let (secret, other) = (bits.secret_key(&seed), integers.secret_key(&seed));
    let bit = tfhe::Encryptor::new(&bits, &secret, Seed::from_bytes([5; 32]))?.encrypt_bit(true)?;
    let integer = tfhe::Encryptor::new(&integers, &other, Seed::from_bytes([5; 32]))?.encrypt(1)?;
    let keys = bits.compact_keys(&seed, &secret)?;
    let circuit = tfhe_circuit_keys(integers.parameters(), &other, &seed)?;
    write("tfhe_parameters", "bits", &(), bits.parameters())?;
    write("tfhe_parameters", "integers", &(), integers.parameters())?;
    write("tfhe_bits", "two", bits.parameters(), &tfhe::Bits(vec![bit.clone(), bit]))?;
    write("tfhe_ciphertexts", "one", integers.parameters(), &tfhe::Ciphertexts(vec![integer]))?;
    let seeded = tfhe::Encryptor::new(&integers, &other, Seed::from_bytes([6; 32]))?.encrypt_seeded(&[1, 0])?;
    write("tfhe_seeded_ciphertexts", "two", integers.parameters(), &seeded)?;
    fs::create_dir_all(corpus("tfhe_server_keys"))?;
    let expanded = corpus("tfhe_server_keys").join("all");
    tfhe::ServerKeyFile::write(&expanded, &bits, &bits.expand(&keys)?)?;
    put("container", "tfhe_server_keys", &fs::read(expanded)?)?;
    let digits = tfhe::Context::with_threads(tfhe_parameters(TFHE_DIGITS), Some(1))?;
    let owner = digits.secret_key(&seed);
    let encryptor = tfhe::Encryptor::new(&digits, &owner, Seed::from_bytes([5; 32]))?;
    let two = [9, 4].map(|value| Integer::encrypt(&encryptor, value, 4));
    let two = Integers(two.into_iter().collect::<noren::Result<_>>()?);
    write("tfhe_integers", "two", digits.parameters(), &two)?;
    let [signed, truths] = [(Element::Signed(8), [-3, 7]), (Element::Bool, [1, 0])]
        .map(|(element, values)| Column::encrypt(&encryptor, element, &values));
    let (signed, truths) = (signed?, truths?);
    // Without their seeds, as results are.
    let expanded = [&signed, &truths].map(|column| (String::new(), column.gather(&[0, 1])));
    write("tfhe_columns", "expanded", digits.parameters(), &Columns::new(vec![2], expanded.to_vec())?)?;
    let columns = Columns::new(vec![2], vec![("a".to_owned(), signed), (String::new(), truths)])?;
    write("tfhe_columns", "two", digits.parameters(), &columns)?;
    write("tfhe_keys", "all", &(), &tfhe::KeyFile { parameters: bits.parameters().clone(), key: keys })?;
    write("tfhe_circuit_keys", "all", &(), &tfhe::KeyFile { parameters: integers.parameters().clone(), key: circuit })?;
    let light = tfhe::Context::with_threads(tfhe_light_parameters(), Some(1))?;
    let keys = light.light_keys(&seed, &light.secret_key(&seed))?;
    write("tfhe_parameters", "light", &(), light.parameters())?;
    write("tfhe_light_keys", "all", &(), &tfhe::KeyFile { parameters: light.parameters().clone(), key: keys })?;
    write("tfhe_secret_key", "all", &(), &tfhe::KeyFile { parameters: bits.parameters().clone(), key: secret })?;
    Ok(())
}

/// Keys with one digit of each kind.
fn switch_keys(secret: &SecretKey) -> Result<CompactSwitchKeys> {
    let (context, torus) = switch_context();
    let seed = Seed::from_bytes([8; 32]);
    let torus_secret = TorusKeyGenerator::new(torus, &seed).secret();
    let digits = Digits::new(8, 1);
    let parameters = SwitchSpec { down: digits, packing: digits }.build(torus, context.parameters())?;
    let engine = Engine::new(Some(1), Parallel::default(), 0)?;
    let ring = TorusRing::new(engine, TorusProduct::new(torus.shape().degree)?);
    Ok(CompactSwitchKeys::generate(context, (&ring, &ring), &parameters, (secret, &torus_secret), &seed)?)
}

/// Those between the secret of bootstrapping keys and one of integers, with one digit of each kind.
fn switching_keys(file: &BootstrapKeyFile, secret: &SecretKey) -> Result<switching::KeyFile> {
    let torus = tfhe::Context::with_threads(tfhe_parameters(TFHE_INTEGERS), Some(1))?;
    let digits = Digits::new(8, 1);
    let spec = SwitchSpec { down: digits, packing: digits };
    let parameters = switching::Parameters::with_digits(&file.parameters, torus.parameters(), spec)?;
    let context = switching::Context::new(&parameters, &file.context, &torus)?;
    let seed = Seed::from_bytes([9; 32]);
    Ok(switching::KeyFile::generate(&context, secret, &torus.secret_key(&seed), &seed)?)
}

/// Keys with one digit of each kind.
fn tfhe_circuit_keys(
    parameters: &tfhe::Parameters,
    secret: &tfhe::SecretKey,
    seed: &Seed,
) -> Result<tfhe::CompactCircuitKeys> {
    let digits = Digits::new(8, 1);
    let spec = tfhe::CircuitSpec { rotation: digits, trace: digits, square: digits, control: digits };
    let product = TorusProduct::new(parameters.torus().shape().degree)?;
    let engine = Engine::new(Some(1), Parallel::default(), 0)?;
    Ok(tfhe::CompactCircuitKeys::generate(&engine, &product, &spec.build(parameters.torus())?, secret, seed)?)
}

fn write_integers() -> Result<()> {
    let context = integer_context();
    let request = bgv::KeyRequest { relinearization: true, ..bgv::KeyRequest::default() };
    let keys = context.generate_keys(Seed::from_bytes([4; 32]), &request)?;
    let plaintext = bgv::Encoder::new(context).encode(&[1, -2, 96])?;
    let encryptor: bgv::Encryptor = bgv::Encryptor::symmetric(context, &keys.secret, Seed::from_bytes([5; 32]))?;
    let fresh = encryptor.encrypt(&plaintext)?;
    let lazy = bgv::Evaluator::new(context, keys.evaluation)?.mul_no_relinearize(&fresh, &fresh)?;
    write("integer_parameters", "all", &(), context.parameters())?;
    write("integer_parameters", "index", &(), slot_context().parameters())?;
    let entries = bgv::Entries::Elements(&[1, 0, 3, 2, 0, 1]);
    write("slot_matrix", "elements", slot_context(), &bgv::SlotMatrix::new(slot_context(), [1, 1], entries, 2)?)?;
    let entries = bgv::Entries::Numbers(&[1, 0, 3, 2]);
    write("slot_matrix", "numbers", slot_context(), &bgv::SlotMatrix::new(slot_context(), [2, 2], entries, 1)?)?;
    fs::create_dir_all(corpus("prepared_slot_matrix"))?;
    for (name, entries) in [("elements", bgv::Entries::Elements(&[1, 0, 3, 2, 0, 1])), ("numbers", entries)] {
        let shape = if name == "numbers" { [2, 2] } else { [1, 1] };
        let matrix = bgv::SlotMatrix::new(slot_context(), shape, entries, 2)?;
        matrix.save_prepared(slot_context(), &corpus("prepared_slot_matrix").join(name))?;
    }
    write("integer_plaintext", "all", context, &plaintext)?;
    write("bgv_ciphertext", "fresh", context, &fresh)?;
    write("bgv_ciphertext", "product", context, &lazy)?;
    write("bfv_ciphertext", "fresh", context, &fresh.convert::<bfv::Bfv>())?;
    let symmetric = bfv::Encryptor::symmetric(context, &keys.secret, Seed::from_bytes([6; 32]))?;
    let layout =
        IntegerLayout::new(3, 2, 16, 8)?.with_sizes(vec![10, 97])?.with_column_names(vec!["x".into(), "y".into()])?;
    let table = IntegerTable::encrypt(&bfv::Encoder::new(context), &symmetric, layout, &[9, 96, 0, 1, 2, 3])?;
    write("integer_table", "two", context, &table)?;
    write_lookups()
}

/// Keys of lookups in the smallest ring.
fn write_lookups() -> Result<()> {
    let spec = bfv::ParametersSpec {
        log_n: 3,
        plaintext_modulus: 17,
        log_q: vec![40; 8],
        log_p: vec![40; 2],
        security: Security::None,
        ..bfv::ParametersSpec::default()
    };
    let context = bfv::Context::with_threads(spec.build()?, Some(1))?;
    let secret = context.generate_keys(Seed::from_bytes([4; 32]), &bfv::KeyRequest::default())?.secret;
    let plan = LookupPlan::new(context.parameters(), [4, 3])?;
    let keys = LookupKeyFile::generate(&context, &plan, &secret, Seed::from_bytes([5; 32]), None)?;
    expanded("lookup", |path| Ok(keys.write_expanded(path)?))?;
    let evaluation = bfv::KeyFile { context, key: (*keys.evaluation).clone() };
    expanded("integers", |path| Ok(evaluation.write_expanded(path)?))?;
    write("lookup_keys", "small", &(), &keys)
}

/// Writes expanded keys for their own target and for that of containers.
fn expanded(name: &str, write: impl FnOnce(&Path) -> Result<u64>) -> Result<()> {
    fs::create_dir_all(corpus("mapped_evaluation_keys"))?;
    let path = corpus("mapped_evaluation_keys").join(name);
    write(&path)?;
    Ok(put("container", &format!("mapped_evaluation_keys-{name}"), &fs::read(path)?)?)
}

fn write_ckks() -> Result<()> {
    let context = ckks_context();
    let keys = context.generate_keys(Seed::from_bytes([4; 32]), &ckks::KeyRequest::default())?;
    let encoder = ckks::Encoder::new(context);
    let encode = |level| encoder.encode(&[0.5, -0.25, 0.125], 4, level);
    let public = ckks::Encryptor::public(context, &keys.public, Seed::from_bytes([5; 32]))?;
    let secret = ckks::Encryptor::symmetric(context, &keys.secret, Seed::from_bytes([6; 32]))?;
    let ciphertexts = vec![public.encrypt(&encode(1)?)?, secret.encrypt(&encode(0)?)?];
    write("ckks_parameters", "all", &(), context.parameters())?;
    let restarts = vec![(0, 20)];
    let staged = ckks::ParametersSpec { restarts, ..context.parameters().spec().clone() };
    write("ckks_parameters", "restarts", &(), &staged.build()?)?;
    write("ckks_plaintext", "all", context, &encode(1)?)?;
    write("ckks_ciphertext", "public", context, &ciphertexts[0])?;
    write("ckks_ciphertext", "secret", context, &ciphertexts[1])?;
    write("ckks_ciphertexts", "two", context, &ckks::Ciphertexts(ciphertexts))?;
    let layout = TableLayout::new(3, 2, 4)?.with_column_names(vec!["a".into(), "b".into()])?;
    let table = EncryptedTable::encrypt(&encoder, &secret, layout, &[0.5; 6], 1)?;
    write("table", "two", context, &table)?;
    write_texts()?;
    write_key_files()
}

/// A graph of the compiler with most operations, and a message.
fn write_compiled() -> Result<()> {
    let mut graph = Graph::default();
    let range = Interval::new(0.0, 3.0);
    let input = Operation::Input { name: "x".into(), shape: vec![2, 2], element: graph::Element::Integer, range };
    let x = graph.push(input, "f.py:1")?;
    let table =
        Operation::Table { of: x, first: 0, values: vec![5.0, 6.0, 7.0, 8.0], element: graph::Element::Integer };
    let found = graph.push(table, "f.py:2")?;
    let sums = graph.push(Operation::MatMul { of: found, columns: 1, matrix: vec![1.0, -2.0] }, "f.py:3")?;
    let turned = Operation::Gather { of: sums, shape: vec![2], positions: vec![1, -1] };
    let turned = graph.push(turned, "")?;
    let total = graph.push(Operation::Reduce(Reduction::Sum, turned, vec![0]), "f.py:4")?;
    let smooth = graph.push(Operation::Function { name: Function::Tanh, of: total, error: 0.0 }, "f.py:5")?;
    let power = graph.push(Operation::Polynomial(smooth, vec![0.5, 0.0, 1.0]), "f.py:6")?;
    let shares = graph.push(Operation::Function { name: Function::Tanh, of: found, error: 0.0 }, "f.py:6")?;
    let patterns = vec![vec![[2, 1, 1]], vec![]];
    let blocks = vec![[0, 0, 1], [1, 1, 0]];
    let matrix = graph::SparseMatrix { patterns, blocks, values: vec![0.5, -1.0] };
    let sparse = graph.push(Operation::Sparse { of: shares, columns: 3, matrix }, "f.py:6")?;
    let sorted = graph.push(Operation::Sort(found, 1), "f.py:6")?;
    let place = graph.push(Operation::ArgMax(sorted, 0), "f.py:6")?;
    let difference = graph.push(Operation::Binary(Binary::Sub, power, smooth), "f.py:7")?;
    graph.finish(vec![difference, found, place, sparse])?;
    put("compiler_graph", "several", graph.to_json().as_bytes())?;
    let message = Parcel::<Inputs>::new([7; 32], vec![vec![1, 2, 3], vec![]]);
    put("compiler_message", "two", &message.to_bytes(&(), Form::Packed))?;
    write_descriptions()?;
    write_joint()?;
    write_programs()
}

/// Descriptions of tables of another.
fn write_descriptions() -> Result<()> {
    let rows: [(&[u8], &[u8]); 2] = [(b"a", b"a row"), (b"b", b"another")];
    for (name, rows) in [("numbers", Rows::Numbered(&[b"a row", b"a row"])), ("keywords", Rows::Named(&rows))] {
        let database = retrieval::Database::new(rows, Security::None)?;
        put("retrieval_description", name, &database.plan().to_bytes())?;
    }
    let options = intersection::Options { asked: 5, security: Security::None, ..intersection::Options::default() };
    let database = intersection::Database::new(Rows::Named(&rows), &options, &Seed::from_bytes([1; 32]))?;
    Ok(put("intersection_description", "rows", &database.plan().to_bytes())?)
}

/// A session of joint keys, and the messages of its parties in all rounds.
fn write_joint() -> Result<()> {
    let session = joint_session();
    put("joint_session", "session", &session.to_bytes())?;
    let mut parties = Vec::new();
    for (at, name) in (1..).zip(session.names()) {
        parties.push(Party::new(session, name, &Seed::from_bytes([at; 32]))?);
    }
    let mut messages = Vec::new();
    for round in parties[0].transcript().rounds() {
        let next = |party: &mut Party| party.next(&messages).map(Option::unwrap_or_default);
        let sent = parties.iter_mut().map(next).collect::<noren::Result<Vec<_>>>()?;
        put("joint_session", round.name(), &sent[0])?;
        messages = sent;
    }
    parties[0].next(&messages)?;
    let public = parties[0].transcript().public_key()?;
    let plaintext = bfv::Encoder::new(session.context()).encode(&[1, 2, 3])?;
    let x = bfv::Encryptor::public(session.context(), &public, Seed::from_bytes([9; 32]))?.encrypt(&plaintext)?;
    Ok(put("joint_session", "request", &Request::new(session, &[&x])?.to_bytes(session))?)
}

/// Compiled functions of each scheme.
fn write_programs() -> Result<()> {
    let range = Interval::new(0.0, 3.0);
    let graph = |element| -> Result<Graph> {
        let mut graph = Graph::default();
        let x = graph.push(Operation::Input { name: "x".into(), shape: vec![2], element, range }, "f.py:1")?;
        let square = graph.push(Operation::Binary(Binary::Mul, x, x), "f.py:2")?;
        graph.finish(vec![square])?;
        Ok(graph)
    };
    for backend in Backends::ALL.0 {
        let element = if backend.is_exact() { graph::Element::Integer } else { graph::Element::Real };
        let program = Program::compile(graph(element)?, &Options::on(backend.name()))?;
        put("compiler_program", backend.name(), &program.to_bytes())?;
    }
    Ok(())
}

/// Machines and workloads of the advisor.
fn write_advisor() -> Result<()> {
    let mut machine = Machine::reference();
    put("advisor_machine", "two-threads", machine.to_json().as_bytes())?;
    machine.units.truncate(1);
    machine.torus.truncate(1);
    put("advisor_machine", "one-thread", machine.to_json().as_bytes())?;
    let texts = [
        ("reals", r#"{"computation": {"inner-product": {"length": 8}}, "values": {"real": {"bits": 20}}}"#),
        ("integers", r#"{"computation": {"matrix": {"rows": 2, "columns": 4}}, "values": {"integer": {"bits": 4}}}"#),
        ("table", r#"{"computation": {"table": {"inputs": 2}}, "values": {"integer": {"bits": 4, "result_bits": 4}}}"#),
        (
            "comparison",
            r#"{"computation": "compare", "values": {"real": {"bits": 10}}, "instances": 3, "objective": "once", "log2_failure": -50, "dead_zone": 0.1}"#,
        ),
    ];
    for (name, text) in texts {
        put("advisor_workload", name, text.as_bytes())?;
    }
    Ok(())
}

/// A question on a table, and its program.
fn write_questions() -> Result<()> {
    let text = "SELECT d, count(*) AS n, sum(\"b c\"), median(a), histogram(a, -7, 0, 1e2) FROM t \
                WHERE NOT (a BETWEEN -3 AND 20 OR d IN ('x', 'it''s')) AND \"b c\" >= 0.5 GROUP BY d;";
    put("table_question", "all", text.as_bytes())?;
    let columns = vec![tables::Column { name: "a".to_owned(), values: Values::Integers { low: 0, high: 3 } }];
    let query = Query::compile(&Schema { rows: 4, columns }, "sum(a) where a > 1", &Options::default())?;
    Ok(put("compiler_program", "question", &query.program().to_bytes())?)
}

/// Tables and models as users write them.
fn write_texts() -> Result<()> {
    write_questions()?;
    put("csv", "names", b"age,pressure\n54,131.5\n61,142\n")?;
    put("csv", "numbers", b"1e-3,-2\n3,4\n")?;
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }";
    let npy = [b"\x93NUMPY\x01\x00\x76\x00".as_slice(), format!("{header:<117}\n").as_bytes(), &[0; 16]].concat();
    put("npy", "pair", &npy)?;
    write_compiled()?;
    write_advisor()?;
    put("model", "linear", br#"{"weights": [1.5, -2], "bias": 1, "mean": [0, 1], "scale": [1, 2]}"#)?;
    put("model", "logistic", br#"{"weights": [1.5, -2], "interval": 8, "error": 1e-3}"#)?;
    put("model", "polynomial", br#"{"coefficients": [1, 0, 2], "basis": "chebyshev", "interval": [-2, 2]}"#)?;
    put("model", "pairs", br#"{"pairs": [[0, 1]]}"#)?;
    put("model", "spread", br#"{"ddof": 1}"#)?;
    Ok(())
}

fn write_key_files() -> Result<()> {
    let context = ckks_context();
    for (name, rotations) in [("none", vec![]), ("one", vec![1])] {
        let request = ckks::KeyRequest { rotations, ..ckks::KeyRequest::default() };
        let keys = context.generate_keys(Seed::from_bytes([4; 32]), &request)?;
        let evaluation = (*keys.evaluation).clone();
        let new = context.generate_keys(Seed::from_bytes([8; 32]), &ckks::KeyRequest::default())?.secret;
        let rotation = context.reencryption_key(&keys.secret, &new, Seed::from_bytes([9; 32]))?;
        write("ckks_reencryption_key", name, &(), &ckks::KeyFile { context: context.clone(), key: rotation })?;
        let receiver = context.receiver_key(&new, Seed::from_bytes([10; 32]))?;
        let handover = context.reencryption_key_for(&keys.secret, &receiver, Seed::from_bytes([11; 32]))?;
        let handover = ckks::KeyFile { context: context.clone(), key: handover };
        write("ckks_reencryption_key", &format!("{name}-handover"), &(), &handover)?;
        write("ckks_receiver_key", name, &(), &ckks::KeyFile { context: context.clone(), key: receiver })?;
        write("ckks_secret_key", name, &(), &ckks::KeyFile { context: context.clone(), key: keys.secret })?;
        write("ckks_public_key", name, &(), &ckks::KeyFile { context: context.clone(), key: keys.public })?;
        let evaluation = ckks::KeyFile { context: context.clone(), key: evaluation };
        write("ckks_evaluation_keys", name, &(), &evaluation)?;
        expanded(&format!("ckks-{name}"), |path| Ok(evaluation.write_expanded(path)?))?;
    }
    write_bootstrapping()
}

/// Parameters and keys of bootstrapping.
fn write_bootstrapping() -> Result<()> {
    let parameters = bootstrap_parameters();
    write("bootstrap_parameters", "tiny", &(), &parameters)?;
    for preset in Preset::ALL {
        write("bootstrap_parameters", preset.name(), &(), &preset.parameters()?)?;
    }
    let context = ckks::Context::with_threads(parameters.ckks()?, Some(1))?;
    let secret = context.generate_keys(Seed::from_bytes([7; 32]), &ckks::KeyRequest::default())?.secret;
    let keys = BootstrapKeys::generate(&context, &parameters, &secret, Seed::from_bytes([8; 32]), None)?;
    let file = BootstrapKeyFile { context, parameters, keys: Arc::new(keys) };
    write("bootstrap_keys", "tiny", &(), &file)?;
    write("switching_keys", "tiny", &(), &switching_keys(&file, &secret)?)?;
    for (form, name) in [(Form::Raw, "raw"), (Form::Packed, "packed")] {
        put("bootstrap_key_file", name, &file.to_bytes(&(), form))?;
    }
    let seeded = corpus("bootstrap_key_file").join("packed");
    fs::create_dir_all(corpus("mapped_key_file"))?;
    let expanded = corpus("mapped_key_file").join("tiny");
    BootstrapKeyFile::expand(&seeded, &expanded, &Limits::default(), &mut |_| {})?;
    put("container", "expanded_bootstrap_keys", &fs::read(expanded)?)?;
    Ok(())
}

/// Writes an object for its own target and for that of containers, in both forms.
fn write<T: Object>(target: &str, name: &str, context: &T::Context, object: &T) -> Result<()> {
    for (form, suffix) in [(Form::Raw, "raw"), (Form::Packed, "packed")] {
        let bytes = object.to_bytes(context, form);
        put(target, &format!("{name}-{suffix}"), &bytes)?;
        put("container", &format!("{target}-{name}-{suffix}"), &bytes)?;
    }
    Ok(())
}

fn put(target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let directory = corpus(target);
    fs::create_dir_all(&directory)?;
    fs::write(directory.join(name), bytes)
}

/// Where the files of a target lie.
fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}
