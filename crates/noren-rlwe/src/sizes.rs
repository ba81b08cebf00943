//! Sizes of primes in bits, which schemes are asked for in place of primes.

use std::ops::RangeInclusive;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::prime::primes_below;

use crate::error::{Error, Result};

/// The sizes of primes, and of what stands beside them, such as scales.
pub const BITS: RangeInclusive<u32> = 20..=50;

/// The ring of degree `2^log_n`.
///
/// # Errors
/// [`Error::Parameters`] if log_n is outside 3 to 17.
pub fn power_of_two(log_n: u32) -> Result<Cyclotomic> {
    match 1usize.checked_shl(log_n).map(Cyclotomic::power_of_two) {
        Some(Ok(ring)) => Ok(ring),
        _ => Err(Error::parameter("log_n", log_n, "3 to 17")),
    }
}

/// Refuses what no prime has: no primes q, and sizes outside [`BITS`], in the lists of `log_q`, `log_p` and `more`, each
/// with its name.
///
/// # Errors
/// [`Error::Parameters`] names the first of them.
pub fn check(log_q: &[u32], log_p: &[u32], more: &[(&'static str, u32)]) -> Result<()> {
    if log_q.is_empty() {
        return Err(Error::parameter("log_q", "empty", "at least one size"));
    }
    let lists = [("log_q", log_q), ("log_p", log_p)].into_iter();
    let sizes = lists.flat_map(|(name, sizes)| sizes.iter().map(move |&bits| (name, bits)));
    match sizes.chain(more.iter().copied()).find(|(_, bits)| !BITS.contains(bits)) {
        Some((name, bits)) => Err(Error::parameter(name, bits, format!("{} to {} bits", BITS.start(), BITS.end()))),
        None => Ok(()),
    }
}

/// The largest prime of exactly `bits` bits that is 1 modulo `step` and that `fits`. Range: bits in [`BITS`].
pub fn largest_prime(bits: u32, step: u64, fits: impl Fn(u64) -> bool) -> Option<u64> {
    primes_below(1 << bits, step).find(|&prime| fits(prime)).filter(|&prime| prime > 1 << (bits - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_prime_of_a_size_fits_and_has_the_size() {
        // 17, 97, 113, 193 and 241 are the primes below 256 that are 1 modulo 16.
        assert_eq!(largest_prime(7, 16, |_| true), Some(113));
        assert_eq!(largest_prime(7, 16, |prime| prime != 113), Some(97));
        assert_eq!(largest_prime(8, 16, |_| true), Some(241));
        assert_eq!(largest_prime(7, 16, |prime| prime < 97), None);
    }
}
