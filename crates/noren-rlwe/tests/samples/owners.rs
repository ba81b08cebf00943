//! Keys and ciphertexts of different secrets never meet: every verb refuses them by name.

use std::sync::Arc;

use noren_math::random::Seed;
use noren_ring::small::SmallPolynomials;
use noren_rlwe::ciphertext::Ciphertext;
use noren_rlwe::decrypt::decrypt;
use noren_rlwe::encrypt::Encryptor;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::galois::{apply_automorphism, apply_automorphisms, sum_automorphisms, sum_automorphisms_in_steps};
use noren_rlwe::hoisting::{GiantStep, Order, sum_giant_steps};
use noren_rlwe::key_request::KeyRequest;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::{EvaluationKeys, SecretKey};
use noren_rlwe::keyswitch::switch_secret;
use noren_rlwe::linear;
use noren_rlwe::multiply;
use noren_rlwe::product;
use noren_rlwe::raise::{mod_raise, mod_raise_switch};
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::streamed::{images, sum_in_turn, sum_streamed};

use crate::small::{Setup, seed, spec};

/// A plaintext modulus of the scaled products.
const T: u64 = 257;

fn keys(setup: &Setup, secret: &SecretKey) -> EvaluationKeys {
    let request = KeyRequest { relinearization: Some(3), galois: vec![(5, 3), (25, 3)] };
    setup.generator.evaluation_keys(secret, &request, None).expect("no security asked")
}

fn stranger(setup: &Setup) -> SecretKey {
    setup.generator.ephemeral_secret("stranger", SecretDistribution::Ternary).expect("supported")
}

#[track_caller]
fn assert_refused<T>(results: impl IntoIterator<Item = Result<T>>) {
    for (i, result) in results.into_iter().enumerate() {
        assert!(matches!(result, Err(Error::KeyMismatch { .. })), "{i}: {:?}", result.err());
    }
}

#[test]
fn an_identity_is_that_of_the_secret_and_its_parameters() {
    let (setup, other) = (Setup::new(spec(6, 3, 1, 0)), Setup::new(spec(6, 3, 2, 0)));
    let again = KeyGenerator::new(&setup.context, seed(1));
    assert_eq!(again.secret().owner(), setup.secret.owner(), "the same seed");
    assert_eq!(setup.generator.public(&setup.secret).expect("no security asked").owner(), setup.secret.owner());
    // Keys that another generator makes for the secret later.
    let later = KeyGenerator::new(&setup.context, seed(9));
    let key = later.galois(&setup.secret, 5, None).expect("no security asked");
    assert_eq!((key.owner(), key.from()), (setup.secret.owner(), setup.secret.owner().key));
    assert_eq!(keys(&setup, &setup.secret).owner(), setup.secret.owner());
    // Other parameters, another seed.
    assert_ne!(other.secret.owner().key, setup.secret.owner().key);
    assert_ne!(later.secret().owner().key, setup.secret.owner().key);
}

#[test]
fn no_pair_of_secrets_decrypts_for_each_other() {
    const SECRETS: u8 = 12;
    let setup = Setup::new(spec(4, 2, 1, 0));
    let secrets: Vec<_> = (0..SECRETS).map(|i| KeyGenerator::new(&setup.context, seed(i)).secret()).collect();
    let message = setup.plaintext(2, "message");
    let ciphertexts = secrets.iter().flat_map(|secret| {
        let public = setup.generator.public(secret).expect("no security asked");
        let encryptors = [
            Encryptor::public(&setup.context, &public, seed(30)).expect("one context"),
            Encryptor::symmetric(&setup.context, secret, seed(31)).expect("one context"),
        ];
        encryptors.map(|encryptor| encryptor.encrypt(&message).expect("no security asked"))
    });
    for (i, ciphertext) in ciphertexts.enumerate() {
        for (j, secret) in secrets.iter().enumerate() {
            let result = decrypt(&setup.context, secret, &ciphertext);
            assert_eq!(result.is_ok(), i / 2 == j, "ciphertext {i}, secret {j}");
            assert!(result.is_ok() || matches!(result, Err(Error::KeyMismatch { .. })));
        }
    }
}

#[test]
fn ciphertexts_of_two_secrets_do_not_meet() {
    let setup = Setup::new(spec(6, 3, 2, 0));
    let (context, other) = (&setup.context, stranger(&setup));
    let (own, foreign) = (setup.arbitrary(3, 1, "own"), setup.arbitrary_under(&other, 3, 1, "foreign"));
    let keys = keys(&setup, &setup.secret);
    let in_place = |operation: fn(&_, &mut Ciphertext, &Ciphertext) -> Result<()>| {
        let mut sum = own.clone();
        operation(context, &mut sum, &foreign).map(|()| sum)
    };
    assert_refused([
        in_place(linear::add_assign),
        in_place(linear::sub_assign),
        multiply::tensor(context, &own, &foreign),
        multiply::multiply_relinearize(context, &own, &foreign, &keys),
        multiply::multiply_relinearize_rescale(context, &own, &foreign, &keys),
        product::tensor_scaled(context, &[[&own, &own], [&own, &foreign]], T),
        product::multiply_scaled(context, &[[&own, &foreign]], T, 3, &keys),
        product::multiply_switched(context, &[[&foreign, &own]], T, 2, &keys),
        sum_in_turn(context, &[own.clone(), foreign.clone()], 5, &keys),
    ]);
    assert_refused([images(context, &[&own, &foreign], &[5], &keys, 1)]);
}

