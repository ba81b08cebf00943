//! Matrices times vectors, by baby steps and giant steps.

use std::borrow::Borrow;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::hoisting::{self, Order, sum_giant_steps};

use crate::schemes::ckks::encryption::Ciphertext;
use crate::schemes::ckks::estimate::Estimate;
use crate::schemes::ckks::evaluator::products::sum_of_products;
use crate::schemes::ckks::evaluator::rotations::rotated;
use crate::schemes::ckks::evaluator::{Evaluator, check_levels, check_slots};
use crate::schemes::ckks::factor::Factor;
use crate::schemes::ckks::noise;
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
    /// [`Error::LevelMismatch`] for a factor of another level, [`Error::Parameters`] for one of fewer special primes
    /// than the keys use, [`CkksError::ScaleMismatch`](crate::ckks::CkksError::ScaleMismatch) for one of another scale
    /// than the first, [`Error::MissingKey`] names all keys that are missing.
    ///
    /// # Panics
    /// A term names a baby step that there is not.
    pub fn sum_giant_steps<F: Borrow<Factor>>(
        &self,
        a: &Ciphertext,
        babies: &[isize],
        giants: &[GiantStep<F>],
    ) -> Result<Ciphertext> {
        self.sum_giants(a, babies, giants, Order::Separate)
    }

    /// `S_0 + rotate(S_1 + rotate(S_2 + .., rotation_2), rotation_1)` for the sums `S_b` of [`Evaluator::sum_giant_steps`]:
    /// where all rotations are one, they need one key. The sums are of the giant steps in order, the first of rotation 0.
    ///
    /// It costs about as much, but every step waits for the one before it, and its errors go through all that follow.
    ///
    /// # Errors
    /// As [`Evaluator::sum_giant_steps`], and [`Error::Parameters`] if the first step has a rotation or a later one has none.
    ///
    /// # Panics
    /// A term names a baby step that there is not.
    pub fn sum_giant_steps_in_turn<F: Borrow<Factor>>(
        &self,
        a: &Ciphertext,
        babies: &[isize],
        giants: &[GiantStep<F>],
    ) -> Result<Ciphertext> {
        for (i, giant) in giants.iter().enumerate() {
            if (self.exponent(a, giant.rotation) == 1) != (i == 0) {
                return Err(Error::parameter("rotation of a giant step", giant.rotation, "0 for the first alone"));
            }
        }
        self.sum_giants(a, babies, giants, Order::InTurn)
    }

    fn sum_giants<F: Borrow<Factor>>(
        &self,
        a: &Ciphertext,
        babies: &[isize],
        giants: &[GiantStep<F>],
        order: Order,
    ) -> Result<Ciphertext> {
        self.check(a)?;
        check_levels(1, a.level())?;
        for giant in giants {
            giant.terms.iter().try_for_each(|(_, factor)| self.check_factor(a, factor.borrow()))?;
        }
        let steps_taken: Vec<isize> = babies.iter().copied().chain(giants.iter().map(|giant| giant.rotation)).collect();
        self.check_rotations(a, &steps_taken)?;
        let (scale, estimate) = self.estimate_giant_steps(a, babies, giants, order)?;

        let exponents: Vec<u32> = babies.iter().map(|&steps| self.exponent(a, steps)).collect();
        let steps = giants.iter().map(|giant| hoisting::GiantStep {
            automorphism: self.exponent(a, giant.rotation),
            terms: giant.terms.iter().map(|(baby, factor)| (*baby, factor.borrow().rlwe())).collect(),
        });
        let steps: Vec<_> = steps.collect();
        let inner = sum_giant_steps(self.context.rlwe(), a.rlwe(), &exponents, &steps, order, &self.keys, true)?;
        self.keys.check_files()?;
        let parameters = self.context.parameters();
        let scale = scale.div_u64(parameters.prime(a.level()));
        let factors = giants.iter().flat_map(|giant| &giant.terms).map(|(_, factor)| factor.borrow().content());
        let estimate = noise::rescaled(estimate, parameters.rlwe(), &scale);
        Ok(self.result(inner, scale, a.content().diagonals(steps_taken, factors, estimate)))
    }

    /// The scale and the estimate before rescaling.
    fn estimate_giant_steps<F: Borrow<Factor>>(
        &self,
        a: &Ciphertext,
        babies: &[isize],
        giants: &[GiantStep<F>],
        order: Order,
    ) -> Result<(Scale, Estimate)> {
        let (parameters, limbs, shape) = (self.context.parameters().rlwe(), a.rlwe().limbs(), self.keys.shape());
        let moves = |steps: isize| steps % a.slots() as isize != 0;
        let baby = |&steps: &isize| {
            let image = rotated(a.estimate(), steps, a.slots());
            if moves(steps) { noise::undivided(image, parameters, a.scale(), limbs, shape) } else { Ok(image) }
        };
        let images: Vec<Estimate> = babies.iter().map(baby).collect::<Result<_>>()?;
        let inner = |giant: &GiantStep<F>| {
            let product = |(baby, factor): &(usize, F)| {
                let factor: &Factor = factor.borrow();
                (a.scale().mul(factor.scale()), images[*baby].product(factor.estimate()))
            };
            sum_of_products(giant.terms.iter().map(product))
        };
        let outer = |(scale, inner): (Scale, Estimate), rotation: isize| {
            let outer = rotated(&inner, rotation, a.slots());
            if !moves(rotation) {
                return Ok((scale, outer));
            }
            let divided = noise::second_part_rounded(outer, parameters, &scale);
            Ok::<_, Error>((scale, noise::undivided(divided, parameters, &scale, limbs, shape)?))
        };
        if order == Order::Separate {
            let outer = giants.iter().map(|giant| outer(inner(giant)?, giant.rotation));
            return sum_of_products(outer.collect::<Result<Vec<_>>>()?.into_iter());
        }
        let mut sum: Option<(Scale, Estimate)> = None;
        for giant in giants.iter().rev() {
            let terms = sum.into_iter().chain([inner(giant)?]);
            sum = Some(outer(sum_of_products(terms)?, giant.rotation)?);
        }
        sum.ok_or_else(|| Error::Length { what: "giant steps", found: 0, needed: "at least 1".into() })
    }

    fn check_factor(&self, a: &Ciphertext, factor: &Factor) -> Result<()> {
        self.context.check(factor.parameters(), "the factor")?;
        check_slots(factor.slots(), a.slots())?;
        let (found, needed) = (factor.special(), self.keys.shape().special);
        if found < needed {
            return Err(Error::parameter(
                "special primes of the factor",
                found,
                format!("at least the {needed} of the keys"),
            ));
        }
        if factor.level() == a.level() {
            return Ok(());
        }
        Err(Error::LevelMismatch { left: a.level(), right: factor.level() })
    }
}
