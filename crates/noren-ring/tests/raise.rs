//! Raised elements against big integers, and a raise with a switch against its definition.

mod oracle;

use noren_math::random::Seed;
use noren_ring::divide::DivideRound;
use noren_ring::key::KeyPairs;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use num_bigint::BigInt;
use oracle::{
    adversarial, centred, coefficients, divide_round, element, modulus, product, random, residue, schoolbook,
};

const SPECIAL: usize = 3;
/// Three special primes, then q_0 .. q_6.
const BITS: [u32; 10] = [50, 48, 50, 49, 34, 42, 50, 28, 47, 50];

/// Numbers in `(-Q'/2, Q'/2)` for the window's product Q', both ends and 0 among them.
fn numbers(window: &Ring) -> Vec<BigInt> {
    let q = modulus(window);
    let numbers: Vec<BigInt> = adversarial(1, window.degree(), &q).iter().map(|x| centred(x, &q)).collect();
    let end: BigInt = (&q - 1) / 2;
    assert!([BigInt::from(0), end.clone(), -end].iter().all(|x| numbers.contains(x)));
    numbers
}

#[test]
fn raising_gives_the_centred_numbers_modulo_every_prime() {
    // The second is longer than what is handled at once.
    for degree in [16, 1 << 12] {
        let whole = oracle::ring(degree, &BITS);
        for from in [3..4, 4..5, 7..8, 3..5, 3..6, 6..9, 0..1, 1..3] {
            let window = whole.window(from.clone());
            let numbers = numbers(&window);
            let c = window.ntt(element(&window, &numbers));
            for to in [0..10, 3..10, 3..4, 5..6] {
                let ring = whole.window(to.clone());
                let expected = ring.ntt(element(&ring, &numbers));
                assert!(ring.to_words(&ring.raise(&c)) == ring.to_words(&expected), "{degree}: {from:?} to {to:?}");
            }
        }
    }
}

#[test]
fn raising_from_all_primes_but_one_is_exact() {
    let whole = oracle::ring(64, &BITS);
    let window = whole.window(0..9);
    let numbers = numbers(&window);
    let raised = whole.raise(&window.ntt(element(&window, &numbers)));
    assert_eq!(coefficients(&whole, &whole.intt(raised)), numbers);
}

/// Halves of the pairs of a key, as numbers and as a key.
fn key(whole: &Ring, digits: usize) -> (Vec<[Vec<BigInt>; 2]>, KeyPairs) {
    let half = |seed| random(seed, whole.degree(), &modulus(whole));
    let pairs: Vec<[Vec<BigInt>; 2]> = (0..digits as u8).map(|j| [half(10 + j), half(20 + j)]).collect();
    let polys: Vec<[Poly<Eval>; 2]> =
        pairs.iter().map(|pair| pair.each_ref().map(|half| whole.ntt(element(whole, half)))).collect();
    let key = whole.key(&polys);
    (pairs, key)
}

#[test]
fn raise_and_switch_is_the_rounded_product_with_the_sum_of_the_pairs() {
    let whole = oracle::ring(16, &BITS);
    for (digits, used, from, end) in [(1, 0..3, 3..4, 10), (1, 2..3, 3..4, 9), (3, 0..3, 3..4, 10), (2, 1..3, 3..5, 8)]
    {
        let (window, ring) = (whole.window(from), whole.window(SPECIAL..end));
        let (pairs, key) = key(&whole, digits);
        let (c0, c1) = (numbers(&window), numbers(&window).into_iter().rev().collect::<Vec<_>>());
        let dropped: Vec<usize> = used.clone().collect();
        let divide = DivideRound::new(&whole, &dropped, ring.range());
        let parts = [&c0, &c1].map(|c| window.ntt(element(&window, c)));
        let found = whole.raise_and_switch(parts.each_ref(), &divide, &key);

        let p = product(&whole, &dropped);
        let pq = &p * modulus(&ring);
        for (half, found) in found.into_iter().enumerate() {
            let sum: Vec<BigInt> = (0..16).map(|x| pairs.iter().map(|pair| &pair[half][x]).sum()).collect();
            let products = schoolbook(&c1, &sum);
            let expected = products.iter().enumerate().map(|(x, product)| {
                let added = if half == 0 { c0[x].clone() } else { BigInt::from(0) };
                residue(&(divide_round(&centred(product, &pq), &p) + added), &modulus(&ring))
            });
            let found = coefficients(&ring, &ring.intt(found)).into_iter().map(|x| residue(&x, &modulus(&ring)));
            assert!(found.eq(expected), "{digits} digits, special primes {used:?}, half {half}");
        }
    }
}

