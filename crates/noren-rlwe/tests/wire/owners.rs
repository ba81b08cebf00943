//! Identities of secret keys in files: they come back, and files of the first version, which have none, are refused.

use noren_rlwe::ciphertext::Ciphertext;
use noren_rlwe::error::Error;
use noren_rlwe::keys::{EvaluationKeys, KeySwitchKey, PublicKey, SecretKey};
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::wire::header::VERSION;
use noren_rlwe::wire::kind::Kind;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::reader::Limits;
use noren_rlwe::wire::reason::Reason;
use noren_rlwe::wire::writer::Form;

use crate::samples::{VERSION_AT, find, objects, patched, reason, samples, section};

#[test]
fn identities_come_back_with_keys_and_ciphertexts() {
    let objects = objects(SecretDistribution::Ternary);
    let (context, owner) = (&objects.context, objects.secret.owner());
    let form = Form::Packed;
    let secret = SecretKey::from_bytes(context, &objects.secret.to_bytes(context, form)).expect("just written");
    let public = PublicKey::from_bytes(context, &objects.public.to_bytes(context, form)).expect("just written");
    let keys = EvaluationKeys::from_bytes(context, &objects.evaluation.to_bytes(context, form)).expect("just written");
    let switch = KeySwitchKey::from_bytes(context, &objects.switching.to_bytes(context, form)).expect("just written");
    assert_eq!([secret.owner(), public.owner(), keys.owner(), switch.owner()], [owner; 4]);
    assert_eq!(switch.from(), objects.switching.from());
    assert_ne!(switch.from(), owner.key);
    for ciphertext in [&objects.seeded, &objects.fresh, &objects.product] {
        let again = Ciphertext::from_bytes(context, &ciphertext.to_bytes(context, form)).expect("just written");
        assert_eq!(again.key_id(), owner.key);
    }
}

#[test]
fn files_of_the_first_version_say_whose_they_are_or_are_refused() {
    let objects = objects(SecretDistribution::Ternary);
    for sample in samples(&objects, Form::Packed) {
        let old = patched(&sample.bytes, VERSION_AT, &1u16.to_le_bytes());
        match sample.kind {
            Kind::PARAMETERS | Kind::SECRET_KEY | Kind::PLAINTEXT => {
                // They are written in the present version.
                let again = (sample.rewrite)(&old, &Limits::default()).expect("the contents are the same");
                assert!(again == sample.bytes, "{}", sample.name);
            }
            _ => {
                let found = reason(&sample, VERSION_AT, &1u16.to_le_bytes());
                assert_eq!(found, Reason::Outdated { found: 1, needed: 2 }, "{}", sample.name);
                assert!(found.to_string().contains("make it again"), "{found}");
            }
        }
    }
    assert!(Kind::ALL.into_iter().all(|kind| (1..=VERSION).contains(&kind.since())));
}

#[test]
fn a_set_with_a_key_of_another_secret_is_refused() {
    let objects = objects(SecretDistribution::Ternary);
    let all = samples(&objects, Form::Packed);
    let keys = find(&all, "evaluation_keys");
    // The identity of the set, and both of its first key, behind the exponent.
    for at in [section(&keys.bytes, 0), section(&keys.bytes, 2), section(&keys.bytes, 2) + 16] {
        let bytes = patched(&keys.bytes, at, &[!keys.bytes[at]]);
        let refused = (keys.rewrite)(&bytes, &Limits::default());
        assert!(matches!(refused, Err(Error::KeyMismatch { .. })), "byte {at}: {:?}", refused.err());
    }
}
