//! The ends of a bootstrap: slots as coefficients, and the sines of coefficients as slots.
//!
//! Between them another scheme may act on the coefficients.

use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::{Error, Result};
use num_complex::Complex64;

use crate::bootstrapping::bootstrapper::Bootstrapper;
use crate::bootstrapping::eval_mod::EvalMod;
use crate::bootstrapping::failure::log2_failure;
use crate::bootstrapping::mode::Mode;
use crate::bootstrapping::pipeline::{Climb, base_modulus, base_scale};
use crate::schemes::ckks::content::Content;
use crate::schemes::ckks::error::CkksError;
use crate::schemes::ckks::{Ciphertext, Estimate, Evaluator};
use crate::schemes::extent::Extent;
use crate::schemes::range::Range;
use crate::schemes::slots::SlotEvaluator;

/// The largest angle of a sine, as a part of the circle: a quarter.
pub(crate) const QUARTER: f64 = 0.25;

/// The linear function of the sines of coefficients: `factor sin(2 pi x) + constant`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Affine {
    pub factor: f64,
    pub constant: f64,
}

impl Bootstrapper {
    /// The evaluator, with the keys of bootstrapping.
    #[must_use]
    pub fn evaluator(&self) -> &Evaluator {
        &self.pipeline.evaluator
    }

    /// The kind of messages.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.pipeline.mode
    }

    /// Slots as coefficients at level 0, of which one of size 1 is `part q_0`, in the order that
    /// [`Direction`](crate::bootstrapping::dft::Direction) gives. The estimate has the error of the operand too.
    ///
    /// # Errors
    /// As [`Bootstrapper::bootstrap`], but for ciphertexts with many levels; [`Error::Parameters`] if message and error leave the
    /// circle, that of the way itself included, which grows with the message.
    pub(crate) fn coefficients(&self, a: &Ciphertext, part: f64) -> Result<Ciphertext> {
        self.check_slots(a)?;
        let (needed, left) = (self.parameters().input_level(), a.level());
        if left < needed {
            return Err(CkksError::TooLowToBootstrap { needed, left }.into());
        }
        let check = |error: f64| {
            // Written so that what is not a number is refused.
            let fits = (a.magnitude() + error) * part < 0.5;
            if fits {
                return Ok(());
            }
            let found = format!("{}, with an error of at most {error}", a.magnitude());
            Err(Error::parameter("magnitude", found, format!("below {} together", 0.5 / part)))
        };
        check(a.error_bound())?;
        let coefficients = self.pipeline.coefficients(a, part)?;
        check(coefficients.error_bound())?;
        self.pipeline.check_files()?;
        Ok(coefficients)
    }

    /// `factor sin(2 pi c / q_0) + constant` for the coefficients c of a ciphertext at level 0, modulo `q_0` at most a quarter of
    /// it: slots at the level and the canonical scale of results. Imaginary parts are those of the second half of coefficients,
    /// where messages are complex. The tag names the polynomials.
    ///
    /// The error that the estimate has is that of the way itself.
    ///
    /// # Errors
    /// As the operations of [`Evaluator`].
    pub(crate) fn sines(&self, coefficients: rlwe::Ciphertext, tag: u64, affine: Affine) -> Result<Ciphertext> {
        let (pipeline, evaluator) = (&self.pipeline, self.evaluator());
        let (context, parameters) = (evaluator.context(), self.parameters());
        let slots = parameters.slots();
        let estimate = Estimate::exact(Range::symmetric(QUARTER), tag);
        let content = Content::new(slots, Extent::of_slots(slots), estimate);
        let coefficients = Ciphertext::new(coefficients, base_modulus(context), content, context.parameters().clone());
        let level = self.output_level();
        let end = context.parameters().scale_at(level);
        let eval_mod = EvalMod { evaluator, parameters };
        let series_scale = eval_mod.series_scale(end, &base_scale(context, parameters)?)?;
        let Climb { switch_error, exponentials, .. } =
            pipeline.exponentials(&coefficients, &series_scale, &mut |_| {})?;
        let Affine { factor, constant } = affine;
        let result = pipeline.stage(|| {
            // -2 (Im E_0 + i Im E_1).
            let parts = pipeline.imaginary_parts(&exponentials)?;
            let both =
                if self.mode() == Mode::Real { Complex64::from(constant) } else { Complex64::new(constant, constant) };
            evaluator.combine(&[(&parts, Complex64::from(-factor / 2.0))], both, level, end)
        })?;
        let result = match self.mode() {
            Mode::Real => {
                let (low, high) = (constant - factor.abs(), constant + factor.abs());
                result.with_range(low, high)
            }
            _ => result.with_magnitude(std::f64::consts::SQRT_2 * (constant.abs() + factor.abs())),
        };
        let slope = std::f64::consts::TAU * factor.abs();
        let result = evaluator.with_errors(result, &[(&switch_error, slope)], factor.abs() * self.sine_error());
        pipeline.check_files()?;
        Ok(result)
    }

    /// The error of a sine by exact arithmetic, of angles up to a quarter of the circle beside all multiples of `q_0` but those of
    /// the largest size, which are far rarer than what a bound leaves out.
    fn sine_error(&self) -> f64 {
        let parameters = self.parameters();
        let error = || parameters.exponential().error_around(parameters.spec().eval_mod.interval - 1, QUARTER);
        *self.sine_error.get_or_init(error)
    }
    /// `log2` of a bound on the probability that the [sines](Bootstrapper::sines) of a ciphertext are wrong because a coefficient left
    /// the interval; as [`BootstrapPlan::log2_failure`](crate::bootstrapping::BootstrapPlan::log2_failure), for messages up to a
    /// quarter of `q_0`.
    pub(crate) fn sine_failure(&self) -> f64 {
        let spec = self.parameters().spec();
        let coefficients = 2 * self.parameters().slots();
        log2_failure(spec.ephemeral_weight, spec.eval_mod.interval, 1.0 / QUARTER, coefficients, 1)
    }
}
