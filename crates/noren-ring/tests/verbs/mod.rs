//! Every verb of a ring, on operands that are the same on every device and for every number of threads.
#![allow(dead_code, reason = "each test file uses its own part")]

use noren_math::random::Seed;
use noren_ring::automorphism::Automorphism;
use noren_ring::decompose::Decomposer;
use noren_ring::divide::DivideRound;
use noren_ring::engine::Engine;
use noren_ring::gadget::Gadget;
use noren_ring::matrix::{GiantStep, Matrix, Order};
use noren_ring::operand::{Operand, Sum};
use noren_ring::parallel::Parallel;
use noren_ring::poly::{Domain, Eval, Poly};
use noren_ring::product::ScaledProduct;
use noren_ring::product_switch::SwitchedProduct;
use noren_ring::ring::Ring;
use noren_ring::small::SmallPolynomials;
use noren_ring::switch::{KeySwitch, Term};

use crate::oracle;

const SPECIAL: usize = 2;
/// Two special primes, then q_0 .. q_5.
pub const BITS: [u32; 8] = [50, 50, 50, 36, 40, 45, 38, 36];

/// Words of results, each with the verb that made it.
#[derive(Default)]
pub struct Results(pub Vec<(&'static str, Vec<u64>)>);

impl Results {
    fn add<'a, D: Domain>(&mut self, verb: &'static str, polys: impl IntoIterator<Item = &'a Poly<D>>, whole: &Ring) {
        let words = |poly: &Poly<D>| whole.window(poly.window()).to_words(poly);
        self.0.push((verb, polys.into_iter().flat_map(words).collect()));
    }
}

fn uniform(ring: &Ring, label: &str) -> Poly<Eval> {
    ring.uniform(&Seed::from_bytes([9; 32]), label)
}

/// Sums, products and transforms, and what comes from words and goes to numbers.
fn arithmetic(whole: &Ring, results: &mut Results) {
    let ring = whole.window(SPECIAL..SPECIAL + 5);
    let [a, b, c] = ["a", "b", "c"].map(|label| uniform(&ring, label));
    let wide = uniform(whole, "wide");
    let residues = ring.integer_residues(-123_456_789_012_345);
    let map = Automorphism::new(ring.index(), 5).expect("odd");
    results.add("uniform", [&a, &b, &c, &wide], whole);
    results.add("add, sub, neg, mul", &[ring.add(&a, &b), ring.sub(&a, &b), ring.neg(&a), ring.mul(&a, &wide)], whole);
    results.add("inner_product", [&ring.inner_product(&[(&a, &b), (&b, &c), (&c, &a)])], whole);
    results.add("mul_scalar, mul_integer", [&ring.mul_scalar(&a, &residues), &ring.mul_integer(&a, -7)], whole);
    results.add("constant, monomial", [&ring.constant(&residues), &ring.monomial(ring.degree() + 3)], whole);
    results.add("restrict", [&ring.restrict(&wide)], whole);

    let mut acc = a.clone();
    ring.add_assign(&mut acc, &b);
    ring.mul_assign(&mut acc, &wide);
    ring.sub_assign(&mut acc, &c);
    ring.mul_add_assign(&mut acc, &b, &c);
    ring.mul_scalar_assign(&mut acc, &residues);
    ring.neg_assign(&mut acc);
    ring.add_constant_assign(&mut acc, &residues);
    let mut part = wide.clone();
    ring.mul_scalar_add_assign(&mut part, &acc, &residues);
    results.add("verbs in place", [&acc, &part], whole);

    ring.automorphism_add_assign(&mut acc, &a, &map);
    results.add("automorphism", [&ring.automorphism(&wide, &map), &acc], whole);
    let coefficients = ring.intt(a.clone());
    results.add("intt", [&coefficients], whole);
    results.add("ntt", [&ring.ntt(ring.intt(b.clone()))], whole);

    let small: Vec<i64> = (0..ring.degree() as i64).map(|i| (i - 77) << 40).collect();
    let large: Vec<i128> = (0..ring.degree() as i128).map(|i| (i - 77) << 90).collect();
    results.add("from_signed, from_i128", [&ring.from_signed(&small), &ring.from_i128(&large)], whole);
    let two = whole.window(SPECIAL..SPECIAL + 2);
    let numbers = two.restrict(&coefficients);
    let bits = |numbers: Vec<f64>| numbers.into_iter().map(f64::to_bits).collect();
    results.0.push(("to_centered_f64", bits(two.to_centered_f64(&numbers))));
    results.0.push(("to_centered_f64_every", bits(two.to_centered_f64_every(&numbers, 4))));
    let numbers = two.to_centered_i128(&numbers).expect("86 bits fit");
    results.0.push(("to_centered_i128", numbers.into_iter().map(|x| x as u64).collect()));
    let errors: Vec<i64> = (0..ring.degree() as i64).map(|i| i % 41 - 20).collect();
    let masked = ring.mask([&wide, &wide], &small, [&errors, &small], &b);
    results.add("mask", &masked, whole);
}

/// Conversions, divisions, key switches and raising.
fn switches(whole: &Ring, results: &mut Results) {
    let ring = whole.window(SPECIAL..SPECIAL + 6);
    let [a, b] = ["a", "b"].map(|label| uniform(whole, label));
    let keys = ["k", "l"].map(|key| {
        let pair = |j| ["left", "right"].map(|side| uniform(whole, &format!("{key}/{side}/{j}")));
        whole.key(&[0, 1, 2].map(pair))
    });
    results.add("key pairs", keys.iter().flat_map(|key| whole.key_pair(key, 2)).collect::<Vec<_>>().iter(), whole);
    let gadget = Gadget::new(&[50.0, 36.0, 40.0, 45.0, 38.0, 36.0], SPECIAL, 3).expect("digits");
    let decomposer = Decomposer::new(whole, gadget);

    let divide = &DivideRound::new(whole, &[0, 1, 7], SPECIAL..7);
    let special = &DivideRound::new(whole, &[0, 1], SPECIAL..8);
    let rescale = &DivideRound::new(whole, &[7], SPECIAL..7);
    results.add("divide", &oracle::divide_all(whole, [a.clone(), b.clone()], divide), whole);
    results.add("rescale", [&whole.divide_round(b.clone(), rescale)], whole);

    let maps = [5, 25].map(|k| Automorphism::new(whole.index(), k).expect("odd"));
    let moved: Vec<Term> = keys.iter().zip(&maps).map(|(key, map)| Term { key, automorphism: Some(map) }).collect();
    let terms = [moved[0], Term { key: &keys[1], automorphism: None }];
    let products = [(&a, &b), (&b, &b)];
    let added = [Some(Operand::Products(&products)), None];
    let switch = KeySwitch { terms: &terms, moved: Some(&b), added, divide };
    results.add("switch", &ring.switch(&a, &decomposer, &switch), whole);
    results.add("switch of a product", &ring.switch(Operand::Products(&products[..1]), &decomposer, &switch), whole);
    results.add("switch_each", ring.switch_each(&b, &decomposer, &switch).iter().flatten(), whole);
    let many: Vec<Term> = moved.iter().cycle().take(9).copied().collect();
    let switch = KeySwitch { terms: &many, moved: Some(&a), added: [None; 2], divide: special };
    results.add("switch_each in passes", ring.switch_each(&b, &decomposer, &switch).iter().flatten(), whole);
    let steps: [&[Term]; 2] = [&moved[..1], &moved];
    results.add("sum_in_steps", &ring.sum_in_steps([&a, &b], &decomposer, &steps, special), whole);
    let giants = [
        GiantStep { rotation: None, terms: vec![(0, &a), (1, &b)] },
        GiantStep { rotation: Some((&keys[1], &maps[0])), terms: vec![(2, &b), (0, &a)] },
        GiantStep { rotation: Some((&keys[0], &maps[1])), terms: vec![] },
    ];
    let images = [Some(moved[0]), None, Some(terms[1])];
    for order in [Order::Separate, Order::InTurn] {
        let matrix = Matrix { images: &images, giants: &giants, order, mod_down: special, divide };
        results.add("multiply_matrix", &ring.multiply_matrix([&a, &b], &decomposer, &matrix), whole);
    }

    for limbs in [1, 2] {
        let low = whole.window(SPECIAL..SPECIAL + limbs);
        let parts = [low.restrict(&a), low.restrict(&b)];
        results.add("raise", [&ring.raise(&parts[0])], whole);
        results.add("raise_and_switch", &whole.raise_and_switch(parts.each_ref(), special, &keys[0]), whole);
    }
}

/// Sums, products of ciphertexts and sums with streamed factors.
fn products(whole: &Ring, results: &mut Results) {
    let ring = whole.window(SPECIAL..SPECIAL + 4);
    let [a, b, c] = ["a", "b", "c"].map(|label| uniform(whole, label));
    let weights = [ring.integer_residues(77), ring.integer_residues(-3)];
    let sum = Sum {
        products: vec![(&a, &b), (&b, &c)],
        multiples: vec![(&a, weights[0].clone()), (&c, weights[1].clone())],
        constant: Some(ring.integer_residues(-1_000_000_007)),
        first: SPECIAL,
    };
    results.add("gather", [&ring.gather(Operand::Sum(&sum)), &ring.gather(Operand::Element(&a))], whole);

    // Q of three limbs, B of two; the keys use the second one alone.
    let (q, auxiliary, t) = (SPECIAL..SPECIAL + 3, 0..SPECIAL, 65537);
    let gadget = Gadget::within(&[50.0, 36.0, 40.0], SPECIAL, 1, 2).expect("digits");
    let decomposer = Decomposer::new(whole, gadget);
    let key = whole.key(&[[&a, &b], [&b, &c]].map(|pair| pair.map(Poly::clone)));
    let factors = [[[&a, &b], [&b, &c]], [[&c, &c], [&c, &c]]];
    let scaled = ScaledProduct::new(whole, q.clone(), auxiliary.clone(), t);
    results.add("scaled_product", &whole.scaled_product(&scaled, &factors), whole);
    for kept in [3, 2] {
        let switched = SwitchedProduct::new(&decomposer, q.clone(), auxiliary.clone(), kept, t);
        results.add("switched_product", &whole.switched_product(&switched, &decomposer, &key, &factors), whole);
    }
    let multiple = DivideRound::of_multiple(whole, &[1, 5], 2..5, |limb| 1000 + limb as u64);
    results.add("divide of a multiple", [&whole.divide_round(a.clone(), &multiple)], whole);

    let engine = Engine::new(Some(1), Parallel::default(), 0).expect("one thread");
    let write = |i: usize, out: &mut [i64]| {
        (0..).zip(out).for_each(|(j, x): (i64, &mut i64)| *x = (j * 7919 + i as i64 * 104_729) % 65_537 - 32_768);
    };
    let factors = SmallPolynomials::build(&engine, ring.degree(), 4, write, || {});
    for sets in [1, 2] {
        let images: Vec<_> = [[&a, &b], [&c, &a]][..sets]
            .iter()
            .map(|&[first, second]| {
                let mut images = ring.images(2, sets);
                ring.set_image(&mut images, 0, [first, second]);
                ring.set_image(&mut images, 1, [second, &c]);
                images
            })
            .collect();
        let sums = ring.streamed_sums(&images.iter().collect::<Vec<_>>(), &factors);
        results.add("streamed_sums", sums.iter().flatten().flatten(), whole);
    }
}

/// The results of all verbs.
pub fn everything(whole: &Ring) -> Results {
    let mut results = Results::default();
    arithmetic(whole, &mut results);
    switches(whole, &mut results);
    products(whole, &mut results);
    results
}
