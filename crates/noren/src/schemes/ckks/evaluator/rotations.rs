//! Rotations of the slots, and complex conjugation.

use noren_rlwe::error::Result;
use noren_rlwe::galois::{apply_automorphism, apply_automorphisms, sum_automorphisms_in_steps};

use crate::schemes::ckks::encryption::Ciphertext;
use crate::schemes::ckks::estimate::Estimate;
use crate::schemes::ckks::evaluator::Evaluator;
use crate::schemes::ckks::names;
use crate::schemes::ckks::noise;

impl Evaluator {
    /// Slot j of the result is slot `j + steps` of `a`, indices modulo the number of slots.
    ///
    /// The key is the one of this many steps modulo n/2. A multiple of the number of slots needs no key.
    ///
    /// # Errors
    /// [`Error::MissingKey`](noren_rlwe::error::Error::MissingKey) and
    /// [`Error::KeyLevel`](noren_rlwe::error::Error::KeyLevel) if the key of this rotation is missing or too short.
    pub fn rotate(&self, a: &Ciphertext, steps: isize) -> Result<Ciphertext> {
        self.check(a)?;
        let k = self.exponent(a, steps);
        if k == 1 {
            return Ok(a.clone());
        }
        let inner = apply_automorphism(self.context.rlwe(), a.rlwe(), k, &self.keys)?;
        self.keys.check_files()?;
        let estimate = self.switched(a, rotated(a.estimate(), steps, a.slots()), 1);
        Ok(self.result(inner, *a.scale(), a.content().moved([steps], estimate)))
    }

    /// The rotations of `a` by all of `steps`, in their order: the digits of `a` are made only once.
    ///
    /// # Errors
    /// As [`Evaluator::rotate`].
    pub fn rotate_many(&self, a: &Ciphertext, steps: &[isize]) -> Result<Vec<Ciphertext>> {
        self.check(a)?;
        let exponents: Vec<u32> = steps.iter().map(|&steps| self.exponent(a, steps)).collect();
        self.check_exponents(a, &exponents)?;
        let images = apply_automorphisms(self.context.rlwe(), a.rlwe(), &exponents, &self.keys)?;
        self.keys.check_files()?;
        let rotate = |((inner, &k), &steps): ((_, &u32), &isize)| {
            if k == 1 {
                return a.clone();
            }
            let estimate = self.switched(a, rotated(a.estimate(), steps, a.slots()), 1);
            self.result(inner, *a.scale(), a.content().moved([steps], estimate))
        };
        Ok(images.into_iter().zip(&exponents).zip(steps).map(rotate).collect())
    }

    /// The complex conjugate of every slot.
    ///
    /// # Errors
    /// As [`Evaluator::rotate`], for the key of conjugation.
    pub fn conjugate(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.check(a)?;
        let k = self.context.conjugation_exponent();
        let inner = apply_automorphism(self.context.rlwe(), a.rlwe(), k, &self.keys)?;
        self.keys.check_files()?;
        // The error of a slot becomes its own conjugate: it stays dependent on itself.
        let conjugated = a.estimate().clone().named(names::conjugated(a.estimate().tag()));
        Ok(self.of_one(a, inner, *a.scale(), self.switched(a, conjugated, 1)))
    }

    /// `a + sum rotate(a, r)` over the r in `steps`, with one decomposition and one division by the special modulus.
    ///
    /// # Errors
    /// As [`Evaluator::rotate`].
    pub fn sum_rotations(&self, a: &Ciphertext, steps: &[isize]) -> Result<Ciphertext> {
        self.sum_rotations_in_turn(a, &[steps])
    }

    /// [`Evaluator::sum_rotations`] of `a`, of the result, and so on, by each of `sums`. The first part of the ciphertext is
    /// divided by the special modulus only at the end.
    ///
    /// # Errors
    /// As [`Evaluator::rotate`].
    pub fn sum_rotations_in_turn(&self, a: &Ciphertext, sums: &[&[isize]]) -> Result<Ciphertext> {
        self.check(a)?;
        let exponents = |steps: &&[isize]| steps.iter().map(|&steps| self.exponent(a, steps)).collect();
        let exponents: Vec<Vec<u32>> = sums.iter().map(exponents).collect();
        self.check_exponents(a, &exponents.concat())?;
        let each: Vec<&[u32]> = exponents.iter().map(Vec::as_slice).collect();
        let inner = sum_automorphisms_in_steps(self.context.rlwe(), a.rlwe(), &each, &self.keys)?;
        self.keys.check_files()?;
        let estimate = sums.iter().zip(each).fold(a.estimate().clone(), |estimate, (steps, exponents)| {
            let sum = steps.iter().fold(estimate.clone(), |sum, &steps| sum.sum(&rotated(&estimate, steps, a.slots())));
            let switches = exponents.iter().filter(|&&k| k != 1).count();
            let sum = sum.named(names::summed_rotations(estimate.tag(), steps, a.slots()));
            if switches == 0 { sum } else { self.switched(a, sum, switches) }
        });
        let content = a.content().moved(sums.iter().copied().flatten().copied(), estimate);
        Ok(self.result(inner, *a.scale(), content))
    }

    /// Refuses rotations of `a` whose keys are missing or too short.
    ///
    /// # Errors
    /// [`Error::MissingKey`](noren_rlwe::error::Error::MissingKey) names all keys that are missing; then as
    /// [`Evaluator::rotate`].
    pub fn check_rotations(&self, a: &Ciphertext, steps: &[isize]) -> Result<()> {
        self.check(a)?;
        let exponents: Vec<u32> = steps.iter().map(|&steps| self.exponent(a, steps)).collect();
        self.check_exponents(a, &exponents)
    }

    /// Missing keys are told before anything is made, and all at once.
    fn check_exponents(&self, a: &Ciphertext, exponents: &[u32]) -> Result<()> {
        let galois = exponents.iter().filter(|&&k| k != 1).map(|&k| (k, a.rlwe().limbs()));
        self.keys.check(None, galois)
    }

    /// The exponent of the automorphism of a rotation; 1 if it changes nothing.
    pub(super) fn exponent(&self, a: &Ciphertext, steps: isize) -> u32 {
        if steps % a.slots() as isize == 0 { 1 } else { self.context.rotation_exponent(steps) }
    }

    fn switched(&self, a: &Ciphertext, estimate: Estimate, terms: usize) -> Estimate {
        noise::switched(estimate, self.context.parameters().rlwe(), a.scale(), a.rlwe().limbs(), terms)
    }
}

/// The estimate of a rotation, without the key switch.
pub(in crate::schemes::ckks) fn rotated(estimate: &Estimate, steps: isize, slots: usize) -> Estimate {
    let steps = steps.rem_euclid(slots as isize) as usize;
    if steps == 0 { estimate.clone() } else { estimate.clone().rotated(steps, slots) }
}
