//! The canonical embedding of polynomials: their values at the primitive m-th roots of unity.

use std::f64::consts::PI;

use crate::cyclotomic::Cyclotomic;
use crate::kernels::Kernels;
use crate::roots::fft::FftTable;

/// The canonical norm of polynomials modulo `Phi_m`, `max_j |a(exp(2 pi i j/m))|` over the units j modulo m, by Bluestein's
/// algorithm.
///
/// With `w(t) = exp(pi i t^2/m)` the values are `a(exp(2 pi i j/m)) = w(j) sum_k a_k w(k) / w(j - k)`: a convolution with the
/// values of 1/w, of which those at -j are conjugates for real a. It is taken modulo `X^L - i`, whose roots are those of the
/// special FFT, for the least power of two L with `L >= n + floor(m/2)`.
///
/// Source: Bluestein, 1970; Halevi and Shoup, "Design and implementation of HElib", eprint 2020/1481, for the norm.
///
/// # Examples
/// ```
/// use noren_math::cyclotomic::Cyclotomic;
/// use noren_math::embedding::Embedding;
///
/// // |1 + zeta| is largest next to 1.
/// let norm = Embedding::new(&Cyclotomic::new(15)?).norm(&[1.0, 1.0]);
/// assert!((norm - 2.0 * (std::f64::consts::PI / 15.0).cos()).abs() < 1e-12);
/// # Ok::<(), noren_math::error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Embedding {
    ring: Cyclotomic,
    fft: FftTable,
    /// w(k) for the coefficients.
    chirp: [Vec<f64>; 2],
    /// The transform of the values of 1/w.
    filter: [Vec<f64>; 2],
    /// The units j up to m/2.
    units: Vec<usize>,
    /// The real and imaginary parts of their roots `exp(2 pi i j/m)`.
    roots: [Vec<f64>; 2],
}

impl Embedding {
    /// The embedding of a ring.
    ///
    /// # Panics
    /// For an index above 2^16, whose convolutions are longer than the FFT.
    #[must_use]
    pub fn new(ring: &Cyclotomic) -> Self {
        let (m, n) = (ring.index() as usize, ring.degree());
        let half = m / 2;
        let fft = FftTable::new((n + half).next_power_of_two());
        let root = |t: usize| {
            // t^2 modulo 2m, exactly.
            let angle = PI * ((t * t) % (2 * m)) as f64 / m as f64;
            [libm::cos(angle), libm::sin(angle)]
        };
        let split = |values: Vec<[f64; 2]>| [0, 1].map(|i| values.iter().map(|value| value[i]).collect());
        let mut filter = vec![[0.0; 2]; fft.slots()];
        for (t, value) in filter.iter_mut().enumerate().take(half + 1) {
            let [re, im] = root(t);
            *value = [re, -im];
        }
        // X^(-t) is -i X^(L - t).
        for t in 1..n {
            let [re, im] = root(t);
            filter[fft.slots() - t] = [-im, -re];
        }
        let [mut re, mut im]: [Vec<f64>; 2] = split(filter);
        fft.forward(&mut re, &mut im);
        let units: Vec<usize> = (1..=half.max(1)).filter(|&j| ring.inverse(j as u32).is_ok()).collect();
        let unit_root = |&j: &usize| {
            let angle = 2.0 * PI * j as f64 / m as f64;
            [libm::cos(angle), libm::sin(angle)]
        };
        let roots = split(units.iter().map(unit_root).collect());
        Self { ring: *ring, fft, chirp: split((0..n).map(root).collect()), filter: [re, im], units, roots }
    }

    /// The largest absolute value of a polynomial with at most n coefficients at a primitive root. The error relative to the
    /// sum of the absolute coefficients is of the order of `log2(n) 2^-53`.
    ///
    /// # Panics
    /// For more than n coefficients.
    #[must_use]
    pub fn norm(&self, a: &[f64]) -> f64 {
        assert!(a.len() <= self.ring.degree(), "a polynomial of at most {} coefficients", self.ring.degree());
        let [mut re, mut im] = [vec![0.0; self.fft.slots()], vec![0.0; self.fft.slots()]];
        let chirp = self.chirp[0].iter().zip(&self.chirp[1]);
        for ((x, (c, s)), (re, im)) in a.iter().zip(chirp).zip(re.iter_mut().zip(&mut im)) {
            (*re, *im) = (x * c, x * s);
        }
        self.fft.forward(&mut re, &mut im);
        let filter = self.filter[0].iter().zip(&self.filter[1]);
        for ((re, im), (c, s)) in re.iter_mut().zip(&mut im).zip(filter) {
            (*re, *im) = (*re * c - *im * s, *re * s + *im * c);
        }
        self.fft.inverse(&mut re, &mut im);
        // The factors w(j) have no part in absolute values.
        let squares = self.units.iter().map(|&j| re[j] * re[j] + im[j] * im[j]);
        squares.fold(0.0, f64::max).sqrt()
    }

    /// [`Embedding::norm`] by Horner's rule at each root, in `O(n^2)` steps: the oracle.
    ///
    /// # Panics
    /// As [`Embedding::norm`].
    #[must_use]
    pub fn norm_by_horner(&self, a: &[f64], kernels: &Kernels) -> f64 {
        assert!(a.len() <= self.ring.degree(), "a polynomial of at most {} coefficients", self.ring.degree());
        let [mut re, mut im] = [vec![0.0; self.units.len()], vec![0.0; self.units.len()]];
        kernels.horner(&mut re, &mut im, a, [&self.roots[0], &self.roots[1]]);
        let squares = re.iter().zip(&im).map(|(re, im)| re * re + im * im);
        squares.fold(0.0, f64::max).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::kernels;
    use crate::random::Seed;

    #[test]
    fn norms_are_those_of_horners_rule() {
        let mut xof = Seed::from_bytes([3; 32]).xof("test/embedding");
        for m in [3, 5, 12, 15, 16, 21, 28, 45, 63, 105, 256, 511, 2047] {
            let ring = Cyclotomic::new(m).expect("an index");
            let embedding = Embedding::new(&ring);
            for length in [0, 1, ring.degree() / 2, ring.degree()] {
                let a: Vec<f64> = (0..length).map(|_| (xof.next_u64() >> 44) as f64 - 524_288.0).collect();
                let (found, expected) = (embedding.norm(&a), embedding.norm_by_horner(&a, kernels()));
                assert!((found - expected).abs() <= 1e-9 * expected, "index {m}, {length}: {found}, {expected}");
            }
        }
    }
}
