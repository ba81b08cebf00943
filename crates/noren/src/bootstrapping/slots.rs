//! Fewer slots than the ring has: the cut of the transforms, and the projection onto a subring.
//!
//! n slots of a ring of degree N use the coefficients at multiples of `N / 2n`, its gap: they lie in the subring of
//! degree 2n. What raising the modulus adds lies in the whole ring. The trace to the subring multiplies the coefficients
//! there by the gap and removes all others, so that the transforms have `log2 n` layers, and only 2n coefficients count
//! where one may leave the interval. It is a sum of rotations by multiples of n.

use noren_rlwe::error::Result;

use crate::bootstrapping::dft::Direction;
use crate::bootstrapping::group::Group;
use crate::bootstrapping::parameters::{Parameters, ParametersSpec, Transform};
use crate::circuits::trace;
use crate::schemes::ckks::parameters::parameter;
use crate::schemes::ckks::{Ciphertext, Evaluator, Scale};
use crate::schemes::slots::SlotEvaluator;

impl ParametersSpec {
    /// The same for `2^log_slots` slots: both transforms have that many layers in as many matrices as before.
    ///
    /// The layers are dealt out evenly, and where that is not possible, the matrix with the longest distances has more: it
    /// has half as many diagonals.
    #[must_use]
    pub fn with_log_slots(self, log_slots: u32) -> Self {
        let slot_to_coeff = cut(&self.slot_to_coeff, Direction::SlotToCoeff, log_slots);
        let coeff_to_slot = cut(&self.coeff_to_slot, Direction::CoeffToSlot, log_slots);
        Self { log_slots, slot_to_coeff, coeff_to_slot, ..self }
    }
}

fn cut(transform: &Transform, direction: Direction, layers: u32) -> Transform {
    let count = transform.groups.len();
    // From the longest distances to the shortest.
    let mut groups: Vec<Group> = (0..count)
        .map(|i| {
            let layers = (layers as usize + count - 1 - i) / count;
            let diagonals = layers + usize::from(i > 0);
            let baby_steps = if layers == 0 { 1 } else { 1 << diagonals.div_ceil(2) };
            Group { layers: layers as u32, baby_steps }
        })
        .collect();
    if direction == Direction::SlotToCoeff {
        groups.reverse();
    }
    Transform { groups, ..transform.clone() }
}

/// The steps of the trace: none for all slots of the ring.
pub(super) fn projection(parameters: &Parameters) -> trace::Plan {
    trace::Plan::usual(parameters.gap(), parameters.slots().cast_signed())
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
    let all = Ciphertext { slots: parameters.degree() / 2, ..raised };
    let magnitude = all.magnitude() / gap.sqrt();
    let sum = projection(parameters).apply(evaluator, &all)?;
    let factor = Scale::from_f64(gap).ok_or_else(|| parameter("gap", gap, "positive"))?;
    let (exact, error) = evaluator.split_error(evaluator.reread(sum, &factor)?);
    let exact = Ciphertext { slots, ..exact }.with_magnitude(magnitude);
    Ok(evaluator.with_errors(exact, &[(&error, gap.sqrt())], 0.0))
}
