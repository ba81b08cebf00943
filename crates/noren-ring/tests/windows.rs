//! Keys of fewer primes than the ring has: every switch gives the words of a ring that has only these primes.

mod oracle;

use std::ops::Range;

use noren_math::random::Seed;
use noren_ring::automorphism::Automorphism;
use noren_ring::decompose::Decomposer;
use noren_ring::divide::DivideRound;
use noren_ring::gadget::Gadget;
use noren_ring::matrix::{GiantStep, Matrix, Order};
use noren_ring::operand::Operand;
use noren_ring::poly::Poly;
use noren_ring::ring::Ring;
use noren_ring::switch::{KeySwitch, Term};

/// Three special primes, then q_0 .. q_5.
const LISTED: usize = 3;
const BITS: [u32; 9] = [50, 49, 50, 49, 36, 40, 45, 38, 36];

/// Every verb that takes digits, over the ring `whole`, whose special primes `used` are those of the gadget.
fn everything(whole: &Ring, used: Range<usize>, decomposer: &Decomposer, limbs: usize) -> Vec<Vec<u64>> {
    let (degree, seed) = (whole.degree(), Seed::from_bytes([8; 32]));
    let ring_q = whole.window(used.end..used.end + limbs);
    let ring_qp = ring_q.ring_qp(decomposer);
    assert_eq!(ring_qp.range(), used.start..used.end + limbs);
    let digits = decomposer.gadget().digits().len();
    let keys = [0, 1].map(|k| {
        let pair = |j| [0, 1].map(|half| ring_qp.uniform(&seed, &format!("key/{k}/{j}/{half}")));
        ring_qp.key(&(0..digits).map(pair).collect::<Vec<_>>())
    });
    let [a, b, c] = ["a", "b", "c"].map(|label| ring_q.uniform(&seed, label));
    let [f, g] = ["f", "g"].map(|label| ring_qp.uniform(&seed, label));
    let map = Automorphism::new(whole.index(), 2 * degree as u32 - 1).expect("odd");
    let terms = [Term { key: &keys[0], automorphism: Some(&map) }, Term { key: &keys[1], automorphism: None }];
    let special: Vec<usize> = used.clone().collect();
    let divide = DivideRound::new(whole, &special, ring_q.range());
    let switch = KeySwitch { terms: &terms, moved: Some(&b), added: [Some(Operand::from(&a)), None], divide: &divide };

    let made = decomposer.decompose(&ring_q, &c);
    let giants = [
        GiantStep { rotation: None, terms: vec![(0, &f), (1, &g)] },
        GiantStep { rotation: Some((&keys[1], &map)), terms: vec![(1, &f)] },
    ];
    let product = |order| {
        let matrix =
            Matrix { images: &[Some(terms[0]), None], giants: &giants, order, mod_down: &divide, divide: &divide };
        ring_q.multiply_matrix([&b, &c], decomposer, &matrix)
    };
    let steps = ring_q.sum_in_steps([&b, &c], decomposer, &[&terms, &terms[..1]], &divide);
    let over_q = ring_q.switch_each(&c, decomposer, &switch).into_iter();
    let over_q = over_q.chain([ring_q.switch(&c, decomposer, &switch), steps]);
    let over_q = over_q.chain([Order::Separate, Order::InTurn].map(product)).flatten();
    let over_qp = made.polys().to_vec();
    let words = |poly: Poly<_>| whole.window(poly.window()).to_words(&poly);
    over_q.chain(over_qp).map(words).collect()
}

#[test]
fn primes_that_are_passed_over_change_nothing() {
    // The second is longer than a block of a key.
    for degree in [16, 1 << 15] {
        let whole = oracle::ring(degree, &BITS);
        let all: Vec<u64> = whole.moduli().map(|q| q.value()).collect();
        let bits: Vec<f64> = all.iter().map(|&q| (q as f64).log2()).collect();
        for (special, cut, dnum, limbs) in [(1, 6, 6, 6), (2, 6, 3, 5), (2, 4, 2, 4), (1, 4, 4, 3), (3, 4, 1, 4)] {
            let first = LISTED - special;
            let q_bits = &bits[LISTED..LISTED + cut];
            let gadget = Gadget::within(q_bits, LISTED, special, dnum).expect("digits");
            assert_eq!((gadget.skipped(), gadget.special(), gadget.limbs()), (first, LISTED, cut));
            let found = everything(&whole, first..LISTED, &Decomposer::new(&whole, gadget.clone()), limbs);

            let only = Ring::new(*whole.index(), &all[first..LISTED + cut], Some(1)).expect("a ring");
            let usual = Gadget::new(q_bits, special, dnum).expect("digits");
            assert_eq!((usual.skipped(), usual.special()), (0, special));
            assert_eq!(usual.digits(), gadget.digits());
            let expected = everything(&only, 0..special, &Decomposer::new(&only, usual), limbs);
            assert!(found == expected, "degree {degree}, {special} special primes, {limbs} of {cut} limbs");
        }
    }
}

#[test]
#[should_panic(expected = "5 limbs have no digits in a gadget of 4")]
fn limbs_that_are_not_cut_are_refused() {
    let whole = oracle::ring(16, &BITS);
    let decomposer = Decomposer::new(&whole, Gadget::within(&[49.0; 4], LISTED, 1, 2).expect("digits"));
    let ring_q = whole.window(LISTED..LISTED + 5);
    let _ = decomposer.decompose(&ring_q, &ring_q.zero());
}

#[test]
#[should_panic(expected = "4 special primes of 3 cannot be used")]
fn more_special_primes_than_are_listed_are_refused() {
    let _ = Gadget::within(&[49.0; 4], LISTED, 4, 2);
}
