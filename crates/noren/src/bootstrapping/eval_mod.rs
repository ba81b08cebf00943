//! The modular reduction on ciphertexts: multiples of `q_0` vanish in a complex exponential.

use noren_rlwe::error::{Error, Result};

use crate::bootstrapping::chebyshev::ChebyshevSum;
use crate::bootstrapping::parameters::Parameters;
use crate::schemes::ckks::{self, Ciphertext, Evaluator, Scale};
use crate::schemes::slots::SlotEvaluator;

/// The relative error of the derivative of the polynomial by truncation. The difference is a polynomial of degree 64, but
/// for what rounding hides: by Markov's inequality, between ends that are `2 d` apart, at most `64^2 / d` times the truncation.
/// Near integers d is `2 / rho K`, `2^-9.6` for the presets, and it is far below.
const SLOPE: f64 = 1.0 + 1.0 / 1024.0;

/// Messages are a bit above `q_0 / rho`, and so is the angle of E.
const ANGLE_ROOM: f64 = 2.0;

/// From slots `i u`, `u = (I + z / rho) / K`, to `exp(2 pi i z / rho)` and the series.
pub(super) struct EvalMod<'a> {
    pub evaluator: &'a Evaluator,
    pub parameters: &'a Parameters,
}

impl EvalMod<'_> {
    /// At what scale `i u` must stand.
    pub(super) fn input_scale(parameters: &Parameters, ckks: &ckks::Parameters) -> Scale {
        let degree = parameters.exponential().coefficients().len() - 1;
        let level = parameters.slots_level();
        ChebyshevSum::first_scale(ckks, level, degree, Scale::from_log2(parameters.spec().eval_mod.bits))
    }

    /// `E = exp(2 pi i K u)` from `i u`, at a scale that makes the [series](Self::series) arrive at the scale `end`.
    ///
    /// The error of u reaches `E_0` times at most the derivative, w: it is taken apart before the polynomial, and put
    /// together again afterwards.
    ///
    /// # Errors
    /// As [`Evaluator::dot_combine`].
    pub(super) fn exponential(&self, u: &Ciphertext, end: &Scale) -> Result<Ciphertext> {
        let exponential = self.parameters.exponential();
        let coefficients = exponential.turned_coefficients();
        let doublings = exponential.doublings() as usize;
        let level = self.parameters.reduced_level() + 1 + doublings;
        // A square divided by the prime q is at `S^2 / q`: from the end, every scale is a geometric mean.
        let prime = |level: usize| self.evaluator.context().parameters().prime(level);
        let start = (self.parameters.reduced_level() + 1..=level).fold(*end, |s, level| s.mul_u64(prime(level)).sqrt());

        let (exact, error) = self.evaluator.split_error(u.clone());
        let sum = ChebyshevSum::new(self.evaluator, exact, coefficients.len() - 1)?;
        let polynomial = sum.at(&coefficients, level, &start)?.with_magnitude(1.0);
        let frequency = std::f64::consts::TAU * exponential.half_width() / libm::exp2(doublings as f64);
        let mut e = self.evaluator.with_errors(polynomial, &[(&error, SLOPE * frequency)], exponential.truncation());
        for _ in 0..doublings {
            e = self.evaluator.square(&e)?.with_magnitude(1.0);
        }
        Ok(e)
    }

    /// `P = E (E + c)`. An error of E is multiplied by the derivative `2 E + c`, with E within `2 pi / rho` of 1 and c near -8:
    /// `|2 E + c|^2 = 4 + c^2 + 4 c cos t`.
    ///
    /// # Errors
    /// As [`Evaluator::mul`].
    pub(super) fn series(&self, e: &Ciphertext) -> Result<Ciphertext> {
        let series = self.parameters.series();
        let (exact, error) = self.evaluator.split_error(e.clone());
        let shifted = self.evaluator.add_const(&exact, series.shift().into())?;
        let product = self.evaluator.mul(&exact, &shifted)?;
        let cosine = libm::cos(std::f64::consts::TAU / series.ratio() * ANGLE_ROOM);
        let slope = (4.0 + series.shift() * (series.shift() + 4.0 * cosine)).sqrt();
        Ok(self.evaluator.with_errors(product, &[(&error, slope)], 0.0))
    }

    /// The scale of P with which `z` is read at the scale `end`, for a message that stood at the scale `base` modulo `q_0`.
    ///
    /// The sum of conjugates is twice `Im P`, and `z base rho / q_0 = rho b / 2 pi Im P`: so it is
    /// `end q_0 |b| / (4 pi base)`.
    ///
    /// # Errors
    /// None: b is not zero.
    pub(super) fn series_scale(&self, end: &Scale, base: &Scale) -> Result<Scale> {
        let b = self.parameters.series().double();
        let factor = Scale::from_f64(-b / (2.0 * std::f64::consts::TAU))
            .ok_or_else(|| Error::parameter("series", b, "negative"))?;
        Ok(end.mul_u64(self.evaluator.context().parameters().prime(0)).mul(&factor).div(base))
    }
}
