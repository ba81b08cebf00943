//! Key switching: right at every level, with the noise that the formula says.

use std::sync::Arc;

use noren_math::prime::primes_below;
use noren_rlwe::ciphertext::{Ciphertext, Plaintext};
use noren_rlwe::error::Error;
use noren_rlwe::galois::apply_automorphism;
use noren_rlwe::keys::{EvaluationKeys, KeySwitchKey};
use noren_rlwe::keyswitch::switch_key;
use noren_rlwe::linear::rescale;
use noren_rlwe::noise;
use noren_rlwe::parameters::ParametersSpec;
use noren_rlwe::security::SecretDistribution;

use crate::small::{Setup, ciphertext_words, spec, words};

/// Keys from another secret to the one of the set-up, and the message `c s'` that a switched c must decrypt to.
fn switched(
    setup: &Setup,
    limbs: usize,
    key: &KeySwitchKey,
    from: &noren_rlwe::keys::SecretKey,
) -> (Ciphertext, Plaintext) {
    let c = setup.context.ring_q(limbs).uniform(&crate::small::seed(4), &format!("c/{limbs}"));
    let zero = setup.context.ring_q(limbs).zero();
    // Decrypting (0, c) under s' multiplies c with s'.
    let product = Ciphertext::new(vec![zero, c.clone()], from.owner().key);
    let expected = noren_rlwe::decrypt::decrypt(&setup.context, from, &product);
    let pair = switch_key(&setup.context, &c, key).expect("long enough");
    (Ciphertext::new(pair.into(), setup.key()), expected.expect("one context"))
}

#[test]
fn noise_is_as_predicted_at_every_level_for_every_gadget() {
    const LIMBS: usize = 5;
    for special in 1..=4 {
        for dnum in 1..=LIMBS {
            let setup = Setup::new(spec(12, LIMBS, special, dnum));
            let from = setup.generator.ephemeral_secret("from", SecretDistribution::Ternary).expect("supported");
            let key = setup.generator.switching(&from, &setup.secret, None).expect("no security asked");
            assert_eq!(key.pairs().digits(), dnum);
            for limbs in 1..=LIMBS {
                let (switched, expected) = switched(&setup, limbs, &key, &from);
                let predicted = noise::key_switch(setup.parameters(), limbs);
                let what = format!("{special} special primes, {dnum} digits, {limbs} limbs");
                setup.assert_noise(&switched, &expected, predicted, &what);
            }
        }
    }
}

#[test]
fn rounding_is_the_largest_noise_of_automatic_digits() {
    // Digits 6 bits below P: sqrt(n D^2/12) sigma/P per digit stays below sqrt(2n/36), for up to 13 digits.
    for special in 1..=4 {
        let setup = Setup::new(spec(12, 6, special, 0));
        let largest_digit = setup
            .parameters()
            .digits()
            .iter()
            .map(|digit| setup.parameters().q()[digit.clone()].iter().map(|&q| (q as f64).log2()).sum::<f64>());
        let margin = setup.parameters().log_p() - largest_digit.fold(0.0, f64::max);
        if margin >= 6.0 {
            let noise = noise::key_switch(setup.parameters(), 6);
            assert!(noise < 1.5 * noise::rounding(setup.parameters()), "{special}: {noise}");
        } else {
            // One special prime of 50 bits cannot stay 6 bits above the first limb of 49.
            assert_eq!(special, 1);
        }
    }
}

