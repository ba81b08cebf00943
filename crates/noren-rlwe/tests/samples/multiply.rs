//! Products of ciphertexts and their relinearisation.

use noren_rlwe::ciphertext::Ciphertext;
use noren_rlwe::decrypt::decrypt;
use noren_rlwe::error::Error;
use noren_rlwe::key_request::KeyRequest;
use noren_rlwe::keys::EvaluationKeys;
use noren_rlwe::multiply::{
    multiply_relinearize, multiply_relinearize_rescale, relinearize, relinearize_rescale, tensor,
};
use noren_rlwe::noise;
use proptest::prelude::*;

use crate::small::{Setup, ciphertext_words, spec, words};

fn relinearization(setup: &Setup, limbs: usize) -> EvaluationKeys {
    let request = KeyRequest { relinearization: Some(limbs), ..KeyRequest::default() };
    setup.generator.evaluation_keys(&setup.secret, &request, None).expect("no security asked")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn products_decrypt_to_products(label in any::<u32>(), degrees in (0usize..4, 0usize..4), limbs in 1usize..4) {
        let setup = Setup::new(spec(4, 3, 0, 0));
        let a = setup.arbitrary(limbs, degrees.0, &format!("a/{label}"));
        let b = setup.arbitrary(limbs, degrees.1, &format!("b/{label}"));
        let message = |ciphertext: &Ciphertext| {
            decrypt(&setup.context, &setup.secret, ciphertext).expect("one context").poly
        };
        let product = tensor(&setup.context, &a, &b).expect("same level");
        prop_assert_eq!(product.degree(), degrees.0 + degrees.1);
        let expected = setup.context.ring_q(limbs).mul(&message(&a), &message(&b));
        prop_assert_eq!(words(&setup.context, &message(&product)), words(&setup.context, &expected));
    }
}

#[test]
fn relinearisation_adds_the_noise_of_a_key_switch() {
    let setup = Setup::new(spec(12, 4, 2, 2));
    let keys = relinearization(&setup, 4);
    for limbs in 1..=4 {
        let product = setup.arbitrary(limbs, 2, "product");
        let expected = decrypt(&setup.context, &setup.secret, &product).expect("one context");
        let two = relinearize(&setup.context, &product, &keys).expect("keys for all limbs");
        assert_eq!((two.degree(), two.limbs()), (1, limbs));
        setup.assert_noise(&two, &expected, noise::key_switch(setup.parameters(), limbs), &format!("{limbs} limbs"));
    }
}

#[test]
fn relinearising_and_rescaling_at_once_rounds_once() {
    // The second: one digit of 169 bits over special primes of 100, whose noise stands out even divided by a limb.
    for (special, dnum) in [(2, 2), (2, 1), (3, 4)] {
        let setup = Setup::new(spec(12, 4, special, dnum));
        let keys = relinearization(&setup, 4);
        for limbs in 2..=4 {
            let (product, dropped) = (setup.arbitrary(limbs, 2, "product"), setup.parameters().q()[limbs - 1]);
            let before = decrypt(&setup.context, &setup.secret, &product).expect("one context");
            let after = relinearize_rescale(&setup.context, &product, &keys).expect("keys for all limbs");
            assert_eq!((after.degree(), after.limbs()), (1, limbs - 1));
            // Times the dropped prime again, it is the message before with the noise times that prime.
            let ring = setup.context.ring_q(limbs - 1);
            let again = after.parts().iter().map(|part| ring.mul_integer(part, dropped as i64)).collect();
            let predicted = noise::key_switch_rescale(setup.parameters(), limbs) * dropped as f64;
            let what = format!("{special} special primes, {dnum} digits, {limbs} limbs");
            setup.assert_noise(&Ciphertext::new(again, setup.key()), &before, predicted, &what);
        }
    }
}

#[test]
fn two_parts_stay_as_they_are() {
    let setup = Setup::new(spec(4, 2, 1, 0));
    let (keys, two) = (EvaluationKeys::new(setup.parameters(), setup.key()), setup.arbitrary(2, 1, "two"));
    let same = relinearize(&setup.context, &two, &keys).expect("nothing to do");
    assert_eq!(ciphertext_words(&setup.context, &same), ciphertext_words(&setup.context, &two));
    let rescaled = relinearize_rescale(&setup.context, &two, &keys).expect("no key needed");
    let expected = noren_rlwe::linear::rescale(&setup.context, two).expect("levels left");
    assert_eq!(ciphertext_words(&setup.context, &rescaled), ciphertext_words(&setup.context, &expected));
}

#[test]
fn products_that_cannot_be_relinearised_are_refused() {
    let setup = Setup::new(spec(4, 2, 1, 0));
    let (context, short) = (&setup.context, relinearization(&setup, 1));
    let product = setup.arbitrary(2, 2, "product");
    assert!(matches!(relinearize(context, &product, &short), Err(Error::KeyLevel { found: 1, needed: 2, .. })));
    let none = EvaluationKeys::new(setup.parameters(), setup.key());
    let refused = relinearize(context, &product, &none).expect_err("no key").to_string();
    assert!(refused.contains("relinearisation") && refused.contains("they have none"), "{refused}");
    let cube = setup.arbitrary(2, 3, "cube");
    assert!(matches!(relinearize(context, &cube, &short), Err(Error::DegreeTooHigh { found: 3, needed: 2 })));
    let lowest = setup.arbitrary(1, 2, "lowest");
    let refused = relinearize_rescale(context, &lowest, &short);
    assert!(matches!(refused, Err(Error::LevelExhausted { needed: 1, left: 0 })));
    let refused = tensor(context, &product, &lowest);
    assert!(matches!(refused, Err(Error::LevelMismatch { left: 1, right: 0 })));
}

#[test]
fn products_at_once_are_their_steps() {
    let setup = Setup::new(spec(12, 4, 2, 2));
    let request = KeyRequest { relinearization: Some(4), ..KeyRequest::default() };
    let keys = setup.generator.evaluation_keys(&setup.secret, &request, None).expect("no security asked");
    let context = &setup.context;
    for limbs in 1..=4 {
        let operands = [(1, "a"), (1, "b"), (0, "c")].map(|(degree, label)| setup.arbitrary(limbs, degree, label));
        for (a, b) in [(0, 1), (0, 0), (0, 2), (2, 2)].map(|(i, j)| (&operands[i], &operands[j])) {
            let product = tensor(context, a, b).expect("one level");
            let steps = relinearize(context, &product, &keys).expect("keys there");
            let at_once = multiply_relinearize(context, a, b, &keys).expect("keys there");
            assert_eq!(ciphertext_words(context, &at_once), ciphertext_words(context, &steps), "{limbs} limbs");
            let (steps, at_once) =
                (relinearize_rescale(context, &product, &keys), multiply_relinearize_rescale(context, a, b, &keys));
            match (steps, at_once) {
                (Ok(steps), Ok(at_once)) => {
                    assert_eq!(ciphertext_words(context, &at_once), ciphertext_words(context, &steps), "{limbs} limbs");
                }
                (steps, at_once) => {
                    assert_eq!(limbs, 1);
                    assert!(matches!(steps, Err(Error::LevelExhausted { .. })));
                    assert!(matches!(at_once, Err(Error::LevelExhausted { .. })));
                }
            }
        }
    }
}
