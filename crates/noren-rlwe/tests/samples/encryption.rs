//! Encryption and decryption: fresh noise, fresh randomness, and sums that need no key.

use noren_rlwe::ciphertext::{Ciphertext, Plaintext};
use noren_rlwe::decrypt::decrypt;
use noren_rlwe::encrypt::Encryptor;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::linear;
use noren_rlwe::noise;
use noren_rlwe::parameters::ParametersSpec;
use noren_rlwe::security::SecretDistribution;
use proptest::prelude::*;

use crate::small::{Setup, ciphertext_words, coefficients, seed, spec, words};

#[test]
fn fresh_noise_is_as_predicted_for_every_secret() {
    for secret in [SecretDistribution::Ternary, SecretDistribution::SparseTernary(64), SecretDistribution::Gaussian] {
        let setup = Setup::new(ParametersSpec { secret, ..spec(12, 3, 1, 0) });
        let public = setup.generator.public(&setup.secret).expect("no security asked");
        let with_public = Encryptor::public(&setup.context, &public, seed(10)).expect("one context");
        let with_secret = Encryptor::symmetric(&setup.context, &setup.secret, seed(11)).expect("one context");
        for limbs in 1..=3 {
            let message = setup.plaintext(limbs, "message");
            let what = format!("{secret}, {limbs} limbs");
            let fresh = with_public.encrypt(&message).expect("fits");
            assert_eq!((fresh.limbs(), fresh.degree()), (limbs, 1));
            setup.assert_noise(&fresh, &message, noise::fresh_public(setup.parameters()), &what);
            let fresh = with_secret.encrypt(&message).expect("fits");
            setup.assert_noise(&fresh, &message, noise::fresh_symmetric(setup.parameters()), &what);
        }
    }
}

#[test]
fn rescaling_rounds_with_the_noise_predicted() {
    for secret in [SecretDistribution::Ternary, SecretDistribution::SparseTernary(64), SecretDistribution::Gaussian] {
        let setup = Setup::new(ParametersSpec { secret, ..spec(12, 4, 1, 0) });
        for limbs in [3, 4] {
            let (ciphertext, dropped) = (setup.arbitrary(limbs, 1, "before"), setup.parameters().q()[limbs - 1]);
            let before = decrypt(&setup.context, &setup.secret, &ciphertext).expect("one context");
            let after = linear::rescale(&setup.context, ciphertext).expect("levels left");
            // Times the dropped prime again, it is the message before with the rounding error times that prime.
            let ring = setup.context.ring_q(limbs - 1);
            let again = after.parts().iter().map(|part| ring.mul_integer(part, dropped as i64)).collect();
            let predicted = noise::rounding(setup.parameters()) * dropped as f64;
            setup.assert_noise(
                &Ciphertext::new(again, setup.key()),
                &before,
                predicted,
                &format!("{secret}, {limbs} limbs"),
            );
        }
    }
}

#[test]
fn secrets_have_the_distribution_that_they_say() {
    for (distribution, weight) in [
        // Binomial of 4096 with probability 2/3: 2731 on average, with standard deviation 30.2; five of these.
        (SecretDistribution::Ternary, 2580..=2882),
        (SecretDistribution::SparseTernary(100), 100..=100),
    ] {
        let setup = Setup::new(ParametersSpec { secret: distribution, ..spec(12, 1, 0, 0) });
        assert_eq!(setup.secret.distribution(), distribution);
        // (0, 1) decrypts to the secret itself.
        let ring = setup.context.ring_q(1);
        let one = Ciphertext::new(vec![ring.zero(), ring.constant(&[1])], setup.key());
        let poly = decrypt(&setup.context, &setup.secret, &one).expect("one context").poly;
        let secret = ring.to_centered_i128(&coefficients(&setup.context, &poly)).expect("small");
        assert!(secret.iter().all(|x| (-1..=1).contains(x)));
        let found = secret.iter().filter(|x| **x != 0).count();
        assert!(weight.contains(&found), "{distribution}: {found}");
    }
}

#[test]
fn seeded_ciphertexts_reproduce_their_second_part() {
    let setup = Setup::new(spec(6, 3, 1, 0));
    let encryptor = Encryptor::symmetric(&setup.context, &setup.secret, seed(12)).expect("one context");
    for limbs in 1..=3 {
        let fresh = encryptor.encrypt(&setup.plaintext(limbs, "message")).expect("fits");
        let expanded = setup.context.ring_q(limbs).uniform(fresh.seed().expect("symmetric"), "ciphertext");
        assert_eq!(words(&setup.context, &fresh.parts()[1]), words(&setup.context, &expanded));
        // A shorter ciphertext still comes from its seed, a changed one does not.
        let short = linear::drop_limbs(&setup.context, fresh.clone(), 1).expect("fewer");
        let expanded = setup.context.ring_q(1).uniform(short.seed().expect("kept"), "ciphertext");
        assert_eq!(words(&setup.context, &short.parts()[1]), words(&setup.context, &expanded));
        let mut changed = fresh.clone();
        linear::neg_assign(&setup.context, &mut changed);
        assert!(changed.seed().is_none());
    }
    let public = setup.generator.public(&setup.secret).expect("no security asked");
    let fresh = Encryptor::public(&setup.context, &public, seed(12)).expect("one context");
    assert!(fresh.encrypt(&setup.plaintext(1, "message")).expect("fits").seed().is_none());
}

