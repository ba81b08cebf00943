//! What every fuzz target claims of the bytes that it is given.
//!
//! Make a corpus first: `cargo run --manifest-path fuzz/Cargo.toml --example seeds`, then
//! `cargo +nightly fuzz run TARGET`. The digest is not checked here, as a fuzzer cannot make it right.

use std::fs;
use std::path::PathBuf;
use std::process;
use std::sync::{Arc, OnceLock};

use noren::EvaluationKeys;
use noren::bgv;
use noren::bootstrapping::{self, BootstrapKeyFile, Bootstrapper, Mode, Preset};
use noren::bootstrapping::{EvalMod, Primes, Transform};
use noren::bootstrapping::{GiantOrder, Group};
use noren::ckks::{self, Ciphertext, Encoder, Encryptor, KeyRequest};
use noren::lookup::LookupKeyFile;
use noren::owners::Session;
use noren::tfhe;
use noren_math::cyclotomic::Cyclotomic;
use noren_math::prime::primes_below;
use noren_math::random::Seed;
use noren_ring::ring::Ring;
use noren_rlwe::context::Context;
use noren_rlwe::parameters::{Parameters, ParametersSpec};
use noren_rlwe::security::Security;
use noren_rlwe::torus::parameters::TorusParameters;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::{Limits, Reader};
use noren_rlwe::wire::writer::Form;

/// Where the digest stands in the header.
const DIGEST: std::ops::Range<usize> = 64..96;

/// Where the version stands in the header.
const VERSION: std::ops::Range<usize> = 8..10;

/// Everything but the digest is checked.
pub const LIMITS: Limits = Limits { max_bytes: 1 << 30, check_digest: false };

/// The parameters of the corpus: two digits, one special prime, degree 16.
#[must_use]
pub fn parameters() -> Parameters {
    let (q, p) = (primes_below(1 << 30, 32).take(2).collect(), primes_below(1 << 31, 32).take(1).collect());
    let spec = ParametersSpec { index: 32, q, p, security: Security::None, ..ParametersSpec::default() };
    spec.build().expect("a tiny ring without security")
}

/// The context of the corpus.
pub fn context() -> &'static Context {
    static CONTEXT: OnceLock<Context> = OnceLock::new();
    CONTEXT.get_or_init(|| Context::with_threads(parameters(), Some(1)).expect("a tiny ring"))
}

/// The context of scheme switching of the corpus: its ring, and samples over the torus of the same degree.
pub fn switch_context() -> &'static (Context, TorusParameters) {
    static CONTEXT: OnceLock<(Context, TorusParameters)> = OnceLock::new();
    CONTEXT.get_or_init(|| (context().clone(), tfhe_parameters(tfhe::Encoding::Bits).torus().clone()))
}

/// The context of the CKKS objects of the corpus: two levels, one special prime, degree 16.
pub fn ckks_context() -> &'static ckks::Context {
    static CONTEXT: OnceLock<ckks::Context> = OnceLock::new();
    CONTEXT.get_or_init(|| {
        let spec = ckks::ParametersSpec {
            log_n: 4,
            log_q: vec![30, 25],
            log_p: vec![30],
            log_scale: 25,
            security: Security::None,
            ..ckks::ParametersSpec::default()
        };
        let parameters = spec.build().expect("a tiny ring without security");
        ckks::Context::with_threads(parameters, Some(1)).expect("a tiny ring")
    })
}

/// The context of the integers of the corpus: slots modulo 97, two limbs, one special prime, degree 16.
pub fn integer_context() -> &'static bgv::Context {
    static CONTEXT: OnceLock<bgv::Context> = OnceLock::new();
    CONTEXT.get_or_init(|| {
        let spec = bgv::ParametersSpec {
            log_n: 4,
            plaintext_modulus: 97,
            log_q: vec![30, 30],
            log_p: vec![30],
            security: Security::None,
            ..bgv::ParametersSpec::default()
        };
        let parameters = spec.build().expect("a tiny ring without security");
        bgv::Context::with_threads(parameters, Some(1)).expect("a tiny ring")
    })
}

/// The context of slots in dimensions of the corpus: modulo 4 in the ring of index 21, two limbs, one special prime.
pub fn slot_context() -> &'static bgv::Context {
    static CONTEXT: OnceLock<bgv::Context> = OnceLock::new();
    CONTEXT.get_or_init(|| {
        let spec = integer_context().parameters().spec().clone();
        let spec = bgv::ParametersSpec { log_n: 0, index: 21, plaintext_modulus: 4, ..spec };
        bgv::Context::with_threads(spec.build().expect("a tiny ring"), Some(1)).expect("a tiny ring")
    })
}

