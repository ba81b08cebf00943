//! Sums of products with images: the same words as step by step.

mod oracle;

use noren_math::random::Seed;
use noren_ring::automorphism::Automorphism;
use noren_ring::decompose::Decomposer;
use noren_ring::gadget::Gadget;
use noren_ring::key::KeyPairs;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use noren_ring::switch::Term;

const SPECIAL: usize = 2;
/// Two special primes, then q_0 .. q_4.
const BITS: [u32; 7] = [50, 49, 48, 36, 40, 45, 38];

fn uniform(ring: &Ring, label: &str) -> Poly<Eval> {
    ring.uniform(&Seed::from_bytes([9; 32]), label)
}

/// `x` modulo the special primes and the limbs of `ring_qp`, times P, for an element of at least its limbs q.
fn times_special(ring_qp: &Ring, x: &Poly<Eval>) -> Poly<Eval> {
    let ring_q = ring_qp.window(SPECIAL..ring_qp.range().end);
    let mut product = ring_q.restrict(x);
    for special in ring_qp.moduli().take(SPECIAL) {
        product = ring_q.mul_integer_i128(&product, special.value().into());
    }
    let mut out = ring_qp.zero();
    ring_q.mul_scalar_add_assign(&mut out, &product, &ring_q.integer_residues(1));
    out
}

#[test]
fn sums_of_images_are_those_taken_step_by_step() {
    // A row of one block, and one of several.
    for (degree, threads) in [(16, 1), (1 << 12, 1), (1 << 12, 2)] {
        let whole = oracle::ring_with(degree, &BITS, Some(threads));
        let bits: Vec<f64> = whole.moduli().skip(SPECIAL).map(|q| (q.value() as f64).log2()).collect();
        let decomposer = Decomposer::new(&whole, Gadget::new(&bits, SPECIAL, 3).expect("digits"));
        let keys: Vec<KeyPairs> = (0..3)
            .map(|a| {
                let pair = |j| [0, 1].map(|half| uniform(&whole, &format!("key/{a}/{j}/{half}")));
                KeyPairs::new(&whole, &(0..3).map(pair).collect::<Vec<_>>())
            })
            .collect();
        let automorphisms = [5, 25, 2 * degree as u32 - 1].map(|k| Automorphism::new(whole.index(), k).expect("odd"));
        let factors: Vec<Poly<Eval>> = (0..6).map(|i| uniform(&whole, &format!("factor/{i}"))).collect();
        for limbs in [5, 2] {
            let (ring_q, ring_qp) = (whole.window(SPECIAL..SPECIAL + limbs), whole.window(0..SPECIAL + limbs));
            let element = [uniform(&ring_q, "c/0"), uniform(&ring_q, "c/1")];
            let digits = decomposer.decompose(&ring_q, &element[1]);
            let term = |a: usize| Term { key: &keys[a], automorphism: Some(&automorphisms[a]) };
            let unmoved = Term { key: &keys[0], automorphism: None };
            let images = [Some(term(0)), None, Some(term(1)), Some(term(2)), Some(unmoved)];
            let sums = vec![
                vec![(0, &factors[0]), (1, &factors[1]), (3, &factors[2])],
                vec![(1, &factors[3])],
                vec![],
                vec![(4, &factors[4]), (2, &factors[5])],
            ];
            let found = decomposer.sums_of_images(&ring_qp, element.each_ref(), &digits, &images, &sums);

            let image = |image: &Option<Term>| {
                let [first, second] = element.each_ref().map(|part| times_special(&ring_qp, part));
                let Some(Term { key, automorphism }) = image else { return [first, second] };
                let mut sums = digits.inner_product(&ring_qp, key);
                ring_qp.add_assign(&mut sums[0], &first);
                match automorphism {
                    Some(psi) => sums.map(|sum| ring_qp.automorphism(&sum, psi)),
                    None => sums,
                }
            };
            let images: Vec<_> = images.iter().map(image).collect();
            for (terms, found) in sums.iter().zip(&found) {
                for side in [0, 1] {
                    let mut expected = ring_qp.zero();
                    for &(image, factor) in terms {
                        ring_qp.mul_add_assign(&mut expected, &images[image][side], factor);
                    }
                    assert_eq!(ring_qp.to_words(&found[side]), ring_qp.to_words(&expected), "degree {degree}");
                }
            }
        }
    }
}

#[test]
fn an_inner_product_is_added_under_its_automorphism() {
    let whole = oracle::ring(64, &BITS);
    let bits: Vec<f64> = whole.moduli().skip(SPECIAL).map(|q| (q.value() as f64).log2()).collect();
    let decomposer = Decomposer::new(&whole, Gadget::new(&bits, SPECIAL, 2).expect("digits"));
    let (ring_q, psi) = (whole.window(SPECIAL..7), Automorphism::new(whole.index(), 25).expect("odd"));
    let key = KeyPairs::new(&whole, &[["a", "b"], ["c", "d"]].map(|pair| pair.map(|label| uniform(&whole, label))));
    let c = uniform(&ring_q, "c");
    let mut found = [uniform(&whole, "x"), uniform(&whole, "y")];
    let mut expected = found.clone();
    decomposer.inner_product_add_assign(&ring_q, &c, Term { key: &key, automorphism: Some(&psi) }, &mut found);
    for (sum, term) in expected.iter_mut().zip(&decomposer.decompose(&ring_q, &c).inner_product(&whole, &key)) {
        whole.automorphism_add_assign(sum, term, &psi);
    }
    assert_eq!(found.map(|x| whole.to_words(&x)), expected.map(|x| whole.to_words(&x)));
}
