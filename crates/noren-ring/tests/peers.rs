//! Known answers of other libraries: automorphisms and division by a prime.
//!
//! Each vector names the library, its version, the file and the test that publish it.

use std::sync::Arc;

use noren_math::cyclotomic::Cyclotomic;
use noren_naive::Naive;
use noren_ring::automorphism::Automorphism;
use noren_ring::divide::DivideRound;
use noren_ring::parallel::Parallel;
use noren_ring::poly::{Coeff, Eval};
use noren_ring::ring::Ring;
use noren_ring::window::Window;

/// The ring of degree 8 modulo one prime.
fn ring(prime: u64) -> Ring {
    let index = Cyclotomic::power_of_two(8).expect("a degree");
    Ring::with_parallel(index, &[prime], Some(1), Parallel::default()).expect("q = 1 mod 16")
}

fn automorphism(ring: &Ring, k: u32) -> Automorphism {
    Automorphism::new(ring.index(), k).expect("odd")
}

/// Both libraries order values by reversed bits.
#[test]
fn automorphisms_move_coefficients_and_values_as_in_seal() {
    let ring = ring(17);
    let (map, words) = (automorphism(&ring, 3), [0, 1, 2, 3, 4, 5, 6, 7]);
    // Microsoft SEAL 4.4.3, native/tests/seal/util/galois.cpp, ApplyGalois.
    let a = ring.ntt(ring.from_words::<Coeff>(&words).expect("residues"));
    assert_eq!(ring.to_words(&ring.intt(ring.automorphism(&a, &map))), [0, 14, 6, 1, 13, 7, 2, 12]);
    // The same file, ApplyGaloisNTT.
    let a = ring.from_words::<Eval>(&words).expect("residues");
    assert_eq!(ring.to_words(&ring.automorphism(&a, &map)), [4, 5, 7, 6, 1, 0, 2, 3]);
}

#[test]
fn automorphisms_in_turn_give_the_polynomials_of_seal() {
    let ring = ring(257);
    // Microsoft SEAL 4.4.3, native/tests/seal/evaluator.cpp, BFVEncryptApplyGaloisDecrypt: coefficients of X^0 to X^7
    // modulo 257, and their images under X -> X^3 and then X -> X^5.
    let images = [
        [[0, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 256]],
        [[0, 0, 1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0, 256, 0]],
        [[1, 1, 2, 1, 0, 0, 0, 0], [1, 256, 0, 1, 0, 0, 2, 0], [1, 0, 0, 0, 0, 256, 255, 256]],
    ];
    for [first, second, third] in images {
        let a = ring.from_words::<Coeff>(&first).expect("residues");
        let b = ring.automorphism(&ring.ntt(a), &automorphism(&ring, 3));
        assert_eq!(ring.to_words(&ring.intt(b.clone())), second);
        let c = ring.automorphism(&b, &automorphism(&ring, 5));
        assert_eq!(ring.to_words(&ring.intt(c)), third);
    }
}

/// The primes 13 and 7 are 1 modulo 3, so that the ring of index 3 has SEAL's basis and SEAL's degree 2. A quotient is
/// rounded coefficient by coefficient: the polynomial modulus does not matter.
#[test]
fn quotients_by_the_last_prime_are_rounded_as_in_seal() {
    let index = Cyclotomic::new(3).expect("an index");
    let window = Window::new(index, &[13, 7], Some(1), Parallel::default()).expect("primes that are 1 modulo 3");
    let whole = Ring::on(Arc::new(Naive), window).expect("any index");
    let kept = whole.window(0..1);
    // Microsoft SEAL 4.4.3, native/tests/seal/util/rns.cpp, DivideAndRoundQLastInplace: two coefficients modulo 13, the
    // same modulo 7, and the quotients by 7 modulo 13.
    let quotients = [([1, 2, 1, 2], [0, 0]), ([12, 11, 4, 3], [4, 3]), ([6, 2, 5, 1], [3, 2])];
    for (words, expected) in quotients {
        let x = whole.ntt(whole.from_words::<Coeff>(&words).expect("residues"));
        let quotient = kept.intt(whole.divide_round(x, &DivideRound::new(&whole, &[1], 0..1)));
        assert_eq!(kept.to_words(&quotient), expected, "{words:?}");
    }
}
