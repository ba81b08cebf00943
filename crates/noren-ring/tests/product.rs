//! Products times t/Q against big integers.

mod oracle;

use std::ops::Range;

use noren_math::random::Seed;
use noren_ring::decompose::Decomposer;
use noren_ring::gadget::Gadget;
use noren_ring::parallel::Parallel;
use noren_ring::poly::{Eval, Poly};
use noren_ring::product::{Pairs, ScaledProduct};
use noren_ring::product_switch::SwitchedProduct;
use noren_ring::ring::Ring;
use num_bigint::BigInt;
use oracle::{adversarial, centred, coefficients, divide_round, element, modulus, product, random, schoolbook};

const DEGREE: usize = 32;
/// Seven auxiliary primes, then q_0 .. q_5.
const BITS: [u32; 13] = [50, 50, 49, 50, 48, 50, 50, 50, 36, 40, 45, 50, 38];
const FIRST: usize = 7;

/// Limbs of Q, those of B, and t: one of each kind, B of about the size of Q, B far larger, a small and a large t.
fn uses() -> Vec<(Range<usize>, Range<usize>, u64)> {
    vec![
        (7..8, 6..7, 65537),
        (7..8, 5..7, 257),
        (7..9, 5..7, 2),
        (7..12, 2..7, 65537),
        (7..13, 0..7, 65537),
        (7..11, 0..7, (1 << 40) + 15),
    ]
}

/// The numbers of both pairs of each product, by their representatives in `(-Q/2, Q/2)`.
type Numbers = [[Vec<BigInt>; 2]; 2];

/// The parts of a product of pairs of polynomials.
fn tensor([[a0, a1], [b0, b1]]: &Numbers) -> [Vec<BigInt>; 3] {
    let middle = schoolbook(a0, b1).into_iter().zip(schoolbook(a1, b0)).map(|(x, y)| x + y);
    [schoolbook(a0, b0), middle.collect(), schoolbook(a1, b1)]
}

/// The parts of the sum of all products.
fn sum_of_tensors(factors: &[Numbers]) -> [Vec<BigInt>; 3] {
    let zero = [(); 3].map(|()| vec![BigInt::from(0); DEGREE]);
    factors.iter().map(tensor).fold(zero, |mut sum, parts| {
        sum.iter_mut().flatten().zip(parts.iter().flatten()).for_each(|(sum, part)| *sum += part);
        sum
    })
}

fn elements(ring: &Ring, factors: &[Numbers]) -> Vec<[[Poly<Eval>; 2]; 2]> {
    let element = |numbers: &Vec<BigInt>| ring.ntt(element(ring, numbers));
    factors.iter().map(|pairs| pairs.each_ref().map(|pair| pair.each_ref().map(element))).collect()
}

fn multiply(ring: &Ring, product: &ScaledProduct, factors: &[[[Poly<Eval>; 2]; 2]]) -> [Poly<Eval>; 3] {
    let factors: Vec<Pairs> = factors.iter().map(|pairs| pairs.each_ref().map(|pair| pair.each_ref())).collect();
    ring.scaled_product(product, &factors)
}

/// Three products of numbers next to 0, and `2^-40 Q` away from the ends, where conversions are still exact.
fn numbers(q: &BigInt) -> Vec<Numbers> {
    let number = |seed: u8| {
        let mut numbers = adversarial(seed, DEGREE, q);
        let half: BigInt = q / 2;
        let distance: BigInt = (q >> 40u32) + 1;
        numbers.splice(4..8, [&half - &distance, &half + &distance, distance.clone(), q - &distance]);
        numbers.iter().map(|x| centred(x, q)).collect::<Vec<_>>()
    };
    (0..3u8).map(|k| [[4 * k, 4 * k + 1], [4 * k + 2, 4 * k + 3]].map(|pair| pair.map(&number))).collect()
}

/// The products with `round(b B/Q)` in place of b.
fn bring(factors: &[Numbers], q: &BigInt, b: &BigInt) -> Vec<Numbers> {
    let bring = |x: &BigInt| divide_round(&(x * b), q);
    factors.iter().map(|[a, b]| [a.clone(), b.each_ref().map(|b| b.iter().map(bring).collect())]).collect()
}

/// The largest difference of the found parts to the expected ones modulo Q.
fn largest_difference<const PARTS: usize>(
    ring: &Ring,
    found: [Poly<Eval>; PARTS],
    expected: &[Vec<BigInt>; PARTS],
) -> BigInt {
    let q = modulus(ring);
    let differences = found.into_iter().zip(expected).flat_map(|(found, expected)| {
        let found = coefficients(ring, &ring.intt(found));
        found.iter().zip(expected).map(|(x, y)| centred(&(x - y), &q)).collect::<Vec<_>>()
    });
    differences.map(|x| if x < BigInt::from(0) { -x } else { x }).max().expect("there are coefficients")
}

