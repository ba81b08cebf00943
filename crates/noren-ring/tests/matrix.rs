//! Matrices by baby steps and giant steps: the same words as step by step.

mod oracle;

use noren_math::random::Seed;
use noren_ring::automorphism::Automorphism;
use noren_ring::decompose::Decomposer;
use noren_ring::divide::DivideRound;
use noren_ring::gadget::Gadget;
use noren_ring::key::KeyPairs;
use noren_ring::matrix::{GiantStep, Matrix, Order};
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

/// A matrix by its definition: every image, sum, quotient and product written down.
fn step_by_step(
    decomposer: &Decomposer,
    ring_qp: &Ring,
    element: [&Poly<Eval>; 2],
    matrix: &Matrix,
) -> [Poly<Eval>; 2] {
    let ring_q = ring_qp.window(SPECIAL..ring_qp.range().end);
    let inner_product = |c: &Poly<Eval>, key: &KeyPairs| decomposer.decompose(&ring_q, c).inner_product(ring_qp, key);
    let image = |image: &Option<Term>| {
        let [first, second] = element.map(|part| times_special(ring_qp, part));
        let Some(Term { key, automorphism }) = image else { return [first, second] };
        let mut sums = inner_product(element[1], key);
        ring_qp.add_assign(&mut sums[0], &first);
        match automorphism {
            Some(psi) => sums.map(|sum| ring_qp.automorphism(&sum, psi)),
            None => sums,
        }
    };
    let images: Vec<_> = matrix.images.iter().map(image).collect();
    let sum = |giant: &GiantStep| {
        let mut sum = [ring_qp.zero(), ring_qp.zero()];
        for &(image, factor) in &giant.terms {
            for (sum, image) in sum.iter_mut().zip(&images[image]) {
                ring_qp.mul_add_assign(sum, image, factor);
            }
        }
        sum
    };
    let moved = |[mut first, second]: [Poly<Eval>; 2], giant: &GiantStep| {
        let Some((key, psi)) = giant.rotation else { return [first, second] };
        let [one, two] = inner_product(&ring_qp.divide_round(second, matrix.mod_down), key);
        ring_qp.add_assign(&mut first, &one);
        [first, two].map(|part| ring_qp.automorphism(&part, psi))
    };
    let mut total = [ring_qp.zero(), ring_qp.zero()];
    for giant in matrix.giants.iter().rev() {
        let terms = match matrix.order {
            Order::Separate => vec![total, moved(sum(giant), giant)],
            Order::InTurn => {
                let mut sum = sum(giant);
                sum.iter_mut().zip(&total).for_each(|(sum, total)| ring_qp.add_assign(sum, total));
                vec![moved(sum, giant)]
            }
        };
        total = terms
            .into_iter()
            .reduce(|mut a, b| {
                a.iter_mut().zip(&b).for_each(|(a, b)| ring_qp.add_assign(a, b));
                a
            })
            .expect("a term");
    }
    oracle::divide_all(ring_qp, total, matrix.divide)
}

#[test]
fn matrices_are_those_multiplied_step_by_step() {
    // A row of one block, one of several that automorphisms move, and one of two blocks of a key.
    for (degree, threads) in [(16, 1), (1 << 12, 1), (1 << 12, 2), (1 << 15, 2)] {
        let whole = oracle::ring_with(degree, &BITS, Some(threads));
        let bits: Vec<f64> = whole.moduli().skip(SPECIAL).map(|q| (q.value() as f64).log2()).collect();
        let decomposer = Decomposer::new(&whole, Gadget::new(&bits, SPECIAL, 3).expect("digits"));
        let keys: Vec<KeyPairs> = (0..3)
            .map(|a| {
                let pair = |j| [0, 1].map(|half| uniform(&whole, &format!("key/{a}/{j}/{half}")));
                whole.key(&(0..3).map(pair).collect::<Vec<_>>())
            })
            .collect();
        let automorphisms = [5, 25, 2 * degree as u32 - 1].map(|k| Automorphism::new(whole.index(), k).expect("odd"));
        let factors: Vec<Poly<Eval>> = (0..6).map(|i| uniform(&whole, &format!("factor/{i}"))).collect();
        for limbs in [5, 2] {
            let (ring_q, ring_qp) = (whole.window(SPECIAL..SPECIAL + limbs), whole.window(0..SPECIAL + limbs));
            let element = [uniform(&ring_q, "c/0"), uniform(&ring_q, "c/1")];
            let term = |a: usize| Term { key: &keys[a], automorphism: Some(&automorphisms[a]) };
            let unmoved = Term { key: &keys[0], automorphism: None };
            let images = [Some(term(0)), None, Some(term(1)), Some(term(2)), Some(unmoved)];
            let sums = [
                // Images that follow each other, and others that do not.
                vec![(0, &factors[0]), (1, &factors[1]), (3, &factors[2]), (4, &factors[3])],
                vec![(1, &factors[3])],
                vec![],
                vec![(4, &factors[4]), (2, &factors[5])],
            ];
            let special: Vec<usize> = (0..SPECIAL).collect();
            let last: Vec<usize> = (0..SPECIAL).chain([SPECIAL + limbs - 1]).collect();
            let mod_down = &DivideRound::new(&whole, &special, ring_q.range());
            let rescale = &DivideRound::new(&whole, &last, SPECIAL..SPECIAL + limbs - 1);
            let step = |(i, terms): (usize, &Vec<_>)| GiantStep {
                rotation: [None, Some(0), Some(2), Some(1)][i].map(|a: usize| (&keys[a], &automorphisms[a])),
                terms: terms.clone(),
            };
            let giants: Vec<GiantStep> = sums.iter().enumerate().map(step).collect();
            for (order, giants, divide) in [
                (Order::Separate, &giants[..], rescale),
                (Order::Separate, &giants[2..], mod_down),
                (Order::Separate, &giants[..1], rescale),
                (Order::InTurn, &giants[..], rescale),
                (Order::InTurn, &giants[..2], mod_down),
                (Order::InTurn, &giants[..1], rescale),
            ] {
                let matrix = Matrix { images: &images, giants, order, mod_down, divide };
                let found = ring_q.multiply_matrix(element.each_ref(), &decomposer, &matrix);
                let expected = step_by_step(&decomposer, &ring_qp, element.each_ref(), &matrix);
                for (found, expected) in found.iter().zip(&expected) {
                    assert_eq!(found.window(), expected.window());
                    let ring = whole.window(found.window());
                    let same = ring.to_words(found) == ring.to_words(expected);
                    assert!(same, "degree {degree}, {limbs} limbs, {order:?}, {} giant steps", giants.len());
                }
            }
        }
    }
}

