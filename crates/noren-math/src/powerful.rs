//! The powerful basis of a ring, in which elements have small coefficients.

use crate::cyclotomic::{Cyclotomic, remainder, times_binomial};
use crate::prime::{distinct_prime_factors, prime_factors};

/// The basis `X_1^(i_1) X_2^(i_2) ..` of `Z[X]/Phi_m`, with `0 <= i_j < phi(m_j)` for the powers of primes `m_j` whose product
/// is m, and `X = X_1 X_2 ..`: that of the tensor product of the rings `Z[X_j]/Phi_(m_j)`.
///
/// Coefficients are small where values at the roots of unity are: see [`PowerfulBasis::growth`]. The values of the dual basis
/// are products of such as `(1 - zeta^(-i-1)) / m_j`, at most `2^w / m` for w primes. Of a power of two the basis is that of
/// powers of X.
///
/// Source: Lyubashevsky, Peikert and Regev, "A toolkit for ring-LWE cryptography", eprint 2013/293, section 4.
#[derive(Debug, Clone)]
pub struct PowerfulBasis {
    ring: Cyclotomic,
    binomials: Vec<(usize, bool)>,
    axes: Vec<Axis>,
    /// For each element of the basis the place of its exponents among all, the last axis first to grow.
    places: Vec<u32>,
    /// For each element of the basis the exponent of X modulo m.
    exponents: Vec<u32>,
}

/// A power of a prime.
#[derive(Debug, Clone, Copy)]
struct Axis {
    /// `m_j`, a power of `prime`.
    size: usize,
    prime: usize,
    /// The product of the sizes after it.
    stride: usize,
}

impl Axis {
    /// `phi(m_j)`.
    const fn degree(&self) -> usize {
        self.size / self.prime * (self.prime - 1)
    }

    /// The exponent of `X_j` in a place.
    const fn exponent(&self, place: usize) -> usize {
        place / self.stride % self.size
    }
}

impl PowerfulBasis {
    /// That of a ring.
    #[must_use]
    pub fn new(ring: &Cyclotomic) -> Self {
        let m = ring.index() as usize;
        let mut axes: Vec<Axis> = Vec::new();
        for prime in prime_factors(m as u64).into_iter().map(|prime| prime as usize) {
            match axes.last_mut() {
                Some(axis) if axis.prime == prime => axis.size *= prime,
                _ => axes.push(Axis { size: prime, prime, stride: 1 }),
            }
        }
        let mut stride = 1;
        for axis in axes.iter_mut().rev() {
            axis.stride = stride;
            stride *= axis.size;
        }
        let mut all: Vec<(u32, u32)> = (0..m as u32)
            .map(|k| (place(&axes, k as usize) as u32, k))
            .filter(|&(place, _)| axes.iter().all(|axis| axis.exponent(place as usize) < axis.degree()))
            .collect();
        all.sort_unstable();
        let (places, exponents) = all.into_iter().unzip();
        Self { ring: *ring, binomials: ring.binomials(), axes, places, exponents }
    }

    /// The ring.
    #[must_use]
    pub fn ring(&self) -> &Cyclotomic {
        &self.ring
    }

    /// How much larger the mean square of a coefficient is, at most, than that of the values at the roots of unity divided by n:
    /// `4^w n^2 / m^2`, and 1 for powers of two.
    #[must_use]
    pub fn growth(ring: &Cyclotomic) -> f64 {
        let ratio = ring.degree() as f64 / f64::from(ring.index());
        distinct_prime_factors(ring.index().into()).iter().fold(ratio * ratio, |growth, _| 4.0 * growth)
    }

    /// Turns coefficients of powers of X into those in this basis.
    ///
    /// # Panics
    /// If there are not n words of each, or m words of scratch.
    pub fn write_powerful<T: Copy + Default>(
        &self,
        a: &[T],
        out: &mut [T],
        scratch: &mut [T],
        sub: impl Fn(T, T) -> T,
    ) {
        self.check(a, out, scratch);
        scratch.fill(T::default());
        a.iter().enumerate().for_each(|(k, &x)| scratch[place(&self.axes, k)] = x);
        for axis in &self.axes {
            // X_j^(degree + l) is minus the sum of X_j^(b m_j / p + l) over b below p - 1.
            let part = axis.size / axis.prime;
            for from in (0..scratch.len()).filter(|&from| axis.exponent(from) >= axis.degree()) {
                let first = from - axis.degree() * axis.stride;
                let lead = scratch[from];
                for b in 0..axis.prime - 1 {
                    let to = first + b * part * axis.stride;
                    scratch[to] = sub(scratch[to], lead);
                }
            }
        }
        out.iter_mut().zip(&self.places).for_each(|(out, &place)| *out = scratch[place as usize]);
    }

