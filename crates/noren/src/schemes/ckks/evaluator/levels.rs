//! Levels and scales: dropping limbs, and bringing operands to one level and scale.

use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::Result;
use noren_rlwe::linear;

use crate::schemes::ckks::content::Content;
use crate::schemes::ckks::encryption::Ciphertext;
use crate::schemes::ckks::error::CkksError;
use crate::schemes::ckks::estimate::Estimate;
use crate::schemes::ckks::evaluator::{Evaluator, check_levels};
use crate::schemes::ckks::names;
use crate::schemes::ckks::noise;
use crate::schemes::ckks::scale::Scale;

impl Evaluator {
    /// Divides by the last prime: the scale becomes `scale / q_l`, the level `l - 1`, and the message stays.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`](noren_rlwe::error::Error::LevelExhausted) at level 0.
    pub fn rescale(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.check(a)?;
        check_levels(1, a.level())?;
        let tag = names::rescaled(a.estimate().tag());
        self.rescaled(a.clone().estimated(|estimate| estimate.named(tag)))
    }

    /// The same message at a lower level, at the canonical scale of that level; at its own level it stays as it is.
    ///
    /// Limbs are dropped down to level `l' + 1`, the polynomial is multiplied by the integer nearest to
    /// `S_{l'} q_{l'+1} / scale`, and rescaled. What the integer misses counts as a systematic error: about `2^-40` of
    /// the message.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`](noren_rlwe::error::Error::LevelExhausted) if the level is above that of `a`,
    /// [`CkksError::ScaleMismatch`] if the scale of `a` is so large that the integer would be 0.
    pub fn at_level(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext> {
        self.check(a)?;
        check_levels(level, a.level())?;
        if level == a.level() {
            return Ok(a.clone());
        }
        self.at_level_and_scale(a, level, self.context.parameters().scale_at(level))
    }

    /// Both operands at one level and one scale, so that they can be added.
    ///
    /// Different levels: the higher operand goes to the level and the scale of the lower one. The same level, different
    /// scales: both go one level down, to the canonical scale there.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`](noren_rlwe::error::Error::LevelExhausted) if both are at level 0 and their scales
    /// differ; [`CkksError::ScaleMismatch`] as [`Evaluator::at_level`].
    pub fn align(&self, a: &Ciphertext, b: &Ciphertext) -> Result<(Ciphertext, Ciphertext)> {
        self.check_pair(a, b)?;
        if a.level() > b.level() {
            return Ok((self.at_level_and_scale(a, b.level(), b.scale())?, b.clone()));
        }
        if a.level() < b.level() {
            return Ok((a.clone(), self.at_level_and_scale(b, a.level(), a.scale())?));
        }
        if super::check_scales(a.scale(), b.scale()).is_ok() {
            return Ok((a.clone(), b.clone()));
        }
        check_levels(1, a.level())?;
        Ok((self.at_level(a, a.level() - 1)?, self.at_level(b, b.level() - 1)?))
    }

    /// The same polynomial modulo fewer primes: the scale stays, so it is not canonical afterwards.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`](noren_rlwe::error::Error::LevelExhausted) if the level is above that of `a`.
    pub fn drop_level(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext> {
        self.check(a)?;
        check_levels(level, a.level())?;
        let inner = restricted(&self.ring(level), a);
        Ok(self.of_one(a, inner, *a.scale(), a.estimate().clone().settled()))
    }

    /// The message of `a` at a lower level and any scale.
    pub(super) fn at_level_and_scale(&self, a: &Ciphertext, level: usize, scale: &Scale) -> Result<Ciphertext> {
        let before = scale.mul_u64(self.context.parameters().prime(level + 1));
        let ratio = before.div(a.scale());
        let Some((factor, miss)) = ratio.round_multiple(1.0).filter(|&(factor, _)| factor > 0) else {
            return Err(CkksError::ScaleMismatch { left_log2: a.scale().log2(), right_log2: scale.log2() }.into());
        };
        let ring = self.ring(level + 1);
        let inner = multiple(&ring, a, factor);
        let tag = names::lowered(a.estimate().tag(), level, scale);
        let estimate = a.estimate().clone().with_bias(miss.abs() * a.magnitude()).named(tag);
        let lowered = linear::rescale(self.context.rlwe(), inner)?;
        let estimate = noise::rescaled(estimate, self.context.parameters().rlwe(), scale);
        Ok(self.of_one(a, lowered, *scale, estimate))
    }

    /// [`Evaluator::rescale`] of a result that is not needed otherwise.
    fn rescaled(&self, a: Ciphertext) -> Result<Ciphertext> {
        let estimate = a.estimate().clone().settled();
        self.divided(a, estimate)
    }

    /// The same of a product that nobody saw: its modulus holds the message if that of the result does, of which a smaller bound
    /// may be known yet.
    pub(super) fn divided_product(&self, a: Ciphertext) -> Result<Ciphertext> {
        let estimate = a.estimate().clone();
        self.divided(a, estimate)
    }

    fn divided(&self, a: Ciphertext, estimate: Estimate) -> Result<Ciphertext> {
        let scale = a.scale().div_u64(self.context.parameters().prime(a.level()));
        let estimate = noise::rescaled(estimate, self.context.parameters().rlwe(), &scale);
        let content = Content::slot_by_slot(a.content(), [], estimate);
        Ok(self.result(linear::rescale(self.context.rlwe(), a.into_inner())?, scale, content))
    }
}

/// The limbs of a ring times an integer.
pub(super) fn multiple(ring: &Ring, a: &Ciphertext, factor: i128) -> rlwe::Ciphertext {
    let residues = ring.integer_residues(factor);
    let multiple = |part: &Poly<Eval>| {
        if part.window() == ring.range() {
            return ring.mul_scalar(part, &residues);
        }
        let mut part = ring.restrict(part);
        ring.mul_scalar_assign(&mut part, &residues);
        part
    };
    rlwe::Ciphertext::new(a.rlwe().parts().iter().map(multiple).collect(), a.key_id())
}

/// A copy of the limbs of a ring.
fn restricted(ring: &Ring, a: &Ciphertext) -> rlwe::Ciphertext {
    rlwe::Ciphertext::new(a.rlwe().parts().iter().map(|part| ring.restrict(part)).collect(), a.key_id())
}
