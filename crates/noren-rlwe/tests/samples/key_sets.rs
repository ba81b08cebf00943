//! Sets of evaluation keys that grow, and that are cut to fewer limbs.

use noren_math::random::Seed;
use noren_rlwe::ciphertext::Plaintext;
use noren_rlwe::decrypt::decrypt;
use noren_rlwe::error::Error;
use noren_rlwe::galois::apply_automorphism;
use noren_rlwe::key_request::KeyRequest;
use noren_rlwe::key_use::KeyUse;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::EvaluationKeys;
use noren_rlwe::noise;
use noren_rlwe::shape::KeyShape;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::small::{Setup, spec};

fn made(setup: &Setup, relinearization: Option<usize>, galois: &[(u32, usize)]) -> EvaluationKeys {
    let request = KeyRequest { relinearization, galois: galois.to_vec() };
    setup.generator.evaluation_keys(&setup.secret, &request, None).expect("no security asked")
}

#[test]
fn keys_cut_to_fewer_limbs_are_those_made_for_them() {
    // Digits of two limbs, so that three limbs leave one digit short.
    let setup = Setup::new(spec(7, 4, 2, 2));
    let full = made(&setup, Some(4), &[(5, 4), (25, 2)]);
    for limbs in 1..=4 {
        let cut = full.at_limbs(&setup.context, limbs).expect("fewer limbs");
        let expected = made(&setup, Some(limbs), &[(5, limbs), (25, limbs.min(2))]);
        let bytes = |keys: &EvaluationKeys| keys.to_bytes(&setup.context, Form::Packed);
        assert_eq!(bytes(&cut), bytes(&expected), "{limbs} limbs");
        let again = EvaluationKeys::from_bytes(&setup.context, &bytes(&cut)).expect("just written");
        assert_eq!(bytes(&again), bytes(&cut));
        assert_eq!((again.bytes(), cut.bytes()), (expected.bytes(), expected.bytes()));
        assert!(limbs == 4 || cut.bytes() < full.bytes());
        assert!(matches!(cut.galois(5, limbs + 1), Err(Error::KeyLevel { .. })));
    }
    for wrong in [0, 5] {
        assert!(matches!(full.at_limbs(&setup.context, wrong), Err(Error::Parameters { name: "limbs", .. })));
    }
    let other = Setup::new(spec(6, 4, 2, 2));
    assert!(matches!(full.at_limbs(&other.context, 2), Err(Error::ParameterMismatch { .. })));
}

#[test]
fn keys_of_another_shape_are_cut_too() {
    let setup = Setup::new(spec(7, 4, 2, 2));
    let generator = setup.generator.shaped(KeyShape { limbs: 4, special: 1, digits: 4 }).expect("supported");
    let made = |limbs| {
        let request = KeyRequest { relinearization: None, galois: vec![(5, limbs)] };
        generator.evaluation_keys(&setup.secret, &request, None).expect("no security asked")
    };
    let cut = made(4).at_limbs(&setup.context, 2).expect("fewer limbs");
    assert_eq!(cut.to_bytes(&setup.context, Form::Raw), made(2).to_bytes(&setup.context, Form::Raw));
}

#[test]
fn keys_of_another_seed_serve_the_same_secret() {
    let setup = Setup::new(spec(9, 3, 1, 3));
    let mut keys = made(&setup, Some(3), &[(5, 1)]);
    let later = KeyGenerator::new(&setup.context, Seed::from_bytes([77; 32]));
    let request = KeyRequest { relinearization: None, galois: vec![(5, 3), (25, 2)] };
    let more = later.evaluation_keys(&setup.secret, &request, None).expect("no security asked");
    assert!(matches!(keys.galois(5, 3), Err(Error::KeyLevel { key: Some(KeyUse::Rotation { steps: 1, .. }), .. })));
    keys.merge(more).expect("one secret");
    let uses: Vec<_> = keys.uses().map(|need| (need.usage.to_string(), need.limbs)).collect();
    let uses: Vec<_> = uses.iter().map(|(text, limbs)| (text.as_str(), *limbs)).collect();
    let expected = [("relinearisation", 3), ("rotation by 1 (X -> X^5)", 3), ("rotation by 2 (X -> X^25)", 2)];
    assert_eq!(uses, expected);
    // Each key switches its automorphism to the secret, with the noise of a key switch.
    let ciphertext = setup.arbitrary(2, 1, "grown");
    for k in [5, 25] {
        let image = apply_automorphism(&setup.context, &ciphertext, k, &keys).expect("keys");
        let ring = setup.context.ring_q(2);
        let clear = decrypt(&setup.context, &setup.secret, &ciphertext).expect("one context");
        let automorphism = setup.context.automorphism(k).expect("odd");
        let expected = Plaintext { poly: ring.automorphism(&clear.poly, &automorphism) };
        setup.assert_noise(&image, &expected, noise::key_switch(setup.parameters(), 2), "a key that was added");
    }
}

#[test]
fn what_is_missing_is_told_apart_by_use_and_limbs() {
    let setup = Setup::new(spec(6, 3, 1, 3));
    let keys = made(&setup, None, &[(5, 2)]);
    let refused = keys.check(Some(2), [(5, 2), (125, 1), (125, 3), (127, 2)]);
    let Err(Error::MissingKey { kind, keys: needed, .. }) = refused else { panic!("{refused:?}") };
    assert!(kind.contains("relinearisation, rotation by 3 (X -> X^125), conjugation"), "{kind}");
    let needed: Vec<_> = needed.into_iter().map(|need| (need.usage, need.limbs)).collect();
    let rotation = KeyUse::Rotation { steps: 3, k: 125 };
    assert_eq!(needed, [(KeyUse::Relinearization, 2), (rotation, 3), (KeyUse::Conjugation, 2)]);
    // Keys that are there for fewer limbs are among them: adding what is named is enough.
    let Err(Error::MissingKey { kind, keys: needed, .. }) = keys.check(None, [(125, 1), (5, 3)]) else { panic!("two") };
    assert!(kind.contains("rotation by 1 (X -> X^5), beyond the limbs of its key"), "{kind}");
    let needed: Vec<_> = needed.into_iter().map(|need| (need.usage, need.limbs)).collect();
    assert_eq!(needed, [(KeyUse::Rotation { steps: 3, k: 125 }, 1), (KeyUse::Rotation { steps: 1, k: 5 }, 3)]);
    let short = keys.check(None, [(5, 2), (5, 3)]);
    assert!(matches!(short, Err(Error::KeyLevel { found: 2, needed: 3, key: Some(_), .. })), "{short:?}");
    let wanted = KeyRequest { relinearization: Some(2), galois: vec![(5, 2), (5, 3), (125, 1), (1, 3)] };
    let lacking = KeyRequest { relinearization: Some(2), galois: vec![(5, 3), (125, 1)] };
    assert_eq!(keys.lacking(&wanted), lacking);
    // Circuits make keys of other shapes by themselves.
    let shaped = EvaluationKeys::shaped(setup.parameters(), KeyShape { limbs: 2, special: 1, digits: 1 }, setup.key());
    let Err(Error::MissingKey { keys: needed, .. }) = shaped.galois(5, 1) else { panic!("there is none") };
    assert!(needed.is_empty());
}
