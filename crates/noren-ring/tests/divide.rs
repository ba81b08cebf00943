//! Division with rounding against big integers: rescale, ModDown, and both in one.

mod oracle;

use std::ops::Range;

use noren_ring::divide::DivideRound;
use num_bigint::BigInt;
use oracle::{adversarial, coefficients, divide_round, element, product, random};

const DEGREE: usize = 32;
/// Three special primes, then q_0 .. q_4.
const BITS: [u32; 8] = [50, 50, 49, 50, 36, 40, 45, 38];

/// The three uses: rescale at two levels, ModDown at two levels, both in one; and other sets of primes.
fn uses() -> Vec<(Vec<usize>, Range<usize>)> {
    vec![
        (vec![7], 3..7),
        (vec![4], 3..4),
        (vec![0, 1, 2], 3..8),
        (vec![0, 1, 2], 3..5),
        (vec![0, 1, 2, 7], 3..7),
        (vec![0, 1, 2, 5], 3..5),
        // The smallest and the largest primes, and not in a row.
        (vec![4, 5, 6, 7], 0..4),
        (vec![1, 3, 0, 6], 4..6),
    ]
}

/// Numbers modulo `D K` next to the multiples of D, next to the halves, at the ends, and random ones.
fn numbers(d: &BigInt, kept: &BigInt, near_half: bool) -> Vec<BigInt> {
    let half = d / 2;
    // Half of the whole modulus is half of D, too: those numbers come after the ends.
    let mut numbers = adversarial(5, if near_half { 8 } else { 4 }, &(d * kept));
    for multiple in random(6, 3, kept) {
        let base = multiple * d;
        numbers.extend([base.clone(), &base - 1, &base + 1]);
        if near_half {
            numbers.extend([&base + &half, &base + &half + 1]);
        } else {
            // 2^-40 of D away from the half, where the conversion promises 2^-45.
            numbers.extend([&base + &half - (d >> 40), &base + &half + (d >> 40)]);
        }
    }
    let count = DEGREE - numbers.len();
    numbers.extend(random(7, count, &(d * kept)));
    numbers
}

#[test]
fn quotients_are_rounded_to_the_nearest() {
    let whole = oracle::ring(DEGREE, &BITS);
    for (dropped, kept) in uses() {
        let (d, ring) = (product(&whole, &dropped), whole.window(kept.clone()));
        let numbers = numbers(&d, &oracle::modulus(&ring), dropped.len() == 1);
        let x = whole.ntt(element(&whole, &numbers));
        let quotient = ring.intt(whole.divide_round(x, &DivideRound::new(&whole, &dropped, kept)));
        let expected: Vec<BigInt> = numbers.iter().map(|x| divide_round(x, &d)).collect();
        assert_eq!(ring.to_words(&quotient), ring.to_words(&element(&ring, &expected)), "dropping {dropped:?}");
    }
}

#[test]
fn a_number_next_to_a_half_goes_to_a_neighbour() {
    let whole = oracle::ring(DEGREE, &BITS);
    for (dropped, kept) in uses() {
        let (d, ring) = (product(&whole, &dropped), whole.window(kept.clone()));
        let numbers = numbers(&d, &oracle::modulus(&ring), true);
        let x = whole.ntt(element(&whole, &numbers));
        let quotient = ring.intt(whole.divide_round(x, &DivideRound::new(&whole, &dropped, kept)));
        let expected: Vec<BigInt> = numbers.iter().map(|x| divide_round(x, &d)).collect();
        let difference = ring.sub(&quotient, &element(&ring, &expected));
        assert!(coefficients(&ring, &difference).iter().all(|x| x.magnitude() <= BigInt::from(1).magnitude()));
    }
}

#[test]
fn any_number_of_primes_can_be_dropped() {
    const KEPT: usize = 5;
    // Around what a table of counts, and one sum, hold.
    for dropped in [2, 15, 16, 17, 63, 64, 68] {
        let whole = oracle::ring(16, &vec![40; dropped + KEPT]);
        let (limbs, kept): (Vec<usize>, _) = ((0..dropped).collect(), dropped..dropped + KEPT);
        let (d, ring) = (product(&whole, &limbs), whole.window(kept.clone()));
        let numbers = random(4, 16, &(&d * oracle::modulus(&ring)));
        let x = whole.ntt(element(&whole, &numbers));
        let quotient = ring.intt(whole.divide_round(x, &DivideRound::new(&whole, &limbs, kept)));
        let expected: Vec<BigInt> = numbers.iter().map(|x| divide_round(x, &d)).collect();
        assert_eq!(ring.to_words(&quotient), ring.to_words(&element(&ring, &expected)), "dropping {dropped}");
    }
}

#[test]
fn smaller_windows_and_pairs_divide_alike() {
    let whole = oracle::ring(DEGREE, &BITS);
    let divide = DivideRound::new(&whole, &[0, 1, 2], 3..5);
    let x = |seed, window: Range<usize>| {
        let ring = whole.window(window);
        ring.ntt(element(&ring, &random(seed, DEGREE, &product(&whole, &[0, 1, 2, 3, 4]))))
    };
    let ring = whole.window(3..5);
    let [first, second] = oracle::divide_all(&whole, [x(8, 0..5), x(9, 0..8)], &divide);
    assert_eq!(first.window(), 3..5);
    assert_eq!(ring.to_words(&first), ring.to_words(&whole.divide_round(x(8, 0..8), &divide)));
    assert_eq!(ring.to_words(&second), ring.to_words(&whole.divide_round(x(9, 0..5), &divide)));
    assert_ne!(ring.to_words(&first), ring.to_words(&second));
}

#[test]
#[should_panic(expected = "repeat a limb")]
fn repeated_limbs_are_a_bug() {
    let _ = DivideRound::new(&oracle::ring(16, &[40, 41, 42]), &[0, 0], 1..3);
}

#[test]
#[should_panic(expected = "lacks one of limbs")]
fn a_missing_dropped_limb_is_a_bug() {
    let whole = oracle::ring(DEGREE, &BITS);
    let ring = whole.window(3..8);
    let _ = whole.divide_round(ring.zero(), &DivideRound::new(&whole, &[0], 3..8));
}