/// The session of joint keys of the corpus: two parties, degree 32, keys for products and a rotation.
///
/// # Panics
/// Never: the parameters are supported.
pub fn joint_session() -> &'static Session {
    static SESSION: OnceLock<Session> = OnceLock::new();
    SESSION.get_or_init(|| {
        let opening = bgv::Opening { parties: 2, results: 1, distance: 64 };
        let spec = bgv::ParametersSpec {
            log_n: 5,
            plaintext_modulus: 193,
            log_q: vec![30, 30],
            log_p: vec![30],
            secret: opening.secret(),
            security: Security::None,
            ..bgv::ParametersSpec::default()
        };
        let request = bgv::KeyRequest { relinearization: true, rotations: vec![1], ..bgv::KeyRequest::default() };
        let parameters = spec.build().expect("a tiny ring");
        Session::new(&parameters, &["a", "b"], &request, opening, &Seed::from_bytes([1; 32])).expect("two names")
    })
}

/// The parameters of TFHE of the corpus: bits, or integers of one bit and a carry, degree 16.
#[must_use]
pub fn tfhe_parameters(encoding: tfhe::Encoding) -> tfhe::Parameters {
    tfhe_spec(encoding).build().expect("tiny dimensions without security")
}

/// Those of light keys.
#[must_use]
pub fn tfhe_light_parameters() -> tfhe::Parameters {
    let mut spec = tfhe_spec(tfhe::Encoding::Bits);
    let digits = tfhe::Digits::new(4, 2);
    spec.torus.light = Some(tfhe::LightSpec { log_count: 1, trace: digits, square: digits });
    spec.build().expect("tiny dimensions without security")
}

fn tfhe_spec(encoding: tfhe::Encoding) -> tfhe::ParametersSpec {
    let torus = tfhe::TorusSpec {
        n: 4,
        k: 1,
        log_degree: 4,
        lwe_noise: tfhe::TorusNoise::Gaussian(1e-7),
        glwe_noise: tfhe::TorusNoise::TUniform(20),
        log_base: 8,
        levels: 1,
        grouping: tfhe::Grouping::Pair,
        light: None,
        switch_log_base: 4,
        switch_levels: 1,
        security: Security::None,
    };
    tfhe::ParametersSpec { torus, encoding, max_noise: 3.0, max_failure_log2: 0.0 }
}

/// Those of integers.
pub const TFHE_INTEGERS: tfhe::Encoding = tfhe::Encoding::Integers { message_bits: 1, carry_bits: 1 };

/// Those of digits of integers.
pub const TFHE_DIGITS: tfhe::Encoding = tfhe::Encoding::Integers { message_bits: 2, carry_bits: 2 };

/// The parameters of bootstrapping of the corpus: one application level, 8 slots, degree 16.
#[must_use]
pub fn bootstrap_parameters() -> bootstrapping::Parameters {
    let transform = |bits, layers: &[u32]| Transform {
        bits,
        groups: layers.iter().map(|&layers| Group { layers, baby_steps: 2 }).collect(),
        giants: GiantOrder::Horner,
    };
    let toy = Preset::Toy.spec();
    let spec = bootstrapping::ParametersSpec {
        log_n: 4,
        log_slots: 3,
        slot_to_coeff: transform(34, &[3]),
        application: Primes { count: 1, bits: 42 },
        coeff_to_slot: transform(48, &[3]),
        eval_mod: EvalMod { interval: 4, doublings: 1, degree: 15, ..toy.eval_mod },
        dnum: 2,
        ephemeral_weight: 2,
        ..toy
    };
    spec.build().expect("a tiny ring without security")
}

/// Any bytes are refused, or are exactly those that the object in them is written as.
///
/// # Panics
/// If they are not.
pub fn object<T: Object>(context: &T::Context, bytes: &[u8]) {
    let Ok(object) = T::from_bytes_within(context, bytes, &LIMITS) else {
        return;
    };
    let reader = Reader::open(bytes, T::KIND, &LIMITS).expect("it was read before");
    let again = object.to_bytes(context, reader.form().unwrap_or_default());
    assert_eq!(again.len(), bytes.len(), "the length has changed");
    // What is read of an earlier version is written in the present one.
    let known =
        |bytes: &[u8]| [&bytes[..VERSION.start], &bytes[VERSION.end..DIGEST.start], &bytes[DIGEST.end..]].concat();
    assert!(known(&again) == known(bytes), "one object has two encodings");
    // And now with the right digest.
    T::from_bytes(context, &again).map(drop).expect("what is written is read");
}

