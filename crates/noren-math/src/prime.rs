//! Primes below 2^50 and their roots of unity.

use crate::error::Error;
use crate::modulus::{MAX_MODULUS_BITS, Modulus};
pub use crate::primality::is_prime;

/// Primes `p = 1 mod step` with `step < p < 2^50` that `fits` accepts, by growing `|p - center|`; of two at one
/// distance the smaller comes first.
///
/// The sequence is finite and the same on every machine. What does not fit is not tested for primality, which takes
/// far longer than to look whether a prime is in use.
///
/// # Panics
/// If `step` is 0.
pub fn primes_near(center: f64, step: u64, fits: impl Fn(u64) -> bool + Copy) -> impl Iterator<Item = u64> {
    assert!(step > 0, "primes 1 modulo 0 do not exist");
    const LIMIT: u64 = 1 << MAX_MODULUS_BITS;
    // The casts saturate, so a centre outside the range (or NaN) starts at the nearest end of it.
    let middle = (center.min(LIMIT as f64).floor() as u64).saturating_sub(1) / step;
    let candidate = move |k: u64| k * step + 1;
    let chosen = move |&p: &u64| p < LIMIT && fits(p) && is_prime(p);
    let mut below = (1..=middle).rev().map(candidate).filter(chosen).peekable();
    let mut above = (middle + 1..=LIMIT / step).map(candidate).filter(chosen).peekable();
    std::iter::from_fn(move || match (below.peek(), above.peek()) {
        (Some(&low), Some(&high)) if (low as f64 - center).abs() <= (high as f64 - center).abs() => below.next(),
        (_, Some(_)) => above.next(),
        (_, None) => below.next(),
    })
}

/// Primes `p = 1 mod step` with `step < p < bound`, descending.
///
/// # Panics
/// If `step` is 0.
pub fn primes_below(bound: u64, step: u64) -> impl Iterator<Item = u64> {
    assert!(step > 0, "primes 1 modulo 0 do not exist");
    // p = k * step + 1 <= bound - 1
    let last = bound.saturating_sub(2) / step;
    (1..=last).rev().map(move |k| k * step + 1).filter(|&p| is_prime(p))
}

/// A primitive root of unity of the given order: `g^((q-1)/order)` for the smallest `g >= 2` that gives one of this order.
///
/// This choice fixes the order of points in evaluation form, and so the bytes of everything stored
/// in that form. The root of order `m/2` is the square of the root of order `m`, for m a power of two.
///
/// # Errors
/// [`Error::NoRoot`] if `order` does not divide `q - 1`.
pub fn primitive_root_of_order(q: &Modulus, order: u64) -> Result<u64, Error> {
    let p = q.value();
    if order == 0 || !(p - 1).is_multiple_of(order) {
        return Err(Error::NoRoot { prime: p, order });
    }
    let factors = distinct_prime_factors(order);
    // The order of g^((p-1)/order) divides `order`; it is a proper divisor if and only if g^((p-1)/f) = 1 for a prime f.
    let has_order = |&g: &u64| factors.iter().all(|&f| q.pow(g, (p - 1) / f) != 1);
    (2..p).find(has_order).map(|g| q.pow(g, (p - 1) / order)).ok_or(Error::NoRoot { prime: p, order })
}

/// The prime p and the exponent r of `n = p^r`, if there are any.
///
/// ```
/// use noren_math::prime::prime_power;
///
/// assert_eq!(prime_power(2187), Some((3, 7)));
/// assert_eq!(prime_power(12), None);
/// ```
#[must_use]
pub fn prime_power(n: u64) -> Option<(u64, u32)> {
    (1..u64::BITS).rev().find_map(|r| {
        // The rounded root is the root, if there is one: of a number below 2^64 it is right to 2^-20.
        let root = if r == 1 { n } else { libm::pow(n as f64, 1.0 / f64::from(r)).round() as u64 };
        (root.checked_pow(r) == Some(n) && is_prime(root)).then_some((root, r))
    })
}

