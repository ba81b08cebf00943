//! The ring's verbs: against schoolbook products, and by the laws of a ring.

mod oracle;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::random::Seed;
use noren_ring::error::Error;
use noren_ring::poly::{Coeff, Eval, Poly};
use noren_ring::ring::Ring;
use num_bigint::BigInt;
use oracle::{centred, coefficients, element, modulus, random, schoolbook};
use proptest::prelude::*;

const BITS: [u32; 5] = [50, 30, 49, 36, 50];

fn uniform(ring: &Ring, seed: u8) -> Poly<Eval> {
    ring.uniform(&Seed::from_bytes([seed; 32]), "test")
}

fn reduced(ring: &Ring, numbers: Vec<BigInt>) -> Vec<BigInt> {
    numbers.iter().map(|x| centred(x, &modulus(ring))).collect()
}

#[test]
fn products_are_those_of_polynomials() {
    for degree in [8, 16, 128] {
        let ring = oracle::ring(degree, &BITS);
        let (a, b) = (random(1, degree, &modulus(&ring)), random(2, degree, &modulus(&ring)));
        let expected = reduced(&ring, schoolbook(&a, &b));
        let (a, b) = (ring.ntt(element(&ring, &a)), ring.ntt(element(&ring, &b)));
        assert_eq!(coefficients(&ring, &ring.intt(ring.mul(&a, &b))), expected);
        let mut in_place = a.clone();
        ring.mul_assign(&mut in_place, &b);
        assert_eq!(coefficients(&ring, &ring.intt(in_place)), expected);
    }
}

#[test]
fn linear_verbs_are_those_of_numbers() {
    let ring = oracle::ring(64, &BITS);
    let (a, b) = (random(3, 64, &modulus(&ring)), random(4, 64, &modulus(&ring)));
    let (x, y) = (element(&ring, &a), element(&ring, &b));
    let w = -(1i128 << 100) + 12345;
    let each =
        |f: &dyn Fn(&BigInt, &BigInt) -> BigInt| reduced(&ring, a.iter().zip(&b).map(|(a, b)| f(a, b)).collect());
    let check = |found: &Poly<Coeff>, expected: Vec<BigInt>| assert_eq!(coefficients(&ring, found), expected);
    check(&ring.add(&x, &y), each(&|a, b| a + b));
    check(&ring.sub(&x, &y), each(&|a, b| a - b));
    check(&ring.neg(&x), each(&|a, _| -a));
    check(&ring.mul_integer(&x, -7), each(&|a, _| a * -7));
    check(&ring.mul_integer_i128(&x, w), each(&|a, _| a * w));
    let in_place = |change: &dyn Fn(&mut Poly<Coeff>)| {
        let mut z = x.clone();
        change(&mut z);
        z
    };
    check(&in_place(&|z| ring.add_assign(z, &y)), each(&|a, b| a + b));
    check(&in_place(&|z| ring.sub_assign(z, &y)), each(&|a, b| a - b));
    check(&in_place(&|z| ring.neg_assign(z)), each(&|a, _| -a));
    check(&in_place(&|z| ring.mul_scalar_assign(z, &ring.integer_residues(w))), each(&|a, _| a * w));
    check(&in_place(&|z| ring.mul_scalar_add_assign(z, &y, &ring.integer_residues(w))), each(&|a, b| a + b * w));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn laws_of_a_ring_hold(log in 3u32..8, seeds in any::<[u8; 3]>(), limbs in 1usize..=BITS.len()) {
        let ring = oracle::ring(1 << log, &BITS[..limbs]);
        let [a, b, c] = [0, 1, 2].map(|i| ring.uniform(&Seed::from_bytes([seeds[i]; 32]), ["a", "b", "c"][i]));
        let words = |x: &Poly<Eval>| ring.to_words(x);
        prop_assert_eq!(words(&ring.mul(&a, &b)), words(&ring.mul(&b, &a)));
        prop_assert_eq!(words(&ring.mul(&ring.mul(&a, &b), &c)), words(&ring.mul(&a, &ring.mul(&b, &c))));
        let sum = ring.add(&a, &b);
        prop_assert_eq!(words(&ring.mul(&sum, &c)), words(&ring.add(&ring.mul(&a, &c), &ring.mul(&b, &c))));
        prop_assert_eq!(words(&ring.sub(&sum, &b)), words(&a));
        prop_assert_eq!(words(&ring.add(&a, &ring.neg(&a))), words(&ring.zero()));
        let one = ring.constant(&vec![1; limbs]);
        prop_assert_eq!(words(&ring.mul(&a, &one)), words(&a));
        prop_assert_eq!(words(&ring.ntt(ring.intt(a.clone()))), words(&a));

        let mut fused = a.clone();
        ring.mul_add_assign(&mut fused, &b, &c);
        prop_assert_eq!(words(&fused), words(&ring.add(&a, &ring.mul(&b, &c))));
        let terms = ring.inner_product(&[(&a, &one), (&b, &c)]);
        prop_assert_eq!(words(&terms), words(&fused));
        let mut shifted = a.clone();
        ring.add_constant_assign(&mut shifted, &ring.integer_residues(-5));
        prop_assert_eq!(words(&shifted), words(&ring.sub(&a, &ring.mul_integer(&one, 5))));
    }

    #[test]
    fn monomials_multiply_by_their_exponents(i in 0usize..64, j in 0usize..64) {
        let ring = oracle::ring(16, &BITS[..2]);
        let words = |x: &Poly<Eval>| ring.to_words(x);
        prop_assert_eq!(words(&ring.mul(&ring.monomial(i), &ring.monomial(j))), words(&ring.monomial(i + j)));
        prop_assert_eq!(words(&ring.monomial(i + 16)), words(&ring.neg(&ring.monomial(i))));
        let mut unit = vec![BigInt::from(0); 16];
        unit[i % 16] = BigInt::from(if i % 32 < 16 { 1 } else { -1 });
        prop_assert_eq!(coefficients(&ring, &ring.intt(ring.monomial(i))), unit);
    }
}

