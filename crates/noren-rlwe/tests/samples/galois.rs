//! Automorphisms of ciphertexts: one, several, and summed.

use noren_ring::automorphism::Automorphism;
use noren_rlwe::ciphertext::{Ciphertext, Plaintext};
use noren_rlwe::decrypt::decrypt;
use noren_rlwe::galois::{apply_automorphism, apply_automorphisms, sum_automorphisms};
use noren_rlwe::key_request::KeyRequest;
use noren_rlwe::keys::EvaluationKeys;
use noren_rlwe::noise;

use crate::small::{Setup, ciphertext_words, spec};

const LIMBS: usize = 4;
/// Rotations by 1, 2 and 3, their conjugates, and one of a field trace, in degree 2^12.
const EXPONENTS: [u32; 6] = [5, 25, 125, 8191, 8187, 4097];

fn setup() -> (Setup, EvaluationKeys) {
    let setup = Setup::new(spec(12, LIMBS, 2, 2));
    let request = KeyRequest { galois: EXPONENTS.map(|k| (k, LIMBS)).into(), ..KeyRequest::default() };
    let keys = setup.generator.evaluation_keys(&setup.secret, &request, None).expect("no security asked");
    (setup, keys)
}

/// The image of what the ciphertext decrypts to.
fn image(setup: &Setup, ciphertext: &Ciphertext, k: u32) -> Plaintext {
    let ring = setup.context.ring_q(ciphertext.limbs());
    let message = decrypt(&setup.context, &setup.secret, ciphertext).expect("one context").poly;
    let psi = Automorphism::new(ring.index(), k).expect("odd");
    Plaintext { poly: ring.automorphism(&message, &psi) }
}

#[test]
fn images_decrypt_to_images_at_every_level() {
    let (setup, keys) = setup();
    for limbs in 1..=LIMBS {
        let ciphertext = setup.arbitrary(limbs, 1, "ciphertext");
        // More than are switched in one pass, and the identity among them.
        let ks: Vec<u32> = EXPONENTS.into_iter().chain([1]).chain(EXPONENTS).collect();
        let together = apply_automorphisms(&setup.context, &ciphertext, &ks, &keys).expect("keys there");
        assert_eq!(together.len(), ks.len());
        for (k, of_many) in ks.into_iter().zip(together) {
            let what = format!("X^{k}, {limbs} limbs");
            let alone = apply_automorphism(&setup.context, &ciphertext, k, &keys).expect("key there");
            let words = |image| ciphertext_words(&setup.context, image);
            assert_eq!(words(&of_many), words(&alone), "{what}");
            if k != 1 {
                let predicted = noise::key_switch(setup.parameters(), limbs);
                setup.assert_noise(&of_many, &image(&setup, &ciphertext, k), predicted, &what);
            }
        }
    }
}

#[test]
fn the_identity_needs_no_key() {
    let setup = Setup::new(spec(4, 2, 1, 0));
    let (keys, ciphertext) =
        (EvaluationKeys::new(setup.parameters(), setup.key()), setup.arbitrary(2, 1, "ciphertext"));
    let same = apply_automorphism(&setup.context, &ciphertext, 1, &keys).expect("no key needed");
    assert_eq!(ciphertext_words(&setup.context, &same), ciphertext_words(&setup.context, &ciphertext));
    let doubled = sum_automorphisms(&setup.context, &ciphertext, &[1], &keys).expect("no key needed");
    let mut expected = ciphertext.clone();
    noren_rlwe::linear::add_assign(&setup.context, &mut expected, &ciphertext).expect("same level");
    assert_eq!(ciphertext_words(&setup.context, &doubled), ciphertext_words(&setup.context, &expected));
}

#[test]
fn ciphertexts_without_second_part_are_permuted_exactly() {
    let (setup, keys) = setup();
    let trivial = setup.arbitrary(2, 0, "trivial");
    let expected = image(&setup, &trivial, 5);
    let moved = apply_automorphism(&setup.context, &trivial, 5, &keys).expect("key there");
    let measured = noise::measure(&setup.context, &setup.secret, &moved, &expected).expect("one context");
    assert_eq!(measured.max, 0.0);
    let ring = setup.context.ring_q(2);
    let expected = Plaintext { poly: ring.add(&expected.poly, &trivial.parts()[0]) };
    let sum = sum_automorphisms(&setup.context, &trivial, &[5], &keys).expect("key there");
    let measured = noise::measure(&setup.context, &setup.secret, &sum, &expected).expect("one context");
    assert_eq!(measured.max, 0.0);
}

#[test]
fn sums_of_automorphisms_are_sums_of_images_with_one_rounding() {
    let (setup, keys) = setup();
    for limbs in [1, 3, LIMBS] {
        let ciphertext = setup.arbitrary(limbs, 1, "ciphertext");
        let ring = setup.context.ring_q(limbs);
        for terms in 0..=EXPONENTS.len() {
            let mut expected = decrypt(&setup.context, &setup.secret, &ciphertext).expect("one context").poly;
            for &k in &EXPONENTS[..terms] {
                ring.add_assign(&mut expected, &image(&setup, &ciphertext, k).poly);
            }
            let sum = sum_automorphisms(&setup.context, &ciphertext, &EXPONENTS[..terms], &keys).expect("keys there");
            let expected = Plaintext { poly: expected };
            if terms == 0 {
                let measured = noise::measure(&setup.context, &setup.secret, &sum, &expected).expect("one context");
                assert_eq!(measured.max, 0.0, "nothing was switched");
            } else {
                let predicted = noise::key_switch_sum(setup.parameters(), limbs, terms);
                setup.assert_noise(&sum, &expected, predicted, &format!("{terms} terms, {limbs} limbs"));
            }
        }
    }
}
