//! Rotations of both rows, and their swap.

use noren_rlwe::error::Result;
use noren_rlwe::galois::{apply_automorphism, apply_automorphisms, sum_automorphisms_in_steps};

use crate::schemes::integers::encryption::Ciphertext;
use crate::schemes::integers::evaluator::Evaluator;
use crate::schemes::integers::scheme::Scheme;

impl<S: Scheme> Evaluator<S> {
    /// Slot c of each row of the result is slot `c + steps` of that row of `a`, indices modulo n/2.
    ///
    /// # Errors
    /// [`Error::MissingKey`](noren_rlwe::error::Error::MissingKey) and
    /// [`Error::KeyLevel`](noren_rlwe::error::Error::KeyLevel) if the key of this rotation is missing or too short,
    /// [`Error::DegreeTooHigh`](noren_rlwe::error::Error::DegreeTooHigh) if `a` must be relinearised first.
    pub fn rotate(&self, a: &Ciphertext<S>, steps: isize) -> Result<Ciphertext<S>> {
        let image = self.image(a, self.context.rotation_exponent(steps)?)?;
        Ok(image.holding(a.content().rotated(steps)))
    }

    /// The rotations of `a` by all of `steps`, in their order: the digits of `a` are made only once.
    ///
    /// # Errors
    /// As [`Evaluator::rotate`]; a missing key is told with all others that are missing.
    pub fn rotate_many(&self, a: &Ciphertext<S>, steps: &[isize]) -> Result<Vec<Ciphertext<S>>> {
        let exponents = self.context.rotation_exponents(steps)?;
        self.check_exponents(a, &exponents)?;
        let images = apply_automorphisms(self.context.rlwe(), &a.inner, &exponents, &self.keys)?;
        self.keys.check_files()?;
        let state = self.growth().switched(a.state());
        let image = |(inner, (&k, &steps)): (_, (&u32, &isize))| match k {
            1 => a.clone(),
            _ => self.result(inner, state.clone(), a.content().rotated(steps)),
        };
        Ok(images.into_iter().zip(exponents.iter().zip(steps)).map(image).collect())
    }

    /// The two rows of slots swapped.
    ///
    /// # Errors
    /// As [`Evaluator::rotate`].
    pub fn swap_rows(&self, a: &Ciphertext<S>) -> Result<Ciphertext<S>> {
        let (image, n) = (self.image(a, self.context.swap_exponent()?)?, self.context.parameters().degree());
        Ok(image.holding(a.content().swapped(n)))
    }

    /// `a + sum rotate(a, r)` over the r in `steps`, with one decomposition and one division by the special modulus.
    ///
    /// # Errors
    /// As [`Evaluator::rotate_many`].
    pub fn sum_rotations(&self, a: &Ciphertext<S>, steps: &[isize]) -> Result<Ciphertext<S>> {
        self.sum_rotations_in_turn(a, &[steps])
    }

    /// [`Evaluator::sum_rotations`] of `a`, of the result, and so on, by each of `sums`.
    ///
    /// # Errors
    /// As [`Evaluator::rotate_many`].
    pub fn sum_rotations_in_turn(&self, a: &Ciphertext<S>, sums: &[&[isize]]) -> Result<Ciphertext<S>> {
        let exponents = sums.iter().map(|steps| self.context.rotation_exponents(steps)).collect::<Result<Vec<_>>>()?;
        self.check_exponents(a, &exponents.concat())?;
        let each: Vec<&[u32]> = exponents.iter().map(Vec::as_slice).collect();
        let inner = sum_automorphisms_in_steps(self.context.rlwe(), &a.inner, &each, &self.keys)?;
        self.keys.check_files()?;
        let images = |exponents: &&[u32]| (exponents.len(), exponents.iter().filter(|&&k| k != 1).count());
        let state = self.growth().sums_of_images(a.state(), each.iter().map(images))?;
        let content = sums.iter().copied().flatten().fold(a.content(), |content, &steps| content.rotated(steps));
        Ok(self.result(inner, state, content))
    }

    /// Refuses rotations of `a` whose keys are missing or too short.
    ///
    /// # Errors
    /// [`Error::MissingKey`](noren_rlwe::error::Error::MissingKey) names all keys that are missing; then as
    /// [`Evaluator::rotate`].
    pub fn check_rotations(&self, a: &Ciphertext<S>, steps: &[isize]) -> Result<()> {
        let exponents = self.context.rotation_exponents(steps)?;
        self.check_exponents(a, &exponents)
    }

    pub(super) fn check_exponents(&self, a: &Ciphertext<S>, exponents: &[u32]) -> Result<()> {
        self.check_linear(a)?;
        a.content().check_slots()?;
        let galois = exponents.iter().filter(|&&k| k != 1).map(|&k| (k, a.limbs()));
        self.keys.check(None, galois)
    }

    pub(super) fn image(&self, a: &Ciphertext<S>, k: u32) -> Result<Ciphertext<S>> {
        self.check_linear(a)?;
        a.content().check_slots()?;
        if k == 1 {
            return Ok(a.clone());
        }
        let inner = apply_automorphism(self.context.rlwe(), &a.inner, k, &self.keys)?;
        self.keys.check_files()?;
        Ok(self.result(inner, self.growth().switched(a.state()), a.content()))
    }
}
