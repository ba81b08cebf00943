//! Whether a number is a prime.

/// Bases that make the Miller-Rabin test exact for every `u64`: Sorenson and Webster, eprint
/// 2015/1207 (the first twelve primes decide below 3.1 * 10^23). They serve as trial divisors too.
const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

/// How many of the bases decide below a bound, the smallest strong pseudoprime to them all (same source, table 1).
const FEWER_BASES: [(u64, usize); 2] = [(341_550_071_728_321, 7), (3_825_123_056_546_413_051, 9)];

/// Whether `n` is a prime; exact for every `u64`.
#[must_use]
pub fn is_prime(n: u64) -> bool {
    if n < 2 {
        return false;
    }
    for p in BASES {
        if n.is_multiple_of(p) {
            return n == p;
        }
    }
    let twos = (n - 1).trailing_zeros();
    let odd = (n - 1) >> twos;
    let ring = Residues::new(n);
    let minus_one = n - ring.one;
    let bases = FEWER_BASES.iter().find(|&&(bound, _)| n < bound).map_or(BASES.len(), |&(_, bases)| bases);
    BASES[..bases].iter().all(|&base| {
        let mut x = ring.pow(base, odd);
        if x == ring.one || x == minus_one {
            return true;
        }
        (1..twos).any(|_| {
            x = ring.mul(x, x);
            x == minus_one
        })
    })
}

/// Residues of an odd `n > 1` in Montgomery form: `a` stands as `a * 2^64 mod n`, so that products need no division.
struct Residues {
    n: u64,
    /// `1 / n mod 2^64`.
    inverse: u64,
    /// 1, which is `2^64 mod n`.
    one: u64,
}

impl Residues {
    fn new(n: u64) -> Self {
        // Newton's iteration: n is its own inverse modulo 8, and each step doubles the right bits.
        let inverse = (0..5).fold(n, |x, _| x.wrapping_mul(2u64.wrapping_sub(n.wrapping_mul(x))));
        Self { n, inverse, one: u64::MAX % n + 1 }
    }

    fn mul(&self, a: u64, b: u64) -> u64 {
        let product = u128::from(a) * u128::from(b);
        let multiple = u128::from((product as u64).wrapping_mul(self.inverse)) * u128::from(self.n);
        // The low halves are equal.
        let (difference, negative) = ((product >> 64) as u64).overflowing_sub((multiple >> 64) as u64);
        if negative { difference.wrapping_add(self.n) } else { difference }
    }

    /// `base^exponent`, of a small integer `base < n`.
    fn pow(&self, base: u64, mut exponent: u64) -> u64 {
        let mut power = (u128::from(base) * u128::from(self.one) % u128::from(self.n)) as u64;
        let mut result = self.one;
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = self.mul(result, power);
            }
            power = self.mul(power, power);
            exponent >>= 1;
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_prime_agrees_with_a_sieve() {
        const LIMIT: usize = 20_000;
        let mut composite = vec![false; LIMIT];
        for n in 2..LIMIT {
            if !composite[n] {
                (n * n..LIMIT).step_by(n).for_each(|k| composite[k] = true);
            }
            assert_eq!(is_prime(n as u64), !composite[n], "{n}");
        }
        assert!(!is_prime(0) && !is_prime(1));
    }

    #[test]
    fn is_prime_is_exact_for_large_numbers() {
        // The smallest strong pseudoprimes to the first 2, 3, 4, 5, 6, 7 and 9 prime bases.
        for composite in [
            1_373_653,
            25_326_001,
            3_215_031_751,
            2_152_302_898_747,
            3_474_749_660_383,
            341_550_071_728_321,
            3_825_123_056_546_413_051,
        ] {
            assert!(!is_prime(composite), "{composite}");
        }
        assert!(is_prime(18_446_744_073_709_551_557));
        assert!(!is_prime(u64::MAX));
        assert!(is_prime((1 << 61) - 1));
    }
}