    /// Turns coefficients in this basis into those of powers of X.
    ///
    /// # Panics
    /// As [`PowerfulBasis::write_powerful`].
    pub fn write_powers<T: Copy + Default>(
        &self,
        a: &[T],
        out: &mut [T],
        scratch: &mut [T],
        add: impl Fn(T, T) -> T,
        sub: impl Fn(T, T) -> T,
    ) {
        self.check(a, out, scratch);
        scratch.fill(T::default());
        a.iter().zip(&self.exponents).for_each(|(&x, &k)| scratch[k as usize] = x);
        let times = |a: &mut [T], step, multiply| times_binomial(a, step, multiply, &add, &sub);
        remainder(&self.binomials, scratch, out, times, &sub);
    }

    fn check<T>(&self, a: &[T], out: &[T], scratch: &[T]) {
        let n = self.ring.degree();
        assert!(a.len() == n && out.len() == n, "n coefficients");
        assert_eq!(scratch.len(), self.ring.index() as usize, "m words of scratch");
    }
}

/// The place of `X^k`.
fn place(axes: &[Axis], k: usize) -> usize {
    axes.iter().map(|axis| k % axis.size * axis.stride).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_turned_into_each_other_and_products_are_tensors() {
        for m in [16u32, 9, 15, 20, 45, 63, 105, 210 / 2, 128] {
            let ring = Cyclotomic::new(m).expect("supported");
            let (basis, n, m) = (PowerfulBasis::new(&ring), ring.degree(), m as usize);
            let a: Vec<i64> = (0..n as i64).map(|i| (i * i * 7 + i) % 31 - 15).collect();
            let (mut powerful, mut back, mut scratch) = (vec![0; n], vec![0; n], vec![0; m]);
            basis.write_powerful(&a, &mut powerful, &mut scratch, |x, y| x - y);
            basis.write_powers(&powerful, &mut back, &mut scratch, |x, y| x + y, |x, y| x - y);
            assert_eq!(back, a, "index {m}");
            // Each element of the basis is the power of X that it says.
            for i in (0..n).step_by(5) {
                let mut unit = vec![0; n];
                unit[i] = 1;
                basis.write_powers(&unit, &mut back, &mut scratch, |x, y| x + y, |x, y| x - y);
                assert_eq!(back, ring.power(basis.exponents[i] as usize));
            }
        }
    }

    #[test]
    fn coefficients_grow_by_no_more_than_the_bound() {
        for m in [7u32, 16, 9, 15, 45, 105, 63] {
            let ring = Cyclotomic::new(m).expect("supported");
            let (basis, n) = (PowerfulBasis::new(&ring), ring.degree());
            // Row i of the inverse of the values at the roots: the values of the dual basis. Its largest square bounds the
            // mean square of a coefficient whatever the values of the roots are.
            let columns: Vec<Vec<i64>> = (0..m as usize)
                .map(|j| {
                    let (mut out, mut scratch) = (vec![0; n], vec![0; m as usize]);
                    basis.write_powerful(&ring.power(j), &mut out, &mut scratch, |x, y| x - y);
                    out
                })
                .collect();
            let mut most = 0.0f64;
            for e in ring.points() {
                for i in 0..n {
                    let angle = |j: usize| std::f64::consts::TAU * (j as f64 * f64::from(e) / f64::from(m));
                    let (re, im) = columns.iter().enumerate().fold((0.0, 0.0), |(re, im), (j, column)| {
                        (re + column[i] as f64 * angle(j).cos(), im + column[i] as f64 * angle(j).sin())
                    });
                    most = most.max((re * re + im * im) / f64::from(m).powi(2));
                }
            }
            let bound = PowerfulBasis::growth(&ring) / (n as f64).powi(2);
            assert!(most <= bound * (1.0 + 1e-9) && most > bound / 8.0, "index {m}: {most} {bound}");
        }
        assert_eq!(PowerfulBasis::growth(&Cyclotomic::new(1 << 12).expect("supported")), 1.0);
    }
}
