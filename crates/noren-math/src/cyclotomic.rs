//! Which ring: `Z[X]/Phi_m(X)`, and its automorphisms.

use crate::error::Error;
use crate::prime::distinct_prime_factors;

/// The smallest degree whose rows fill one vector of eight words.
const MIN_LOG_DEGREE: u32 = 3;
/// The largest degree: the security tables end here, and primes below 2^50 that are 1 modulo 2^18
/// are still plentiful.
const MAX_LOG_DEGREE: u32 = 17;

/// The ring `Z[X]/Phi_m(X)` of degree `n = phi(m)`. For `m` a power of two, `Phi_m = X^n + 1` and `n = m/2`.
///
/// In evaluation form index `j` holds `a(psi^e)`, where psi is a primitive m-th root of unity and e is entry j of
/// [`Cyclotomic::points`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cyclotomic {
    index: u32,
    degree: u32,
}

impl Cyclotomic {
    /// The ring of index `m`.
    ///
    /// # Errors
    /// [`Error::Index`] unless `m` is a power of two from 2^4 to 2^18, or from 3 to 2^18 and neither a power of two nor twice
    /// an odd number, whose ring is that of the odd number.
    pub fn new(m: u32) -> Result<Self, Error> {
        let refuse = |reason| Err(Error::Index { found: m, reason });
        let range = 3..=1 << (MAX_LOG_DEGREE + 1);
        if !range.contains(&m) || m.is_power_of_two() && m.trailing_zeros() <= MIN_LOG_DEGREE {
            return refuse("it must lie between 3 and 2^18, powers of two from 2^4 on (degree 2^3 to 2^17)");
        }
        if m % 4 == 2 {
            return refuse("twice an odd number has the ring of that number");
        }
        let degree = distinct_prime_factors(m.into()).iter().fold(m, |degree, &p| degree / p as u32 * (p as u32 - 1));
        Ok(Self { index: m, degree })
    }

    /// Whether the index is a power of two.
    #[must_use]
    pub const fn is_power_of_two(&self) -> bool {
        self.index.is_power_of_two()
    }

    /// The ring `Z[X]/(X^degree + 1)`.
    ///
    /// # Errors
    /// [`Error::Index`] unless `degree` is a power of two from 2^3 to 2^17.
    pub fn power_of_two(degree: usize) -> Result<Self, Error> {
        // A degree past u32 becomes an index that `new` refuses.
        let found = u32::try_from(degree).unwrap_or(u32::MAX).saturating_mul(2);
        if !found.is_power_of_two() {
            return Err(Error::Index { found, reason: "it must be a power of two" });
        }
        Self::new(found)
    }

    /// The index `m`.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// The degree `n = phi(m)`: how many coefficients an element has.
    #[must_use]
    pub const fn degree(&self) -> usize {
        self.degree as usize
    }

    /// `Phi_m` as a product and quotient of binomials `1 - X^s`: each s, and whether it is a factor or divides. They
    /// are `m/d` for the squarefree divisors d of m, a factor if d has an even number of primes:
    /// `Phi_m = prod_d (X^(m/d) - 1)^mu(d)`.
    pub(crate) fn binomials(&self) -> Vec<(usize, bool)> {
        let mut binomials = vec![(self.index as usize, true)];
        for prime in distinct_prime_factors(self.index.into()) {
            let with: Vec<_> = binomials.iter().map(|&(step, factor)| (step / prime as usize, !factor)).collect();
            binomials.extend(with);
        }
        binomials
    }

    /// The coefficients of `Phi_m`, from that of `X^0` to that of `X^n`.
    #[must_use]
    pub fn polynomial(&self) -> Vec<i64> {
        // Power series modulo X^(n + 1). The signs of 1 - X^s cancel: there are as many factors as divisors.
        let mut series = vec![0i64; self.degree() + 1];
        series[0] = 1;
        for (step, factor) in self.binomials() {
            times_binomial(&mut series, step, factor, |a, b| a + b, |a, b| a - b);
        }
        series
    }

    /// The remainder of a polynomial of m integer coefficients modulo `Phi_m`: n coefficients, for those that are below
    /// `2^63` in absolute value. What lies in `a` is changed.
    ///
    /// # Panics
    /// If there are not m coefficients, or n words for the remainder.
    pub fn reduce(&self, a: &mut [i64], out: &mut [i64]) {
        assert_eq!(
            (a.len(), out.len()),
            (self.index as usize, self.degree()),
            "m coefficients, and n of the remainder"
        );
        // Exact modulo 2^64, as the remainder is.
        let times =
            |a: &mut [i64], step, multiply| times_binomial(a, step, multiply, i64::wrapping_add, i64::wrapping_sub);
        remainder(&self.binomials(), a, out, times, i64::wrapping_sub);
    }