#[test]
fn factors_in_subrings_act_as_their_images_in_the_ring() {
    let degree = 1 << 13;
    let whole = oracle::ring_with(degree, &BITS, Some(2));
    let decomposer = Decomposer::new(&whole, Gadget::new(&[48.0, 36.0, 40.0, 45.0, 38.0], SPECIAL, 2).expect("digits"));
    let ring_q = whole.window(SPECIAL..7);
    let pair = |j| [0, 1].map(|half| uniform(&whole, &format!("key/{j}/{half}")));
    let key = whole.key(&(0..2).map(pair).collect::<Vec<_>>());
    let psi = Automorphism::new(whole.index(), 5).expect("odd");
    let images = [None, Some(Term { key: &key, automorphism: Some(&psi) })];
    let element = [uniform(&ring_q, "c/0"), uniform(&ring_q, "c/1")];
    let mod_down = DivideRound::new(&whole, &[0, 1], ring_q.range());
    for small in [degree / 8, 256, 8] {
        let subring = whole.subring(small);
        let short = [0, 1, 2, 3].map(|i| subring.ntt(subring.from_signed(&coefficients(small, i))));
        // The same coefficients at the powers of X^g.
        let long = [0, 1, 2, 3].map(|i| {
            let mut spread = vec![0; degree];
            spread.iter_mut().step_by(degree / small).zip(coefficients(small, i)).for_each(|(to, from)| *to = from);
            whole.ntt(whole.from_signed(&spread))
        });
        let words = [whole.to_words(&long[0]), subring.to_words(&short[0])];
        assert!(words[0].chunks(degree / small).zip(&words[1]).all(|(block, word)| block.iter().all(|x| x == word)));
        let full = uniform(&whole, "full");
        let multiply = |giants: &[GiantStep], order| {
            let matrix = Matrix { images: &images, giants, order, mod_down: &mod_down, divide: &mod_down };
            ring_q.multiply_matrix(element.each_ref(), &decomposer, &matrix).map(|part| ring_q.to_words(&part))
        };
        let product = |factors: [&Poly<Eval>; 4]| {
            let giants = [
                GiantStep { rotation: None, terms: vec![(0, factors[0]), (1, factors[1])] },
                // One that is written out beside one that is not.
                GiantStep { rotation: Some((&key, &psi)), terms: vec![(0, factors[2]), (1, &full), (0, factors[3])] },
            ];
            multiply(&giants, Order::Separate)
        };
        assert!(product(short.each_ref()) == product(long.each_ref()), "degree {small} of {degree}");
        // Short factors alone: giant steps with the same images, with others, with images in another order and with none.
        let products = |factors: [&Poly<Eval>; 4], order| {
            let step = |first: usize| vec![(0, factors[first % 4]), (1, factors[(first + 1) % 4])];
            let others = vec![(1, factors[0]), (0, factors[1]), (1, factors[2])];
            let moved = (1..7).map(step).chain([others, vec![(1, factors[3])], Vec::new()]);
            let moved = moved.map(|terms| GiantStep { rotation: Some((&key, &psi)), terms });
            let giants = [GiantStep { rotation: None, terms: step(0) }];
            multiply(&giants.into_iter().chain(moved).collect::<Vec<_>>(), order)
        };
        for order in [Order::Separate, Order::InTurn] {
            let same = products(short.each_ref(), order) == products(long.each_ref(), order);
            assert!(same, "degree {small} of {degree}, {order:?}");
        }
    }
}

/// Some small coefficients.
fn coefficients(count: usize, salt: usize) -> Vec<i64> {
    (0..count).map(|i| ((i + 1) * (7919 + 104_729 * salt) % 2_000_003) as i64 - 1_000_001).collect()
}

#[test]
fn secret_elements_have_secret_products() {
    let whole = oracle::ring(64, &BITS);
    let decomposer = Decomposer::new(&whole, Gadget::new(&[48.0, 36.0, 40.0, 45.0, 38.0], SPECIAL, 2).expect("digits"));
    let (ring_q, factor) = (whole.window(SPECIAL..7), uniform(&whole, "f"));
    let mod_down = DivideRound::new(&whole, &[0, 1], ring_q.range());
    let giants = [GiantStep { rotation: None, terms: vec![(0, &factor)] }];
    for order in [Order::Separate, Order::InTurn] {
        let matrix = Matrix { images: &[None], giants: &giants, order, mod_down: &mod_down, divide: &mod_down };
        let c = uniform(&ring_q, "c");
        let public = ring_q.multiply_matrix([&c, &c], &decomposer, &matrix);
        let secret = ring_q.multiply_matrix([&c, &c.clone().into_secret()], &decomposer, &matrix);
        assert!(public.iter().all(|part| !part.is_secret()) && secret.iter().all(Poly::is_secret), "{order:?}");
    }
}
