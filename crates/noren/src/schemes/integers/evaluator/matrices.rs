//! Matrices times vectors, by baby steps and giant steps.

use std::borrow::Borrow;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::hoisting::{self, Order, sum_giant_steps};

use crate::schemes::integers::content::Content;
use crate::schemes::integers::encryption::Ciphertext;
use crate::schemes::integers::evaluator::Evaluator;
use crate::schemes::integers::growth::GiantTerms;
use crate::schemes::integers::plaintext::Plaintext;
use crate::schemes::integers::scheme::Scheme;
use crate::schemes::slots::GiantStep;

impl<S: Scheme> Evaluator<S> {
    /// `sum_b rotate( sum_i factor_bi rotate(a, babies_i), rotation_b )` over the giant steps b and their terms.
    ///
    /// The baby steps share a decomposition, and nothing is divided by the special modulus before its time ("double
    /// hoisting"). Factors that were [prepared](crate::schemes::integers::encoder::Encoder::prepare_factor) for the limbs
    /// of `a` are not transformed again.
    ///
    /// # Errors
    /// [`Error::Length`] for no giant step or one without terms,
    /// [`IntegerError::NoiseExhausted`](crate::schemes::integers::IntegerError::NoiseExhausted) if the result may be
    /// wrong, [`Error::MissingKey`] names all keys that are missing.
    ///
    /// # Panics
    /// A term names a baby step that there is not.
    pub fn sum_giant_steps<F: Borrow<Plaintext>>(
        &self,
        a: &Ciphertext<S>,
        babies: &[isize],
        giants: &[GiantStep<F>],
    ) -> Result<Ciphertext<S>> {
        let exponent = |steps: isize| self.context.rotation_exponent(steps);
        let steps_taken = babies.iter().copied().chain(giants.iter().map(|giant| giant.rotation));
        let exponents = self.context.rotation_exponents(babies)?;
        let giants = giants.iter().map(|giant| Ok((exponent(giant.rotation)?, &giant.terms[..])));
        let content = steps_taken.fold(a.content(), |content, steps| content.rotated(steps));
        self.sum_giant_automorphisms(a, content, &exponents, &giants.collect::<Result<Vec<_>>>()?)
    }

    /// [`Evaluator::sum_giant_steps`] of automorphisms by their exponents, which leave the content `moved`.
    pub(crate) fn sum_giant_automorphisms<F: Borrow<Plaintext>>(
        &self,
        a: &Ciphertext<S>,
        moved: Content,
        babies: &[u32],
        giants: &[(u32, &[(usize, F)])],
    ) -> Result<Ciphertext<S>> {
        self.check_linear(a)?;
        let empty = |what| Error::Length { what, found: 0, needed: "at least 1".into() };
        if giants.is_empty() {
            return Err(empty("giant steps"));
        }
        if giants.iter().any(|(_, terms)| terms.is_empty()) {
            return Err(empty("products of a sum"));
        }
        let factors = || giants.iter().flat_map(|(_, terms)| *terms);
        factors().try_for_each(|(_, factor)| self.check_plain(factor.borrow()))?;
        let exponents: Vec<u32> = babies.iter().copied().chain(giants.iter().map(|&(giant, _)| giant)).collect();
        self.check_exponents(a, &exponents)?;
        let content = factors().try_fold(moved, |content, (_, p)| content.sum(p.borrow().content()))?;

        let limbs = a.limbs();
        let terms = |terms: &[(usize, F)]| {
            terms.iter().map(|(baby, factor)| (babies[*baby] != 1, factor.borrow().norms())).collect()
        };
        let noises = giants.iter().map(|&(giant, factors)| GiantTerms { moves: giant != 1, terms: terms(factors) });
        let state = self.growth().giant_steps(a.state(), &noises.collect::<Vec<_>>())?;
        let rescale = state.limbs < limbs;

        let ring = self.context.rlwe().ring_qp(limbs);
        let polys: Vec<Vec<_>> = giants
            .iter()
            .map(|(_, terms)| terms.iter().map(|(_, factor)| factor.borrow().factor_in(&ring)).collect())
            .collect();
        let steps = giants.iter().zip(&polys).map(|(&(automorphism, terms), polys)| hoisting::GiantStep {
            automorphism,
            terms: terms.iter().zip(polys).map(|((baby, _), poly)| (*baby, &**poly)).collect(),
        });
        let steps: Vec<_> = steps.collect();
        let rlwe = self.context.rlwe();
        let inner = sum_giant_steps(rlwe, &a.inner, babies, &steps, Order::Separate, &self.keys, rescale)?;
        self.keys.check_files()?;
        self.settled(self.result(inner, state, content))
    }
}
