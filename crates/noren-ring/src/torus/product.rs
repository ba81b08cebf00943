//! How products of polynomials over the torus are made.

use noren_math::kernels::aligned::AlignedVec;

use crate::error::Error;
use crate::torus::exact::ExactProduct;

/// A way to multiply polynomials of degree N over the torus with small ones.
#[derive(Debug, Clone)]
pub enum TorusProduct {
    /// Exact, modulo three primes.
    Exact(ExactProduct),
}

/// A small polynomial that many are multiplied with; wiped when dropped.
#[derive(Debug)]
pub struct SmallFactor {
    values: AlignedVec<u64>,
}

impl TorusProduct {
    /// The exact product of degree N.
    ///
    /// # Errors
    /// As [`ExactProduct::new`].
    pub fn exact(degree: usize) -> Result<Self, Error> {
        Ok(Self::Exact(ExactProduct::new(degree)?))
    }

    /// The degree N.
    #[must_use]
    pub const fn degree(&self) -> usize {
        match self {
            Self::Exact(product) => product.degree(),
        }
    }

    /// Prepares a polynomial of small coefficients. Range: in `[-1, 1]`.
    ///
    /// # Panics
    /// If there are not N coefficients.
    #[must_use]
    pub fn small_factor(&self, coefficients: &[i64]) -> SmallFactor {
        let Self::Exact(product) = self;
        let mut values = AlignedVec::zeroed(product.words());
        product.forward_small(&mut values, coefficients);
        SmallFactor { values }
    }

    /// `out += a s` modulo `2^64`, exactly, whatever the way of products.
    ///
    /// # Panics
    /// If a length is not N.
    pub fn mul_small_add(&self, out: &mut [u64], a: &[u64], s: &SmallFactor) {
        let Self::Exact(product) = self;
        let mut transformed = AlignedVec::zeroed(product.words());
        let mut scratch = AlignedVec::zeroed(product.words());
        product.forward(&mut transformed, a);
        product.add_products(out, &transformed, &s.values, product.words(), &mut scratch);
        scratch.wipe();
    }
}

impl Drop for SmallFactor {
    fn drop(&mut self) {
        self.values.wipe();
    }
}
