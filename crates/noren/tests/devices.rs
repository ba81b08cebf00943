//! Whole computations on a device whose memory is not the host's: the same bytes, and no row that moves while they run.

use std::fs;
use std::sync::Arc;

use noren::bootstrapping::{BootstrapKeys, Bootstrapper, Mode, ParametersSpec, Preset};
use noren::lookup::{Function, Lookup, LookupKeys, LookupPlan};
use noren::schemes::integers;
use noren::schemes::slots::SlotEvaluator;
use noren::wire::{Form, Kind, Limits, Object};
use noren::{Complex64, EvaluationKeys, Security, Seed, bfv, bgv, ckks};
use noren_naive::{Counting, Naive, Trace};
use noren_ring::device::Device;
use noren_ring::host::Host;
use noren_ring::parallel::Parallel;
use noren_rlwe::wire::expanded::MappedContainer;
use scratch::Scratch;

#[path = "../../noren-rlwe/tests/scratch/mod.rs"]
mod scratch;

fn seed(number: u8) -> Seed {
    Seed::from_bytes([number; 32])
}

/// An operation, whose result gives its bytes later.
type Operation = Box<dyn Fn() -> Box<dyn Fn() -> Vec<u8>>>;

/// A result, with what its bytes need.
fn result<T: Object + 'static>(x: T, context: &T::Context) -> Box<dyn Fn() -> Vec<u8>>
where
    T::Context: Clone,
{
    let context = context.clone();
    Box::new(move || x.to_bytes(&context, Form::Packed))
}

/// Runs an operation on the host, and twice on a device that counts: the first time masks and factors are encoded. The launches
/// of the second time.
fn launches(make: impl Fn(Arc<dyn Device>) -> Operation) -> Vec<&'static str> {
    let counting = Arc::new(Counting::new(Naive));
    let operation = make(counting.clone());
    let first = operation()();
    assert!(first == make(Arc::new(Host))()(), "the host gives the same bytes");
    counting.take();
    let second = operation();
    let trace = counting.take();
    assert!(second() == first, "the same bytes again");
    let Trace { launches, uploads, downloads } = trace;
    assert_eq!((uploads, downloads), (vec![], vec![]), "rows move within an operation");
    launches
}

/// A context of CKKS with keys, and a ciphertext.
fn ckks_world(device: Arc<dyn Device>) -> (ckks::Context, ckks::Keys, ckks::Ciphertext) {
    let spec = ckks::ParametersSpec {
        log_n: 6,
        log_q: vec![50, 40, 40],
        log_p: vec![50; 2],
        log_scale: 40,
        security: Security::None,
        ..ckks::ParametersSpec::default()
    };
    let parameters = spec.build().expect("parameters");
    let context = ckks::Context::on_device(parameters, Some(1), Parallel::default(), device).expect("a context");
    let request = ckks::KeyRequest { relinearization: true, rotations: vec![1, 2, 3], ..Default::default() };
    let keys = context.generate_keys(seed(1), &request).expect("keys");
    let values: Vec<f64> = (0..32).map(f64::from).collect();
    let plaintext = ckks::Encoder::new(&context).encode(&values, 32, 2).expect("a plaintext");
    let encryptor = ckks::Encryptor::public(&context, &keys.public, seed(2)).expect("an encryptor");
    let x = encryptor.encrypt(&plaintext).expect("a ciphertext");
    (context, keys, x)
}

fn ckks_on(device: Arc<dyn Device>, what: fn(&ckks::Evaluator, &ckks::Ciphertext) -> ckks::Ciphertext) -> Operation {
    let (context, keys, x) = ckks_world(device);
    let evaluator = ckks::Evaluator::new(&context, keys.evaluation).expect("an evaluator");
    Box::new(move || result(what(&evaluator, &x), &context))
}

#[test]
fn operations_of_ckks_are_few_launches() {
    let on = |what| launches(|device| ckks_on(device, what));
    assert_eq!(on(|ev, x| ev.mul(x, x).expect("a product")), ["switch"]);
    assert_eq!(on(|ev, x| ev.rotate(x, 3).expect("a key")), ["switch_each"]);
    assert_eq!(on(|ev, x| ev.rotate_many(x, &[1, 2, 3]).expect("keys").remove(2)), ["switch_each"]);
    assert_eq!(on(|ev, x| ev.add(x, x).expect("a sum")), ["compute"; 2]);
    assert_eq!(on(|ev, x| ev.mul_scalar(x, -0.5).expect("a product")), ["gather", "gather", "divide_round"]);
}

#[test]
fn files_of_expanded_keys_are_the_same_on_every_device() {
    let scratch = Scratch::new("expanded");
    let write = |name: &str, (context, keys, _): &(ckks::Context, ckks::Keys, _)| {
        let key = ckks::KeyFile { context: context.clone(), key: EvaluationKeys::clone(&keys.evaluation) };
        key.write_expanded(scratch.path(name).as_path()).expect("room");
        fs::read(scratch.path(name)).expect("a file")
    };
    let naive = ckks_world(Arc::new(Naive));
    assert!(write("naive", &naive) == write("host", &ckks_world(Arc::new(Host))));
    assert_eq!(scratch.names(), ["host", "naive"]);
    // The file is read, too: its rows are uploaded.
    let (context, keys, x) = naive;
    let container = MappedContainer::open(&scratch.path("host")).expect("a file");
    let mut reader = container.reader(Kind::EXPANDED_CKKS_EVALUATION_KEYS, &Limits::default()).expect("a container");
    ckks::Parameters::read(&(), &mut reader).expect("parameters");
    reader.next_item().expect("keys");
    let mapped = EvaluationKeys::map_expanded(context.rlwe(), &mut reader, &container, true).expect("keys");
    let square = |keys| {
        let evaluator = ckks::Evaluator::new(&context, keys).expect("an evaluator");
        evaluator.mul(&x, &x).expect("a product").to_bytes(&context, Form::Packed)
    };
    assert!(square(Arc::new(mapped)) == square(keys.evaluation));
}