/// Any bytes in a file are refused, or are read key by key as the same bootstrapping keys that they are as a whole.
///
/// # Panics
/// If the readers do not agree.
pub fn key_file(bytes: &[u8]) {
    let path = file_of(bytes);
    let read = BootstrapKeyFile::read(&path, &LIMITS, &mut |_| {}).ok();
    let whole = BootstrapKeyFile::from_bytes_within(&(), bytes, &LIMITS).ok();
    let written = |file: &BootstrapKeyFile| file.to_bytes(&(), Form::Packed);
    assert_eq!(read.as_ref().map(written), whole.as_ref().map(written), "a file is read as something else");
    let contents = BootstrapKeyFile::contents(&path, &LIMITS);
    if let Some(file) = read {
        assert!(contents.expect("it was read").parameters == file.parameters);
    }
}

/// Any bytes in a file are refused, or are keys with which a bootstrap gives a result, unless they name another secret key:
/// words of keys are only numbers.
///
/// # Panics
/// If it gives none.
pub fn mapped_key_file(bytes: &[u8]) {
    let path = file_of(bytes);
    let contents = BootstrapKeyFile::contents(&path, &LIMITS);
    let Ok(file) = BootstrapKeyFile::map(&path, &LIMITS) else {
        return;
    };
    assert!(contents.expect("it was mapped").parameters == file.parameters);
    let (parameters, ciphertext) = renewable();
    if file.parameters == *parameters {
        let bootstrapper = Bootstrapper::new(&file.context, parameters, Arc::clone(&file.keys), Mode::Complex);
        let bootstrapper = bootstrapper.expect("all keys are there");
        if bootstrapper.owner().key == ciphertext.key_id() {
            bootstrapper.bootstrap(ciphertext).expect("all keys are there");
        }
    }
}

/// Any bytes in a file are refused, or are evaluation keys or lookup keys with which a ciphertext of their secret key is
/// multiplied and rotated: words of keys are only numbers.
///
/// # Panics
/// If there is no product or no rotation that the keys serve.
pub fn mapped_evaluation_keys(bytes: &[u8]) {
    static X: OnceLock<Ciphertext> = OnceLock::new();
    let path = file_of(bytes);
    let of_integers = bgv::KeyFile::<EvaluationKeys>::map(&path, &LIMITS).is_ok();
    let of_lookups = LookupKeyFile::map(&path, &LIMITS).is_ok();
    let Ok(file) = ckks::KeyFile::<EvaluationKeys>::map(&path, &LIMITS) else {
        return;
    };
    assert!(!of_integers && !of_lookups, "a file has one kind");
    let context = ckks_context();
    if file.context.parameters() != context.parameters() {
        return;
    }
    let x = X.get_or_init(|| {
        let keys = context.generate_keys(Seed::from_bytes([4; 32]), &KeyRequest::default()).expect("a tiny ring");
        let message = Encoder::new(context).encode(&[0.5, -0.25], 2, 1).expect("slots");
        let encryptor = Encryptor::symmetric(context, &keys.secret, Seed::from_bytes([9; 32])).expect("its secret");
        encryptor.encrypt(&message).expect("its context")
    });
    let request = file.key.request();
    let evaluator = ckks::Evaluator::new(context, Arc::new(file.key)).expect("keys of the context");
    if evaluator.keys().owner().key != x.key_id() {
        return;
    }
    let limbs = x.level() + 1;
    if request.relinearization.is_some_and(|most| most >= limbs) {
        evaluator.square(x).expect("its key is there");
    }
    for steps in [1, 2, 3] {
        if evaluator.check_rotations(x, &[steps]).is_ok() {
            evaluator.rotate(x, steps).expect("its key is there");
        }
    }
}

