//! Independent oracles: elements as lists of big integers, by the Chinese remainder theorem as it is written in books.
#![allow(dead_code, reason = "each test file uses its own part")]

use noren_math::cyclotomic::Cyclotomic;
use noren_math::ntt::general::order_of_roots;
use noren_math::prime::primes_near;
use noren_math::random::Seed;
use noren_ring::divide::DivideRound;
use noren_ring::parallel::Parallel;
use noren_ring::poly::{Coeff, Domain, Eval, Poly};
use noren_ring::ring::Ring;
use num_bigint::{BigInt, Sign};

/// The ring of a degree modulo different primes of these sizes in bits, on one thread.
pub fn ring(degree: usize, bits: &[u32]) -> Ring {
    ring_with(degree, bits, Some(1))
}

/// As [`ring`], on that many threads.
pub fn ring_with(degree: usize, bits: &[u32], threads: Option<usize>) -> Ring {
    ring_parallel(degree, bits, threads, Parallel::default())
}

/// As [`ring_with`], with that way to share out loops.
pub fn ring_parallel(degree: usize, bits: &[u32], threads: Option<usize>, parallel: Parallel) -> Ring {
    ring_of(Cyclotomic::power_of_two(degree).expect("a supported degree"), bits, threads, parallel)
}

/// The ring of an index, as [`ring_parallel`].
pub fn ring_of(index: Cyclotomic, bits: &[u32], threads: Option<usize>, parallel: Parallel) -> Ring {
    Ring::with_parallel(index, &moduli(&index, bits), threads, parallel).expect("a ring")
}

/// Different primes of these sizes in bits that are 1 modulo `2 degree`.
pub fn moduli(index: &Cyclotomic, bits: &[u32]) -> Vec<u64> {
    let mut moduli: Vec<u64> = Vec::new();
    for &bits in bits {
        let mut near = primes_near(f64::from(bits).exp2(), order_of_roots(index), |_| true);
        moduli.push(near.find(|prime| !moduli.contains(prime)).expect("enough primes"));
    }
    moduli
}

/// The product of the ring's primes.
pub fn modulus(ring: &Ring) -> BigInt {
    ring.moduli().map(|q| BigInt::from(q.value())).product()
}

/// The product of the primes at `limbs` of the ring's whole list.
pub fn product(ring: &Ring, limbs: &[usize]) -> BigInt {
    limbs.iter().map(|&limb| BigInt::from(ring.basis().modulus(limb).value())).product()
}

/// The residue of x in `[0, q)`.
pub fn residue(x: &BigInt, q: &BigInt) -> BigInt {
    ((x % q) + q) % q
}

/// The representative of x modulo an odd q in `(-q/2, q/2)`.
pub fn centred(x: &BigInt, q: &BigInt) -> BigInt {
    let residue = residue(x, q);
    if &residue * 2 > *q { residue - q } else { residue }
}

/// `x / d` rounded to the nearest integer, for an odd d.
pub fn divide_round(x: &BigInt, d: &BigInt) -> BigInt {
    (x - centred(x, d)) / d
}

/// The element with these coefficients.
pub fn element(ring: &Ring, coefficients: &[BigInt]) -> Poly<Coeff> {
    let words: Vec<u64> = ring
        .moduli()
        .flat_map(|q| {
            let q = BigInt::from(q.value());
            coefficients.iter().map(move |x| u64::try_from(residue(x, &q)).expect("a residue is one word"))
        })
        .collect();
    ring.from_words(&words).expect("residues")
}

/// The coefficients of an element, as representatives in `(-Q/2, Q/2)`.
pub fn coefficients(ring: &Ring, a: &Poly<Coeff>) -> Vec<BigInt> {
    let (words, q) = (ring.to_words(a), modulus(ring));
    let cofactors: Vec<BigInt> = ring
        .moduli()
        .map(|prime| {
            let prime = BigInt::from(prime.value());
            let cofactor = &q / &prime;
            // Fermat: the inverse is the power of exponent prime - 2.
            &cofactor * cofactor.modpow(&(&prime - 2), &prime)
        })
        .collect();
    (0..ring.degree())
        .map(|j| {
            let sum: BigInt = cofactors.iter().enumerate().map(|(i, c)| c * words[i * ring.degree() + j]).sum();
            centred(&sum, &q)
        })
        .collect()
}

/// Whether x lies in `[-q/2, q/2]`, give or take the `2^-45 q` by which exact conversions from up to 16 limbs may
/// miss.
pub fn is_centred(x: &BigInt, q: &BigInt) -> bool {
    let reach: BigInt = q + (q >> 44u32);
    let twice: BigInt = x * 2;
    twice <= reach && -twice <= reach
}

/// `count` numbers in `[0, bound)`, about uniform.
pub fn random(seed: u8, count: usize, bound: &BigInt) -> Vec<BigInt> {
    let mut stream = Seed::from_bytes([seed; 32]).xof("test/numbers");
    // 64 bits more than the bound has: the deviation from uniform is below 2^-64.
    let mut bytes = vec![0; bound.bits() as usize / 8 + 9];
    (0..count)
        .map(|_| {
            stream.fill(&mut bytes);
            BigInt::from_bytes_le(Sign::Plus, &bytes) % bound
        })
        .collect()
}

/// `count` numbers in `[0, Q)` that begin with the ones where conversions go wrong: the ends, and both sides of `Q/2`.
pub fn adversarial(seed: u8, count: usize, q: &BigInt) -> Vec<BigInt> {
    let half: BigInt = q / 2;
    let mut numbers: Vec<BigInt> =
        vec![0.into(), 1.into(), q - 1, q - 2, &half - 1, half.clone(), &half + 1, &half + 2];
    numbers.extend(random(seed, count.saturating_sub(numbers.len()), q));
    numbers.truncate(count);
    numbers
}

/// The product of two elements of `Z[X]/(X^n + 1)` by the definition.
pub fn schoolbook(a: &[BigInt], b: &[BigInt]) -> Vec<BigInt> {
    let n = a.len();
    let mut product = vec![BigInt::from(0); n];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            if i + j < n {
                product[i + j] += x * y;
            } else {
                product[i + j - n] -= x * y;
            }
        }
    }
    product
}

/// [`Ring::divide_round`] for several elements at once.
pub fn divide_all<const COUNT: usize>(
    ring: &Ring,
    xs: [Poly<Eval>; COUNT],
    divide: &DivideRound,
) -> [Poly<Eval>; COUNT] {
    ring.divide_round_all(xs.into(), divide).try_into().expect("there are as many quotients as elements")
}

/// The row of the prime at position `limb` of the whole list.
pub fn row_at<'a, D: Domain>(ring: &Ring, a: &'a Poly<D>, limb: usize) -> &'a [u64] {
    ring.rows(a).nth(limb - ring.range().start).expect("a limb of the ring")
}