#[test]
fn inner_products_take_more_terms_than_one_sum_holds() {
    let ring = oracle::ring(16, &[50, 30]);
    let terms: Vec<Poly<Eval>> = (0..70).map(|i| uniform(&ring, i)).collect();
    let pairs: Vec<_> = terms.iter().zip(terms.iter().rev()).collect();
    let mut expected = ring.zero();
    pairs.iter().for_each(|(a, b)| ring.mul_add_assign(&mut expected, a, b));
    assert_eq!(ring.to_words(&ring.inner_product(&pairs)), ring.to_words(&expected));
    assert_eq!(ring.to_words(&ring.inner_product(&[])), ring.to_words(&ring.zero::<Eval>()));
}

#[test]
fn windows_name_the_same_limbs() {
    let whole = oracle::ring(32, &BITS);
    let (a, b) = (uniform(&whole, 1), uniform(&whole, 2));
    let product = whole.mul(&a, &b);
    for window in [0..5, 0..2, 1..4, 4..5] {
        let ring = whole.window(window.clone());
        assert_eq!((ring.range(), ring.limbs(), ring.whole().limbs()), (window.clone(), window.len(), 5));
        let expected = ring.to_words(&ring.restrict(&product));
        assert_eq!(expected, whole.to_words(&product)[window.start * 32..window.end * 32]);
        assert_eq!(ring.to_words(&ring.truncate(product.clone())), expected);
        assert_eq!(ring.to_words(&ring.mul(&a, &b)), expected, "operands over more limbs");
        assert_eq!(ring.to_words(&ring.inner_product(&[(&a, &b)])), expected);
        assert_eq!(ring.to_words(&uniform(&ring, 1)), ring.to_words(&ring.restrict(&a)), "uniform whatever the window");
        let mut acc = ring.restrict(&a);
        ring.mul_assign(&mut acc, &b);
        assert_eq!(ring.to_words(&acc), expected);
        assert_eq!(oracle::row_at(&ring, &product, window.start), &expected[..32]);
    }
    let log2: f64 = whole.moduli().map(|q| (q.value() as f64).log2()).sum();
    assert!((whole.log2_modulus() - log2).abs() < 1e-9);
}

