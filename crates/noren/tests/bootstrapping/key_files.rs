//! Keys of bootstrapping in files: what is written is read, and what was damaged, cut or is of another preset is refused.

use std::fs;
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use noren::bootstrapping::{
    BootstrapKeyFile, BootstrapKeys, Bootstrapper, Mode, Parameters, ParametersSpec, Preset, Progress,
};
use noren::bootstrapping::{EvalMod, Primes, Transform};
use noren::bootstrapping::{GiantOrder, Group};
use noren::ckks::{Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Keys};
use noren::wire::{Form, Limits, Object, Reason};
use noren::{Error, Resources, Seed};

use crate::scratch::Scratch;

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

/// The smallest ring that all of it fits in: 8 slots.
fn tiny() -> Parameters {
    let transform = |bits, layers: &[u32]| Transform {
        bits,
        groups: layers.iter().map(|&layers| Group { layers, baby_steps: 2 }).collect(),
        giants: GiantOrder::Separate,
    };
    let spec = ParametersSpec {
        log_n: 4,
        log_slots: 3,
        slot_to_coeff: transform(34, &[2, 1]),
        application: Primes { count: 1, bits: 42 },
        coeff_to_slot: transform(48, &[3]),
        eval_mod: EvalMod { interval: 8, doublings: 2, degree: 15, ..Preset::Toy.spec().eval_mod },
        ephemeral_weight: 4,
        ..Preset::Toy.spec()
    };
    spec.build().expect("a tiny ring without security")
}

struct World {
    parameters: Parameters,
    context: Context,
    keys: Keys,
    bytes: Vec<u8>,
}

impl World {
    fn new(parameters: Parameters) -> Self {
        let context = Context::new(parameters.ckks().expect("primes")).expect("rings");
        let keys = context.generate_keys(seed(1), &KeyRequest::default()).expect("keys");
        let scratch = Scratch::new(&format!("world-{}", parameters.degree()));
        let path = scratch.path("keys");
        generate(&path, &context, &parameters, &keys, &KeyRequest::default(), &mut |_| {}).expect("written");
        let bytes = fs::read(&path).expect("written");
        Self { parameters, context, keys, bytes }
    }

    fn tiny() -> &'static Self {
        static WORLD: OnceLock<World> = OnceLock::new();
        WORLD.get_or_init(|| Self::new(tiny()))
    }
}

fn generate(
    path: &Path,
    context: &Context,
    parameters: &Parameters,
    keys: &Keys,
    application: &KeyRequest,
    progress: &mut dyn FnMut(Progress),
) -> noren::Result<u64> {
    BootstrapKeyFile::generate(path, context, parameters, &keys.secret, seed(2), application, progress)
}

fn read(path: &Path) -> noren::Result<BootstrapKeyFile> {
    BootstrapKeyFile::read(path, &Limits::default(), &mut |_| {})
}

#[test]
fn a_stream_writes_what_the_object_would_write() {
    let World { parameters, context, keys, bytes } = World::tiny();
    let made = BootstrapKeys::generate(context, parameters, &keys.secret, seed(2), None).expect("keys");
    let file = BootstrapKeyFile { context: context.clone(), parameters: parameters.clone(), keys: Arc::new(made) };
    assert!(file.to_bytes(&(), Form::Packed) == *bytes);
    let planned = BootstrapKeyFile::planned_bytes(context, parameters, &KeyRequest::default()).expect("a plan");
    assert_eq!(planned, bytes.len() as u64);
    for form in [Form::Raw, Form::Packed] {
        let again = BootstrapKeyFile::from_bytes(&(), &file.to_bytes(&(), form)).expect("just written");
        assert!(again.parameters == *parameters && again.to_bytes(&(), Form::Packed) == *bytes);
    }
}

