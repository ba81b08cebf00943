//! Keys of fewer primes than the parameters have: right in every verb, with the noise that the formula says.

use noren_ring::poly::Eval;
use noren_ring::poly::Poly;
use noren_rlwe::ciphertext::{Ciphertext, Plaintext};
use noren_rlwe::decrypt::decrypt;
use noren_rlwe::error::Error;
use noren_rlwe::galois::{apply_automorphism, apply_automorphisms, sum_automorphisms, sum_automorphisms_in_steps};
use noren_rlwe::hoisting::{GiantStep, Order, sum_giant_steps};
use noren_rlwe::key_request::KeyRequest;
use noren_rlwe::keys::EvaluationKeys;
use noren_rlwe::keyswitch::switch_key;
use noren_rlwe::multiply::{multiply_relinearize, multiply_relinearize_rescale};
use noren_rlwe::noise;
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::shape::KeyShape;

use crate::small::{Setup, seed, spec, words};

const fn shape(limbs: usize, special: usize, digits: usize) -> KeyShape {
    KeyShape { limbs, special, digits }
}

#[test]
fn noise_is_as_predicted_for_every_shape_at_every_level() {
    let setup = Setup::new(spec(12, 5, 3, 2));
    let from = setup.generator.ephemeral_secret("from", SecretDistribution::Ternary).expect("supported");
    for shape in [shape(5, 1, 5), shape(5, 2, 3), shape(3, 2, 1), shape(2, 3, 1), shape(1, 1, 1)] {
        let generator = setup.generator.shaped(shape).expect("supported");
        let key = generator.switching(&from, &setup.secret, None).expect("no security asked");
        assert_eq!((key.shape(), key.limbs(), key.pairs().digits()), (shape, shape.limbs, shape.digits));
        for limbs in 1..=shape.limbs {
            let ring = setup.context.ring_q(limbs);
            let c = ring.uniform(&seed(4), &format!("c/{limbs}"));
            // Decrypting (0, c) under the first secret multiplies c with it.
            let expected =
                decrypt(&setup.context, &from, &Ciphertext::new(vec![ring.zero(), c.clone()], from.owner().key));
            let switched =
                Ciphertext::new(switch_key(&setup.context, &c, &key).expect("long enough").into(), setup.key());
            let predicted = noise::key_switch_shaped(setup.parameters(), limbs, shape).expect("supported");
            setup.assert_noise(
                &switched,
                &expected.expect("one context"),
                predicted,
                &format!("{shape}, {limbs} limbs"),
            );
        }
    }
}

#[test]
fn the_usual_shape_changes_nothing() {
    let setup = Setup::new(spec(6, 4, 2, 2));
    let usual = setup.parameters().shape();
    assert_eq!(usual, shape(4, 2, 2));
    let again = setup.generator.shaped(usual).expect("supported");
    let key = |generator: &noren_rlwe::keygen::KeyGenerator| {
        let key = generator.galois(&setup.secret, 5, Some(3)).expect("no security asked");
        let halves = (0..key.pairs().digits()).flat_map(|digit| setup.context.ring().key_pair(key.pairs(), digit));
        (
            key.shape(),
            *key.seed().expect("of one owner").as_bytes(),
            halves.map(|half| words(&setup.context, &half)).collect::<Vec<_>>(),
        )
    };
    assert!(key(&again) == key(&setup.generator));
    let predicted = noise::key_switch_shaped(setup.parameters(), 3, usual).expect("supported");
    assert_eq!(predicted.to_bits(), noise::key_switch(setup.parameters(), 3).to_bits());
    // Another shape has streams of its own, and the same secrets.
    let other = setup.generator.shaped(shape(4, 1, 2)).expect("supported");
    assert_ne!(key(&other).1, key(&again).1);
    let short = other.galois(&setup.secret, 5, Some(2)).expect("no security asked");
    let (long, ring) =
        (other.galois(&setup.secret, 5, None).expect("no security asked"), setup.context.ring().window(1..4));
    assert_eq!((short.pairs().digits(), long.pairs().digits()), (1, 2));
    for (short, long) in
        setup.context.ring().key_pair(short.pairs(), 0).iter().zip(&setup.context.ring().key_pair(long.pairs(), 0))
    {
        assert_eq!(
            words(&setup.context, short),
            words(&setup.context, &ring.restrict(long)),
            "a key starts a longer one"
        );
    }
}

