//! The same words for every way to share out loops and every number of threads.

mod oracle;

use std::sync::LazyLock;

use noren_math::random::Seed;
use noren_ring::automorphism::Automorphism;
use noren_ring::convert::{BasisConverter, Conversion};
use noren_ring::decompose::Decomposer;
use noren_ring::divide::DivideRound;
use noren_ring::gadget::Gadget;
use noren_ring::key::KeyPairs;
use noren_ring::matrix::{GiantStep, Matrix, Order};
use noren_ring::operand::Operand;
use noren_ring::parallel::Parallel;
use noren_ring::poly::{Coeff, Domain, Eval, Poly};
use noren_ring::ring::Ring;
use noren_ring::switch::{KeySwitch, Term};

const SPECIAL: usize = 2;
/// Two special primes, then q_0 .. q_5.
const BITS: [u32; 8] = [50, 50, 50, 36, 40, 45, 38, 36];
/// Large enough for rows to be cut everywhere: the pairs of a key have two blocks for each limb.
const DEGREE: usize = 1 << 15;

/// Words of results, each with the verb that made it.
#[derive(Default)]
struct Results(Vec<(&'static str, Vec<u64>)>);

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
    results.add("constant, monomial", [&ring.constant(&residues), &ring.monomial(DEGREE + 3)], whole);
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
    results.add("intt, automorphism_coeff", [&coefficients, &ring.automorphism_coeff(&coefficients, &map)], whole);
    results.add("ntt", [&ring.ntt(ring.intt(b.clone()))], whole);

    let small: Vec<i64> = (0..DEGREE as i64).map(|i| (i - 77) << 40).collect();
    let large: Vec<i128> = (0..DEGREE as i128).map(|i| (i - 77) << 90).collect();
    results.add("from_signed, from_i128", [&ring.from_signed(&small), &ring.from_i128(&large)], whole);
    let two = whole.window(SPECIAL..SPECIAL + 2);
    let numbers = two.restrict(&coefficients);
    results.0.push(("to_centered_f64", two.to_centered_f64(&numbers).into_iter().map(f64::to_bits).collect()));
    let numbers = two.to_centered_i128(&numbers).expect("86 bits fit");
    results.0.push(("to_centered_i128", numbers.into_iter().map(|x| x as u64).collect()));
    let errors: Vec<i64> = (0..DEGREE as i64).map(|i| i % 41 - 20).collect();
    let masked = ring.mask([&wide, &wide], &small, [&errors, &small], &b);
    results.add("mask", &masked, whole);
}

/// Conversions, divisions, key switches and raising.
fn switches(whole: &Ring, results: &mut Results) {
    let ring = whole.window(SPECIAL..SPECIAL + 6);
    let [a, b] = ["a", "b"].map(|label| uniform(whole, label));
    let keys = ["k", "l"].map(|key| {
        let pair = |j| ["left", "right"].map(|side| uniform(whole, &format!("{key}/{side}/{j}")));
        KeyPairs::new(whole, &[0, 1, 2].map(pair))
    });
    results.add("key pairs", keys.iter().flat_map(|key| key.pair(2)).collect::<Vec<_>>().iter(), whole);
    let gadget = Gadget::new(&[50.0, 36.0, 40.0, 45.0, 38.0, 36.0], SPECIAL, 3).expect("digits");
    let decomposer = Decomposer::new(whole, gadget);
    let digits = decomposer.decompose(&ring, &a);
    results.add("decompose", digits.polys(), whole);
    results.add("inner product of digits", &digits.inner_product(whole, &keys[0]), whole);

    let divide = &DivideRound::new(whole, &[0, 1, 7], SPECIAL..7);
    let special = &DivideRound::new(whole, &[0, 1], SPECIAL..8);
    let rescale = &DivideRound::new(whole, &[7], SPECIAL..7);
    results.add("divide", &divide.apply_many([a.clone(), b.clone()]), whole);
    results.add("rescale", [&rescale.apply(b.clone())], whole);

    let maps = [5, 25].map(|k| Automorphism::new(whole.index(), k).expect("odd"));
    let moved: Vec<Term> = keys.iter().zip(&maps).map(|(key, map)| Term { key, automorphism: Some(map) }).collect();
    let terms = [moved[0], Term { key: &keys[1], automorphism: None }];
    let products = [(&a, &b), (&b, &b)];
    let added = [Some(Operand::Products(&products)), None];
    let switch = KeySwitch { terms: &terms, moved: Some(&b), added, divide };
    results.add("switch", &decomposer.switch(&ring, &a, &switch), whole);
    results.add("switch of a product", &decomposer.switch(&ring, Operand::Products(&products[..1]), &switch), whole);
    results.add("switch_each", decomposer.switch_each(&ring, &b, &switch).iter().flatten(), whole);
    let many: Vec<Term> = moved.iter().cycle().take(9).copied().collect();
    let switch = KeySwitch { terms: &many, moved: Some(&a), added: [None; 2], divide: special };
    results.add("switch_each in passes", decomposer.switch_each(&ring, &b, &switch).iter().flatten(), whole);
    let steps: [&[Term]; 2] = [&moved[..1], &moved];
    results.add("sum_in_steps", &decomposer.sum_in_steps(&ring, [&a, &b], &steps, special), whole);
    let giants = [
        GiantStep { rotation: None, terms: vec![(0, &a), (1, &b)] },
        GiantStep { rotation: Some((&keys[1], &maps[0])), terms: vec![(2, &b), (0, &a)] },
        GiantStep { rotation: Some((&keys[0], &maps[1])), terms: vec![] },
    ];
    let images = [Some(moved[0]), None, Some(terms[1])];
    for order in [Order::Separate, Order::InTurn] {
        let matrix = Matrix { images: &images, giants: &giants, order, mod_down: special, divide };
        results.add("multiply_matrix", &decomposer.multiply_matrix(&ring, [&a, &b], &matrix), whole);
    }

    let coefficients: Poly<Coeff> = ring.intt(ring.restrict(&a));
    let converted = BasisConverter::new(whole, &[2, 3, 4], 0..8, Conversion::Exact).apply(&coefficients);
    results.add("convert", [&converted], whole);
    for limbs in [1, 2] {
        let low = whole.window(SPECIAL..SPECIAL + limbs);
        let parts = [low.restrict(&a), low.restrict(&b)];
        results.add("raise", [&ring.raise(&parts[0])], whole);
        results.add("raise_and_switch", &special.raise_and_switch(parts.each_ref(), &keys[0]), whole);
    }
}

fn everything(threads: Option<usize>, parallel: Parallel) -> Results {
    let ring = oracle::ring_parallel(DEGREE, &BITS, threads, parallel);
    assert!(threads.is_none_or(|threads| ring.engine().threads() == threads));
    assert_eq!(ring.engine().parallel(), parallel);
    let mut results = Results::default();
    arithmetic(&ring, &mut results);
    switches(&ring, &mut results);
    results
}

/// On one thread nothing is cut.
static EXPECTED: LazyLock<Results> = LazyLock::new(|| everything(Some(1), Parallel::Modulus));

fn assert_same_words(parallel: Parallel) {
    // Without the feature there is one thread only.
    let threads: &[Option<usize>] =
        if cfg!(feature = "parallel") { &[None, Some(1), Some(2), Some(3), Some(5)] } else { &[None, Some(1)] };
    for &threads in threads {
        for ((verb, found), (_, expected)) in everything(threads, parallel).0.iter().zip(&EXPECTED.0) {
            assert!(found == expected, "{verb}: {parallel}, {threads:?} threads");
        }
    }
}

#[test]
fn coefficients_on_any_threads_give_the_same_words() {
    assert_same_words(Parallel::Coefficient);
}

#[test]
fn limbs_on_any_threads_give_the_same_words() {
    assert_same_words(Parallel::Modulus);
}

#[test]
fn tiles_on_any_threads_give_the_same_words() {
    assert_same_words(Parallel::Both);
}

#[test]
fn no_threads_are_refused_by_every_way() {
    let ring = oracle::ring(16, &BITS[..1]);
    let moduli: Vec<u64> = ring.moduli().map(|q| q.value()).collect();
    for parallel in Parallel::ALL {
        let error = Ring::with_parallel(*ring.index(), &moduli, Some(0), parallel).expect_err("no threads");
        assert!(error.to_string().contains("at least 1 is needed"), "{error}");
    }
}