#[test]
fn keys_from_a_file_bootstrap_and_serve_the_application() {
    let parameters = Preset::Toy.parameters().expect("a preset");
    let context = Context::new(parameters.ckks().expect("primes")).expect("rings");
    let keys = context.generate_keys(seed(1), &KeyRequest::default()).expect("keys");
    let scratch = Scratch::new("toy");
    let path = scratch.path("bootstrap.keys");
    let application = KeyRequest { rotations: vec![7], ..KeyRequest::default() };
    let mut heard = Vec::new();
    let bytes = generate(&path, &context, &parameters, &keys, &application, &mut |p| heard.push(p)).expect("written");
    assert_eq!((fs::metadata(&path).expect("written").len(), scratch.names().len()), (bytes, 1));
    let all = heard.len();
    assert!(heard.iter().zip(1..).all(|(p, done)| p.done == done && p.of == all && p.of_bytes == bytes));
    assert!(heard.is_sorted_by_key(|p| p.bytes));

    assert!(BootstrapKeyFile::read_parameters(&path, &Limits::default()).expect("undamaged") == parameters);
    let mut heard = Vec::new();
    let file = BootstrapKeyFile::read(&path, &Limits::default(), &mut |p| heard.push(p)).expect("undamaged");
    assert_eq!((heard.len(), heard.last().map(|p| p.bytes)), (all, Some(bytes)));
    let bootstrapper = Bootstrapper::new(&file.context, &file.parameters, file.keys.clone(), Mode::Real).expect("all");
    let low = Encoder::new(&context).encode(&[0.5, -0.25, 0.125], 512, parameters.input_level()).expect("slots");
    let low = Encryptor::public(&context, &keys.public, seed(3)).and_then(|e| e.encrypt(&low)).expect("encrypted");
    let high = bootstrapper.bootstrap(&low).expect("a level that suits");
    let evaluator = Evaluator::new(&context, file.keys.evaluation.clone()).expect("keys of the context");
    let rotated = evaluator.square(&high).and_then(|x| evaluator.rotate(&x, 7)).expect("keys of the application");
    let values = Decryptor::new(&context, &keys.secret).and_then(|d| d.decrypt_real(&rotated)).expect("the secret");
    for (slot, expected) in [(505, 0.25), (506, 0.0625), (507, 0.015_625), (0, 0.0)] {
        assert!((values[slot] - expected).abs() < rotated.error_bound(), "{slot}: {}", values[slot]);
    }
}

#[test]
fn parameters_come_back_with_the_same_bytes() {
    for preset in Preset::ALL {
        let parameters = preset.parameters().expect("a preset");
        let bytes = parameters.to_bytes(&(), Form::Packed);
        let again = Parameters::from_bytes(&(), &bytes).expect("just written");
        assert!(again == parameters && again.to_bytes(&(), Form::Packed) == bytes, "{preset}");
        assert_eq!(Preset::of(&again), Some(preset));
        let others = Preset::ALL.into_iter().filter(|&other| other != preset);
        for other in others.map(|other| other.parameters().expect("a preset")) {
            assert!(other.fingerprint() != parameters.fingerprint() && other != parameters);
        }
    }
}

#[test]
fn damaged_parameters_are_refused_and_others_have_one_encoding() {
    // Behind the digest: whatever is accepted after a flip is written as exactly those bytes.
    let unchecked = Limits { check_digest: false, ..Limits::default() };
    let bytes = tiny().to_bytes(&(), Form::Packed);
    let mut flipped = bytes.clone();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            flipped[at] ^= 1 << bit;
            assert!(Parameters::from_bytes(&(), &flipped).is_err(), "bit {bit} of {at}");
            // Values that follow from the primes alone are slow to refuse.
            if (bit == 0 || bit == at % 8)
                && !(64..96).contains(&at)
                && let Ok(other) = Parameters::from_bytes_within(&(), &flipped, &unchecked)
            {
                let again = other.to_bytes(&(), Form::Packed);
                assert!(again[..64] == flipped[..64] && again[96..] == flipped[96..], "bit {bit} of {at}");
            }
            flipped[at] ^= 1 << bit;
        }
    }
}

/// The errors of the reader of files and that of bytes; both must refuse.
fn refused(scratch: &Scratch, bytes: &[u8]) -> [Error; 2] {
    let path = scratch.path("damaged");
    fs::write(&path, bytes).expect("writable");
    [read(&path).err().expect("refused"), BootstrapKeyFile::from_bytes(&(), bytes).err().expect("refused")]
}

