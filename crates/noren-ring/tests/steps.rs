//! Sums in several steps against the same steps one by one.

mod oracle;

use noren_math::random::Seed;
use noren_ring::automorphism::Automorphism;
use noren_ring::decompose::Decomposer;
use noren_ring::divide::DivideRound;
use noren_ring::gadget::Gadget;
use noren_ring::key::KeyPairs;
use noren_ring::operand::Operand;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use noren_ring::switch::{KeySwitch, Term};
use num_bigint::BigInt;
use oracle::{coefficients, modulus, residue};

const SPECIAL: usize = 2;
/// Two special primes, then q_0 .. q_5.
const BITS: [u32; 8] = [50, 49, 50, 36, 40, 45, 38, 36];

/// One step with both halves divided.
fn step(
    decomposer: &Decomposer,
    ring_q: &Ring,
    [c0, c1]: &[Poly<Eval>; 2],
    terms: &[Term],
    divide: &DivideRound,
) -> [Poly<Eval>; 2] {
    let added = [Some(Operand::from(c0)), Some(Operand::from(c1))];
    ring_q.switch(c1, decomposer, &KeySwitch { terms, moved: Some(c0), added, divide })
}

#[test]
fn the_second_half_is_that_of_single_steps_and_the_first_is_rounded_once() {
    for degree in [16, 4096] {
        let whole = oracle::ring(degree, &BITS);
        let seed = Seed::from_bytes([6; 32]);
        let uniform = |label: &str| whole.uniform(&seed, label);
        let key = |k: usize| {
            let pair = |j| [0, 1].map(|side| uniform(&format!("{k}/{j}/{side}")));
            whole.key(&[0, 1, 2].map(pair))
        };
        let keys: Vec<KeyPairs> = (0..6).map(key).collect();
        let maps = [5, 25, 31, 9, 17, 3].map(|k| Automorphism::new(whole.index(), k).expect("odd"));
        let terms: Vec<Term> = keys.iter().zip(&maps).map(|(key, map)| Term { key, automorphism: Some(map) }).collect();
        let (q_bits, shapes) =
            (whole.moduli().skip(SPECIAL).map(|q| (q.value() as f64).log2()), [(1, 6), (3, 5), (3, 1)]);
        let q_bits: Vec<f64> = q_bits.collect();
        for (dnum, limbs) in shapes {
            let decomposer = Decomposer::new(&whole, Gadget::new(&q_bits, SPECIAL, dnum).expect("digits"));
            let ring_q = whole.window(SPECIAL..SPECIAL + limbs);
            let divide = DivideRound::new(&whole, &[0, 1], SPECIAL..SPECIAL + limbs);
            let c = ["c0", "c1"].map(|label| ring_q.restrict(&uniform(label)));
            for sizes in [vec![3], vec![1, 3], vec![1, 1, 1, 3]] {
                let context = format!("degree {degree}, dnum {dnum}, {limbs} limbs, steps of {sizes:?}");
                let mut rest = &terms[..];
                let steps: Vec<&[Term]> = sizes.iter().map(|&size| rest.split_off(..size).expect("enough")).collect();
                let found = ring_q.sum_in_steps([&c[0], &c[1]], &decomposer, &steps, &divide);
                let single = |c: [Poly<Eval>; 2], terms: &&[Term]| step(&decomposer, &ring_q, &c, terms, &divide);
                let expected = steps.iter().fold(c.clone(), single);
                assert!(ring_q.to_words(&found[1]) == ring_q.to_words(&expected[1]), "{context}");
                // Every single step rounds by at most 1/2 what the later ones add up, and the end of all steps does once.
                let halves = sizes.iter().fold(0, |error, size| error * (1 + size) + 1) + 1;
                let (q, bound) = (modulus(&ring_q), BigInt::from(halves / 2));
                let [found, expected] = [&found, &expected].map(|c| coefficients(&ring_q, &ring_q.intt(c[0].clone())));
                for (found, expected) in found.iter().zip(&expected) {
                    let difference = residue(&(found - expected), &q);
                    assert!(difference <= bound || difference >= &q - &bound, "{context}: {difference}");
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "a sum has a step")]
fn no_step_is_refused() {
    let whole = oracle::ring(16, &BITS);
    let decomposer =
        Decomposer::new(&whole, Gadget::new(&[50.0, 36.0, 40.0, 45.0, 38.0, 36.0], SPECIAL, 1).expect("digits"));
    let (ring_q, divide) = (whole.window(2..4), DivideRound::new(&whole, &[0, 1], 2..4));
    let _ = ring_q.sum_in_steps([&ring_q.zero(), &ring_q.zero()], &decomposer, &[], &divide);
}