fn integers_on<S: integers::Scheme>(device: Arc<dyn Device>) -> Operation {
    let spec = bgv::ParametersSpec {
        log_n: 6,
        plaintext_modulus: 257,
        log_q: vec![36; 4],
        log_p: vec![48; 2],
        security: Security::None,
        ..bgv::ParametersSpec::default()
    };
    let context = bgv::Context::on_device(spec.build().expect("parameters"), Some(1), device).expect("a context");
    let request = bgv::KeyRequest { relinearization: true, ..Default::default() };
    let keys = context.generate_keys(seed(1), &request).expect("keys");
    let evaluator = integers::Evaluator::<S>::new(&context, keys.evaluation.clone()).expect("keys");
    let values: Vec<i64> = (0..32).collect();
    let plaintext = bgv::Encoder::new(&context).encode_row(&values).expect("a plaintext");
    let encryptor = integers::Encryptor::public(&context, &keys.public, seed(2)).expect("an encryptor");
    let x: integers::Ciphertext<S> = encryptor.encrypt(&plaintext).expect("a ciphertext");
    Box::new(move || result(evaluator.mul(&x, &x).expect("a product"), &context))
}

#[test]
fn products_of_integers_are_few_launches() {
    // The factor t of the product, before its relinearisation.
    assert_eq!(launches(integers_on::<bgv::Bgv>), ["compute", "compute", "switch"]);
    assert_eq!(launches(integers_on::<bfv::Bfv>), ["switched_product"]);
}

#[test]
fn bootstrapping_moves_no_row() {
    let toy = Preset::Toy.spec();
    // Small enough for transforms by their definition.
    let parameters = ParametersSpec { log_n: 7, ..toy.with_log_slots(6) }.build().expect("parameters");
    let on = |device| -> Operation {
        let ckks = parameters.ckks().expect("primes");
        let context = ckks::Context::on_device(ckks, Some(1), Parallel::default(), device).expect("a context");
        let keys = context.generate_keys(seed(1), &ckks::KeyRequest::default()).expect("keys");
        let bootstrap = BootstrapKeys::generate(&context, &parameters, &keys.secret, seed(2), None).expect("keys");
        let bootstrapper =
            Bootstrapper::new(&context, &parameters, Arc::new(bootstrap), Mode::Complex).expect("its keys");
        let z: Vec<Complex64> = (0..64).map(|i| Complex64::new(f64::from(i) / 64.0, 0.5)).collect();
        let (level, encoder) = (parameters.input_level(), ckks::Encoder::new(&context));
        let scale = context.parameters().scale_at(level);
        let plaintext = encoder.encode_complex(&z, z.len(), level, scale).expect("a plaintext");
        let encryptor = ckks::Encryptor::public(&context, &keys.public, seed(3)).expect("an encryptor");
        let x = encryptor.encrypt(&plaintext).expect("a ciphertext");
        Box::new(move || result(bootstrapper.bootstrap(&x).expect("new levels"), &context))
    };
    assert_eq!(launches(on).len(), 88);
}

#[test]
fn lookups_move_no_row() {
    let function = Function::rule([16, 16], |x, y| Some((x * y) % 193));
    let on = |device| -> Operation {
        let spec = bfv::ParametersSpec {
            log_n: 5,
            plaintext_modulus: 193,
            log_q: vec![40; 5],
            log_p: vec![40; 2],
            security: Security::None,
            ..bfv::ParametersSpec::default()
        };
        let context = bfv::Context::on_device(spec.build().expect("parameters"), Some(1), device).expect("a context");
        let request = bfv::KeyRequest { relinearization: true, ..Default::default() };
        let keys = context.generate_keys(seed(1), &request).expect("keys");
        let evaluator = bfv::Evaluator::new(&context, keys.evaluation.clone()).expect("an evaluator");
        let plan = LookupPlan::new(context.parameters(), [16, 16]).expect("a plan");
        let lookup_keys = LookupKeys::generate(&context, seed(2), &keys.secret, &plan, None).expect("keys");
        let lookup = Lookup::prepare(&context, &plan, &function, None).expect("factors");
        let (layout, encoder) = (plan.layout(), bfv::Encoder::new(&context));
        let encryptor = bfv::Encryptor::public(&context, &keys.public, seed(3)).expect("an encryptor");
        let encrypt = |which: usize| {
            let plaintext = layout.encode(&encoder, &[7, 11], layout.domain()[which]).expect("numbers");
            encryptor.encrypt(&plaintext).expect("a ciphertext")
        };
        let (x, y) = (encrypt(0), encrypt(1));
        Box::new(move || {
            let mut results = lookup.evaluate_many(&evaluator, &lookup_keys, &[[&x, &y]], &|_| {}).expect("a result");
            result(results.remove(0), &context)
        })
    };
    assert_eq!(launches(on).len(), 47);
}