/// Any bytes in a file are refused, or are a matrix that multiplies an encrypted vector: words of factors are only numbers.
///
/// # Panics
/// If it gives no product.
pub fn prepared_slot_matrix(bytes: &[u8]) {
    static WORLD: OnceLock<(bgv::Evaluator, bgv::Ciphertext)> = OnceLock::new();
    let context = slot_context();
    let Ok(matrix) = bgv::SlotMatrix::open(context, &file_of(bytes), &LIMITS) else {
        return;
    };
    let (evaluator, x) = WORLD.get_or_init(|| {
        let automorphisms = bgv::SlotMatrix::automorphisms_of_all(context, true).expect("slots");
        let request = bgv::KeyRequest { automorphisms, ..bgv::KeyRequest::default() };
        let keys = context.generate_keys(Seed::from_bytes([6; 32]), &request).expect("keys");
        let encryptor: bgv::Encryptor =
            bgv::Encryptor::symmetric(context, &keys.secret, Seed::from_bytes([7; 32])).expect("its own key");
        let ones = vec![1; context.parameters().slots()];
        let x = bgv::Encoder::new(context).encode(&ones).and_then(|x| encryptor.encrypt(&x)).expect("a vector");
        (bgv::Evaluator::new(context, keys.evaluation).expect("its own keys"), x)
    });
    let fits = x.clone().with_length(Some(matrix.shape()[1])).expect("columns are slots");
    // Coefficients may be so large that no budget is left, and steps such that there is no key.
    let _ = evaluator.multiply_matrix(&matrix, &fits);
}

/// Any bytes in a file are refused, or are keys with which a gate gives a bit: words of keys are only numbers.
///
/// # Panics
/// If it gives none.
pub fn mapped_tfhe_keys(bytes: &[u8]) {
    let Ok(file) = tfhe::ServerKeyFile::map(&file_of(bytes), &LIMITS, Some(1)) else {
        return;
    };
    if file.context.parameters().spec() == tfhe_parameters(tfhe::Encoding::Bits).spec() {
        let evaluator = tfhe::Evaluator::new(&file.context, file.keys).expect("its own context");
        let bit = evaluator.trivial_bit(true).expect("parameters of bits");
        evaluator.gate(tfhe::Gate::Nand, &bit, &bit).expect("its own bit");
    }
}

/// The bytes as a file, which the next call replaces.
fn file_of(bytes: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("noren-fuzz-{}", process::id()));
    fs::write(&path, bytes).expect("a writable temporary directory");
    path
}

/// The parameters of bootstrapping of the corpus, and a ciphertext without levels.
fn renewable() -> &'static (bootstrapping::Parameters, Ciphertext) {
    static RENEWABLE: OnceLock<(bootstrapping::Parameters, Ciphertext)> = OnceLock::new();
    RENEWABLE.get_or_init(|| {
        let parameters = bootstrap_parameters();
        let context = ckks::Context::with_threads(parameters.ckks().expect("primes"), Some(1)).expect("a tiny ring");
        let keys = context.generate_keys(Seed::from_bytes([7; 32]), &KeyRequest::default()).expect("a tiny ring");
        let message = Encoder::new(&context).encode(&[0.5, -0.25], 8, parameters.input_level()).expect("slots");
        let encryptor = Encryptor::symmetric(&context, &keys.secret, Seed::from_bytes([9; 32])).expect("its secret");
        let ciphertext = encryptor.encrypt(&message).expect("its context");
        (parameters, ciphertext)
    })
}

/// Any bytes are refused, or hand out all of their sections, whatever is asked of them.
///
/// # Panics
/// If an accepted frame is not consistent.
pub fn container(bytes: &[u8]) {
    static RING: OnceLock<Ring> = OnceLock::new();
    let ring = RING.get_or_init(|| {
        let moduli: Vec<u64> = primes_below(1 << 30, 32).take(4).collect();
        Ring::new(Cyclotomic::power_of_two(16).expect("supported"), &moduli, Some(1)).expect("supported")
    });
    let Ok(mut reader) = Reader::open_any(bytes, &LIMITS) else {
        return;
    };
    let sections = reader.sections().to_vec();
    assert!(sections.iter().map(|section| section.as_bytes().len()).sum::<usize>() < bytes.len());
    for section in &sections {
        if reader.take_if(section.place().tag).is_none() {
            assert!(reader.next_item().expect("all of the item before was taken"), "a section is left");
            let taken = reader.take(section.place().tag).expect("sections are handed out in order");
            assert_eq!(taken.place(), section.place());
        }
        let read = [
            section.bytes().is_ok(),
            section.words().is_ok(),
            section.array::<32>().is_ok(),
            section.word_array::<2>().is_ok(),
            section.small(16, 2, 1).is_ok(),
        ];
        assert!(!(read[0] && read[1]), "a section has one encoding");
        if let Ok(window) = section.window() {
            let inside = window.end <= ring.limbs();
            let poly = inside.then(|| section.poly(&ring.window(window.clone())));
            if let Some(Ok(poly)) = poly {
                assert_eq!(poly.window(), window);
            }
        }
    }
    reader.finish().expect("everything was taken");
}
