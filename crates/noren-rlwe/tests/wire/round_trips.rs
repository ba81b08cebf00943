//! Objects are read as they were written, byte for byte, and written as they were before.

use std::fs;
use std::path::Path;

use noren_math::random::Seed;
use noren_rlwe::ciphertext::Ciphertext;
use noren_rlwe::decrypt::decrypt;
use noren_rlwe::encrypt::Encryptor;
use noren_rlwe::keys::{EvaluationKeys, PublicKey, SecretKey};
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::wire::header::Header;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::{Limits, Reader};
use noren_rlwe::wire::writer::Form;

use crate::samples::{FORMS, Objects, objects, samples};

#[test]
fn every_object_comes_back_byte_for_byte() {
    let sparse = SecretDistribution::SparseTernary(5);
    for distribution in [SecretDistribution::Ternary, sparse, SecretDistribution::Gaussian] {
        let objects = objects(distribution);
        for form in FORMS {
            for sample in samples(&objects, form) {
                let again = (sample.rewrite)(&sample.bytes, &Limits::default());
                assert_eq!(again.expect("just written"), sample.bytes, "{} {form:?} {distribution}", sample.name);
                assert!(sample.bytes.len().is_multiple_of(64));
                let header = Header::parse(&sample.bytes).expect("just written");
                assert_eq!((header.kind, header.length), (sample.kind, sample.bytes.len() as u64));
                assert_eq!(header.fingerprint, objects.context.parameters().fingerprint());
            }
        }
    }
}

#[test]
fn ciphertexts_keep_their_parts_and_seeds() {
    let objects = objects(SecretDistribution::Ternary);
    let context = &objects.context;
    for form in FORMS {
        for ciphertext in [&objects.seeded, &objects.fresh, &objects.product] {
            let bytes = ciphertext.to_bytes(context, form);
            let again = Ciphertext::from_bytes(context, &bytes).expect("just written");
            let ring = context.ring_q(ciphertext.limbs());
            assert_eq!(again.parts().len(), ciphertext.parts().len());
            for (left, right) in again.parts().iter().zip(ciphertext.parts()) {
                assert_eq!(ring.to_words(left), ring.to_words(right));
            }
            assert_eq!(again.seed().map(Seed::as_bytes), ciphertext.seed().map(Seed::as_bytes));
        }
        // A section of 64 bytes with the seed stands for 2 limbs of 16 residues, of 64 or of 30 bits.
        let part = if form == Form::Raw { 2 * 16 * 8 } else { 2 * 64 };
        let (seeded, fresh) = (objects.seeded.to_bytes(context, form), objects.fresh.to_bytes(context, form));
        assert_eq!(fresh.len() - seeded.len(), part - 64);
    }
}

#[test]
fn keys_that_were_read_decrypt_and_encrypt() {
    let objects = objects(SecretDistribution::Ternary);
    let context = &objects.context;
    let secret = SecretKey::from_bytes(context, &objects.secret.to_bytes(context, Form::Packed)).expect("just written");
    let public = PublicKey::from_bytes(context, &objects.public.to_bytes(context, Form::Packed)).expect("just written");
    let words = |ciphertext: &Ciphertext, key: &SecretKey| {
        context.ring_q(2).to_words(&decrypt(context, key, ciphertext).expect("degree 1").poly)
    };
    assert_eq!(words(&objects.fresh, &secret), words(&objects.fresh, &objects.secret));
    let encryptor = Encryptor::public(context, &public, Seed::from_bytes([3; 32])).expect("same parameters");
    let again = encryptor.encrypt(&objects.plaintext).expect("no security");
    assert_eq!(again.to_bytes(context, Form::Raw), objects.fresh.to_bytes(context, Form::Raw));
}

#[test]
fn an_empty_set_of_keys_comes_back() {
    let Objects { context, secret, .. } = objects(SecretDistribution::Ternary);
    let empty = EvaluationKeys::new(context.parameters(), secret.owner().key);
    let bytes = empty.to_bytes(&context, Form::Packed);
    let again = EvaluationKeys::from_bytes(&context, &bytes).expect("just written");
    assert!(!again.has_relinearization() && again.automorphisms().len() == 0);
    assert_eq!(again.owner(), secret.owner());
    assert_eq!(bytes.len(), 192, "a header with one entry, and an identity, filled up");
}

#[test]
fn golden_bytes_are_unchanged() {
    // NOREN_REGENERATE_GOLDEN=1 cargo test -p noren-rlwe --test wire golden
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/wire");
    let objects = objects(SecretDistribution::Ternary);
    let regenerate = std::env::var_os("NOREN_REGENERATE_GOLDEN").is_some_and(|value| value == "1");
    for (form, suffix) in [(Form::Raw, "raw"), (Form::Packed, "packed")] {
        for sample in samples(&objects, form) {
            let path = directory.join(format!("{}.{suffix}.noren", sample.name));
            if regenerate {
                fs::create_dir_all(&directory).expect("a writable checkout");
                fs::write(&path, &sample.bytes).expect("a writable checkout");
            }
            let golden = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert!(golden == sample.bytes, "{} has changed: old files can no longer be read", path.display());
        }
    }
}

#[test]
fn containers_can_be_listed_without_knowing_their_kind() {
    let objects = objects(SecretDistribution::Ternary);
    let bytes = objects.evaluation.to_bytes(&objects.context, Form::Packed);
    let reader = Reader::open_any(&bytes, &Limits::default()).expect("just written");
    assert_eq!((reader.header().kind, reader.form()), (Kind::EVALUATION_KEYS, Some(Form::Packed)));
    // The owner; then relinearisation, X -> X^5 and X -> X^31, each with its exponent, identities, seed and digits.
    assert_eq!(reader.sections().last().map(|section| section.place().item), Some(3));
    let elements: Vec<u64> =
        reader.sections().iter().filter_map(|section| section.words().ok()).flat_map(|w| w.iter()).collect();
    assert_eq!(elements, [0, 5, 31]);
    assert!(!format!("{reader:?}").contains("bytes: ["), "contents are not shown");
}