/// A key and two parts over q_0, raised alone and with a switch, on `threads` threads.
fn raised(threads: Option<usize>) -> Vec<Vec<u64>> {
    // Large enough for the threads to be used, and for several blocks of the layout of a key.
    let whole = oracle::ring_with(1 << 15, &BITS, threads);
    let (ring, seed) = (whole.window(SPECIAL..8), Seed::from_bytes([5; 32]));
    let uniform = |ring: &Ring, label: &str| ring.uniform(&seed, label);
    let pairs = [0, 1].map(|j| [0, 1].map(|half| uniform(&whole, &format!("{j}/{half}"))));
    let key = whole.key(&pairs);
    let divide = DivideRound::new(&whole, &[0, 1, 2], ring.range());
    [1, 2]
        .into_iter()
        .flat_map(|limbs| {
            let window = whole.window(SPECIAL..SPECIAL + limbs);
            let parts = ["c0", "c1"].map(|label| uniform(&window, label));
            let switched = whole.raise_and_switch(parts.each_ref(), &divide, &key);
            let alone = whole.to_words(&whole.raise(&parts[0]));
            switched.iter().map(|poly| ring.to_words(poly)).chain([alone]).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn every_number_of_threads_gives_the_same_words() {
    let expected = raised(Some(1));
    let numbers: &[Option<usize>] = if cfg!(feature = "parallel") { &[None, Some(2), Some(3)] } else { &[None] };
    for &threads in numbers {
        assert!(raised(threads) == expected, "{threads:?} threads");
    }
}

#[test]
fn blocks_of_a_long_key_are_read_where_they_lie() {
    let whole = oracle::ring(1 << 15, &BITS);
    let (ring, seed) = (whole.window(SPECIAL..8), Seed::from_bytes([6; 32]));
    let divide = DivideRound::new(&whole, &[0, 1, 2], ring.range());
    let pairs = [0, 1].map(|j| [0, 1].map(|half| whole.uniform(&seed, &format!("{j}/{half}"))));
    let parts = ["c0", "c1"].map(|label| whole.window(SPECIAL..SPECIAL + 1).uniform(&seed, label));
    let found = whole.raise_and_switch(parts.each_ref(), &divide, &whole.key(&pairs));
    let ring_qp = whole.window(0..8);
    let c1 = ring_qp.raise(&parts[1]);
    for (half, found) in found.iter().enumerate() {
        let terms = pairs.each_ref().map(|pair| (&c1, &pair[half]));
        let mut expected = whole.divide_round(ring_qp.inner_product(&terms), &divide);
        if half == 0 {
            ring.add_assign(&mut expected, &ring.raise(&parts[0]));
        }
        assert!(ring.to_words(found) == ring.to_words(&expected), "half {half}");
    }
}

#[test]
fn what_is_raised_from_a_secret_is_secret() {
    let whole = oracle::ring(16, &BITS);
    let secret = whole.window(3..5).uniform(&Seed::from_bytes([7; 32]), "secret").into_secret();
    assert!(whole.raise(&secret).is_secret());
    let divide = DivideRound::new(&whole, &[0, 1, 2], 3..10);
    let public = whole.window(3..5).zero();
    let [first, second] = whole.raise_and_switch([&secret, &public], &divide, &whole.zero_key(1));
    assert!(first.is_secret() && second.is_secret());
}

#[test]
#[should_panic(expected = "lacks a limb that is needed")]
fn a_key_without_the_special_primes_is_a_bug() {
    let whole = oracle::ring(16, &BITS);
    let divide = DivideRound::new(&whole, &[0, 1, 2], 3..10);
    let c = whole.window(3..4).zero();
    let _ = whole.raise_and_switch([&c, &c], &divide, &whole.window(1..10).zero_key(1));
}