#[test]
fn keys_of_another_secret_evaluate_nothing() {
    let setup = Setup::new(spec(6, 3, 2, 0));
    let (context, other) = (&setup.context, stranger(&setup));
    let (own, product) = (setup.arbitrary(3, 1, "own"), setup.arbitrary(3, 2, "product"));
    let foreign = keys(&setup, &other);
    let ring = context.ring_qp(3);
    let factor = ring.uniform(&seed(5), "factor");
    let giants = [GiantStep { automorphism: 5, terms: vec![(0, &factor)] }];
    assert_refused([
        multiply::relinearize(context, &product, &foreign),
        multiply::relinearize_rescale(context, &product, &foreign),
        multiply::multiply_relinearize(context, &own, &own, &foreign),
        multiply::multiply_relinearize_rescale(context, &own, &own, &foreign),
        product::multiply_scaled(context, &[[&own, &own]], T, 3, &foreign),
        product::multiply_switched(context, &[[&own, &own]], T, 2, &foreign),
        apply_automorphism(context, &own, 5, &foreign),
        sum_automorphisms(context, &own, &[5, 25], &foreign),
        sum_automorphisms_in_steps(context, &own, &[&[5], &[25]], &foreign),
        sum_giant_steps(context, &own, &[1, 25], &giants, Order::Separate, &foreign, true),
        // Two parts need no key, and the identity moves nothing: they are refused all the same.
        multiply::relinearize(context, &own, &foreign),
        apply_automorphism(context, &own, 1, &foreign),
        apply_automorphism(context, &own, 1, &EvaluationKeys::new(setup.parameters(), other.owner().key)),
    ]);
    assert_refused([apply_automorphisms(context, &own, &[5, 1], &foreign)]);
    assert_refused([images(context, &[&own], &[5], &foreign, 1)]);
}

#[test]
fn switches_lead_from_one_secret_to_the_other_and_nowhere_else() {
    let setup = Setup::new(spec(6, 3, 2, 0));
    let (context, other) = (&setup.context, stranger(&setup));
    let (own, foreign) = (setup.arbitrary(1, 1, "own"), setup.arbitrary_under(&other, 1, 1, "foreign"));
    let there = setup.generator.switching(&setup.secret, &other, None).expect("no security asked");
    let switched = switch_secret(context, &own, &there).expect("long enough");
    let raised = mod_raise_switch(context, &own, &there).expect("longer");
    for ciphertext in [&switched, &raised] {
        assert_eq!(ciphertext.key_id(), other.owner().key);
        assert!(decrypt(context, &other, ciphertext).is_ok() && decrypt(context, &setup.secret, ciphertext).is_err());
    }
    assert_eq!(mod_raise(context, &own, 3).expect("more limbs").key_id(), setup.key());
    let [trivial, single] =
        [(&setup.secret, "one"), (&other, "two")].map(|(secret, label)| setup.arbitrary_under(secret, 1, 0, label));
    assert_eq!(switch_secret(context, &trivial, &there).expect("long enough").key_id(), other.owner().key);
    assert_refused([
        switch_secret(context, &foreign, &there),
        mod_raise_switch(context, &foreign, &there),
        switch_secret(context, &single, &there),
        mod_raise_switch(context, &single, &there),
    ]);
}

#[test]
fn sets_take_the_keys_of_one_secret_only() {
    let setup = Setup::new(spec(6, 3, 2, 0));
    let other = stranger(&setup);
    let mut own = keys(&setup, &setup.secret);
    let foreign = keys(&setup, &other);
    let switch = setup.generator.switching(&other, &setup.secret, None).expect("no security asked");
    assert_refused([
        own.insert_galois(5, foreign.galois(5, 3).expect("made").clone()),
        own.insert_relinearization(foreign.relinearization(3).expect("made").clone()),
        // It is an encryption under the secret, but of another one.
        own.insert_relinearization(Arc::new(switch)),
        own.merge(foreign),
        own.merge(EvaluationKeys::new(setup.parameters(), other.owner().key)),
    ]);
    assert!(own.merge(keys(&setup, &setup.secret)).is_ok());
}

#[test]
fn results_belong_to_the_secret_of_their_operands() {
    let setup = Setup::new(spec(6, 3, 3, 0));
    let (context, keys) = (&setup.context, keys(&setup, &setup.secret));
    let a = setup.arbitrary(3, 1, "a");
    let mut sum = a.clone();
    linear::add_assign(context, &mut sum, &a).expect("one secret");
    linear::neg_assign(context, &mut sum);
    let factors = SmallPolynomials::build(
        context.ring().engine(),
        setup.parameters().degree(),
        2,
        |_, out: &mut [i64]| out.fill(1),
        || {},
    );
    let set = images(context, &[&a], &[1, 5], &keys, 1).expect("keys there");
    let streamed = sum_streamed(context, 3, &[&set], &factors, setup.key()).expect("two factors").remove(0).remove(0);
    let results = [
        sum,
        multiply::tensor(context, &a, &a).expect("one level"),
        multiply::multiply_relinearize_rescale(context, &a, &a, &keys).expect("key there"),
        product::multiply_scaled(context, &[[&a, &a]], T, 2, &keys).expect("key there"),
        product::multiply_switched(context, &[[&a, &a]], T, 2, &keys).expect("key there"),
        apply_automorphism(context, &a, 5, &keys).expect("key there"),
        sum_automorphisms(context, &a, &[5, 25], &keys).expect("keys there"),
        linear::rescale(context, a.clone()).expect("three limbs"),
        linear::mod_switch(context, a.clone(), 1).expect("three limbs"),
        linear::drop_limbs(context, a.clone(), 1).expect("three limbs"),
        streamed,
    ];
    for (i, result) in results.iter().enumerate() {
        assert_eq!(result.key_id(), setup.key(), "{i}");
    }
    assert_ne!(KeyGenerator::new(context, Seed::from_bytes([7; 32])).secret().owner().key, setup.key());
}