#[test]
fn products_are_those_with_the_scaled_factor_divided_by_the_auxiliary_modulus() {
    let whole = oracle::ring(DEGREE, &BITS);
    for (limbs, auxiliary, t) in uses() {
        let ring = whole.window(limbs.clone());
        let (q, b) = (modulus(&ring), product(&whole, &auxiliary.clone().collect::<Vec<_>>()));
        let scaled = ScaledProduct::new(&whole, limbs.clone(), auxiliary.clone(), t);
        let factors = numbers(&q);
        for count in [1, 3] {
            let factors = &factors[..count];
            let found = multiply(&whole, &scaled, &elements(&ring, factors));
            let bring = |x: &BigInt| divide_round(&(x * &b), &q);
            let brought: Vec<Numbers> =
                factors.iter().map(|[a, b]| [a.clone(), b.each_ref().map(|b| b.iter().map(bring).collect())]).collect();
            let expected =
                sum_of_tensors(&brought).map(|part| part.iter().map(|x| divide_round(&(x * t), &b)).collect());
            // Where a quotient is that near to a half, it may be the other neighbour.
            let difference = largest_difference(&ring, found, &expected);
            assert!(difference <= BigInt::from(1), "{limbs:?}, {auxiliary:?}: {difference}");
        }
    }
}

#[test]
fn products_are_near_to_t_over_q_times_the_product() {
    let whole = oracle::ring(DEGREE, &BITS);
    for (limbs, auxiliary, t) in uses() {
        let ring = whole.window(limbs.clone());
        let (q, b) = (modulus(&ring), product(&whole, &auxiliary.clone().collect::<Vec<_>>()));
        let scaled = ScaledProduct::new(&whole, limbs.clone(), auxiliary.clone(), t);
        for factors in numbers(&q).chunks(1) {
            let found = multiply(&whole, &scaled, &elements(&ring, factors));
            let expected =
                sum_of_tensors(factors).map(|part| part.iter().map(|x| divide_round(&(x * t), &q)).collect());
            let difference = largest_difference(&ring, found, &expected);
            // Two roundings to integers, and for the second part two times n products of a coefficient of a, at most Q/2,
            // with a rounding of b', at most 1/2, all times t/B.
            let bound: BigInt = BigInt::from(1) + BigInt::from(2 * DEGREE) * t * &q / (&b * 4) + 1;
            assert!(difference <= bound, "{limbs:?}, {auxiliary:?}: {difference} is above {bound}");
        }
    }
    // With an auxiliary modulus of 99 bits more nothing but the roundings is left.
    let (limbs, t) = (FIRST..FIRST + 4, 65537);
    let ring = whole.window(limbs.clone());
    let (scaled, q) = (ScaledProduct::new(&whole, limbs, 0..FIRST, t), modulus(&ring));
    for factors in numbers(&q).chunks(1) {
        let found = multiply(&whole, &scaled, &elements(&ring, factors));
        let expected = sum_of_tensors(factors).map(|part| part.iter().map(|x| divide_round(&(x * t), &q)).collect());
        assert!(largest_difference(&ring, found, &expected) <= BigInt::from(1));
    }
}

#[test]
fn a_coefficient_at_the_edge_counts_as_one_of_its_representatives() {
    let whole = oracle::ring(DEGREE, &BITS);
    let (limbs, t) = (FIRST..FIRST + 5, 65537u64);
    let ring = whole.window(limbs.clone());
    let (scaled, q, b) =
        (ScaledProduct::new(&whole, limbs, 2..7, t), modulus(&ring), product(&whole, &[2, 3, 4, 5, 6]));
    let half: BigInt = &q / 2;
    for (edge, of_a) in [(half.clone(), true), (-half.clone(), true), (half.clone(), false), (-half, false)] {
        // All others are in (0, Q/4).
        let mut numbers: Vec<Vec<BigInt>> = (0..4).map(|seed| random(seed, DEGREE, &(&q / 4))).collect();
        numbers[if of_a { 1 } else { 3 }][3] = edge.clone();
        let [a0, a1, b0, b1]: [Vec<BigInt>; 4] = numbers.try_into().expect("four");
        let found =
            multiply(&whole, &scaled, &elements(&ring, &[[[a0.clone(), a1.clone()], [b0.clone(), b1.clone()]]]));
        let near = [-1, 0, 1].into_iter().any(|multiple| {
            let (mut a1, mut b1) = (a1.clone(), b1.clone());
            (if of_a { &mut a1 } else { &mut b1 })[3] += &q * multiple;
            let sum = sum_of_tensors(&bring(&[[[a0.clone(), a1], [b0.clone(), b1]]], &q, &b));
            let expected = sum.map(|part| part.iter().map(|x| divide_round(&(x * t), &b)).collect());
            largest_difference(&ring, found.clone(), &expected) <= BigInt::from(1)
        });
        assert!(near, "{edge} in {}", if of_a { "a" } else { "b" });
    }
}

