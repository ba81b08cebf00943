//! How products of polynomials over the torus are made.

use noren_math::kernels::aligned::AlignedVec;
use noren_math::torus::fft::TorusFft;

use crate::error::Error;
use crate::torus::exact::ExactProduct;

/// Products of polynomials of degree N over the torus with small ones.
#[derive(Debug, Clone)]
pub struct TorusProduct {
    exact: ExactProduct,
    /// How external products are made, unless exactly.
    fast: Option<TorusFft>,
}

/// A small polynomial that many are multiplied with; wiped when dropped.
#[derive(Debug)]
pub struct SmallFactor {
    values: AlignedVec<u64>,
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

    /// Prepares a polynomial of small coefficients. Range: in `[-1, 1]`.
    ///
    /// # Panics
    /// If there are not N coefficients.
    #[must_use]
    pub fn small_factor(&self, coefficients: &[i64]) -> SmallFactor {
        let mut values = AlignedVec::zeroed(self.exact.words());
        self.exact.forward_small(&mut values, coefficients);
        SmallFactor { values }
    }

    /// `out += a s` modulo `2^64`, exactly, whatever the way of external products.
    ///
    /// # Panics
    /// If a length is not N.
    pub fn mul_small_add(&self, out: &mut [u64], a: &[u64], s: &SmallFactor) {
        let words = self.exact.words();
        let mut transformed = AlignedVec::zeroed(words);
        let mut scratch = AlignedVec::zeroed(words);
        self.exact.forward(&mut transformed, a);
        self.exact.add_products(out, &transformed, &s.values, words, &mut scratch);
        scratch.wipe();
    }

    pub(crate) const fn transforms(&self) -> (&ExactProduct, Option<&TorusFft>) {
        (&self.exact, self.fast.as_ref())
    }
}

impl Drop for SmallFactor {
    fn drop(&mut self) {
        self.values.wipe();
    }
}
