//! Sums, and products with constants.

use noren_ring::operand::{Operand, Sum};
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::context::Context;
use noren_rlwe::error::Result;
use noren_rlwe::linear;
use num_complex::Complex64;

use crate::schemes::ckks::content::Content;
use crate::schemes::ckks::encoder::Plaintext;
use crate::schemes::ckks::encryption::Ciphertext;
use crate::schemes::ckks::error::CkksError;
use crate::schemes::ckks::estimate::Estimate;
use crate::schemes::ckks::evaluator::{Evaluator, check_levels, check_scales, first};
use crate::schemes::ckks::names;
use crate::schemes::ckks::scale::Scale;
use crate::schemes::error::SlotError;
use crate::schemes::range::{Range, modulus};

impl Evaluator {
    /// `a + b`. An operand at a higher level is brought to the level and scale of the other.
    ///
    /// # Errors
    /// [`CkksError::ScaleMismatch`] at equal levels with different scales.
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.join(a, b, Ring::add, Estimate::sum)
    }

    /// `a - b`; see [`Evaluator::add`].
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.join(a, b, Ring::sub, Estimate::difference)
    }

    /// `-a`.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch).
    pub fn neg(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.check(a)?;
        let ring = self.ring(a.level());
        let inner = rlwe::Ciphertext::new(a.rlwe().parts().iter().map(|part| ring.neg(part)).collect(), a.key_id());
        Ok(self.of_one(a, inner, *a.scale(), a.estimate().clone().negated()))
    }

    /// `a + p`, for a plaintext of the level and scale of `a`.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`](noren_rlwe::error::Error::LevelMismatch), [`CkksError::ScaleMismatch`].
    pub fn add_plain(&self, a: &Ciphertext, p: &Plaintext) -> Result<Ciphertext> {
        self.join_plain(a, p, linear::add_plain_assign, Estimate::sum)
    }

    /// `a - p`; see [`Evaluator::add_plain`].
    ///
    /// # Errors
    /// As [`Evaluator::add_plain`].
    pub fn sub_plain(&self, a: &Ciphertext, p: &Plaintext) -> Result<Ciphertext> {
        self.join_plain(a, p, linear::sub_plain_assign, Estimate::difference)
    }

    /// `a + c` in every slot.
    ///
    /// # Errors
    /// [`SlotError::NotFinite`]; [`CkksError::Overflow`] if the constant does not fit the modulus of the level.
    pub fn add_const(&self, a: &Ciphertext, c: Complex64) -> Result<Ciphertext> {
        self.check(a)?;
        let mut inner = a.rlwe().clone();
        let miss = self.add_constant(&mut inner, c, a.scale())?;
        let constant = Estimate::exact(Range::constant(c), names::constant(c)).with_bias(miss);
        Ok(self.of_one(a, inner, *a.scale(), a.estimate().sum(&constant)))
    }

    /// `c a` in every slot, at the canonical scale one level below, whatever the scale of `a`.
    ///
    /// The polynomial is multiplied by the integers nearest to `re(c) f` and `im(c) f`, the second times `X^{n/2}`,
    /// with `f = q_l S_{l-1} / scale`; then it is rescaled.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`](noren_rlwe::error::Error::LevelExhausted) at level 0, [`SlotError::NotFinite`],
    /// [`CkksError::Overflow`] if the constant does not fit the modulus.
    pub fn mul_const(&self, a: &Ciphertext, c: Complex64) -> Result<Ciphertext> {
        self.check(a)?;
        check_levels(1, a.level())?;
        let level = a.level() - 1;
        self.combine(&[(a, c)], Complex64::ZERO, level, self.context.parameters().scale_at(level))
    }

    /// `k a` for an integer: exact, and no level is used.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch).
    pub fn mul_integer(&self, a: &Ciphertext, k: i64) -> Result<Ciphertext> {
        self.check(a)?;
        let ring = self.ring(a.level());
        let inner =
            rlwe::Ciphertext::new(a.rlwe().parts().iter().map(|part| ring.mul_integer(part, k)).collect(), a.key_id());
        let tag = names::multiple(a.estimate().tag(), k);
        Ok(self.of_one(a, inner, *a.scale(), a.estimate().clone().multiplied(Complex64::from(k as f64)).named(tag)))
    }

    /// `i a`, the imaginary unit times every slot: exact, and no level is used.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch).
    pub fn mul_i(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.check(a)?;
        let ring = self.ring(a.level());
        let unit = self.context.imaginary_unit();
        let inner =
            rlwe::Ciphertext::new(a.rlwe().parts().iter().map(|part| ring.mul(part, unit)).collect(), a.key_id());
        Ok(self.of_one(a, inner, *a.scale(), a.estimate().clone().turned()))
    }

    /// `constant + sum c_k x_k`, with one rescaling.
    ///
    /// The result is at the canonical scale one level below the lowest operand. The operands may be at any levels and
    /// scales: the integers `round(c_k S_{l-1} q_l / scale_k)` take up the differences exactly.
    ///
    /// # Errors
    /// [`Error::Length`](noren_rlwe::error::Error::Length) for an empty sum,
    /// [`Error::LevelExhausted`](noren_rlwe::error::Error::LevelExhausted) if an operand is at level 0,
    /// [`SlotError::NotFinite`] and [`CkksError::Overflow`] for factors that are not numbers or do not fit the modulus.
    pub fn weighted_sum(&self, terms: &[(&Ciphertext, f64)], constant: f64) -> Result<Ciphertext> {
        let lowest = terms.iter().map(|(x, _)| x.level()).min().unwrap_or(0);
        first("terms of a weighted sum", terms)?;
        check_levels(1, lowest)?;
        let terms: Vec<(&Ciphertext, Complex64)> = terms.iter().map(|&(x, c)| (x, Complex64::from(c))).collect();
        let level = lowest - 1;
        self.combine(&terms, Complex64::from(constant), level, self.context.parameters().scale_at(level))
    }

    /// `constant + sum c_k x_k` at this scale on the limbs of a ring, to be formed where it is read. All operands have as
    /// many limbs, or more.
    pub(super) fn combination<'a>(
        &'a self,
        ring: &Ring,
        terms: &[(&'a Ciphertext, Complex64)],
        constant: Complex64,
        scale: &Scale,
    ) -> Result<Combination<'a>> {
        let first = ring.range().start;
        let mut parts = [(); 2].map(|()| Sum { first, ..Sum::default() });
        let mut imaginary = parts.clone();
        let mut estimate: Option<Estimate> = None;
        for &(x, c) in terms {
            let ([re, im], miss) = integers(ring, c, &scale.div(x.scale()))?;
            for (sums, factor) in [(&mut parts, re), (&mut imaginary, im)] {
                if factor != 0 {
                    let residues = ring.integer_residues(factor);
                    let multiples = x.rlwe().parts().iter().map(|part| (part, residues.clone()));
                    sums.iter_mut().zip(multiples).for_each(|(sum, multiple)| sum.multiples.push(multiple));
                }
            }
            let tag = names::weighted(x.estimate().tag(), c);
            let term = x.estimate().clone().multiplied(c).with_bias(miss * x.magnitude()).named(tag);
            estimate = Some(estimate.map_or_else(|| term.clone(), |sum| sum.sum(&term)));
        }
        let ([re, im], miss) = integers(ring, constant, scale)?;
        parts[0].constant = (re != 0).then(|| ring.integer_residues(re));
        if im != 0 {
            parts[0].multiples.push((self.context.imaginary_unit(), ring.integer_residues(im)));
        }
        // Terms times the imaginary unit are added up first, and multiplied once.
        let written = imaginary[0].multiples.is_empty();
        let imaginary = (!written).then(|| imaginary.each_ref().map(|sum| ring.gather(Operand::Sum(sum))));
        let name = names::weighted_constant(constant);
        let constant = Estimate::exact(Range::constant(constant), name).with_bias(miss);
        let estimate = estimate.map_or_else(|| constant.clone(), |sum| sum.sum(&constant));
        Ok(Combination { parts, imaginary, estimate })
    }

    fn join(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        operation: fn(&Ring, &Poly<Eval>, &Poly<Eval>) -> Poly<Eval>,
        known: fn(&Estimate, &Estimate) -> Estimate,
    ) -> Result<Ciphertext> {
        self.check_pair(a, b)?;
        if a.level() > b.level() {
            return self.join(&self.at_level_and_scale(a, b.level(), b.scale())?, b, operation, known);
        }
        if a.level() < b.level() {
            return self.join(a, &self.at_level_and_scale(b, a.level(), a.scale())?, operation, known);
        }
        let miss = check_scales(a.scale(), b.scale())?;
        let ring = self.ring(a.level());
        let parts = a.rlwe().parts().iter().zip(b.rlwe().parts()).map(|(x, y)| operation(&ring, x, y)).collect();
        let estimate = known(a.estimate(), b.estimate()).with_bias(miss * b.magnitude());
        let content = Content::slot_by_slot(a.content(), [b.content()], estimate);
        Ok(self.result(rlwe::Ciphertext::new(parts, a.key_id()), *a.scale(), content))
    }

    fn join_plain(
        &self,
        a: &Ciphertext,
        p: &Plaintext,
        operation: fn(&Context, &mut rlwe::Ciphertext, &rlwe::Plaintext) -> Result<()>,
        known: fn(&Estimate, &Estimate) -> Estimate,
    ) -> Result<Ciphertext> {
        self.check_plain(a, p)?;
        let miss = check_scales(a.scale(), p.scale())?;
        let mut inner = a.rlwe().clone();
        operation(self.context.rlwe(), &mut inner, p.rlwe())?;
        let estimate = known(a.estimate(), p.estimate()).with_bias(miss * p.estimate().magnitude());
        Ok(self.result(inner, *a.scale(), Content::slot_by_slot(a.content(), [p.content()], estimate)))
    }

    /// Adds a constant at a scale; gives how far the integers are from it.
    fn add_constant(&self, inner: &mut rlwe::Ciphertext, c: Complex64, scale: &Scale) -> Result<f64> {
        let ring = self.ring(inner.level());
        let ([re, im], miss) = integers(&ring, c, scale)?;
        let c0 = &mut inner.parts_mut()[0];
        if re != 0 {
            ring.add_constant_assign(c0, &ring.integer_residues(re));
        }
        if im != 0 {
            ring.mul_scalar_add_assign(c0, self.context.imaginary_unit(), &ring.integer_residues(im));
        }
        Ok(miss)
    }

    /// The canonical scale one level below, before rescaling.
    pub(crate) fn scale_before_rescale(&self, level: usize) -> Scale {
        let parameters = self.context.parameters();
        parameters.scale_at(level - 1).mul_u64(parameters.prime(level))
    }
}

