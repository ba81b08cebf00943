//! The matrices of a direction, encoded.

use noren_rlwe::error::Result;
use num_complex::Complex64;

use crate::bootstrapping::dft::Direction;
use crate::bootstrapping::diagonals::Diagonals;
use crate::bootstrapping::group::GiantOrder;
use crate::bootstrapping::matrix::cut_steps;
use crate::bootstrapping::rns_heaan::parameters::{Parameters, Place, limb_level};
use crate::schemes::ckks::{Ciphertext, Context, Encoder, Evaluator, Factor, Scale};
use crate::schemes::slots::{GiantStep, SlotEvaluator};

/// The factors of the matrices of a direction.
pub(super) struct Transform {
    direction: Direction,
    matrices: Vec<Matrix>,
}

struct Matrix {
    layers: u32,
    babies: Vec<isize>,
    giants: Vec<GiantStep<Factor>>,
}

impl Transform {
    /// Encodes the matrices, for operands at one scale and results at another. The scales between go from one to the other in
    /// equal steps, so that all factors are about as large.
    ///
    /// # Errors
    /// As [`Encoder::encode_factor_complex`].
    pub fn encode(
        context: &Context,
        parameters: &Parameters,
        direction: Direction,
        [start, end]: [&Scale; 2],
    ) -> Result<Self> {
        let places = parameters.places(direction);
        let matrices = direction.matrices(parameters.slots(), &parameters.groups(direction));
        let step = (end.log2() - start.log2()) / places.len() as f64;
        let mut before = *start;
        let mut encoded = Vec::with_capacity(places.len());
        for (i, (place, diagonals)) in places.iter().zip(&matrices).enumerate() {
            let between = Scale::from_f64(libm::exp2(start.log2() + step * (i + 1) as f64));
            let target = between.filter(|_| i + 1 < places.len()).unwrap_or(*end);
            let factor = target.mul(&parameters.primes(place.level)).div(&before);
            before = target;
            encoded.push(Matrix::encode(context, *place, diagonals, &factor)?);
        }
        Ok(Self { direction, matrices: encoded })
    }

    /// The matrices one after another, each one double level down, of a message that is taken for exact. After each, `bound` says
    /// what is known of the magnitude of all slots after its layers.
    ///
    /// A layer is `2^(gain / 2)` times a unitary matrix, with a gain of 1 forth and -1 back, and two numbers of that square in
    /// each row. So the errors that a matrix adds grow in every later layer by `2^(gain / 2)` where they are random, and at most
    /// by 2 or by nothing where they are not.
    ///
    /// # Errors
    /// As [`Evaluator::sum_giant_steps`].
    pub fn apply(&self, evaluator: &Evaluator, x: &Ciphertext, bound: impl Fn(u32) -> f64) -> Result<Ciphertext> {
        let gain = match self.direction {
            Direction::SlotToCoeff => 1.0,
            Direction::CoeffToSlot => -1.0,
        };
        let mut left: u32 = self.matrices.iter().map(|matrix| matrix.layers).sum();
        let (all, mut x, mut errors, mut systematic) = (left, x.clone(), Vec::new(), 0.0);
        for matrix in &self.matrices {
            let product = evaluator.sum_giant_steps(&x, &matrix.babies, &matrix.giants)?;
            let (next, error) = evaluator.split_error(evaluator.rescale(&product)?);
            left -= matrix.layers;
            x = next.with_magnitude(bound(all - left));
            let random = libm::exp2(0.5 * gain * f64::from(left));
            // Systematic errors are counted in full, beside the random ones.
            systematic += error.bias() * (random.powi(2).max(1.0) - random).max(0.0);
            errors.push((error, random));
        }
        let errors: Vec<_> = errors.iter().map(|(error, gain)| (error, *gain)).collect();
        Ok(evaluator.with_errors(x, &errors, systematic))
    }
}

impl Matrix {
    /// Encodes the diagonals at a scale: `D_k` with `k = a + b` is rotated back by the giant step b, since the sum of the
    /// products with baby steps a is rotated by b afterwards.
    fn encode(context: &Context, place: Place, diagonals: &Diagonals, scale: &Scale) -> Result<Self> {
        let encoder = Encoder::new(context);
        let encode = |diagonal: &[Complex64], giant| {
            let mut values = diagonal.to_vec();
            values.rotate_right(giant);
            encoder.encode_factor_complex(&values, values.len(), limb_level(place.level), scale)
        };
        let (babies, giants) = cut_steps(place.group, place.below, GiantOrder::Separate, diagonals, encode)?;
        Ok(Self { layers: place.group.layers, babies, giants })
    }
}