/// One of every verb that switches, on a ciphertext of three limbs.
fn verbs(setup: &Setup, keys: &EvaluationKeys) -> Vec<Ciphertext> {
    let (context, n) = (&setup.context, setup.parameters().degree() as u32);
    let [a, b] = ["a", "b"].map(|label| setup.arbitrary(3, 1, label));
    let conjugation = 2 * n - 1;
    let small: Vec<i64> = (0..i64::from(n)).map(|i| i % 5 - 2).collect();
    let factor: Poly<Eval> = context.ring().ntt(context.ring().from_signed(&small));
    let giants = [
        GiantStep { automorphism: 1, terms: vec![(0, &factor), (1, &factor)] },
        GiantStep { automorphism: conjugation, terms: vec![(1, &factor)] },
    ];
    let mut results = apply_automorphisms(context, &a, &[5, conjugation], keys).expect("keys there");
    results.extend([
        apply_automorphism(context, &a, 5, keys).expect("keys there"),
        sum_automorphisms(context, &a, &[5, conjugation], keys).expect("keys there"),
        sum_automorphisms_in_steps(context, &a, &[&[5], &[conjugation]], keys).expect("keys there"),
        multiply_relinearize(context, &a, &b, keys).expect("keys there"),
        multiply_relinearize_rescale(context, &a, &b, keys).expect("keys there"),
        sum_giant_steps(context, &a, &[1, 5], &giants, Order::Separate, keys, true).expect("keys there"),
        sum_giant_steps(context, &a, &[1, 5], &giants, Order::InTurn, keys, true).expect("keys there"),
    ]);
    results
}

#[test]
fn every_verb_takes_keys_of_any_shape() {
    let setup = Setup::new(spec(10, 4, 3, 2));
    let request = KeyRequest { relinearization: Some(3), galois: vec![(5, 3), (2047, 3)] };
    let expected = {
        let keys = setup.generator.evaluation_keys(&setup.secret, &request, None).expect("no security asked");
        verbs(&setup, &keys)
    };
    for shape in [shape(4, 2, 4), shape(4, 1, 4), shape(3, 3, 1), shape(3, 2, 3)] {
        let generator = setup.generator.shaped(shape).expect("supported");
        let keys = generator.evaluation_keys(&setup.secret, &request, None).expect("no security asked");
        assert_eq!(keys.shape(), shape);
        let noise = noise::key_switch_shaped(setup.parameters(), 3, shape).expect("supported")
            + noise::key_switch(setup.parameters(), 3);
        for (i, (found, expected)) in verbs(&setup, &keys).iter().zip(&expected).enumerate() {
            let expected: Plaintext = decrypt(&setup.context, &setup.secret, expected).expect("one context");
            let measured = noise::measure(&setup.context, &setup.secret, found, &expected).expect("one context");
            // Up to two switches and, in steps, the first of them once more: at most four times the noise of one.
            assert!(measured.std < 4.0 * noise, "{shape}, verb {i}: {:e} measured, {noise:e} for one", measured.std);
        }
    }
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let setup = Setup::new(spec(6, 4, 2, 2));
    for wrong in [shape(0, 1, 1), shape(5, 1, 1), shape(4, 0, 1), shape(4, 3, 1), shape(4, 1, 0), shape(3, 1, 4)] {
        let refused = setup.generator.shaped(wrong).map(drop);
        let Err(error @ Error::Parameters { name: "shape", .. }) = refused else { panic!("{wrong}: {refused:?}") };
        assert!(error.to_string().contains(&wrong.to_string()), "{error}");
        assert!(setup.context.switching(wrong).is_err());
    }
    let few = setup.generator.shaped(shape(2, 1, 1)).expect("supported");
    let refused = few.relinearization(&setup.secret, Some(3));
    assert!(matches!(refused, Err(Error::Parameters { name: "limbs", .. })));
    let key = few.switching(&setup.secret, &setup.secret, None).expect("no security asked");
    let refused = switch_key(&setup.context, &setup.context.ring_q(3).zero(), &key);
    assert!(matches!(refused, Err(Error::KeyLevel { found: 2, needed: 3, .. })));
    let none = EvaluationKeys::shaped(setup.parameters(), shape(2, 1, 1), setup.key());
    let refused = sum_giant_steps(&setup.context, &setup.arbitrary(3, 1, "a"), &[1], &[], Order::Separate, &none, true);
    assert!(matches!(refused, Err(Error::KeyLevel { found: 2, needed: 3, .. })));
}

#[test]
fn keys_of_two_shapes_share_no_set() {
    let setup = Setup::new(spec(6, 4, 2, 2));
    let request = KeyRequest { relinearization: Some(2), galois: vec![(5, 2)] };
    let few = setup.generator.shaped(shape(2, 1, 1)).expect("supported");
    let mut usual = setup.generator.evaluation_keys(&setup.secret, &request, None).expect("no security asked");
    let other = few.evaluation_keys(&setup.secret, &request, None).expect("no security asked");
    let (galois, relinearization) =
        (other.galois(5, 2).expect("made").clone(), other.relinearization(2).expect("made").clone());
    let refusals = [
        usual.insert_galois(5, galois).err(),
        usual.insert_relinearization(relinearization).err(),
        usual.merge(other).err(),
    ];
    for refusal in refusals {
        let Some(error @ Error::KeyShape { .. }) = refusal else { panic!("{refusal:?}") };
        let text = error.to_string();
        assert!(text.contains("(limbs: 2, digits: 1, special primes: 1), its set has (limbs: 4"), "{text}");
    }
}
