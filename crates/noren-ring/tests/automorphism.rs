//! Automorphisms against the substitution `X -> X^k`.

mod oracle;

use noren_math::random::Seed;
use noren_ring::automorphism::Automorphism;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use num_bigint::BigInt;
use oracle::{centred, element, modulus, random};
use proptest::prelude::*;

fn automorphism(ring: &Ring, k: u32) -> Automorphism {
    Automorphism::new(ring.index(), k).expect("odd")
}

/// `a(X^k)` by adding up monomials, with `X^n = -1`.
fn substitute(a: &[BigInt], k: usize) -> Vec<BigInt> {
    let n = a.len();
    let mut image = vec![BigInt::from(0); n];
    for (i, x) in a.iter().enumerate() {
        let exponent = i * k;
        if (exponent / n).is_multiple_of(2) {
            image[exponent % n] += x;
        } else {
            image[exponent % n] -= x;
        }
    }
    image
}

#[test]
fn automorphisms_substitute_powers() {
    // 4096 has several blocks of the permutation.
    for degree in [8, 64, 4096] {
        let ring = oracle::ring(degree, &[50, 36]);
        let m = 2 * degree as u32;
        for k in [1, 3, 5, 25, m / 2 + 1, m - 5, m - 1] {
            let a = random(1, degree, &modulus(&ring));
            let expected: Vec<BigInt> =
                substitute(&a, k as usize).iter().map(|x| centred(x, &modulus(&ring))).collect();
            let expected = ring.to_words(&element(&ring, &expected));
            let (map, a) = (automorphism(&ring, k), element(&ring, &a));
            let image = ring.automorphism(&ring.ntt(a), &map);
            assert_eq!(ring.to_words(&ring.intt(image)), expected, "k = {k}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn automorphisms_compose_and_respect_products(log in 3u32..13, i in any::<u32>(), j in any::<u32>()) {
        let ring = oracle::ring(1 << log, &[50, 30, 40]);
        // Below 2^14, so that the product fits; odd.
        let (k, l) = ((i % (1 << 14)) | 1, (j % (1 << 14)) | 1);
        let (first, second) = (automorphism(&ring, k), automorphism(&ring, l));
        let [a, b] = [1, 2].map(|seed| ring.uniform(&Seed::from_bytes([seed; 32]), "test"));
        let words = |x: &Poly<Eval>| ring.to_words(x);
        let image = ring.automorphism(&a, &first);
        prop_assert_eq!(
            words(&ring.automorphism(&image, &second)),
            words(&ring.automorphism(&a, &automorphism(&ring, k * l)))
        );
        prop_assert_eq!(words(&ring.automorphism(&image, &first.inverse())), words(&a));
        prop_assert_eq!(
            words(&ring.automorphism(&ring.mul(&a, &b), &first)),
            words(&ring.mul(&image, &ring.automorphism(&b, &first)))
        );
        let mut sum = b.clone();
        ring.automorphism_add_assign(&mut sum, &a, &first);
        prop_assert_eq!(words(&sum), words(&ring.add(&b, &image)));
        prop_assert_eq!(first.k(), k % (2 << log));
    }
}

#[test]
fn even_exponents_are_refused_and_windows_are_taken() {
    let whole = oracle::ring(32, &[50, 40, 30]);
    assert!(Automorphism::new(whole.index(), 6).is_err());
    let (ring, map) = (whole.window(1..2), automorphism(&whole, 5));
    let a = whole.uniform(&Seed::from_bytes([3; 32]), "test");
    assert_eq!(
        ring.to_words(&ring.automorphism(&a, &map)),
        ring.to_words(&ring.restrict(&whole.automorphism(&a, &map)))
    );
}
