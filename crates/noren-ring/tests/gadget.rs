//! Digits: the cut against brute force, the decomposition against big integers, a whole switch against its steps.

mod oracle;

use std::ops::Range;

use noren_math::kernels::is_fastest;
use noren_math::random::Seed;
use noren_ring::automorphism::Automorphism;
use noren_ring::decompose::Decomposer;
use noren_ring::divide::DivideRound;
use noren_ring::error::Error;
use noren_ring::gadget::{Gadget, MAX_DIGITS};
use noren_ring::key::KeyPairs;
use noren_ring::operand::{Operand, Sum};
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use noren_ring::switch::{KeySwitch, Term};
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
        assert_eq!(Gadget::new(&[40.0; 6], 1, dnum), Err(Error::Digits { found: dnum, most: 6, limbs: 6 }));
    }
    let (limbs, found) = (MAX_DIGITS + 6, MAX_DIGITS + 1);
    let refused = Gadget::new(&vec![40.0; limbs], 1, found);
    assert_eq!(refused, Err(Error::Digits { found, most: MAX_DIGITS, limbs }));
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
    let key_polys = whole.key(&key_polys);
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

#[test]
fn keys_are_read_as_they_were_set() {
    // Several blocks of the layout of a key.
    let whole = oracle::ring(1 << 15, &BITS);
    let (ring_q, seed) = (whole.window(SPECIAL..SPECIAL + 4), Seed::from_bytes([6; 32]));
    let decomposer = Decomposer::new(&whole, Gadget::new(&q_bits(&whole), SPECIAL, 3).expect("digits"));
    let digits = decomposer.decompose(&ring_q, &whole.uniform(&seed, "c"));
    let ring_qp = whole.window(0..ring_q.range().end);
    let pairs: Vec<[Poly<Eval>; 2]> =
        (0..3).map(|j| [0, 1].map(|half| whole.uniform(&seed, &format!("{j}/{half}")))).collect();
    let sums = digits.inner_product(&ring_qp, &whole.key(&pairs));
    for (half, sum) in sums.iter().enumerate() {
        let terms: Vec<_> = digits.polys().iter().zip(&pairs).map(|(digit, pair)| (digit, &pair[half])).collect();
        assert!(ring_qp.to_words(sum) == ring_qp.to_words(&ring_qp.inner_product(&terms)), "half {half}");
    }
}

/// A key switch from its definition: digits, inner products, automorphisms, multiples of P and division, one by one.
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
    let digits = decomposer.decompose(ring_q, c);
    let mut totals = [ring_qp.zero(), ring_qp.zero()];
    for Term { key, automorphism } in switch.terms {
        let mut sums = digits.inner_product(&ring_qp, key);
        switch.moved.iter().for_each(|m| ring_q.mul_scalar_add_assign(&mut sums[0], m, &special));
        for (total, sum) in totals.iter_mut().zip(sums) {
            let image = automorphism.map_or(sum.clone(), |automorphism| ring_qp.automorphism(&sum, automorphism));
            ring_qp.add_assign(total, &image);
        }
    }
    for (total, a) in totals.iter_mut().zip(switch.added) {
        let a = a.map(|a| match a {
            Operand::Element(a) => ring_q.restrict(a),
            Operand::Products(pairs) => ring_q.inner_product(pairs),
            Operand::Sum(sum) => {
                let mut total = ring_q.zero();
                sum.products.iter().for_each(|(a, b)| ring_q.mul_add_assign(&mut total, a, b));
                sum.multiples.iter().for_each(|(x, w)| ring_q.mul_scalar_add_assign(&mut total, x, w));
                sum.constant.iter().for_each(|c| ring_q.add_constant_assign(&mut total, c));
                total
            }
        });
        a.iter().for_each(|a| ring_q.mul_scalar_add_assign(total, a, &special));
    }
    oracle::divide_all(ring_q, totals, switch.divide)
}

