//! Mistakes of callers, each with an error of its own.

use std::cell::RefCell;
use std::sync::Arc;

use noren_rlwe::decrypt::decrypt;
use noren_rlwe::encrypt::Encryptor;
use noren_rlwe::error::Error;
use noren_rlwe::galois::{apply_automorphism, apply_automorphisms, sum_automorphisms};
use noren_rlwe::key_request::KeyRequest;
use noren_rlwe::keys::EvaluationKeys;
use noren_rlwe::keyswitch::switch_key;
use noren_rlwe::linear;
use noren_rlwe::noise::measure;
use noren_rlwe::security::SecretDistribution;

use crate::small::{Setup, ciphertext_words, seed, spec};

fn keys(setup: &Setup, relinearization: Option<usize>, galois: &[(u32, usize)]) -> EvaluationKeys {
    let request = KeyRequest { relinearization, galois: galois.to_vec() };
    setup.generator.evaluation_keys(&setup.secret, &request, None).expect("no security asked")
}

#[test]
fn missing_keys_are_named_with_what_there_is() {
    let setup = Setup::new(spec(4, 2, 1, 0));
    let ciphertext = setup.arbitrary(2, 1, "ciphertext");
    let have = keys(&setup, Some(2), &[(5, 2), (31, 1)]);
    let refusal = |k| match apply_automorphism(&setup.context, &ciphertext, k, &have) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("there is no key for {k}"),
    };
    // 125 = 29 modulo 32.
    let text = refusal(29);
    assert!(text.contains("rotation by 3 (X -> X^29)"), "{text}");
    assert!(text.contains("relinearisation, rotation by 1 (X -> X^5), conjugation"), "{text}");
    assert!(refusal(27).contains("conjugation and rotation by 1"));
    // The key for conjugation is there, but for one limb.
    let text = refusal(31);
    assert!(text.contains("conjugation") && text.contains("at most 1 limbs") && text.contains("has 2"), "{text}");
    for k in [0, 6, 33] {
        let refused = apply_automorphism(&setup.context, &ciphertext, k, &have);
        assert!(matches!(refused, Err(Error::NotAnAutomorphism { found, index: 32 }) if found == k));
        let refused = sum_automorphisms(&setup.context, &ciphertext, &[5, k], &have);
        assert!(matches!(refused, Err(Error::NotAnAutomorphism { found, .. }) if found == k));
    }
    let refused = sum_automorphisms(&setup.context, &ciphertext, &[5, 25], &have);
    assert!(matches!(refused, Err(Error::MissingKey { .. })));
    let refused = apply_automorphisms(&setup.context, &ciphertext, &[5, 1, 27], &have);
    assert!(refused.is_err_and(|error| error.to_string().contains("conjugation and rotation by 1")));
}

#[test]
fn merging_keeps_the_longer_keys() {
    let setup = Setup::new(spec(4, 3, 1, 0));
    let mut merged = keys(&setup, Some(1), &[(5, 3), (25, 1)]);
    merged.merge(keys(&setup, Some(3), &[(5, 2), (31, 1)])).expect("one context");
    assert_eq!(merged.relinearization(3).expect("the longer one").limbs(), 3);
    let limbs: Vec<_> = merged.automorphisms().map(|(k, key)| (k, key.limbs())).collect();
    assert_eq!(limbs, [(5, 3), (25, 1), (31, 1)]);
    let other = Setup::new(spec(4, 2, 1, 0));
    assert!(matches!(merged.merge(keys(&other, None, &[])), Err(Error::ParameterMismatch { .. })));
    let foreign = other.generator.relinearization(&other.secret, None).expect("no security asked");
    assert!(matches!(merged.insert_relinearization(Arc::new(foreign)), Err(Error::ParameterMismatch { .. })));
}

#[test]
fn requests_are_made_once_each_and_report_progress() {
    let setup = Setup::new(spec(4, 3, 1, 0));
    let request = KeyRequest { relinearization: Some(2), galois: vec![(5, 1), (1, 3), (25, 2), (5, 3), (5, 2)] };
    let reports = RefCell::new(Vec::new());
    let report = |done, total| reports.borrow_mut().push((done, total));
    let made = setup.generator.evaluation_keys(&setup.secret, &request, Some(&report)).expect("no security asked");
    assert_eq!(reports.into_inner(), [(1, 3), (2, 3), (3, 3)]);
    let limbs: Vec<_> = made.automorphisms().map(|(k, key)| (k, key.limbs())).collect();
    assert_eq!(limbs, [(5, 3), (25, 2)]);
    assert_eq!(made.relinearization(2).expect("made").limbs(), 2);
}