#[test]
fn truncated_keys_are_the_start_of_longer_ones() {
    const LIMBS: usize = 5;
    let setup = Setup::new(spec(6, LIMBS, 2, 3));
    let key = |limbs| setup.generator.relinearization(&setup.secret, limbs).expect("no security asked");
    let whole = key(None);
    assert_eq!(whole.limbs(), LIMBS);
    for limbs in 1..=LIMBS {
        let short = key(Some(limbs));
        let ring = setup.context.ring_qp(limbs);
        assert_eq!(short.limbs(), limbs);
        assert_eq!(short.pairs().digits(), setup.parameters().gadget().expect("special primes").digits_at(limbs).len());
        for digit in 0..short.pairs().digits() {
            for (short, long) in setup
                .context
                .ring()
                .key_pair(short.pairs(), digit)
                .iter()
                .zip(&setup.context.ring().key_pair(whole.pairs(), digit))
            {
                assert_eq!(words(&setup.context, short), words(&setup.context, &ring.restrict(long)));
            }
        }
        // Both switch to the same bits, at the key's own level and below it.
        for used in 1..=limbs {
            let c = setup.context.ring_q(used).uniform(&crate::small::seed(5), "c");
            let by =
                |key| Ciphertext::new(switch_key(&setup.context, &c, key).expect("long enough").into(), setup.key());
            assert_eq!(ciphertext_words(&setup.context, &by(&short)), ciphertext_words(&setup.context, &by(&whole)));
        }
        if limbs < LIMBS {
            let c = setup.context.ring_q(limbs + 1).zero();
            let refused = switch_key(&setup.context, &c, &short);
            assert!(
                matches!(refused, Err(Error::KeyLevel { found, needed, .. }) if (found, needed) == (limbs, limbs + 1))
            );
        }
    }
}

#[test]
fn sparse_secrets_come_and_go() {
    // Encapsulation: to a sparse secret for the lowest limb, and back.
    let setup = Setup::new(ParametersSpec { secret: SecretDistribution::Gaussian, ..spec(12, 3, 2, 0) });
    let sparse = setup.generator.ephemeral_secret("sparse", SecretDistribution::SparseTernary(32)).expect("supported");
    let there = setup.generator.switching(&setup.secret, &sparse, Some(1)).expect("no security asked");
    let back = setup.generator.switching(&sparse, &setup.secret, None).expect("no security asked");
    let ciphertext = setup.arbitrary(1, 1, "dense");
    let expected = noren_rlwe::decrypt::decrypt(&setup.context, &setup.secret, &ciphertext).expect("one context");
    let apply = |ciphertext: &Ciphertext, key: &KeySwitchKey| {
        let [mut u0, u1] = switch_key(&setup.context, &ciphertext.parts()[1], key).expect("long enough");
        setup.context.ring_q(1).add_assign(&mut u0, &ciphertext.parts()[0]);
        Ciphertext::new(vec![u0, u1], key.owner().key)
    };
    let encapsulated = apply(&ciphertext, &there);
    let measured = noise::measure(&setup.context, &sparse, &encapsulated, &expected).expect("one context");
    // Rounding under the sparse secret only: the digit of one limb lies 51 bits below P.
    crate::small::assert_std(
        measured.std,
        (33.0f64 / 12.0).sqrt(),
        setup.parameters().degree(),
        "under the sparse secret",
    );
    let predicted = (33.0 / 12.0 + noise::key_switch(setup.parameters(), 1).powi(2)).sqrt();
    setup.assert_noise(&apply(&encapsulated, &back), &expected, predicted, "there and back");
}

#[test]
fn auxiliary_primes_change_no_key_and_no_result() {
    let plain = Setup::new(spec(10, 4, 2, 2));
    let (mut longer, step) = (spec(10, 4, 2, 2), 2 << 10);
    longer.auxiliary = primes_below(1 << 48, step).take(3).collect();
    let longer = Setup::new(longer);
    assert_eq!(plain.parameters().fingerprint(), longer.parameters().fingerprint());
    let result = |setup: &Setup| {
        let key = setup.generator.galois(&setup.secret, 5, None).expect("no security asked");
        let mut keys = EvaluationKeys::new(setup.parameters(), setup.key());
        keys.insert_galois(5, Arc::new(key)).expect("one shape");
        let image = apply_automorphism(&setup.context, &setup.arbitrary(4, 1, "c"), 5, &keys).expect("key there");
        let rescaled = rescale(&setup.context, image.clone()).expect("four limbs");
        [image, rescaled].map(|ciphertext| ciphertext_words(&setup.context, &ciphertext))
    };
    assert_eq!(result(&plain), result(&longer));
}