    /// The coefficients of `X^k` modulo `Phi_m`; the exponent counts modulo m.
    #[must_use]
    pub fn power(&self, k: usize) -> Vec<i64> {
        let (mut power, mut reduced) = (vec![0; self.index as usize], vec![0; self.degree()]);
        power[k % self.index as usize] = 1;
        self.reduce(&mut power, &mut reduced);
        reduced
    }

    /// The mean of `|a(zeta)|^2` over the primitive m-th roots of unity of the complex numbers, up to a part of `2^-40` of
    /// the largest term: for a polynomial of at most m coefficients that is not zero modulo `Phi_m`, at least 1.
    ///
    /// By the orthogonality of characters it is `1/n sum_d mu(d) m/d |a mod (X^(m/d) - 1)|^2`, over the squarefree
    /// divisors d of m. For powers of two it is the sum of the squares of all coefficients.
    #[must_use]
    pub fn mean_square(&self, a: &[i64]) -> f64 {
        let terms = self.binomials().into_iter().map(|(period, positive)| {
            let mut folded = vec![0.0; period];
            a.iter().enumerate().for_each(|(i, &x)| folded[i % period] += x as f64);
            let squares = period as f64 * folded.iter().map(|x| x * x).sum::<f64>();
            if positive { squares } else { -squares }
        });
        let (sum, most) = terms.fold((0.0, 0.0), |(sum, most): (f64, f64), x| (sum + x, most.max(x.abs())));
        ((sum + most * 2f64.powi(-40)) / self.degree() as f64).max(1.0)
    }

    /// The exponents of the evaluation points, in their order: `2 brv(j) + 1` for an index that is a power of two, where brv
    /// reverses the `log2 n` bits of j, and else the units modulo m in ascending order.
    #[must_use]
    pub fn points(&self) -> Vec<u32> {
        if self.is_power_of_two() {
            let shift = u32::BITS - self.degree.trailing_zeros();
            return (0..self.degree).map(|j| 2 * (j.reverse_bits() >> shift) + 1).collect();
        }
        (1..self.index).filter(|&e| self.is_unit(e)).collect()
    }

    /// Whether k is a unit modulo m.
    #[must_use]
    pub fn is_unit(&self, k: u32) -> bool {
        let (mut a, mut b) = (self.index, k % self.index);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a == 1
    }

    /// The inverse of a unit modulo m.
    ///
    /// # Errors
    /// [`Error::Index`] if k is not a unit modulo m.
    pub fn inverse(&self, k: u32) -> Result<u32, Error> {
        self.check_unit(k)?;
        // Euler: k^phi(m) = 1.
        let (m, mut power, mut result) = (u64::from(self.index), u64::from(k % self.index), 1);
        let mut exponent = self.degree - 1;
        while exponent > 0 {
            if exponent % 2 == 1 {
                result = result * power % m;
            }
            power = power * power % m;
            exponent /= 2;
        }
        Ok(result as u32)
    }

    fn check_unit(&self, k: u32) -> Result<(), Error> {
        let reason = match self.is_power_of_two() {
            true => "an automorphism X -> X^k needs an odd k",
            false => "an automorphism X -> X^k needs a k without a factor of the index",
        };
        if self.is_unit(k) { Ok(()) } else { Err(Error::Index { found: k, reason }) }
    }

    /// The automorphism `X -> X^k` in evaluation form: `out[j] = in[perm[j]]`.
    ///
    /// # Errors
    /// [`Error::Index`] if `k` is not a unit modulo `m`.
    pub fn permutation(&self, k: u32) -> Result<Vec<u32>, Error> {
        self.check_unit(k)?;
        let points = self.points();
        let mut places = vec![0; self.index as usize];
        points.iter().zip(0..).for_each(|(&e, j)| places[e as usize] = j);
        let image = |&e: &u32| places[(u64::from(e) * u64::from(k) % u64::from(self.index)) as usize];
        Ok(points.iter().map(image).collect())
    }
}