#[test]
fn keys_that_cannot_be_made_are_refused() {
    let setup = Setup::new(spec(4, 2, 1, 0));
    let refused = setup.generator.relinearization(&setup.secret, Some(3));
    assert!(matches!(refused, Err(Error::Parameters { name: "limbs", .. })));
    let refused = setup.generator.galois(&setup.secret, 5, Some(0));
    assert!(matches!(refused, Err(Error::Parameters { name: "limbs", .. })));
    assert!(matches!(setup.generator.galois(&setup.secret, 4, None), Err(Error::NotAnAutomorphism { found: 4, .. })));
    let refused = setup.generator.ephemeral_secret("sparse", SecretDistribution::SparseTernary(17));
    assert!(matches!(refused, Err(Error::Parameters { name: "secret", .. })));
    let bare = Setup::new(spec(4, 2, 0, 0));
    let refused = bare.generator.relinearization(&bare.secret, None);
    assert!(matches!(refused, Err(Error::Parameters { name: "p", .. })));
    assert!(bare.generator.public(&bare.secret).is_ok());
}

#[test]
fn things_of_other_parameters_are_refused() {
    let (setup, other) = (Setup::new(spec(4, 2, 1, 0)), Setup::new(spec(4, 2, 2, 0)));
    let ciphertext = setup.arbitrary(2, 1, "ciphertext");
    let foreign = other.generator.relinearization(&other.secret, None).expect("no security asked");
    let public = other.generator.public(&other.secret).expect("no security asked");
    let message = setup.plaintext(2, "message");
    let c = setup.context.ring_q(2).zero();
    let refusals = [
        decrypt(&setup.context, &other.secret, &ciphertext).err(),
        measure(&setup.context, &other.secret, &ciphertext, &message).err(),
        Encryptor::public(&setup.context, &public, seed(20)).err(),
        Encryptor::symmetric(&setup.context, &other.secret, seed(20)).err(),
        setup.generator.public(&other.secret).err(),
        setup.generator.galois(&other.secret, 5, None).err(),
        setup.generator.switching(&other.secret, &setup.secret, None).err(),
        switch_key(&setup.context, &c, &foreign).err(),
    ];
    for (i, refusal) in refusals.into_iter().enumerate() {
        assert!(matches!(refusal, Some(Error::ParameterMismatch { .. })), "{i}: {refusal:?}");
    }
}

#[test]
fn levels_and_degrees_that_do_not_fit_are_refused() {
    let setup = Setup::new(spec(4, 3, 1, 0));
    let context = &setup.context;
    let (mut high, low) = (setup.arbitrary(3, 1, "high"), setup.arbitrary(2, 1, "low"));
    let before = ciphertext_words(context, &high);
    let mismatch = |result| matches!(result, Err(Error::LevelMismatch { left: 2, right: 1 }));
    assert!(mismatch(linear::add_assign(context, &mut high, &low)));
    assert!(mismatch(linear::sub_assign(context, &mut high, &low)));
    assert!(mismatch(linear::add_plain_assign(context, &mut high, &setup.plaintext(2, "m"))));
    assert!(mismatch(linear::mul_plain_assign(context, &mut high, &setup.plaintext(2, "m"))));
    assert_eq!(ciphertext_words(context, &high), before, "a refused operation changes nothing");
    let refused = linear::drop_limbs(context, low, 3);
    assert!(matches!(refused, Err(Error::LevelExhausted { needed: 2, left: 1 })));
    let lowest = setup.arbitrary(1, 1, "lowest");
    assert!(matches!(linear::rescale(context, lowest), Err(Error::LevelExhausted { needed: 1, left: 0 })));
    let cube = setup.arbitrary(3, 2, "cube");
    let none = EvaluationKeys::new(setup.parameters(), setup.key());
    let refused = apply_automorphisms(context, &cube, &[1], &none);
    assert!(matches!(refused, Err(Error::DegreeTooHigh { found: 2, needed: 1 })));
}
