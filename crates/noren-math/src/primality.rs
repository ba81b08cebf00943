//! Whether a number is a prime.

/// Bases that make the Miller-Rabin test exact for every `u64`: Sorenson and Webster, eprint
/// 2015/1207 (the first twelve primes decide below 3.1 * 10^23). They serve as trial divisors too.
const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

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
    BASES.iter().all(|&base| {
        let mut x = pow_mod(base, odd, n);
        if x == 1 || x == n - 1 {
            return true;
        }
        (1..twos).any(|_| {
            x = mul_mod(x, x, n);
            x == n - 1
        })
    })
}

fn mul_mod(a: u64, b: u64, n: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(n)) as u64
}

fn pow_mod(mut base: u64, mut exponent: u64, n: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = mul_mod(result, base, n);
        }
        base = mul_mod(base, base, n);
        exponent >>= 1;
    }
    result
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
        // Strong pseudoprimes to the first 4, 9 and 7 prime bases.
        for composite in [3_215_031_751, 3_825_123_056_546_413_051, 341_550_071_728_321] {
            assert!(!is_prime(composite), "{composite}");
        }
        assert!(is_prime(18_446_744_073_709_551_557));
        assert!(!is_prime(u64::MAX));
        assert!(is_prime((1 << 61) - 1));
    }
}
