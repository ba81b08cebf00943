//! Digits: the cut against brute force, the decomposition against big integers, a whole switch against its steps.

mod oracle;

use std::ops::Range;

use noren_math::random::Seed;
use noren_ring::automorphism::Automorphism;
use noren_ring::decompose::Decomposer;
use noren_ring::divide::DivideRound;
use noren_ring::error::Error;
use noren_ring::gadget::Gadget;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use noren_ring::switch::KeySwitch;
use num_bigint::BigInt;
use oracle::{adversarial, coefficients, element, is_centred, modulus, product, random, residue};
use proptest::prelude::*;

const DEGREE: usize = 16;
const SPECIAL: usize = 2;
/// Two special primes, then q_0 .. q_5.
const BITS: [u32; 8] = [50, 49, 50, 36, 40, 45, 38, 36];

fn q_bits(ring: &Ring) -> Vec<f64> {
    ring.moduli().skip(SPECIAL).map(|q| (q.value() as f64).log2()).collect()
}

/// The largest digit's size of the best cut, by trying all.
fn brute_force(bits: &[u32], dnum: usize) -> u32 {
    if dnum == 1 {
        return bits.iter().sum();
    }
    (1..=bits.len() + 1 - dnum)
        .map(|first| bits[..first].iter().sum::<u32>().max(brute_force(&bits[first..], dnum - 1)))
        .min()
        .expect("a cut")
}

proptest! {
    #[test]
    fn digits_are_as_even_as_they_can_be(
        (bits, dnum) in prop::collection::vec(20u32..=50, 1..10).prop_flat_map(|bits| {
            let limbs = bits.len();
            (Just(bits), 1..=limbs)
        })
    ) {
        let sizes: Vec<f64> = bits.iter().map(|&bits| f64::from(bits)).collect();
        let gadget = Gadget::new(&sizes, 3, dnum).expect("digits");
        prop_assert_eq!(gadget.digits().len(), dnum);
        let joined: Vec<usize> = gadget.digits().iter().cloned().flatten().collect();
        prop_assert_eq!(joined, (0..bits.len()).collect::<Vec<_>>());
        prop_assert!(gadget.digits().iter().all(|digit| !digit.is_empty()));
        let largest = gadget.digits().iter().map(|digit| bits[digit.clone()].iter().sum::<u32>()).max();
        prop_assert_eq!(largest, Some(brute_force(&bits, dnum)));
    }
}

#[test]
fn digits_are_cut_by_bits_and_not_by_number() {
    let gadget = Gadget::new(&[50.0, 50.0, 25.0, 25.0, 25.0, 25.0], 1, 2).expect("digits");
    assert_eq!(gadget.digits(), [0..2, 2..6]);
    assert_eq!(gadget.digits_at(1), vec![0..1; 1]);
    assert_eq!(gadget.digits_at(2), vec![0..2; 1]);
    assert_eq!(gadget.digits_at(4), [0..2, 2..4]);
    for dnum in [0, 7] {
        assert_eq!(Gadget::new(&[40.0; 6], 1, dnum), Err(Error::Digits { found: dnum, limbs: 6 }));
    }
}

/// `g_j` over the ring of the special primes and the first limbs: 1 on the digit's limbs, 0 on all others.
fn gadget_element(ring_q: &Ring, digit: &Range<usize>) -> Poly<Eval> {
    ring_q.constant(&(0..ring_q.limbs()).map(|i| u64::from(digit.contains(&i))).collect::<Vec<_>>())
}

