//! Words of elements outside of their rings: for seeds that depend on them, a check of public keys, and samples over the torus.
//! Files have theirs in [`wire`](crate::wire); no other code above `noren-ring` sees a word of an element.

use noren_math::random::Seed;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;

use crate::error::Result;

/// [`Seed::derive_for`] these words, and the residues of elements over the primes of a ring.
pub(crate) fn seed_of_residues(seed: &Seed, label: &str, words: &[&[u64]], ring: &Ring, polys: &[&Poly<Eval>]) -> Seed {
    let polys: Vec<_> = polys.iter().map(|poly| ring.on_host(poly)).collect();
    let rows = polys.iter().flat_map(|poly| ring.rows(poly));
    seed.derive_for(label, &words.iter().copied().chain(rows).collect::<Vec<_>>())
}

/// Adds the residues of an element to a digest.
pub(crate) fn digest_residues(hasher: &mut blake3::Hasher, ring: &Ring, a: &Poly<Eval>) {
    for row in ring.rows(&ring.on_host(a)) {
        row.iter().for_each(|word| {
            hasher.update(&word.to_le_bytes());
        });
    }
}

/// Whether an element is 0 modulo some prime of the ring.
pub(crate) fn has_zero_limb(ring: &Ring, a: &Poly<Eval>) -> bool {
    ring.rows(&ring.on_host(a)).any(|row| row.iter().all(|&word| word == 0))
}

/// Writes the coefficients of an element modulo one prime as words of the circle.
pub(crate) fn write_on_circle(ring: &Ring, a: &Poly<Eval>, out: &mut [u64]) {
    let q = modulus(ring);
    let words = ring.to_words(&ring.intt(a.clone()));
    out.iter_mut().zip(words).for_each(|(out, x)| *out = to_circle(x, q));
}

/// The element modulo one prime whose coefficients are nearest to these words of the circle.
///
/// # Errors
/// [`Error::Ring`](crate::error::Error::Ring) if there are not as many as the degree.
pub(crate) fn element_of_circle(ring: &Ring, words: impl Iterator<Item = u64>) -> Result<Poly<Eval>> {
    let q = modulus(ring);
    let residues: Vec<u64> = words.map(|word| from_circle(word, q)).collect();
    Ok(ring.ntt(ring.from_words(&residues)?))
}

/// # Panics
/// If the ring has several primes.
fn modulus(ring: &Ring) -> u64 {
    let mut moduli = ring.moduli();
    let q = moduli.next().expect("a ring has a prime").value();
    assert!(moduli.next().is_none(), "an element over one prime");
    q
}

/// `2^64 x / q`, rounded to the nearest word.
const fn to_circle(x: u64, q: u64) -> u64 {
    (((x as u128) << u64::BITS) + (q / 2) as u128).div_euclid(q as u128) as u64
}

/// `q x / 2^64`, rounded to the nearest residue, halves up.
const fn from_circle(word: u64, q: u64) -> u64 {
    let rounded = ((word as u128 * q as u128 + (1 << (u64::BITS - 1))) >> u64::BITS) as u64;
    if rounded == q { 0 } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residues_are_nearest_words_and_words_nearest_residues() {
        for q in [97, (1 << 49) - 111, (1 << 50) - 27] {
            let samples = (0..q).step_by(usize::try_from(q / 97).expect("small")).chain([q / 2, q / 2 + 1, q - 1]);
            for x in samples {
                let word = to_circle(x, q);
                let distance = (i128::from(word) * i128::from(q) - (i128::from(x) << 64)).abs();
                assert!(2 * distance <= i128::from(q), "{x} modulo {q}");
                assert_eq!(from_circle(word, q), x);
                assert_eq!(from_circle(word.wrapping_neg(), q), (q - x) % q);
            }
            assert_eq!(from_circle(u64::MAX, q), 0);
        }
    }
}