#[test]
fn every_cut_and_every_tail_is_refused() {
    let bytes = &World::tiny().bytes;
    let scratch = Scratch::new("cuts");
    // Every boundary of sections lies at a multiple of 64.
    for length in (0..bytes.len()).step_by(64).flat_map(|at| [at, at + 1, at + 63]).chain([0, 8, 95, 97]) {
        for error in refused(&scratch, &bytes[..length]) {
            assert!(matches!(error, Error::Wire { .. }), "cut to {length}: {error}");
        }
    }
    for tail in [1, 64] {
        for error in refused(&scratch, &[bytes.as_slice(), &vec![0; tail]].concat()) {
            assert!(matches!(error, Error::Wire { reason: Reason::Length { .. }, .. }), "{error}");
        }
    }
}

#[test]
fn every_flipped_byte_is_refused() {
    let bytes = &World::tiny().bytes;
    let scratch = Scratch::new("flips");
    let mut flipped = bytes.clone();
    // All of header, contents and parameters; of the keys a byte in every 31, which meets every section.
    let dense = bytes.len().min(4096);
    for at in (0..dense).chain((dense..bytes.len()).step_by(31)) {
        flipped[at] ^= 1 << (at % 8);
        assert!(BootstrapKeyFile::from_bytes(&(), &flipped).is_err(), "byte {at}");
        if at % 16 == 0 {
            refused(&scratch, &flipped);
        }
        flipped[at] ^= 1 << (at % 8);
    }
    // A residue that stays below its prime is found by the digest alone, behind the last key.
    let last = bytes.len() - 128;
    flipped[last] ^= 1;
    let [file, memory] = refused(&scratch, &flipped);
    for error in [file, memory] {
        assert!(matches!(error, Error::Wire { reason: Reason::Digest, .. }), "{error}");
    }
}

#[test]
fn expanded_keys_are_those_that_they_were_expanded_from() {
    let World { parameters, bytes, .. } = World::tiny();
    let scratch = Scratch::new("expanded");
    let (seeded, expanded) = (scratch.path("seeded"), scratch.path("expanded"));
    fs::write(&seeded, bytes).expect("writable");
    let mut heard = 0;
    let length =
        BootstrapKeyFile::expand(&seeded, &expanded, &Limits::default(), &mut |p| heard = p.done).expect("room");
    assert_eq!((fs::metadata(&expanded).expect("written").len(), scratch.names().len()), (length, 2));
    let unchecked = Limits { check_digest: false, ..Limits::default() };
    for limits in [Limits::default(), unchecked] {
        let file = BootstrapKeyFile::map(&expanded, &limits).expect("undamaged");
        assert!(file.parameters == *parameters && file.to_bytes(&(), Form::Packed) == *bytes);
        // Mapped keys are written as the file was.
        let again = scratch.path("again");
        assert_eq!(file.write_expanded(again.as_path()).expect("room"), length);
        assert!(fs::read(&again).expect("written") == fs::read(&expanded).expect("written"));
        fs::remove_file(&again).expect("written");
    }
    // One verb opens both, and both list the same keys.
    for path in [&seeded, &expanded] {
        let plenty = Resources::default();
        let file = BootstrapKeyFile::open(path, &Limits::default(), &plenty, &mut |_| {}).expect("undamaged");
        assert!(file.to_bytes(&(), Form::Packed) == *bytes);
        assert!(BootstrapKeyFile::read_parameters(path, &Limits::default()).expect("undamaged") == *parameters);
        let contents = BootstrapKeyFile::contents(path, &Limits::default()).expect("undamaged");
        assert_eq!((contents.keys().len(), contents.header.kind.is_expanded()), (heard, path == &expanded));
        assert_eq!(contents.keys().next(), Some(("the switch to the ephemeral secret".to_owned(), 1)));
    }
    let little = Resources { memory: Some(1 << 10), disk: None };
    let refused = BootstrapKeyFile::open(&seeded, &Limits::default(), &little, &mut |_| {}).err().expect("no memory");
    assert!(matches!(refused, Error::Resources { found: 1024, .. }), "{refused}");
}

