//! Matrices times vectors, by baby steps and giant steps.

use std::borrow::Borrow;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::hoisting::{self, sum_giant_steps_rescale};

use crate::schemes::ckks::encryption::Ciphertext;
use crate::schemes::ckks::estimate::Estimate;
use crate::schemes::ckks::evaluator::products::sum_of_products;
use crate::schemes::ckks::evaluator::rotations::rotated;
use crate::schemes::ckks::evaluator::{Evaluator, check_levels, check_slots};
use crate::schemes::ckks::factor::Factor;
use crate::schemes::ckks::noise;
use crate::schemes::ckks::parameters::parameter;
use crate::schemes::ckks::scale::Scale;
use crate::schemes::slots::GiantStep;

impl Evaluator {
    /// `sum_b rotate( sum_i factor_bi rotate(a, babies_i), rotation_b )` over the giant steps b and their terms, with one
    /// rescaling: one level down. All factors are of the level of `a`, and of one scale.
    ///
    /// The baby steps share a decomposition, and nothing is divided by the special modulus before its time ("double
    /// hoisting"): one polynomial for each giant step with a rotation, and two in the end.
    ///
    /// The scale is `scale_a scale_factor / q_l`: with factors encoded at `target q_l / scale_a` it is any target, up to
    /// `2^-100`.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`] at level 0, [`Error::Length`] for no giant step or one without terms,
    /// [`Error::LevelMismatch`] for a factor of another level, [`Error::Parameters`] for one of fewer special primes than the
    /// keys use, [`Error::ScaleMismatch`] for one of another scale than the first, [`Error::MissingKey`] names all keys that
    /// are missing.
    ///
    /// # Panics
    /// A term names a baby step that there is not.
    pub fn sum_giant_steps<F: Borrow<Factor>>(
        &self,
        a: &Ciphertext,
        babies: &[isize],
        giants: &[GiantStep<F>],
    ) -> Result<Ciphertext> {
        self.check(a)?;
        check_levels(1, a.level())?;
        for giant in giants {
            giant.terms.iter().try_for_each(|(_, factor)| self.check_factor(a, factor.borrow()))?;
        }
        let steps: Vec<isize> = babies.iter().copied().chain(giants.iter().map(|giant| giant.rotation)).collect();
        self.check_rotations(a, &steps)?;
        let (scale, estimate) = self.estimate_giant_steps(a, babies, giants)?;

        let exponents: Vec<u32> = babies.iter().map(|&steps| self.exponent(a, steps)).collect();
        let steps = giants.iter().map(|giant| hoisting::GiantStep {
            automorphism: self.exponent(a, giant.rotation),
            terms: giant.terms.iter().map(|(baby, factor)| (*baby, &factor.borrow().inner)).collect(),
        });
        let steps: Vec<_> = steps.collect();
        let inner = sum_giant_steps_rescale(self.context.rlwe(), &a.inner, &exponents, &steps, &self.keys)?;
        let parameters = self.context.parameters();
        let scale = scale.div_u64(parameters.prime(a.level()));
        Ok(self.result(a, inner, scale, noise::rescaled(estimate, parameters.rlwe(), &scale)))
    }

    /// The scale and the estimate before rescaling.
    fn estimate_giant_steps<F: Borrow<Factor>>(
        &self,
        a: &Ciphertext,
        babies: &[isize],
        giants: &[GiantStep<F>],
    ) -> Result<(Scale, Estimate)> {
        let (parameters, limbs, shape) = (self.context.parameters().rlwe(), a.inner.limbs(), self.keys.shape());
        let moves = |steps: isize| steps % a.slots as isize != 0;
        let baby = |&steps: &isize| {
            let image = rotated(&a.estimate, steps, a.slots);
            if moves(steps) { noise::undivided(image, parameters, &a.scale, limbs, shape) } else { Ok(image) }
        };
        let images: Vec<Estimate> = babies.iter().map(baby).collect::<Result<_>>()?;
        let outer = |giant: &GiantStep<F>| {
            let product = |(baby, factor): &(usize, F)| {
                let factor: &Factor = factor.borrow();
                (a.scale.mul(&factor.scale), images[*baby].product(&factor.estimate))
            };
            let (scale, inner) = sum_of_products(giant.terms.iter().map(product))?;
            let outer = rotated(&inner, giant.rotation, a.slots);
            if !moves(giant.rotation) {
                return Ok((scale, outer));
            }
            let divided = noise::second_part_rounded(outer, parameters, &scale);
            Ok((scale, noise::undivided(divided, parameters, &scale, limbs, shape)?))
        };
        let outer: Vec<(Scale, Estimate)> = giants.iter().map(outer).collect::<Result<_>>()?;
        sum_of_products(outer.into_iter())
    }

    fn check_factor(&self, a: &Ciphertext, factor: &Factor) -> Result<()> {
        self.context.check(&factor.parameters, "the factor")?;
        check_slots(factor.slots, a.slots)?;
        let (found, needed) = (factor.special(), self.keys.shape().special);
        if found < needed {
            return Err(parameter("special primes of the factor", found, format!("at least the {needed} of the keys")));
        }
        if factor.level() == a.level() {
            return Ok(());
        }
        Err(Error::LevelMismatch { left: a.level(), right: factor.level() })
    }
}
