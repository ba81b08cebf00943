//! Evaluation keys and lookup keys as they lie in memory, in files that are mapped: what is written is used, and what was damaged
//! or changes is refused.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use noren::lookup::{Function, Lookup, LookupKeyFile, LookupPlan};
use noren::wire::{Destination, Form, Kind, Limits, Object, Reason};
use noren::{Error, EvaluationKeys, SecretKey, Security, Seed, bfv, bgv, ckks};
use scratch::Scratch;

#[path = "../../noren-rlwe/tests/scratch/mod.rs"]
mod scratch;

const UNCHECKED: Limits = Limits { max_bytes: 1 << 30, check_digest: false };

/// Keys that have both forms, as files.
trait Both: Object<Context = ()> {
    const EXPANDED: Kind;
    fn expand(&self, to: Destination<'_>) -> noren::Result<u64>;
    fn map(path: &Path, limits: &Limits) -> noren::Result<Self>;
    fn open(path: &Path, limits: &Limits) -> noren::Result<Self>;
}

macro_rules! both {
    ($keys:ty, $expanded:ident) => {
        impl Both for $keys {
            const EXPANDED: Kind = Kind::$expanded;

            fn expand(&self, to: Destination<'_>) -> noren::Result<u64> {
                self.write_expanded(to)
            }

            fn map(path: &Path, limits: &Limits) -> noren::Result<Self> {
                <$keys>::map(path, limits)
            }

            fn open(path: &Path, limits: &Limits) -> noren::Result<Self> {
                <$keys>::open(path, limits)
            }
        }
    };
}
both!(ckks::KeyFile<EvaluationKeys>, EXPANDED_CKKS_EVALUATION_KEYS);
both!(bfv::KeyFile<EvaluationKeys>, EXPANDED_INTEGER_EVALUATION_KEYS);
both!(LookupKeyFile, EXPANDED_LOOKUP_KEYS);

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

fn reals() -> (ckks::KeyFile<EvaluationKeys>, SecretKey) {
    let (log_q, log_p, security) = (vec![45, 35], vec![45], Security::None);
    let spec = ckks::ParametersSpec { log_n: 5, log_q, log_p, log_scale: 35, security, ..Default::default() };
    let context = ckks::Context::new(spec.build().expect("supported")).expect("rings");
    let request = ckks::KeyRequest { relinearization: true, rotations: vec![1, 2], ..Default::default() };
    let keys = context.generate_keys(seed(1), &request).expect("keys");
    (ckks::KeyFile { context, key: Arc::unwrap_or_clone(keys.evaluation) }, keys.secret)
}

fn integers() -> bfv::Context {
    let (log_q, log_p, security) = (vec![40; 13], vec![40; 2], Security::None);
    let spec = bfv::ParametersSpec { log_n: 5, plaintext_modulus: 193, log_q, log_p, security, ..Default::default() };
    bfv::Context::new(spec.build().expect("supported")).expect("rings")
}

fn numbers() -> (bfv::KeyFile<EvaluationKeys>, SecretKey) {
    let context = integers();
    let request = bfv::KeyRequest { relinearization: true, rotations: vec![1, 2], swap: true, ..Default::default() };
    let keys = context.generate_keys(seed(1), &request).expect("keys");
    (bfv::KeyFile { context, key: Arc::unwrap_or_clone(keys.evaluation) }, keys.secret)
}

fn lookups() -> (LookupKeyFile, SecretKey) {
    let context = integers();
    let secret = context.generate_keys(seed(1), &bfv::KeyRequest::default()).expect("keys").secret;
    let plan = LookupPlan::new(context.parameters(), [4, 4]).expect("room for it");
    (LookupKeyFile::generate(&context, &plan, &secret, seed(2), None).expect("no security asked for"), secret)
}

/// Writes keys, and reads them in all ways.
fn comes_back<K: Both>(keys: &K, scratch: &Scratch) {
    let (path, compact, again) = (scratch.path("expanded"), scratch.path("compact"), scratch.path("again"));
    let bytes = keys.to_bytes(&(), Form::Packed);
    let length = keys.expand(Destination::from(path.as_path())).expect("room");
    assert_eq!(fs::metadata(&path).expect("written").len(), length);
    keys.write_file(&(), Form::Packed, &compact).expect("room");
    for limits in [Limits::default(), UNCHECKED] {
        let mapped = K::map(&path, &limits).expect("undamaged");
        assert!(mapped.to_bytes(&(), Form::Packed) == bytes);
        mapped.expand(Destination::from(again.as_path())).expect("room");
        assert!(fs::read(&again).expect("written") == fs::read(&path).expect("written"));
        for path in [&path, &compact] {
            assert!(K::open(path, &limits).expect("undamaged").to_bytes(&(), Form::Packed) == bytes);
        }
    }
    let kept = keys.expand(Destination::keeping(&path));
    assert!(matches!(kept, Err(Error::Exists { .. })), "{kept:?}");
    let refused = K::map(&compact, &Limits::default()).err().expect("another kind");
    assert!(matches!(refused, Error::WrongKind { ref needed, .. } if needed == K::EXPANDED.name()), "{refused}");
    let refused = K::read_file(&(), &path, &Limits::default()).err().expect("another kind");
    assert!(matches!(refused, Error::WrongKind { ref found, .. } if found == K::EXPANDED.name()), "{refused}");
    assert_eq!(scratch.names(), ["again", "compact", "expanded"]);
}

#[test]
fn expanded_keys_are_those_that_were_written() {
    comes_back(&reals().0, &Scratch::new("expanded-ckks"));
    comes_back(&numbers().0, &Scratch::new("expanded-integers"));
    comes_back(&lookups().0, &Scratch::new("expanded-lookups"));
    // No keys at all.
    let (ckks::KeyFile { context, key }, _) = reals();
    let key = EvaluationKeys::new(context.parameters().rlwe(), key.owner().key);
    comes_back(&ckks::KeyFile { context, key }, &Scratch::new("expanded-none"));
}

/// Damages the file of keys in all ways that are refused.
fn damage_is_refused<K: Both>(keys: &K, scratch: &Scratch) {
    let path = scratch.path("expanded");
    keys.expand(Destination::from(path.as_path())).expect("room");
    let whole = fs::read(&path).expect("written");
    let refused = |bytes: &[u8], limits: &Limits| {
        // Under another name each time: a mapping of the old file must not see the new one.
        let path = scratch.path("damaged");
        let _ = fs::remove_file(&path);
        fs::write(&path, bytes).expect("writable");
        K::map(&path, limits).err()
    };
    let checked = |bytes: &[u8]| refused(bytes, &Limits::default()).expect("refused");
    for length in (0..whole.len()).step_by((whole.len() / 64).next_multiple_of(8)).chain([8, 95, whole.len() - 64]) {
        for limits in [Limits::default(), UNCHECKED] {
            let error = refused(&whole[..length], &limits).expect("refused");
            assert!(matches!(error, Error::Wire { .. } | Error::Io { .. }), "cut to {length}: {error}");
        }
    }
    let tail = checked(&[&whole[..], &[0; 64]].concat());
    assert!(matches!(tail, Error::Wire { reason: Reason::Length { .. }, .. }), "{tail}");
    let mut flipped = whole.clone();
    for at in (0..2048).chain((2048..whole.len()).step_by(1021)) {
        flipped[at] ^= 0x10;
        checked(&flipped);
        flipped[at] ^= 0x10;
    }
    // The fingerprint of other parameters, with the right digest.
    let sealed = |mut bytes: Vec<u8>| {
        let digest = blake3::Hasher::new().update(&bytes[..64]).update(&bytes[96..]).finalize();
        bytes[64..96].copy_from_slice(digest.as_bytes());
        bytes
    };
    flipped[FINGERPRINT] ^= 1;
    for limits in [Limits::default(), UNCHECKED] {
        assert!(refused(&sealed(flipped.clone()), &limits).is_some(), "other parameters");
    }
    flipped[FINGERPRINT] ^= 1;
    // Whoever also makes the digest right is found out where a residue is too large.
    let last = whole.len() - 8;
    flipped[last..].fill(0xff);
    let message = checked(&sealed(flipped)).to_string();
    assert!(message.contains("a residue") && message.contains("below its prime"), "{message}");
}

/// A byte of the fingerprint in the header.
const FINGERPRINT: usize = 40;

#[test]
fn damaged_expanded_keys_are_refused() {
    damage_is_refused(&reals().0, &Scratch::new("damaged-ckks"));
    damage_is_refused(&numbers().0, &Scratch::new("damaged-integers"));
    damage_is_refused(&lookups().0, &Scratch::new("damaged-lookups"));
}

/// Cuts a file that is mapped: an attack, or an accident.
fn cut(path: &Path) {
    // Times of files have a resolution of some milliseconds.
    sleep(Duration::from_millis(20));
    File::options().write(true).open(path).and_then(|file| file.set_len(4096)).expect("cut");
}

fn changed<T>(result: noren::Result<T>) {
    let error = result.err().expect("refused");
    assert!(matches!(error, Error::FileChanged { .. }), "{error}");
}

#[test]
fn mapped_keys_of_reals_give_the_same_results_until_they_change() {
    let scratch = Scratch::new("changed-ckks");
    let (path, copy) = (scratch.path("expanded"), scratch.path("copy"));
    let (own, secret) = reals();
    own.write_expanded(path.as_path()).expect("room");
    let mapped = ckks::KeyFile::map(&path, &Limits::default()).expect("undamaged");
    let evaluators = [&own, &mapped]
        .map(|file| ckks::Evaluator::new(&own.context, Arc::new(file.key.clone())).expect("keys of the context"));
    let x = ckks::Encoder::new(&own.context).encode(&[0.5; 16], 16, 1).expect("in range");
    let x = ckks::Encryptor::symmetric(&own.context, &secret, seed(3)).and_then(|e| e.encrypt(&x)).expect("its key");
    let [left, right] = evaluators.each_ref().map(|evaluator| {
        [evaluator.square(&x), evaluator.rotate(&x, 1)]
            .map(|y| y.expect("all keys").to_bytes(&own.context, Form::Packed))
    });
    assert!(left == right);
    cut(&path);
    changed(evaluators[1].square(&x));
    changed(evaluators[1].rotate(&x, 1));
    changed(mapped.write_expanded(copy.as_path()));
    changed(mapped.write_file(&(), Form::Packed, &copy));
    let key = mapped.key.relinearization(1).expect("there");
    changed(key.at_limbs(own.context.rlwe(), 1));
    assert_eq!(scratch.names(), ["expanded"]);
}

#[test]
fn mapped_keys_of_integers_give_the_same_results_until_they_change() {
    let scratch = Scratch::new("changed-integers");
    let path = scratch.path("expanded");
    let (own, secret) = numbers();
    own.write_expanded(path.as_path()).expect("room");
    let mapped = bfv::KeyFile::map(&path, &Limits::default()).expect("undamaged");
    let keys = [&own, &mapped].map(|file| Arc::new(file.key.clone()));
    let bfv = keys.each_ref().map(|keys| bfv::Evaluator::new(&own.context, keys.clone()).expect("its keys"));
    let bgv = keys.each_ref().map(|keys| bgv::Evaluator::new(&own.context, keys.clone()).expect("its keys"));
    let encoder = bfv::Encoder::new(&own.context);
    let (message, ones) = (encoder.encode(&[3; 32]).expect("in range"), encoder.encode(&[1; 32]).expect("in range"));
    let x = bfv::Encryptor::symmetric(&own.context, &secret, seed(3)).and_then(|e| e.encrypt(&message));
    let x: bfv::Ciphertext = x.expect("its key");
    let y = bgv::Encryptor::symmetric(&own.context, &secret, seed(4)).and_then(|e| e.encrypt(&message));
    let y: bgv::Ciphertext = y.expect("its key");
    let lazy = bfv[0].mul_no_relinearize(&x, &x).expect("noise is left");
    let giants = [noren::schemes::slots::GiantStep { rotation: 1, terms: vec![(0, ones)] }];
    let of_bfv = |ev: &bfv::Evaluator| -> Vec<noren::Result<bfv::Ciphertext>> {
        let many = ev.rotate_many(&x, &[1, 2]).map(|mut images| images.remove(1));
        let giants = ev.sum_giant_steps(&x, &[0, 1], &giants);
        let (sum, swapped) = (ev.sum_rotations(&x, &[1, 2]), ev.swap_rows(&x));
        vec![ev.mul(&x, &x), ev.relinearize(&lazy), ev.rotate(&x, 1), many, sum, swapped, giants]
    };
    let of_bgv = |ev: &bgv::Evaluator| vec![ev.mul(&y, &y), ev.rotate(&y, 2)];
    let bytes = |results: Vec<noren::Result<bfv::Ciphertext>>| -> Vec<Vec<u8>> {
        results.into_iter().map(|x| x.expect("all keys").to_bytes(&own.context, Form::Packed)).collect()
    };
    assert!(bytes(of_bfv(&bfv[0])) == bytes(of_bfv(&bfv[1])));
    of_bgv(&bgv[1]).into_iter().for_each(|x| assert!(x.is_ok()));
    cut(&path);
    of_bfv(&bfv[1]).into_iter().for_each(changed);
    of_bgv(&bgv[1]).into_iter().for_each(changed);
}

#[test]
fn mapped_keys_of_lookups_give_the_same_results_until_they_change() {
    let scratch = Scratch::new("changed-lookups");
    let path = scratch.path("expanded");
    let (own, secret) = lookups();
    own.write_expanded(path.as_path()).expect("room");
    let mapped = LookupKeyFile::map(&path, &Limits::default()).expect("undamaged");
    let encryptor = bfv::Encryptor::symmetric(&own.context, &secret, seed(3)).expect("its key");
    let x = own.plan.layout().encode(&bfv::Encoder::new(&own.context), &[2; 8], 4).and_then(|x| encryptor.encrypt(&x));
    let x: bfv::Ciphertext = x.expect("in range");
    // The evaluator has keys in memory, so that the keys of lookups alone have changed.
    let evaluator = bfv::Evaluator::new(&own.context, own.evaluation.clone()).expect("its keys");
    let functions: [fn(u64, u64) -> u64; 2] = [|x, y| x * y + 1, |x, y| x + y];
    let prepared = functions.map(|f| {
        let function = Function::rule([4, 4], move |x, y| Some(f(x, y)));
        Lookup::prepare(&own.context, &own.plan, &function, None).expect("room")
    });
    assert_eq!(prepared.each_ref().map(|lookup| lookup.line().is_some()), [false, true]);
    for lookup in &prepared {
        let [left, right] = [&own, &mapped].map(|file| {
            let result = lookup.evaluate(&evaluator, &file.keys, &x, &x).expect("all keys");
            result.to_bytes(&own.context, Form::Packed)
        });
        assert!(left == right);
    }
    cut(&path);
    for lookup in &prepared {
        changed(lookup.evaluate(&evaluator, &mapped.keys, &x, &x));
    }
    changed(mapped.write_file(&(), Form::Packed, &scratch.path("copy")));
}