/// `constant + sum c_k x_k`, to be formed where it is read.
pub(super) struct Combination<'a> {
    /// The sums of both parts, without what is imaginary.
    parts: [Sum<'a>; 2],
    /// The terms that are multiplied by the imaginary unit and added.
    imaginary: Option<[Poly<Eval>; 2]>,
    pub(super) estimate: Estimate,
}

impl Combination<'_> {
    /// The sums of both parts, with what is imaginary.
    pub(super) fn parts<'b>(&'b self, unit: &'b Poly<Eval>) -> [Sum<'b>; 2] {
        let mut parts: [Sum<'b>; 2] = self.parts.clone();
        for (sum, imaginary) in parts.iter_mut().zip(self.imaginary.iter().flatten()) {
            sum.products.push((imaginary, unit));
        }
        parts
    }
}

/// The integers nearest to the parts of `c scale`, and how far they are from c in units of it.
fn integers(ring: &Ring, c: Complex64, scale: &Scale) -> Result<([i128; 2], f64)> {
    if let Some(&value) = [c.re, c.im].iter().find(|x| !x.is_finite()) {
        return Err(SlotError::NotFinite { index: 0, value }.into());
    }
    let limit = libm::exp2(ring.log2_modulus() - 1.0) / scale.to_f64();
    let round = |x: f64| {
        let fits = scale.round_multiple(x).filter(|_| x.abs() < limit);
        fits.ok_or(CkksError::Overflow { index: 0, value: x, limit, scale_log2: scale.log2() })
    };
    let ((re, miss_re), (im, miss_im)) = (round(c.re)?, round(c.im)?);
    Ok(([re, im], modulus(Complex64::new(miss_re, miss_im))))
}