/// An attack: the file is written to while its keys are in use, by bootstrapping and by the program around it.
#[test]
fn results_of_expanded_keys_that_change_are_refused() {
    let World { parameters, keys, bytes, .. } = World::tiny();
    let scratch = Scratch::new("changed");
    let (seeded, path) = (scratch.path("seeded"), scratch.path("expanded"));
    fs::write(&seeded, bytes).expect("writable");
    BootstrapKeyFile::expand(&seeded, &path, &Limits::default(), &mut |_| {}).expect("room");
    let file = BootstrapKeyFile::map(&path, &Limits::default()).expect("undamaged");
    let bootstrapper = Bootstrapper::new(&file.context, parameters, file.keys.clone(), Mode::Real).expect("its keys");
    let evaluator = Evaluator::new(&file.context, file.keys.evaluation.clone()).expect("its keys");
    let slots = parameters.slots();
    let x = Encoder::new(&file.context).encode(&vec![0.5; slots], slots, parameters.input_level()).expect("in range");
    let x =
        Encryptor::symmetric(&file.context, &keys.secret, seed(3)).expect("its keys").encrypt(&x).expect("a message");
    bootstrapper.bootstrap(&x).expect("nothing has changed");
    evaluator.square(&x).expect("nothing has changed");
    // Times of files have a resolution of some milliseconds.
    std::thread::sleep(std::time::Duration::from_millis(20));
    fs::File::options().write(true).open(&path).and_then(|file| file.set_len(4096)).expect("cut");
    let written = file.write_file(&(), Form::Packed, &scratch.path("copy"));
    assert!(matches!(written, Err(Error::FileChanged { .. })), "{written:?}");
    let refused = [bootstrapper.bootstrap(&x), evaluator.square(&x), evaluator.mul_no_rescale(&x, &x)];
    let refused = refused.map(|refused| refused.map(drop));
    assert!(refused.iter().all(|refused| matches!(refused, Err(Error::FileChanged { .. }))), "{refused:?}");
}

#[test]
fn damaged_expanded_files_are_refused() {
    let World { bytes, .. } = World::tiny();
    let scratch = Scratch::new("damaged-expanded");
    let (seeded, path) = (scratch.path("seeded"), scratch.path("expanded"));
    fs::write(&seeded, bytes).expect("writable");
    BootstrapKeyFile::expand(&seeded, &path, &Limits::default(), &mut |_| {}).expect("room");
    let whole = fs::read(&path).expect("written");
    let refused = |bytes: &[u8]| {
        // Under another name each time: a mapping of the old file must not see the new one.
        let path = scratch.path("damaged");
        let _ = fs::remove_file(&path);
        fs::write(&path, bytes).expect("writable");
        BootstrapKeyFile::map(&path, &Limits::default()).err().expect("refused")
    };
    for length in (0..whole.len()).step_by(whole.len() / 64 / 8 * 8).chain([8, 95, 96, whole.len() - 64]) {
        let error = refused(&whole[..length]);
        assert!(matches!(error, Error::Wire { .. } | Error::Io { .. }), "cut to {length}: {error}");
    }
    let mut flipped = whole.clone();
    for at in (0..4096).chain((4096..whole.len()).step_by(4099)) {
        flipped[at] ^= 0x10;
        refused(&flipped);
        flipped[at] ^= 0x10;
    }
    // Whoever also makes the digest right is found out where a residue is too large, and never trusted with memory.
    let last = whole.len() - 8;
    flipped[last..].fill(0xff);
    let digest = blake3::Hasher::new().update(&flipped[..64]).update(&flipped[96..]).finalize();
    flipped[64..96].copy_from_slice(digest.as_bytes());
    let message = refused(&flipped).to_string();
    assert!(message.contains("a residue") && message.contains("below its prime"), "{message}");
    let same = BootstrapKeyFile::expand(&path, &scratch.path("again"), &Limits::default(), &mut |_| {}).err();
    assert!(matches!(same, Some(Error::WrongKind { .. })));
}

#[test]
fn keys_that_are_missing_are_named() {
    let World { parameters, context, keys, .. } = World::tiny();
    let whole = BootstrapKeys::generate(context, parameters, &keys.secret, seed(2), None).expect("keys");
    let empty = noren::EvaluationKeys::new(context.parameters().rlwe(), keys.secret.owner().key);
    let without = BootstrapKeys { evaluation: Arc::new(empty), ..whole };
    let file = BootstrapKeyFile { context: context.clone(), parameters: parameters.clone(), keys: Arc::new(without) };
    let scratch = Scratch::new("missing");
    for error in refused(&scratch, &file.to_bytes(&(), Form::Packed)) {
        let message = error.to_string();
        for kind in ["relinearisation", "conjugation", "rotation by 1 (X -> X^5)"] {
            assert!(message.contains(kind), "{message}");
        }
    }
}

