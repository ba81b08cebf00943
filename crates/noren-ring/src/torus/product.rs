//! How products of polynomials over the torus are made.

use noren_math::machine::aligned::AlignedVec;
use noren_math::roots::torus::TorusFft;
use noren_math::torus_products::exact::SmallSpectrum;

use crate::error::Error;
use crate::torus::exact::ExactProduct;

/// Products of polynomials of degree N over the torus with small ones.
#[derive(Debug, Clone)]
pub struct TorusProduct {
    exact: ExactProduct,
    /// How external products are made, unless exactly.
    fast: Option<TorusFft>,
}

/// One or several small polynomials that many are multiplied with; wiped when dropped.
#[derive(Debug)]
pub struct SmallFactor(Factor);

#[derive(Debug)]
enum Factor {
    /// Modulo primes, `[count, primes, N]`.
    Exact(Wiped),
    Fourier(SmallSpectrum),
}

impl TorusProduct {
    /// Products of degree N whose external products go through `f64`, with an error far below the noise of samples.
    ///
    /// # Errors
    /// [`Error::Math`] if N is not a degree that exact products support.
    ///
    /// # Panics
    /// If N is not one of those that [`TorusFft`] supports.
    pub fn new(degree: usize) -> Result<Self, Error> {
        Ok(Self { exact: ExactProduct::new(degree)?, fast: Some(TorusFft::new(degree)) })
    }

    /// Products of degree N that are all exact: the oracle of the others.
    ///
    /// # Errors
    /// [`Error::Math`] if N is not a degree that exact products support.
    pub fn exact(degree: usize) -> Result<Self, Error> {
        Ok(Self { exact: ExactProduct::new(degree)?, fast: None })
    }

    /// The degree N.
    #[must_use]
    pub const fn degree(&self) -> usize {
        self.exact.degree()
    }

    /// Whether external products are exact.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        self.fast.is_none()
    }

    /// Prepares polynomials of small coefficients. Shape: `[count, N]`. Range: in `[-1, 1]`.
    ///
    /// # Panics
    /// If the length is not that of 1 to 64 polynomials.
    #[must_use]
    pub fn small_factor(&self, coefficients: &[i64]) -> SmallFactor {
        if let Some(fft) = &self.fast {
            return SmallFactor(Factor::Fourier(fft.small_spectrum(coefficients, 1)));
        }
        let (n, words) = (self.degree(), self.exact.words());
        assert!(coefficients.len().is_multiple_of(n), "polynomials of degree {n}");
        let count = coefficients.len() / n;
        assert!(self.exact.holds(count, 1), "sums of {count} products are too large");
        let mut values = AlignedVec::zeroed(count * words);
        for (values, coefficients) in values.chunks_exact_mut(words).zip(coefficients.chunks_exact(n)) {
            self.exact.forward_small(values, coefficients);
        }
        SmallFactor(Factor::Exact(Wiped(values)))
    }

    /// `out += sum_r a_r s_r` modulo `2^64`, exactly, whatever the way of external products. Shape: `a` is `[count, N]`.
    ///
    /// # Panics
    /// If a length is not N, or that of the polynomials that were prepared; if the factors are of other products.
    pub fn mul_small_add(&self, out: &mut [u64], a: &[u64], s: &SmallFactor) {
        match (&s.0, &self.fast) {
            (Factor::Fourier(small), Some(fft)) => fft.mul_small_add(out, a, small),
            (Factor::Exact(values), None) => {
                let (n, words) = (self.degree(), self.exact.words());
                assert_eq!(a.len() * words, values.0.len() * n, "a polynomial for each small one");
                let mut transformed = AlignedVec::zeroed(values.0.len());
                let mut scratch = Wiped(AlignedVec::zeroed(words));
                for (transformed, a) in transformed.chunks_exact_mut(words).zip(a.chunks_exact(n)) {
                    self.exact.forward(transformed, a);
                }
                self.exact.add_products(out, &transformed, &values.0, words, &mut scratch.0);
            }
            _ => panic!("factors of other products"),
        }
    }

    pub(crate) const fn transforms(&self) -> (&ExactProduct, Option<&TorusFft>) {
        (&self.exact, self.fast.as_ref())
    }
}

/// Coefficients that are wiped on drop.
#[derive(Debug)]
struct Wiped(AlignedVec<u64>);

impl Drop for Wiped {
    fn drop(&mut self) {
        self.0.wipe();
    }
}
