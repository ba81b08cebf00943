//! Rings whose index is not a power of two, on each device: against polynomials modulo `Phi_m` as they are written
//! down.

mod oracle;

use std::sync::Arc;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::prime::primes_near;
use noren_math::random::Seed;
use noren_naive::Naive;
use noren_ring::automorphism::Automorphism;
use noren_ring::decompose::Decomposer;
use noren_ring::divide::DivideRound;
use noren_ring::gadget::Gadget;
use noren_ring::host::Host;
use noren_ring::key::KeyPairs;
use noren_ring::parallel::Parallel;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use noren_ring::switch::{KeySwitch, Term};
use noren_ring::window::Window;
use num_bigint::BigInt;
use oracle::{centred, coefficients, element, modulus, random};

const SPECIAL: usize = 2;
/// Two special primes, then q_0 .. q_3.
const BITS: [u32; 6] = [45, 44, 36, 40, 30, 38];

/// Indices with the exponents and coefficients of `Phi_m`.
const INDICES: [(u32, &[(usize, i64)]); 5] = [
    (5, &[(0, 1), (1, 1), (2, 1), (3, 1), (4, 1)]),
    (9, &[(0, 1), (3, 1), (6, 1)]),
    (12, &[(0, 1), (2, -1), (4, 1)]),
    (21, &[(0, 1), (1, -1), (3, 1), (4, -1), (6, 1), (8, -1), (9, 1), (11, -1), (12, 1)]),
    (45, &[(0, 1), (3, -1), (9, 1), (12, -1), (15, 1), (21, -1), (24, 1)]),
];

/// The ring of an index on the naive device, modulo primes that are 1 modulo the index alone, and on the host.
fn rings(index: u32) -> [Ring; 2] {
    let naive = Ring::on(Arc::new(Naive), window(index, u64::from(index))).expect("any ring");
    let index = Cyclotomic::new(index).expect("a supported index");
    let host = Ring::new(index, &oracle::moduli(&index, &BITS), Some(1)).expect("primes with all roots");
    [naive, host]
}

fn window(index: u32, step: u64) -> Window {
    let mut moduli: Vec<u64> = Vec::new();
    for bits in BITS {
        let mut near = primes_near(f64::from(bits).exp2(), step, |_| true);
        moduli.push(near.find(|prime| !moduli.contains(prime)).expect("enough primes"));
    }
    let index = Cyclotomic::new(index).expect("a supported index");
    Window::new(index, &moduli, Some(1), Parallel::default()).expect("primes that are 1 modulo the index")
}

/// The rings of all indices, with `Phi_m`.
fn all_rings() -> impl Iterator<Item = (Ring, u32, &'static [(usize, i64)])> {
    INDICES.into_iter().flat_map(|(m, phi)| rings(m).map(|ring| (ring, m, phi)))
}

/// A polynomial of any degree modulo `Phi_m`.
fn reduce(mut a: Vec<BigInt>, phi: &[(usize, i64)]) -> Vec<BigInt> {
    let n = phi.last().expect("a coefficient").0;
    while a.len() > n {
        let lead = a.pop().expect("a coefficient");
        let low = a.len() - n;
        for &(i, c) in &phi[..phi.len() - 1] {
            a[low + i] -= &lead * c;
        }
    }
    a
}

/// `a b` modulo `Phi_m`.
fn product(a: &[BigInt], b: &[BigInt], phi: &[(usize, i64)]) -> Vec<BigInt> {
    let mut product = vec![BigInt::ZERO; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            product[i + j] += x * y;
        }
    }
    reduce(product, phi)
}

/// `a(X^k)` modulo `Phi_m`.
fn substitute(a: &[BigInt], k: usize, m: usize, phi: &[(usize, i64)]) -> Vec<BigInt> {
    let mut image = vec![BigInt::ZERO; m];
    a.iter().enumerate().for_each(|(i, x)| image[i * k % m] += x);
    reduce(image, phi)
}

/// The coefficients in `(-Q/2, Q/2)`.
fn numbers(ring: &Ring, a: &Poly<Eval>) -> Vec<BigInt> {
    let q = modulus(ring);
    coefficients(ring, &ring.intt(a.clone())).iter().map(|x| centred(x, &q)).collect()
}

#[test]
fn products_and_images_are_those_of_the_quotient_ring() {
    for (ring, m, phi) in all_rings() {
        let (n, q) = (ring.degree(), modulus(&ring));
        assert_eq!(phi.last().expect("a coefficient").0, n);
        let [a, b] = [1, 2].map(|seed| random(seed, n, &q));
        let [x, y] = [&a, &b].map(|numbers| ring.ntt(element(&ring, numbers)));
        let equal = |found: &Poly<Eval>, expected: Vec<BigInt>, what: &str| {
            let expected: Vec<BigInt> = expected.iter().map(|x| centred(x, &q)).collect();
            assert_eq!(numbers(&ring, found), expected, "{what}, index {m}");
        };
        equal(&x, a.clone(), "both transforms");
        equal(&ring.mul(&x, &y), product(&a, &b, phi), "product");
        for k in 0..2 * m as usize {
            let mut monomial = vec![BigInt::ZERO; (k + 1).max(n)];
            monomial[k] += 1;
            equal(&ring.monomial(k), reduce(monomial, phi), "monomial");
        }
        for k in (1..m).filter(|&k| ring.index().is_unit(k)) {
            let map = Automorphism::new(ring.index(), k).expect("a unit");
            let expected = substitute(&a, k as usize, m as usize, phi);
            equal(&ring.automorphism(&x, &map), expected, "image");
            equal(&ring.automorphism(&ring.automorphism(&x, &map), &map.inverse()), a.clone(), "inverse");
        }
        assert!((1..m).filter(|&k| !ring.index().is_unit(k)).all(|k| Automorphism::new(ring.index(), k).is_err()));
    }
}