/// The remainder of a polynomial `a` of m coefficients modulo `Phi_m`, given by its [binomials](Cyclotomic::binomials).
///
/// For `a = c Phi_m + out` the reversed c is the reversed a divided by `Phi_m`, which is its own reverse, as power
/// series of `m - n` coefficients. So c, and `c Phi_m` modulo `X^n`, are made of sums and differences alone.
pub(crate) fn remainder<T: Copy + Default>(
    binomials: &[(usize, bool)],
    a: &mut [T],
    out: &mut [T],
    mut times_binomial: impl FnMut(&mut [T], usize, bool),
    sub: impl Fn(T, T) -> T,
) {
    let (low, c) = a.split_at_mut(out.len());
    c.reverse();
    binomials.iter().for_each(|&(step, factor)| times_binomial(c, step, !factor));
    c.reverse();
    out.fill(T::default());
    let words = c.len().min(out.len());
    out[..words].copy_from_slice(&c[..words]);
    binomials.iter().for_each(|&(step, factor)| times_binomial(out, step, factor));
    out.iter_mut().zip(low).for_each(|(out, &mut a)| *out = sub(a, *out));
}

/// Multiplies a power series by `1 - X^step`, or divides it.
pub(crate) fn times_binomial<T: Copy>(
    series: &mut [T],
    step: usize,
    multiply: bool,
    add: impl Fn(T, T) -> T,
    sub: impl Fn(T, T) -> T,
) {
    if multiply {
        (step..series.len()).rev().for_each(|i| series[i] = sub(series[i], series[i - step]));
    } else {
        (step..series.len()).for_each(|i| series[i] = add(series[i], series[i - step]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_supported_indices_are_accepted() {
        for m in [0, 1, 2, 4, 6, 8, 90, 1 << 19, u32::MAX] {
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
    fn polynomials_are_those_of_the_tables() {
        let phi = |m| Cyclotomic::new(m).expect("supported").polynomial();
        assert_eq!(phi(9), [1, 0, 0, 1, 0, 0, 1]);
        assert_eq!(phi(12), [1, 0, -1, 0, 1]);
        assert_eq!(phi(21), [1, -1, 0, 1, -1, 0, 1, 0, -1, 1, 0, -1, 1]);
        assert_eq!(phi(16), [1, 0, 0, 0, 0, 0, 0, 0, 1]);
        // The first with another coefficient than 0 and 1: twice -2, of X^7 and X^41.
        let phi = phi(105);
        assert_eq!((phi.len(), phi[7], phi[41]), (49, -2, -2));
    }

    #[test]
    fn powers_have_the_order_of_the_index() {
        for m in [9, 12, 21, 45, 16] {
            let ring = Cyclotomic::new(m).expect("supported");
            let n = ring.degree();
            assert_eq!(ring.points().len(), n);
            // Multiplying by X, m times, and reducing with -X^n = Phi_m - X^n.
            let phi = ring.polynomial();
            let mut power = vec![0; n];
            power[0] = 1;
            for k in 0..2 * m as usize {
                assert_eq!(ring.power(k), power, "X^{k}, index {m}");
                let lead = power.pop().expect("a coefficient");
                power.insert(0, 0);
                power.iter_mut().zip(&phi).for_each(|(x, &c)| *x -= lead * c);
            }
            for k in (1..m).filter(|&k| ring.is_unit(k)) {
                assert_eq!(u64::from(ring.inverse(k).expect("a unit")) * u64::from(k) % u64::from(m), 1);
            }
        }
        assert!(Cyclotomic::new(45).expect("supported").inverse(9).is_err());
    }

    #[test]
    fn mean_squares_are_those_of_the_values() {
        for m in (3..=120).filter(|m| m % 4 != 2).chain([105, 165, 255, 315, 385, 1155]) {
            let Ok(ring) = Cyclotomic::new(m) else { continue };
            let a: Vec<i64> = (0..ring.degree() as i64).map(|i| (i * i + 3 * i) % 17 - 8).collect();
            let value = |&e: &u32| {
                let angle = |i: usize| std::f64::consts::TAU * (i as f64 * f64::from(e) / f64::from(m));
                let (re, im) = a.iter().enumerate().fold((0.0, 0.0), |(re, im), (i, &x)| {
                    (re + x as f64 * angle(i).cos(), im + x as f64 * angle(i).sin())
                });
                re * re + im * im
            };
            let mean = ring.points().iter().map(value).sum::<f64>() / ring.degree() as f64;
            assert!((ring.mean_square(&a) - mean.max(1.0)).abs() < 1e-8 * mean.max(1.0), "index {m}");
        }
    }
}
