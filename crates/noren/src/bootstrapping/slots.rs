//! Fewer slots than the ring has: the cut of the transforms, and the projection onto a subring.
//!
//! n slots of a ring of degree N use the coefficients at multiples of `N / 2n`, its gap: they lie in the subring of
//! degree 2n. What raising the modulus adds lies in the whole ring. The trace to the subring multiplies the coefficients
//! there by the gap and removes all others, so that the transforms have `log2 n` layers, and only 2n coefficients count
//! where one may leave the interval. It is a sum of rotations by multiples of n.

use noren_rlwe::error::{Error, Result};
use num_complex::Complex64;

use crate::bootstrapping::dft::Direction;
use crate::bootstrapping::group::Group;
use crate::bootstrapping::parameters::{Parameters, ParametersSpec, Transform};
use crate::circuits::trace;
use crate::schemes::ckks::{Ciphertext, Context, Encoder, Evaluator, Factor, Scale};
use crate::schemes::extent::Extent;
use crate::schemes::slots::{GiantStep, SlotEvaluator};

impl ParametersSpec {
    /// The same for `2^log_slots` slots: both transforms have that many layers, in as many matrices as before.
    ///
    /// The layers are dealt out evenly to as many of the matrices as cost least, where the one with the longest distances has
    /// half as many diagonals. The others have no layer, and come first: what takes time then has fewer limbs.
    #[must_use]
    pub fn with_log_slots(self, log_slots: u32) -> Self {
        let slot_to_coeff = cut(&self.slot_to_coeff, Direction::SlotToCoeff, log_slots);
        let coeff_to_slot = cut(&self.coeff_to_slot, Direction::CoeffToSlot, log_slots);
        Self { log_slots, slot_to_coeff, coeff_to_slot, ..self }
    }
}

/// The cost of a giant step, in baby steps: it decomposes anew.
const GIANT_COST: usize = 4;

/// The fixed cost of a matrix, in baby steps: a decomposition, and the division of two parts.
const MATRIX_COST: usize = 5;

fn cut(transform: &Transform, direction: Direction, layers: u32) -> Transform {
    let most = transform.groups.len();
    let (_, mut groups) = (1..=most)
        .map(|count| {
            // From the longest distances to the shortest.
            let groups = (0..count).map(|i| group((layers as usize + count - 1 - i) / count, i == 0));
            let (costs, groups): (Vec<usize>, Vec<Group>) = groups.unzip();
            (costs.into_iter().sum::<usize>(), groups)
        })
        .min_by_key(|(cost, _)| *cost)
        .unwrap_or_default();
    if direction == Direction::SlotToCoeff {
        groups.reverse();
    }
    let mut all = vec![Group { layers: 0, baby_steps: 1 }; most - groups.len()];
    all.append(&mut groups);
    Transform { groups: all, ..transform.clone() }
}

/// The baby steps that cost least for `layers` layers, and what they cost; the fewest of equal ones, which need fewer keys.
fn group(layers: usize, longest: bool) -> (usize, Group) {
    let diagonals = if longest { 1 << layers } else { (2 << layers) - 1_usize };
    let cost = |bits: usize| (1 << bits) + GIANT_COST * diagonals.div_ceil(1 << bits);
    let bits = (0..=layers + 1).min_by_key(|&bits| cost(bits)).unwrap_or(0);
    let cost = if layers == 0 { 0 } else { cost(bits) + MATRIX_COST };
    let baby_steps = if layers == 0 { 1 } else { 1 << bits };
    (cost, Group { layers: layers as u32, baby_steps })
}

/// The steps of the trace: none for all slots of the ring.
pub(super) fn projection(parameters: &Parameters) -> trace::Unrolling {
    trace::Unrolling::usual(parameters.gap(), parameters.slots().cast_signed())
}

/// The coefficients in the subring, and none besides: no level, and the scale is multiplied by the gap.
///
/// The rotations switch keys, and what they add to one slot of a message they add to all its copies: so the mean over the
/// copies, which the estimate of a result counts on, does not help against it.
///
/// # Errors
/// As [`Evaluator::sum_rotations_in_turn`].
pub(super) fn project(parameters: &Parameters, evaluator: &Evaluator, raised: Ciphertext) -> Result<Ciphertext> {
    let (gap, slots) = (parameters.gap() as f64, parameters.slots());
    let ring = parameters.degree() / 2;
    let all = raised.read_in(ring, Extent::of_slots(ring));
    let magnitude = all.magnitude() / gap.sqrt();
    let sum = projection(parameters).apply(evaluator, &all)?;
    let factor = Scale::from_f64(gap).ok_or_else(|| Error::parameter("gap", gap, "positive"))?;
    let (exact, error) = evaluator.split_error(evaluator.reinterpret(sum, &factor)?);
    let exact = exact.read_in(slots, Extent::of_slots(slots)).with_magnitude(magnitude);
    Ok(evaluator.with_errors(exact, &[(&error, gap.sqrt())], 0.0))
}

/// Brings real and imaginary parts together that lie side by side: a vector `(x, y)` of 2n slots becomes `x + i y` in n slots,
/// which is the sum of `(1, i) (x, y)` and its rotation by n.
///
/// Without a product it cannot be done: sums of automorphisms, with units for factors, give real numbers to both halves
/// or imaginary ones.
pub(super) struct Joint {
    babies: [isize; 2],
    giants: [GiantStep<Factor>; 1],
}

impl Joint {
    /// Encodes both diagonals.
    ///
    /// # Errors
    /// As [`Encoder::encode_factor_complex`].
    pub(super) fn encode(context: &Context, parameters: &Parameters) -> Result<Self> {
        let (slots, level) = (parameters.slots(), parameters.reduced_level());
        // The product is divided by this prime: the scale stays.
        let scale = Scale::from_log2(0).mul_u64(context.parameters().prime(level));
        let encoder = Encoder::new(context);
        let encode = |first: Complex64, second: Complex64| {
            let values = [vec![first; slots], vec![second; slots]].concat();
            encoder.encode_factor_complex(&values, 2 * slots, level, &scale)
        };
        let (one, i) = (Complex64::ONE, Complex64::I);
        let terms = vec![(0, encode(one, i)?), (1, encode(i, one)?)];
        Ok(Self { babies: [0, slots.cast_signed()], giants: [GiantStep { rotation: 0, terms }] })
    }

    /// The numbers, one level down, at the scale of their parts.
    ///
    /// # Errors
    /// As [`Evaluator::sum_giant_steps`].
    pub(super) fn apply(&self, evaluator: &Evaluator, parts: &Ciphertext) -> Result<Ciphertext> {
        let joined = evaluator.sum_giant_steps(parts, &self.babies, &self.giants)?;
        // Two copies are one sum: there are half as many different errors in the mean over all copies.
        let (exact, error) = evaluator.split_error(joined);
        Ok(evaluator.with_errors(exact, &[(&error, std::f64::consts::SQRT_2)], 0.0))
    }
}