/// The primes that divide `n`, ascending.
pub(crate) fn distinct_prime_factors(n: u64) -> Vec<u64> {
    let mut primes = prime_factors(n);
    primes.dedup();
    primes
}

/// The prime factors of `n` with multiplicity, ascending; 0 and 1 have none.
///
/// By trial division, for indices and orders: the time grows with the square root of the second
/// largest factor.
#[must_use]
pub fn prime_factors(mut n: u64) -> Vec<u64> {
    let mut factors = Vec::new();
    if n == 0 {
        return factors;
    }
    let mut p = 2;
    while n > 1 {
        if p * p > n || is_prime(n) {
            factors.push(n);
            break;
        }
        while n.is_multiple_of(p) {
            factors.push(p);
            n /= p;
        }
        p += 1;
    }
    factors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_below_lists_the_published_largest_primes() {
        let largest: Vec<u64> = primes_below(1 << 50, 1 << 17).take(3).collect();
        assert_eq!(largest, [1_125_899_903_827_969, 1_125_899_902_124_033, 1_125_899_887_312_897]);
        assert_eq!(primes_below(30, 1).collect::<Vec<_>>(), [29, 23, 19, 17, 13, 11, 7, 5, 3, 2]);
        assert_eq!(primes_below(18, 16).collect::<Vec<_>>(), [17]);
        assert_eq!(primes_below(17, 16).count(), 0);
        assert_eq!(primes_below(0, 16).count(), 0);
    }

    #[test]
    fn primes_near_come_by_growing_distance() {
        let center = (1u64 << 40) as f64;
        let found: Vec<u64> = primes_near(center, 1 << 13, |_| true).take(50).collect();
        let distance = |p: u64| (p as f64 - center).abs();
        assert!(found.windows(2).all(|w| distance(w[0]) <= distance(w[1])));
        let reach = distance(*found.last().expect("50 primes exist")) as u64;
        let all = primes_below((1 << 40) + reach + 1, 1 << 13).take_while(|&p| p >= (1 << 40) - reach).count();
        assert_eq!(all, found.len(), "a nearer prime was left out");
    }

    #[test]
    fn primes_near_stay_between_step_and_the_largest_modulus() {
        assert_eq!(primes_near(13.0, 4, |_| true).take(4).collect::<Vec<_>>(), [13, 17, 5, 29]);
        assert!(primes_near(1e300, 1 << 40, |_| true).all(|p| p < 1 << MAX_MODULUS_BITS && p > 1 << 40));
        let all = |center| primes_near(center, 1 << 48, |_| true).collect::<Vec<_>>();
        assert_eq!(all(-5.0), all(0.0));
    }

    #[test]
    fn primes_near_fit() {
        assert_eq!(primes_near(13.0, 4, |p| p != 17).take(3).collect::<Vec<_>>(), [13, 5, 29]);
    }

    #[test]
    fn primitive_roots_have_their_order() {
        for prime in [3, 17, 97, 65537, 1_125_899_903_827_969] {
            let q = Modulus::new(prime).expect("a prime");
            let mut order = 1;
            while (prime - 1).is_multiple_of(order) {
                let root = primitive_root_of_order(&q, order).expect("order divides q - 1");
                assert_eq!(q.pow(root, order), 1);
                assert!(order == 1 || q.pow(root, order / 2) == prime - 1);
                order *= 2;
            }
            assert_eq!(primitive_root_of_order(&q, order), Err(Error::NoRoot { prime, order }));
        }
    }

    #[test]
    fn prime_factors_multiply_to_the_number() {
        assert_eq!(prime_factors(0), []);
        assert_eq!(prime_factors(1), []);
        assert_eq!(prime_factors(2 * 2 * 3 * 7 * 7 * 65537), [2, 2, 3, 7, 7, 65537]);
        assert_eq!(prime_factors(1_125_899_903_827_969), [1_125_899_903_827_969]);
        assert!((2..2000).all(|n| prime_factors(n).iter().product::<u64>() == n));
    }
}