#[test]
fn digits_times_gadget_give_the_element_at_every_level() {
    let whole = oracle::ring(DEGREE, &BITS);
    let q_limbs = BITS.len() - SPECIAL;
    for dnum in 1..=q_limbs {
        let decomposer = Decomposer::new(&whole, Gadget::new(&q_bits(&whole), SPECIAL, dnum).expect("digits"));
        for limbs in 1..=q_limbs {
            let (ring_q, ring_qp) = (whole.window(SPECIAL..SPECIAL + limbs), whole.window(0..SPECIAL + limbs));
            let c = ring_q.ntt(element(&ring_q, &adversarial(1, DEGREE, &modulus(&ring_q))));
            let digits = decomposer.decompose(&ring_q, &c);
            let alive = decomposer.gadget().digits_at(limbs);
            assert_eq!(digits.polys().len(), alive.len());

            let mut sum = ring_q.zero();
            for (poly, digit) in digits.polys().iter().zip(&alive) {
                assert_eq!(poly.window(), 0..SPECIAL + limbs);
                ring_q.mul_add_assign(&mut sum, poly, &gadget_element(&ring_q, digit));

                let own: Vec<usize> = digit.clone().map(|i| SPECIAL + i).collect();
                let d = product(&whole, &own);
                let values = coefficients(&ring_qp, &ring_qp.intt(poly.clone()));
                assert!(values.iter().all(|x| is_centred(x, &d)), "dnum {dnum}, {limbs} limbs");
            }
            assert_eq!(ring_q.to_words(&sum), ring_q.to_words(&c), "dnum {dnum}, {limbs} limbs");
        }
    }
}

#[test]
fn inner_product_takes_keys_over_more_limbs_and_digits() {
    let whole = oracle::ring(DEGREE, &BITS);
    let decomposer = Decomposer::new(&whole, Gadget::new(&q_bits(&whole), SPECIAL, 3).expect("digits"));
    let numbers = |seed| random(seed, DEGREE, &modulus(&whole));
    let key: Vec<[Vec<BigInt>; 2]> = (0..3).map(|j| [numbers(10 + j), numbers(20 + j)]).collect();
    let key_polys: Vec<[Poly<Eval>; 2]> =
        key.iter().map(|sides| [0, 1].map(|side| whole.ntt(element(&whole, &sides[side])))).collect();
    for limbs in [1, 3, 6] {
        let (ring_q, ring_qp) = (whole.window(SPECIAL..SPECIAL + limbs), whole.window(0..SPECIAL + limbs));
        let c = ring_q.ntt(element(&ring_q, &random(30, DEGREE, &modulus(&ring_q))));
        let digits = decomposer.decompose(&ring_q, &c);
        let sums = digits.inner_product(&ring_qp, &key_polys);
        let digit_values: Vec<Vec<BigInt>> =
            digits.polys().iter().map(|poly| coefficients(&ring_qp, &ring_qp.intt(poly.clone()))).collect();
        for (side, sum) in sums.into_iter().enumerate() {
            let mut expected = vec![BigInt::from(0); DEGREE];
            for (digit, key) in digit_values.iter().zip(&key) {
                for (total, x) in expected.iter_mut().zip(oracle::schoolbook(digit, &key[side])) {
                    *total += x;
                }
            }
            let q = modulus(&ring_qp);
            let found: Vec<BigInt> =
                coefficients(&ring_qp, &ring_qp.intt(sum)).iter().map(|x| residue(x, &q)).collect();
            assert_eq!(found, expected.iter().map(|x| residue(x, &q)).collect::<Vec<_>>(), "{limbs} limbs");
        }
    }
}

/// A key switch from its definition: digits, inner product, multiples of P, division and automorphism, one by one.
fn switched_step_by_step(
    whole: &Ring,
    decomposer: &Decomposer,
    ring_q: &Ring,
    c: &Poly<Eval>,
    switch: &KeySwitch,
) -> [Poly<Eval>; 2] {
    let ring_qp = whole.window(0..ring_q.range().end);
    let p: Vec<usize> = (0..SPECIAL).collect();
    let special: Vec<u64> =
        ring_q.moduli().map(|q| u64::try_from(product(whole, &p) % q.value()).expect("a residue")).collect();
    let mut sums = decomposer.decompose(ring_q, c).inner_product(&ring_qp, switch.key);
    for (sum, a) in sums.iter_mut().zip(switch.added) {
        a.iter().for_each(|a| ring_q.mul_scalar_add_assign(sum, a, &special));
    }
    let results = switch.divide.apply_many(sums);
    let kept = whole.window(results[0].window());
    results.map(|result| match switch.automorphism {
        Some(automorphism) => kept.automorphism(&result, automorphism),
        None => result,
    })
}

