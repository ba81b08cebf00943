//! One-hot vectors of encrypted numbers.

use noren_rlwe::error::Result as NorenResult;

use crate::lookup::layout::Layout;
use crate::schemes::bfv::{Bfv, Ciphertext, Encoder, Evaluator, Noise, Parameters};
use crate::schemes::integers::scheme::product;

/// The one-hot vector of the number in the slots of `x`, block by block: 1 in the slot of its index, 0 elsewhere.
///
/// By `1 - (x - i)^(t - 1)`, for which the numbers must be below t: `log2 (t - 1)` squarings and as many products as its
/// odd part has further bits.
///
/// # Errors
/// [`LookupError::NotSpread`](crate::lookup::LookupError::NotSpread);
/// [`IntegerError::NoiseExhausted`](crate::schemes::integers::IntegerError::NoiseExhausted) if there are too few limbs;
/// as [`Evaluator::mul`](crate::schemes::integers::evaluator::Evaluator::mul) for missing keys.
pub fn one_hot(evaluator: &Evaluator, layout: &Layout, x: &Ciphertext, block: usize) -> NorenResult<Ciphertext> {
    layout.check(x.content())?;
    let context = evaluator.context();
    let t = context.parameters().modulus().value();
    let indices: Vec<i64> = (0..layout.degree()).map(|slot| layout.index(block, slot) as i64).collect();
    let encoder = Encoder::new(context);
    let indices =
        context.kept(indices, |indices| Ok(encoder.prepare_addend(encoder.encode(indices)?, x.factor(), x.limbs())))?;
    let difference = evaluator.sub_plain(x, &indices)?;
    let power = power(difference, t - 1, |a, b| evaluator.mul(a, b))?;
    evaluator.add_scalar(&evaluator.neg(&power)?, 1)
}

/// The noise of [`one_hot`] of a number with this noise and `limbs` limbs, and its limbs.
pub(super) fn predict(parameters: &Parameters, noise: &Noise, limbs: usize) -> (Noise, usize) {
    let laws = parameters.laws();
    let start = (noise.with(&laws.plain_rounding(limbs)), limbs);
    let multiply = |a: &(Noise, usize), b: &(Noise, usize)| {
        let limbs = a.1.min(b.1);
        let lowered = |(noise, own): &(Noise, usize)| {
            if *own == limbs { noise.clone() } else { noise.with(&laws.rounding(limbs)) }
        };
        Ok::<_, std::convert::Infallible>(product::<Bfv>(laws, &lowered(a), &lowered(b), limbs))
    };
    let (noise, limbs) =
        power(start, parameters.modulus().value() - 1, multiply).unwrap_or_else(|never| match never {});
    (noise.with(&laws.plain_rounding(limbs)), limbs)
}

/// `x^e`, from the highest bit of e down. Range: e at least 1.
fn power<T: Clone, E>(x: T, e: u64, multiply: impl Fn(&T, &T) -> Result<T, E>) -> Result<T, E> {
    (0..e.ilog2()).rev().try_fold(x.clone(), |power, bit| {
        let square = multiply(&power, &power)?;
        if e >> bit & 1 == 1 { multiply(&square, &x) } else { Ok(square) }
    })
}
