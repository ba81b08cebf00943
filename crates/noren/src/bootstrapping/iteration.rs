//! The second iteration: the error of the first bootstrap is itself bootstrapped, and taken away.
//!
//! The first result decrypts to `z + e`. Brought down to the level and scale of the input, it is subtracted there, which
//! leaves `-e` and the rounding of the way down. Modulo the primes of slot to coefficient there is room for `2^b` times
//! that, an exact product with an integer; b is as large as the bound on e allows, so that the second message is at most
//! 1 whenever the bound holds. The second bootstrap ends at the scale `2^-b S`: its polynomial, read at the scale S of
//! results, is `-e` with `2^-b` times the error of a bootstrap, and is added. No level is used.
//!
//! The remaining error is the rounding at the scale S: of the way down, and of the last division.
//!
//! Source: Bae, Cheon, Cho, Kim, Kim, "META-BTS: bootstrapping precision beyond the limit", eprint 2022/1167.

use noren_rlwe::error::Result;
use num_complex::Complex64;

use crate::bootstrapping::mode::Mode;
use crate::bootstrapping::parameters::Parameters;
use crate::bootstrapping::pipeline::{Pipeline, ROOM, Stage, Stages, like};
use crate::schemes::ckks::{Ciphertext, Scale};
use crate::schemes::slots::SlotEvaluator;

/// All iterations of a ciphertext that was checked.
///
/// # Errors
/// As [`Pipeline::run`].
pub(super) fn run(pipeline: &Pipeline, a: &Ciphertext, done: &mut dyn FnMut(Stage)) -> Result<Stages> {
    let (parameters, evaluator) = (&pipeline.parameters, &pipeline.evaluator);
    let end = *evaluator.context().parameters().scale_at(pipeline.output_level());
    if parameters.spec().iterations == 1 {
        return pipeline.run(a, &end, done);
    }
    let (input, input_error) = evaluator.split_error(a.clone());
    let first = pipeline.run(&input, &end, done)?.result;

    // The part that is subtracted is added again: its error arises here.
    let (exact, error) = evaluator.split_error(first);
    let level = parameters.input_level();
    let down = evaluator.combine(&[(&exact, Complex64::ONE)], Complex64::ZERO, level, input.scale())?;
    let difference = evaluator.sub(&evaluator.drop_level(&input, level)?, &down)?;
    let (slots, all) = (parameters.slots(), parameters.degree() / 2);
    let largest = error.bound(slots, all) + difference.estimate().bound(slots, all);
    let bits = libm::floor(-libm::log2(largest)).clamp(0.0, f64::from(enlarged_bits(parameters))) as u32;
    let enlarged = evaluator.mul_integer(&difference.with_magnitude(error.bound(slots, all)), 1 << bits)?;
    let enlarged = match pipeline.mode {
        Mode::Complex | Mode::Paired => enlarged,
        // The imaginary part of the input is still there, as large as it was.
        Mode::Real => {
            let twice = evaluator.add(&enlarged, &evaluator.conjugate(&enlarged)?)?;
            evaluator.reinterpret(twice, &Scale::from_log2(1))?
        }
    };

    let factor = Scale::from_log2(bits);
    let second = pipeline.run(&enlarged, &end.div(&factor), done)?;
    let correction = evaluator.reinterpret(second.result.clone(), &factor)?;
    let result = like(a, evaluator.add(&exact, &correction)?, end);
    let result = evaluator.with_errors(result, &[(&input_error, 1.0 + ROOM)], 0.0);
    Ok(Stages { result, ..second })
}

/// The most bits by which an error is enlarged.
pub(super) fn enlarged_bits(parameters: &Parameters) -> u32 {
    parameters.spec().application.bits / 2
}
