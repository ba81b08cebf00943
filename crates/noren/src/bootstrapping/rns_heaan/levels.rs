//! Products that use a double level: two primes instead of one.

use noren_rlwe::error::{Error, Result};
use num_complex::Complex64;

use crate::bootstrapping::rns_heaan::parameters::limb_level;
use crate::schemes::ckks::{Ciphertext, Evaluator, Scale};

/// Operations on ciphertexts of an even number of limbs: the ciphertext of *double level* l has `2 l + 2`.
///
/// Nothing here follows the canonical scales of single levels. At those of
/// [`Parameters::scale_at`](crate::bootstrapping::rns_heaan::Parameters::scale_at), products stay at them.
#[derive(Clone, Copy)]
pub struct DoubleLevels<'a> {
    evaluator: &'a Evaluator,
}

impl<'a> DoubleLevels<'a> {
    /// Operations with the keys of an evaluator.
    #[must_use]
    pub const fn new(evaluator: &'a Evaluator) -> Self {
        Self { evaluator }
    }

    /// The double level of a ciphertext: a single limb above it is not counted.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`] if there is one limb only.
    pub fn level(self, a: &Ciphertext) -> Result<usize> {
        a.level().checked_sub(1).map(|left| left / 2).ok_or(Error::LevelExhausted { needed: 1, left: 0 })
    }

    /// Divides by two primes: the scale becomes `scale / Q_l`, the double level `l - 1`.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`] at double level 0.
    pub fn rescale(self, a: &Ciphertext) -> Result<Ciphertext> {
        self.evaluator.rescale(&self.evaluator.rescale(a)?)
    }

    /// `a b`, one double level down. Both are of one double level.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`], and as [`Evaluator::mul`].
    pub fn mul(self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        if a.level() != b.level() {
            return Err(Error::LevelMismatch { left: a.level(), right: b.level() });
        }
        self.evaluator.rescale(&self.evaluator.mul(a, b)?)
    }

    /// `a a`, one double level down.
    ///
    /// # Errors
    /// As [`Evaluator::square`].
    pub fn square(self, a: &Ciphertext) -> Result<Ciphertext> {
        self.evaluator.rescale(&self.evaluator.square(a)?)
    }

    /// [`Evaluator::combine`] at a double level.
    ///
    /// # Errors
    /// As [`Evaluator::combine`].
    pub fn combine(
        self,
        terms: &[(&Ciphertext, Complex64)],
        constant: Complex64,
        level: usize,
        target: &Scale,
    ) -> Result<Ciphertext> {
        let (between, scale) = self.between(level, target)?;
        self.last(&self.evaluator.combine(terms, constant, between, &scale)?, target)
    }

    /// [`Evaluator::dot_combine`] at a double level.
    ///
    /// # Errors
    /// As [`Evaluator::dot_combine`].
    pub fn dot_combine(
        self,
        products: &[(&Ciphertext, &Ciphertext)],
        terms: &[(&Ciphertext, Complex64)],
        constant: Complex64,
        level: usize,
        target: &Scale,
    ) -> Result<Ciphertext> {
        let (between, scale) = self.between(level, target)?;
        self.last(&self.evaluator.dot_combine(products, terms, constant, between, &scale)?, target)
    }

    /// The level one limb above a double level, and the scale there that becomes this one.
    fn between(self, level: usize, target: &Scale) -> Result<(usize, Scale)> {
        let (level, parameters) = (limb_level(level) + 1, self.evaluator.context().parameters());
        if level > parameters.max_level() {
            return Err(Error::LevelExhausted { needed: level, left: parameters.max_level() });
        }
        Ok((level, target.mul_u64(parameters.prime(level))))
    }

    /// The second of two rescalings, to a scale that it leads to up to `2^-100`.
    fn last(self, a: &Ciphertext, target: &Scale) -> Result<Ciphertext> {
        let rescaled = self.evaluator.rescale(a)?;
        let estimate = rescaled.estimate().clone();
        Ok(rescaled.read_at(*target, estimate))
    }
}