/// The largest sum of the absolute values that one coefficient of `a s` takes of those of a, times 1/2: what rounding a by at
/// most 1/2 does to `a s`.
fn rounding(s: &[BigInt], phi: &[(usize, i64)]) -> BigInt {
    let n = s.len();
    let images: Vec<Vec<BigInt>> = (0..n)
        .map(|i| {
            let mut monomial = vec![BigInt::ZERO; n];
            monomial[i] += 1;
            product(&monomial, s, phi)
        })
        .collect();
    let sums = (0..n).map(|j| images.iter().map(|image| BigInt::from(image[j].magnitude().clone())).sum::<BigInt>());
    sums.max().expect("a coefficient") / 2 + 1
}

#[test]
fn a_key_switch_moves_an_encryption_and_rounds_once() {
    const LIMBS: usize = 3;
    for (whole, m, phi) in all_rings() {
        let (n, ring_q) = (whole.degree(), whole.window(SPECIAL..SPECIAL + LIMBS));
        let seed = Seed::from_bytes([6; 32]);
        let sizes: Vec<f64> = whole.moduli().skip(SPECIAL).map(|q| (q.value() as f64).log2()).collect();
        let decomposer = Decomposer::new(&whole, Gadget::new(&sizes, SPECIAL, 3).expect("digits"));
        let divide = DivideRound::new(&whole, &[0, 1], SPECIAL..SPECIAL + LIMBS);
        let ternary: Vec<BigInt> = (0..n).map(|i| BigInt::from([1, 0, -1, 1, -1][i * i % 5])).collect();
        let secret = whole.ntt(element(&whole, &ternary));
        let [m_0, c] = ["m_0", "c"].map(|label| ring_q.uniform(&seed, label));
        for k in [1, 2, m - 1].into_iter().filter(|&k| whole.index().is_unit(k)) {
            let map = Automorphism::new(whole.index(), k).expect("a unit");
            // Without noise: k_j = (-a_j psi^-1(s) + P g_j s, a_j), where g_j is 1 modulo the primes of digit j and 0 else.
            let source = whole.automorphism(&secret, &map.inverse());
            let p: BigInt = oracle::product(&whole, &[0, 1]);
            let pairs: Vec<[Poly<Eval>; 2]> = decomposer
                .gadget()
                .digits()
                .iter()
                .enumerate()
                .map(|(j, digit)| {
                    let a = whole.uniform(&seed, &format!("{m}/{k}/{j}"));
                    let factor: Vec<u64> = (0..whole.limbs())
                        .zip(whole.moduli())
                        .map(|(limb, q)| {
                            let within = limb >= SPECIAL && digit.contains(&(limb - SPECIAL));
                            let residue = &p % q.value();
                            u64::from(within) * u64::try_from(residue).expect("a residue")
                        })
                        .collect();
                    [whole.sub(&whole.mul_scalar(&secret, &factor), &whole.mul(&a, &source)), a]
                })
                .collect();
            let key: KeyPairs = whole.key(&pairs);
            let terms = [Term { key: &key, automorphism: Some(&map) }];
            let switch = KeySwitch { terms: &terms, moved: Some(&m_0), added: [None, None], divide: &divide };
            let [d_0, d_1] = ring_q.switch(&c, &decomposer, &switch);

            let s = ring_q.restrict(&secret);
            let message = ring_q.automorphism(&ring_q.add(&m_0, &ring_q.mul(&c, &s)), &map);
            let error = ring_q.sub(&ring_q.add(&d_0, &ring_q.mul(&d_1, &s)), &message);
            let bound = rounding(&ternary, phi);
            let largest = numbers(&ring_q, &error).into_iter().map(|x| BigInt::from(x.magnitude().clone())).max();
            assert!(largest.expect("a coefficient") <= bound, "index {m}, X -> X^{k}, bound {bound}");
        }
    }
}

#[test]
fn the_host_says_which_rings_it_takes() {
    // 45, doubled, times the length of convolutions: the first power of two from 2 45 - 1 on.
    let refused = Ring::on(Arc::new(Host), window(45, 45)).expect_err("primes without roots").to_string();
    assert!(refused.contains("ring of index 45") && refused.contains("1 modulo 11520"), "{refused}");
    let unsuitable = Window::new(Cyclotomic::new(45).expect("supported"), &[97], Some(1), Parallel::default());
    let refused = unsuitable.expect_err("97 is 7 modulo 45").to_string();
    assert!(refused.contains("prime 97 has no primitive root of order 45"), "{refused}");
}