#[test]
fn every_encryption_differs_and_every_encryptor_repeats_itself() {
    let setup = Setup::new(spec(6, 2, 1, 0));
    let public = setup.generator.public(&setup.secret).expect("no security asked");
    let message = setup.plaintext(2, "message");
    let encrypt = |encryptor: &Encryptor| ciphertext_words(&setup.context, &encryptor.encrypt(&message).expect("fits"));
    let make = |symmetric: bool, seed| {
        if symmetric {
            Encryptor::symmetric(&setup.context, &setup.secret, seed).expect("one context")
        } else {
            Encryptor::public(&setup.context, &public, seed).expect("one context")
        }
    };
    for symmetric in [false, true] {
        let (first, again, other) = (make(symmetric, seed(13)), make(symmetric, seed(13)), make(symmetric, seed(14)));
        let ciphertexts = [encrypt(&first), encrypt(&first), encrypt(&other)];
        for (i, a) in ciphertexts.iter().enumerate() {
            for b in &ciphertexts[..i] {
                // Neither part is repeated.
                assert!(a.chunks(64).zip(b.chunks(64)).all(|(a, b)| a != b));
            }
        }
        assert_eq!([encrypt(&again), encrypt(&again)], ciphertexts[..2]);
    }
}

#[test]
fn random_seeds_do_not_meet() {
    let setup = Setup::new(spec(4, 1, 0, 0));
    let message = setup.plaintext(1, "message");
    let encrypt = || {
        let seed = noren_math::random::Seed::random().expect("entropy");
        let encryptor = Encryptor::symmetric(&setup.context, &setup.secret, seed).expect("one context");
        ciphertext_words(&setup.context, &encryptor.encrypt(&message).expect("fits"))
    };
    assert_ne!(encrypt(), encrypt());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn decryption_is_linear(label in any::<u32>(), degrees in (0usize..4, 0usize..4), limbs in 1usize..4) {
        let setup = Setup::new(spec(4, 3, 0, 0));
        let (context, ring) = (&setup.context, setup.context.ring_q(limbs));
        let a = setup.arbitrary(limbs, degrees.0, &format!("a/{label}"));
        let b = setup.arbitrary(limbs, degrees.1, &format!("b/{label}"));
        // More limbs than the ciphertexts, as encoded at a higher level.
        let m = setup.plaintext(3, &format!("m/{label}"));
        let message = |ciphertext: &Ciphertext| decrypt(context, &setup.secret, ciphertext).expect("one context").poly;
        let (x, y, short) = (message(&a), message(&b), ring.restrict(&m.poly));
        let check = |change: &dyn Fn(&mut Ciphertext), expected| {
            let mut changed = a.clone();
            change(&mut changed);
            assert_eq!(words(context, &message(&changed)), words(context, &expected));
        };
        check(&|a| linear::add_assign(context, a, &b).expect("same level"), ring.add(&x, &y));
        check(&|a| linear::sub_assign(context, a, &b).expect("same level"), ring.sub(&x, &y));
        check(&|a| linear::neg_assign(context, a), ring.neg(&x));
        check(&|a| linear::add_plain_assign(context, a, &m).expect("enough limbs"), ring.add(&x, &short));
        check(&|a| linear::sub_plain_assign(context, a, &m).expect("enough limbs"), ring.sub(&x, &short));
        check(&|a| linear::mul_plain_assign(context, a, &m).expect("enough limbs"), ring.mul(&x, &short));
        for kept in 1..=limbs {
            let dropped = linear::drop_limbs(context, a.clone(), kept).expect("fewer");
            let expected = context.ring_q(kept).restrict(&x);
            prop_assert_eq!(words(context, &message(&dropped)), words(context, &expected));
        }
    }
}

#[test]
fn plaintexts_of_the_wrong_shape_are_refused() {
    use noren_rlwe::error::Error;
    let (small, large) = (Setup::new(spec(4, 2, 1, 0)), Setup::new(spec(5, 2, 1, 0)));
    let encryptor = Encryptor::symmetric(&small.context, &small.secret, seed(15)).expect("one context");
    let refused = encryptor.encrypt(&large.plaintext(1, "message"));
    assert!(matches!(refused, Err(Error::Length { found: 32, .. })));
    let whole = Plaintext { poly: small.context.ring().uniform(&seed(16), "message") };
    assert!(matches!(encryptor.encrypt(&whole), Err(Error::Length { found: 3, .. })));
}

#[test]
fn a_secret_has_evaluations_modulo_the_primes_that_were_asked_for() {
    let setup = Setup::new(spec(6, 3, 1, 3));
    let n = 64;
    let secret = KeyGenerator::new(&setup.context, seed(1)).secret();
    assert_eq!(secret.bytes(), n);
    // Evaluations modulo more primes serve fewer.
    for (limbs, held) in [(1, 1), (2, 2), (1, 2)] {
        let message = setup.plaintext(limbs, "message");
        let encryptor = Encryptor::symmetric(&setup.context, &secret, seed(2)).expect("its own");
        let ciphertext = encryptor.encrypt(&message).expect("no security asked");
        decrypt(&setup.context, &secret, &ciphertext).expect("its own");
        assert_eq!(secret.bytes(), n + 8 * n * held);
    }
    setup.generator.relinearization(&secret, None).expect("no security asked");
    assert_eq!(secret.bytes(), n + 8 * n * 4);
}