#[test]
fn a_switched_product_is_divided_once() {
    let whole = oracle::ring(DEGREE, &BITS);
    let uniform = |label: &str| whole.uniform(&Seed::from_bytes([3; 32]), label);
    // Limbs of Q and of B, of which the last are special primes; digits, and limbs that are kept.
    for (limbs, auxiliary, special, digits, kept) in [
        (7..8, 6..7, 1, 1, 1),
        (7..12, 2..7, 2, 3, 5),
        (7..12, 1..7, 2, 2, 4),
        (7..13, 0..7, 3, 2, 3),
        (7..9, 4..7, 3, 1, 1),
        (7..10, 5..7, 2, 3, 2),
    ] {
        let (ring, t) = (whole.window(limbs.clone()), 65537);
        let bits: Vec<f64> = BITS[FIRST..].iter().map(|&bits| bits.into()).collect();
        let gadget = Gadget::within(&bits[..limbs.len()], FIRST, special, digits).expect("digits");
        let decomposer = Decomposer::new(&whole, gadget);
        let ring_qp = ring.ring_qp(&decomposer);
        let pairs: Vec<[Poly<Eval>; 2]> = (0..digits)
            .map(|j| ["left", "right"].map(|half| ring_qp.restrict(&uniform(&format!("{half}/{j}")))))
            .collect();
        let key = ring_qp.key(&pairs);

        let (q, b) = (modulus(&ring), product(&whole, &auxiliary.clone().collect::<Vec<_>>()));
        let extra = product(&whole, &(auxiliary.start..FIRST - special).collect::<Vec<_>>());
        let factors = &numbers(&q)[..2];
        let switched = SwitchedProduct::new(&decomposer, limbs.clone(), auxiliary.clone(), kept, t);
        let found = elements(&ring, factors);
        let found: Vec<Pairs> = found.iter().map(|pairs| pairs.each_ref().map(|pair| pair.each_ref())).collect();
        let [_, _, third] =
            whole.scaled_product(&ScaledProduct::new(&whole, limbs.clone(), auxiliary.clone(), t), &found);
        let found = whole.switched_product(&switched, &decomposer, &key, &found);

        let sums = decomposer.decompose(&ring, &third).inner_product(&ring_qp, &key);
        let sums = sums.map(|sum| coefficients(&ring_qp, &ring_qp.intt(sum)));
        let [first, second, _] = sum_of_tensors(&bring(factors, &q, &b));
        let kept_ring = whole.window(FIRST..FIRST + kept);
        let divisor = &b * product(&whole, &(FIRST + kept..limbs.end).collect::<Vec<_>>());
        for ((found, part), sum) in found.into_iter().zip([first, second]).zip(sums) {
            let expected = part.iter().zip(&sum).map(|(x, u)| divide_round(&(x * t + &extra * u), &divisor)).collect();
            let difference = largest_difference(&kept_ring, [found], &[expected]);
            assert!(difference <= BigInt::from(1), "{limbs:?}, {auxiliary:?}, {kept} kept: {difference}");
        }
    }
}

#[test]
fn squares_are_products_of_copies() {
    let whole = oracle::ring(DEGREE, &BITS);
    for (limbs, auxiliary, t) in uses() {
        let ring = whole.window(limbs.clone());
        let scaled = ScaledProduct::new(&whole, limbs, auxiliary, t);
        let [a, copy] = [(); 2].map(|()| ["a0", "a1"].map(|label| ring.uniform(&Seed::from_bytes([1; 32]), label)));
        let square = ring.scaled_product(&scaled, &[[a.each_ref(), a.each_ref()]]);
        let product = ring.scaled_product(&scaled, &[[a.each_ref(), copy.each_ref()]]);
        assert_eq!(square.map(|part| ring.to_words(&part)), product.map(|part| ring.to_words(&part)));
    }
}

#[test]
fn products_do_not_depend_on_threads() {
    // Longer than what is handled at once, and large enough to be shared out.
    const DEGREE: usize = 1 << 12;
    let words = |threads, parallel| {
        let whole = oracle::ring_parallel(DEGREE, &BITS, Some(threads), parallel);
        let ring = whole.window(7..12);
        let uniform = |label: &str| ring.uniform(&Seed::from_bytes([2; 32]), label);
        let (a, b) = (["a0", "a1"].map(uniform), ["b0", "b1"].map(uniform));
        let pairs = [[a.each_ref(), b.each_ref()], [b.each_ref(), b.each_ref()]];
        whole.scaled_product(&ScaledProduct::new(&whole, 7..12, 2..7, 65537), &pairs).map(|part| ring.to_words(&part))
    };
    let expected = words(1, Parallel::default());
    for parallel in [Parallel::Modulus, Parallel::Coefficient, Parallel::Both] {
        assert!(words(2, parallel) == expected, "{parallel:?}");
    }
}

#[test]
#[should_panic(expected = "do not end where")]
fn auxiliary_limbs_stand_just_before_the_others() {
    let whole = oracle::ring(DEGREE, &BITS);
    let _ = ScaledProduct::new(&whole, 7..9, 4..6, 65537);
}