#[test]
fn a_switch_is_its_steps_one_after_the_other() {
    // The second is longer than what a conversion handles at once.
    for degree in [DEGREE, 1 << 13] {
        let whole = oracle::ring(degree, &BITS);
        let (seed, q_limbs) = (Seed::from_bytes([3; 32]), BITS.len() - SPECIAL);
        let uniform = |label: &str| whole.uniform(&seed, label);
        let key: Vec<[Poly<Eval>; 2]> =
            (0..q_limbs).map(|j| [0, 1].map(|side| uniform(&format!("key/{j}/{side}")))).collect();
        let (a, b) = (uniform("a"), uniform("b"));
        let map = Automorphism::new(whole.index(), 5).expect("odd");
        for (dnum, limbs) in [(1, 6), (2, 5), (3, 6), (3, 2), (6, 6), (6, 1)] {
            let decomposer = Decomposer::new(&whole, Gadget::new(&q_bits(&whole), SPECIAL, dnum).expect("digits"));
            let end = SPECIAL + limbs;
            let (ring_q, ring_qp) = (whole.window(SPECIAL..end), whole.window(0..end));
            let c = ring_q.restrict(&uniform("c"));
            let digits = decomposer.decompose(&ring_q, &c);
            let words = |sums: [Poly<Eval>; 2]| sums.map(|sum| whole.window(sum.window()).to_words(&sum));
            assert!(
                words(decomposer.inner_product(&ring_q, &c, &key)) == words(digits.inner_product(&ring_qp, &key)),
                "degree {degree}, dnum {dnum}, {limbs} limbs"
            );
            let acc = [&a, &b].map(|acc| ring_qp.restrict(acc));
            let (mut found, mut expected) = (acc.clone(), acc);
            digits.inner_product_add_assign(&ring_qp, &key, &map, &mut found);
            for (acc, sum) in expected.iter_mut().zip(digits.inner_product(&ring_qp, &key)) {
                ring_qp.automorphism_add_assign(acc, &sum, &map);
            }
            assert!(words(found) == words(expected), "degree {degree}, dnum {dnum}, {limbs} limbs");
            for last in 0..=usize::from(limbs > 1) {
                let dropped: Vec<usize> = (0..SPECIAL).chain(end - last..end).collect();
                let divide = &DivideRound::new(&whole, &dropped, SPECIAL..end - last);
                for (added, automorphism) in
                    [([None, None], None), ([Some(&a), Some(&b)], None), ([Some(&a), None], Some(&map))]
                {
                    let switch = KeySwitch { key: &key, added, divide, automorphism };
                    let expected = words(switched_step_by_step(&whole, &decomposer, &ring_q, &c, &switch));
                    let context = format!("degree {degree}, dnum {dnum}, {limbs} limbs, {last} dropped");
                    assert!(words(decomposer.switch(&ring_q, &c, &switch)) == expected, "{context}");
                    assert!(words(decomposer.switch_digits(&ring_q, &digits, &switch)) == expected, "{context}");
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "cannot be dropped")]
fn a_switch_refuses_a_division_of_another_level() {
    let whole = oracle::ring(DEGREE, &BITS);
    let decomposer = Decomposer::new(&whole, Gadget::new(&q_bits(&whole), SPECIAL, 1).expect("digits"));
    let (ring_q, divide) = (whole.window(2..4), DivideRound::new(&whole, &[0, 1], 2..5));
    let key = [[whole.zero(), whole.zero()]];
    let switch = KeySwitch { key: &key, added: [None, None], divide: &divide, automorphism: None };
    let _ = decomposer.switch(&ring_q, &ring_q.zero(), &switch);
}

#[test]
fn one_digit_without_special_primes_is_the_element() {
    let whole = oracle::ring(DEGREE, &[40, 41]);
    let decomposer = Decomposer::new(&whole, Gadget::new(&[40.0, 41.0], 0, 1).expect("digits"));
    let c = whole.ntt(element(&whole, &random(40, DEGREE, &modulus(&whole))));
    let digits = decomposer.decompose(&whole, &c);
    assert_eq!(digits.polys().len(), 1);
    assert_eq!(whole.to_words(&digits.polys()[0]), whole.to_words(&c));
}
