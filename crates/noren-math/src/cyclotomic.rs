//! Which ring: `Z[X]/Phi_m(X)`, and its automorphisms.

use crate::error::Error;

/// The smallest degree whose rows fill one vector of eight words.
const MIN_LOG_DEGREE: u32 = 3;
/// The largest degree: the security tables end here, and primes below 2^50 that are 1 modulo 2^18
/// are still plentiful.
const MAX_LOG_DEGREE: u32 = 17;

/// The ring `Z[X]/Phi_m(X)` of degree `n = phi(m)`; today `m` is a power of two, so `Phi_m = X^n +
/// 1` and `n = m/2`.
///
/// In evaluation form index `j` holds `a(psi^(2 brv(j) + 1))`, where psi is a primitive m-th root
/// of unity and brv reverses the `log2 n` bits of `j`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cyclotomic {
    index: u32,
}

impl Cyclotomic {
    /// The ring of index `m`.
    ///
    /// # Errors
    /// [`Error::Index`] unless `m` is a power of two from 2^4 to 2^18.
    pub fn new(m: u32) -> Result<Self, Error> {
        if !m.is_power_of_two() {
            return Err(Error::Index { found: m, reason: "it must be a power of two" });
        }
        if !(MIN_LOG_DEGREE + 1..=MAX_LOG_DEGREE + 1).contains(&m.trailing_zeros()) {
            return Err(Error::Index { found: m, reason: "it must lie between 2^4 and 2^18 (degree 2^3 to 2^17)" });
        }
        Ok(Self { index: m })
    }

    /// The ring `Z[X]/(X^degree + 1)`.
    ///
    /// # Errors
    /// [`Error::Index`] unless `degree` is a power of two from 2^3 to 2^17.
    pub fn power_of_two(degree: usize) -> Result<Self, Error> {
        // A degree past u32 becomes an index that `new` refuses.
        Self::new(u32::try_from(degree).unwrap_or(u32::MAX).saturating_mul(2))
    }

    /// The index `m`.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// The degree `n = phi(m)`: how many coefficients an element has.
    #[must_use]
    pub const fn degree(&self) -> usize {
        (self.index / 2) as usize
    }

    /// The automorphism `X -> X^k` in evaluation form: `out[j] = in[perm[j]]`.
    ///
    /// # Errors
    /// [`Error::Index`] if `k` is not a unit modulo `m`, that is, even.
    pub fn permutation(&self, k: u32) -> Result<Vec<u32>, Error> {
        if k.is_multiple_of(2) {
            return Err(Error::Index { found: k, reason: "an automorphism X -> X^k needs an odd k" });
        }
        let shift = u32::BITS - self.degree().trailing_zeros();
        let reverse = |j: u32| j.reverse_bits() >> shift;
        let mask = self.index - 1;
        Ok((0..self.index / 2)
            .map(|j| {
                // Wrapping keeps the product right modulo m, a power of two.
                let exponent = (2 * reverse(j) + 1).wrapping_mul(k) & mask;
                reverse(exponent / 2)
            })
            .collect())
    }

    /// Where `X -> X^k` sends `X^i`: to `X^i'`, or to `-X^i'` if the flag is set.
    ///
    /// # Panics
    /// If `i` is not below the degree, or `k` is even.
    #[must_use]
    pub fn coefficient_image(&self, i: usize, k: u32) -> (usize, bool) {
        assert!(i < self.degree(), "coefficient {i} does not exist in degree {}", self.degree());
        assert!(!k.is_multiple_of(2), "an automorphism X -> X^k needs an odd k, not {k}");
        let exponent = (i as u64 * u64::from(k)) as usize & (self.index as usize - 1);
        if exponent < self.degree() { (exponent, false) } else { (exponent - self.degree(), true) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_supported_indices_are_accepted() {
        for m in [0, 1, 2, 8, 12, 24, 1 << 19, u32::MAX] {
            assert!(matches!(Cyclotomic::new(m), Err(Error::Index { found, .. }) if found == m), "{m}");
        }
        for log in 4..=18 {
            let ring = Cyclotomic::new(1 << log).expect("supported");
            assert_eq!((ring.index(), ring.degree()), (1 << log, 1 << (log - 1)));
            assert_eq!(Cyclotomic::power_of_two(ring.degree()), Ok(ring));
        }
        assert!(Cyclotomic::power_of_two(usize::MAX).is_err());
        assert!(Cyclotomic::power_of_two(24).is_err());
    }

    #[test]
    fn permutations_compose_like_their_exponents() {
        let ring = Cyclotomic::new(64).expect("supported");
        let (a, b) = (ring.permutation(5).expect("odd"), ring.permutation(63).expect("odd"));
        let product = ring.permutation(5 * 63).expect("odd");
        let composed: Vec<u32> = (0..ring.degree()).map(|j| b[a[j] as usize]).collect();
        assert_eq!(composed, product);
        assert!(ring.permutation(1).expect("odd").iter().enumerate().all(|(j, &p)| j == p as usize));
        assert!(ring.permutation(6).is_err());
    }

    #[test]
    fn coefficient_image_wraps_with_a_sign() {
        let ring = Cyclotomic::new(16).expect("supported");
        assert_eq!(ring.coefficient_image(0, 15), (0, false));
        assert_eq!(ring.coefficient_image(1, 15), (7, true));
        assert_eq!(ring.coefficient_image(3, 5), (7, true));
        assert_eq!(ring.coefficient_image(7, 5), (3, false));
        assert_eq!(ring.coefficient_image(3, 5 + 16), ring.coefficient_image(3, 5));
    }
}