#[test]
fn keys_of_another_preset_are_refused_by_name() {
    let World { parameters, context, keys, bytes } = World::tiny();
    let scratch = Scratch::new("other");
    let path = scratch.path("keys");
    fs::write(&path, bytes).expect("writable");
    let file = read(&path).expect("undamaged");
    file.check(parameters).expect("these parameters");
    let toy = Preset::Toy.parameters().expect("a preset");
    let message = file.check(&toy).expect_err("other parameters").to_string();
    assert!(message.contains("bootstrapping keys") && message.contains("toy for 512 slots ("), "{message}");
    // The secret, the context and the file have to be of one kind.
    let other = Context::new(toy.ckks().expect("primes")).expect("rings");
    let refused = generate(&path, &other, parameters, keys, &KeyRequest::default(), &mut |_| {});
    assert!(matches!(refused, Err(Error::ParameterMismatch { .. })));
    let secret = keys.secret.to_bytes(context.rlwe(), Form::Packed);
    let found = BootstrapKeyFile::from_bytes(&(), &secret).err().expect("a secret key");
    assert_eq!(found.to_string(), "found secret key, needed bootstrapping keys: pass another file or other bytes");
    assert!(fs::read(&path).expect("kept") == *bytes);
}

#[test]
fn a_failure_in_the_middle_leaves_the_old_file_and_nothing_else() {
    let World { parameters, context, keys, bytes } = World::tiny();
    let scratch = Scratch::new("failed");
    let path = scratch.path("keys");
    fs::write(&path, b"old").expect("writable");
    let panicked = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let mut stop = |p: Progress| assert!(p.done < 3, "in the middle");
        generate(&path, context, parameters, keys, &KeyRequest::default(), &mut stop).map(drop)
    }));
    assert!(panicked.is_err());
    assert_eq!((fs::read(&path).expect("kept"), scratch.names()), (b"old".to_vec(), vec!["keys".to_owned()]));
    // The file in the middle of writing is no file of keys: it has no digest, and lies under another name.
    let mut halves = Vec::new();
    let mut look = |_| {
        let name = scratch.names().into_iter().find(|name| name.ends_with(".tmp")).expect("being written");
        halves.push(read(&scratch.path(&name)).err().expect("not whole").to_string());
    };
    generate(&path, context, parameters, keys, &KeyRequest::default(), &mut look).expect("written");
    assert!(halves.len() > 3 && halves.iter().all(|error| error.contains("cannot be read")), "{halves:?}");
    // Once more from the start, and the same bytes.
    assert!(fs::read(&path).expect("written") == *bytes && scratch.names() == ["keys"]);
    let missing = generate(&scratch.path("no/keys"), context, parameters, keys, &KeyRequest::default(), &mut |_| {});
    assert!(matches!(missing, Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound));
}

#[test]
fn keys_of_two_secrets_in_one_file_are_refused() {
    let World { parameters, context, keys, .. } = World::tiny();
    let strangers = context.generate_keys(seed(8), &KeyRequest::default()).expect("keys");
    let own = BootstrapKeys::generate(context, parameters, &keys.secret, seed(2), None).expect("keys");
    let other = BootstrapKeys::generate(context, parameters, &strangers.secret, seed(2), None).expect("keys");
    let mixed = [
        BootstrapKeys { slot_to_coeff: other.slot_to_coeff, ..own.clone() },
        BootstrapKeys { from_ephemeral: other.from_ephemeral, ..own.clone() },
        BootstrapKeys { to_ephemeral: other.to_ephemeral, ..own },
    ];
    let scratch = Scratch::new("mixed");
    for keys in mixed {
        let file = BootstrapKeyFile { context: context.clone(), parameters: parameters.clone(), keys: Arc::new(keys) };
        for error in refused(&scratch, &file.to_bytes(&(), Form::Packed)) {
            assert!(matches!(error, Error::KeyMismatch { .. }), "{error}");
        }
    }
}