#[test]
fn a_multiple_of_other_primes_is_added_to_some_limbs_only() {
    let whole = oracle::ring(32, &BITS);
    let ring = whole.window(2..4);
    let (mut acc, a) = (uniform(&whole, 3), uniform(&whole, 4));
    let (before, residues) = (acc.clone(), ring.integer_residues(12345));
    ring.mul_scalar_add_assign(&mut acc, &a, &residues);
    for limb in 0..5 {
        let ring = whole.window(limb..limb + 1);
        let mut expected = ring.restrict(&before);
        if (2..4).contains(&limb) {
            ring.add_assign(&mut expected, &ring.mul_integer(&ring.restrict(&a), 12345));
        }
        assert_eq!(oracle::row_at(&ring, &acc, limb), oracle::row_at(&ring, &expected, limb), "limb {limb}");
    }
}

#[test]
fn words_come_back_and_wrong_ones_are_refused() {
    let ring = oracle::ring(16, &BITS[..2]);
    let a = uniform(&ring, 5);
    let mut words = ring.to_words(&a);
    let rows: Vec<&[u64]> = words.chunks(16).collect();
    assert_eq!(ring.to_words(&ring.from_rows::<Eval>(rows.iter().copied()).expect("residues")), words);
    let refused = |rows: &[&[u64]]| ring.from_rows::<Coeff>(rows.iter().copied()).expect_err("wrong shape");
    assert_eq!(refused(&rows[..1]), Error::Length { found: 16, needed: 32 });
    assert_eq!(refused(&[rows[0], &rows[1][1..]]), Error::Length { found: 31, needed: 32 });
    assert_eq!(refused(&[rows[0], rows[1], rows[1]]), Error::Length { found: 48, needed: 32 });
    let error = |words: &[u64]| ring.from_words::<Eval>(words).expect_err("wrong words");
    assert_eq!(error(&words[1..]), Error::Length { found: 31, needed: 32 });
    let prime = ring.basis().modulus(1).value();
    words[20] = prime;
    assert_eq!(error(&words), Error::Word { modulus: prime, index: 4, found: prime });
}

#[test]
fn rows_are_written_limb_by_limb_and_the_first_refusal_is_told() {
    let ring = oracle::ring(16, &BITS).window(1..4);
    let a = uniform(&ring, 6);
    let copy = ring.try_from_fn(|limb, row| {
        row.copy_from_slice(oracle::row_at(&ring, &a, limb));
        Ok::<(), usize>(())
    });
    assert_eq!(ring.to_words::<Eval>(&copy.expect("no refusal")), ring.to_words(&a));
    let refused = ring.try_from_fn::<Eval, usize>(|limb, _| if limb == 1 { Ok(()) } else { Err(limb) });
    assert_eq!(refused.err(), Some(2));
}

#[test]
fn wrong_moduli_and_threads_are_refused() {
    let index = Cyclotomic::power_of_two(16).expect("supported");
    let ring = |moduli: &[u64], threads| Ring::new(index, moduli, threads).expect_err("not a ring");
    assert_eq!(ring(&[], None), Error::NoModuli);
    assert_eq!(ring(&[97, 193, 97], None), Error::RepeatedModulus { prime: 97 });
    assert!(matches!(ring(&[91], None), Error::Math(_)), "not a prime");
    assert!(matches!(ring(&[101], None), Error::Math(_)), "not 1 modulo 32");
    assert!(matches!(ring(&[97], Some(0)), Error::Threads { found: 0, .. }));
}

#[test]
#[should_panic(expected = "is not of the ring")]
fn operands_of_another_level_are_a_bug() {
    let whole = oracle::ring(16, &BITS);
    let _ = whole.add(&whole.zero::<Eval>(), &whole.window(0..2).zero());
}

#[test]
#[should_panic(expected = "does not cover")]
fn factors_with_fewer_limbs_are_a_bug() {
    let whole = oracle::ring(16, &BITS);
    let _ = whole.mul(&whole.zero(), &whole.window(0..2).zero());
}