#[test]
fn a_switch_is_its_steps_one_after_the_other() {
    // The second is longer than what is handled at once.
    for degree in [DEGREE, 1 << 15] {
        let whole = oracle::ring(degree, &BITS);
        let (seed, q_limbs) = (Seed::from_bytes([3; 32]), BITS.len() - SPECIAL);
        let uniform = |label: &str| whole.uniform(&seed, label);
        let keys: Vec<KeyPairs> = (0..3)
            .map(|k| {
                let pair = |j| [0, 1].map(|side| uniform(&format!("key/{k}/{j}/{side}")));
                whole.key(&(0..q_limbs).map(pair).collect::<Vec<_>>())
            })
            .collect();
        let (a, b) = (uniform("a"), uniform("b"));
        let maps = [5, 2 * degree as u32 - 1].map(|k| Automorphism::new(whole.index(), k).expect("odd"));
        let term = |k: usize, map: Option<usize>| Term { key: &keys[k], automorphism: map.map(|map| &maps[map]) };
        let terms =
            [vec![term(0, None)], vec![term(0, Some(0))], vec![term(0, Some(0)), term(1, None), term(2, Some(1))]];
        let sets = [(3, 6), (1, 6), (2, 5), (3, 2), (6, 6), (6, 1)];
        // Of long rows, with kernels that are not the fastest, one set: they are cut in the same way.
        let few = degree > DEGREE && !is_fastest();
        for (dnum, limbs) in sets.into_iter().take(if few { 1 } else { sets.len() }) {
            let decomposer = Decomposer::new(&whole, Gadget::new(&q_bits(&whole), SPECIAL, dnum).expect("digits"));
            let end = SPECIAL + limbs;
            let ring_q = whole.window(SPECIAL..end);
            let (left, right) = (ring_q.restrict(&uniform("left")), ring_q.restrict(&uniform("right")));
            let (c, products) = (ring_q.mul(&left, &right), [(&left, &right)]);
            let m = ring_q.restrict(&uniform("m"));
            let words = |sums: [Poly<Eval>; 2]| sums.map(|sum| whole.window(sum.window()).to_words(&sum));
            for last in 0..=usize::from(limbs > 1) {
                let dropped: Vec<usize> = (0..SPECIAL).chain(end - last..end).collect();
                let divide = &DivideRound::new(&whole, &dropped, SPECIAL..end - last);
                let two = [(&a, &left), (&b, &right)];
                let (w, first) = (ring_q.integer_residues(-(1 << 70)), SPECIAL);
                let multiples = vec![(&a, w.clone()), (&m, w.clone())];
                let sum = Sum { products: two.to_vec(), multiples: multiples.clone(), constant: Some(w), first };
                let few = Sum { multiples, first, ..Sum::default() };
                for (i, (added, moved)) in [
                    ([None, None], None),
                    ([Some(Operand::from(&a)), Some(Operand::from(&b))], Some(&m)),
                    ([Some(Operand::Products(&two)), Some(Operand::Products(&two[..1]))], None),
                    ([Some(Operand::Sum(&sum)), Some(Operand::Sum(&few))], None),
                ]
                .into_iter()
                .enumerate()
                {
                    let switch = KeySwitch { terms: &terms[i % terms.len()], added, moved, divide };
                    let expected = words(switched_step_by_step(&whole, &decomposer, &ring_q, &c, &switch));
                    let context = format!("degree {degree}, dnum {dnum}, {limbs} limbs, {last} dropped, terms {i}");
                    assert!(words(ring_q.switch(&c, &decomposer, &switch)) == expected, "{context}");
                    let of_products = ring_q.switch(Operand::Products(&products), &decomposer, &switch);
                    assert!(words(of_products) == expected, "products, {context}");
                    // One term after the other: in one pass, and in several.
                    for many in [switch.terms.to_vec(), switch.terms.repeat(9)] {
                        let each = ring_q.switch_each(&c, &decomposer, &KeySwitch { terms: &many, ..switch });
                        assert_eq!(each.len(), many.len());
                        for (terms, found) in many.chunks(1).zip(each) {
                            let expected = ring_q.switch(&c, &decomposer, &KeySwitch { terms, ..switch });
                            assert!(words(found) == words(expected), "each, {context}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_sum_of_images_is_the_sum_of_single_switches_up_to_rounding() {
    const LIMBS: usize = 4;
    let whole = oracle::ring(DEGREE, &BITS);
    let (ring_q, seed) = (whole.window(SPECIAL..SPECIAL + LIMBS), Seed::from_bytes([4; 32]));
    let decomposer = Decomposer::new(&whole, Gadget::new(&q_bits(&whole), SPECIAL, 3).expect("digits"));
    let divide = DivideRound::new(&whole, &[0, 1], SPECIAL..SPECIAL + LIMBS);
    let uniform = |label: &str| whole.uniform(&seed, label);
    let keys: Vec<KeyPairs> = (0..3)
        .map(|k| {
            let pair = |j| [0, 1].map(|side| uniform(&format!("{k}/{j}/{side}")));
            whole.key(&[0, 1, 2].map(pair))
        })
        .collect();
    let maps = [5, 25, 31].map(|k| Automorphism::new(whole.index(), k).expect("odd"));
    let terms: Vec<Term> = keys.iter().zip(&maps).map(|(key, map)| Term { key, automorphism: Some(map) }).collect();
    let (c, m) = (ring_q.restrict(&uniform("c")), ring_q.restrict(&uniform("m")));
    let switched = |terms: &[Term]| {
        ring_q.switch(&c, &decomposer, &KeySwitch { terms, moved: Some(&m), added: [None, None], divide: &divide })
    };
    let q = modulus(&ring_q);
    let numbers = |poly: Poly<Eval>| coefficients(&ring_q, &ring_q.intt(poly));
    let total = switched(&terms).map(numbers);
    let singles: Vec<_> = terms.iter().map(|term| switched(std::slice::from_ref(term)).map(numbers)).collect();
    for (i, total) in total.iter().enumerate() {
        for (x, total) in total.iter().enumerate() {
            // Each single result is rounded by at most 1/2, and so is the total: integers differ by at most 4/2.
            let sum: BigInt = singles.iter().map(|single| &single[i][x]).sum();
            let difference = residue(&(total - sum), &q);
            let two = BigInt::from(2);
            assert!(difference <= two || difference >= &q - &two, "half {i}, coefficient {x}: {difference}");
        }
    }
}

#[test]
#[should_panic(expected = "cannot be dropped")]
fn a_switch_refuses_a_division_of_another_level() {
    let whole = oracle::ring(DEGREE, &BITS);
    let decomposer = Decomposer::new(&whole, Gadget::new(&q_bits(&whole), SPECIAL, 1).expect("digits"));
    let (ring_q, divide) = (whole.window(2..4), DivideRound::new(&whole, &[0, 1], 2..5));
    let key = whole.zero_key(1);
    let terms = [Term { key: &key, automorphism: None }];
    let switch = KeySwitch { terms: &terms, moved: None, added: [None, None], divide: &divide };
    let _ = ring_q.switch(&ring_q.zero(), &decomposer, &switch);
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
