//! A matrix of the special DFT, encoded for ciphertexts of one level.

use std::collections::BTreeMap;

use noren_rlwe::error::Result;
use num_complex::Complex64;

use crate::bootstrapping::dft::Direction;
use crate::bootstrapping::diagonals::Diagonals;
use crate::bootstrapping::group::{GiantOrder, Group};
use crate::bootstrapping::key_classes::rotation_shape;
use crate::bootstrapping::parameters::Parameters;
use crate::schemes::ckks::{Ciphertext, Context, Encoder, Evaluator, Factor, Scale};
use crate::schemes::slots::GiantStep;

/// One matrix of a transform: how it is cut, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub group: Group,
    /// How many layers have shorter distances.
    pub below: u32,
    /// The level of the ciphertexts that it takes.
    pub level: usize,
}

/// The matrices of a direction, in the order in which they are applied.
pub(super) fn places(parameters: &Parameters, direction: Direction) -> Vec<Place> {
    let groups = &parameters.transform(direction).groups;
    let first = match direction {
        Direction::SlotToCoeff => parameters.input_level(),
        Direction::CoeffToSlot => parameters.max_level(),
    };
    let below = direction.below(groups).into_iter().enumerate();
    groups.iter().zip(below).map(|(&group, (i, below))| Place { group, below, level: first - i }).collect()
}

/// The baby steps of a matrix, and its giant steps, each by its own rotation, with the factors that `encode` makes of a
/// diagonal and its giant step.
///
/// # Errors
/// As `encode`.
pub(super) fn cut_steps(
    group: Group,
    below: u32,
    order: GiantOrder,
    diagonals: &Diagonals,
    encode: impl Fn(&[Complex64], usize) -> Result<Factor>,
) -> Result<(Vec<isize>, Vec<GiantStep<Factor>>)> {
    let slots = diagonals.dimension();
    let babies: Vec<usize> = group.steps(slots, below, order).babies.into_iter().collect();
    let positions: BTreeMap<usize, usize> = babies.iter().enumerate().map(|(i, &baby)| (baby, i)).collect();
    let mut giants: BTreeMap<usize, Vec<(usize, Factor)>> = BTreeMap::new();
    for (offset, diagonal) in diagonals.iter() {
        let (baby, giant) = group.cut(slots, below, order, offset);
        giants.entry(giant).or_default().push((positions[&baby], encode(diagonal, giant)?));
    }
    let giants = giants.into_iter().map(|(giant, terms)| GiantStep { rotation: giant as isize, terms }).collect();
    Ok((babies.into_iter().map(|baby| baby as isize).collect(), giants))
}

/// The factors of a matrix.
pub(super) struct Matrix {
    babies: Vec<isize>,
    /// None for a multiple of the identity.
    giants: Vec<GiantStep<Factor>>,
    order: GiantOrder,
    scale: Scale,
}

impl Matrix {
    /// Encodes the diagonals at a scale: `D_k` with `k = a + b` is rotated back by the giant step b, since the sum of the
    /// products with baby steps a is rotated by b afterwards: at once, or in Horner's order one step after the other. Where
    /// real and imaginary parts are to lie side by side, there are twice as many slots, and the second half of the diagonals
    /// is multiplied by -i.
    ///
    /// # Errors
    /// As [`Encoder::encode_factor_shaped`].
    pub(super) fn encode(
        context: &Context,
        parameters: &Parameters,
        direction: Direction,
        place: Place,
        diagonals: &Diagonals,
        scale: &Scale,
        beside: bool,
    ) -> Result<Self> {
        if place.group.layers == 0 && !beside {
            return Ok(Self { babies: Vec::new(), giants: Vec::new(), order: GiantOrder::Separate, scale: *scale });
        }
        let (slots, order) = (diagonals.dimension(), parameters.transform(direction).giants);
        let encoder = Encoder::new(context);
        let (shape, _) = rotation_shape(parameters, direction)?;
        let encode = |diagonal: &[Complex64], giant| {
            let mut values = diagonal.to_vec();
            if beside {
                values.extend(diagonal.iter().map(|z| -Complex64::I * z));
            }
            values.rotate_right(giant);
            encoder.encode_factor_shaped(&values, values.len(), place.level, scale, shape)
        };
        let (babies, mut giants) = cut_steps(place.group, place.below, order, diagonals, encode)?;
        if order == GiantOrder::Horner {
            let one = (place.group.baby_steps << place.below) % slots;
            giants.iter_mut().skip(1).for_each(|giant| giant.rotation = one as isize);
        }
        Ok(Self { babies, giants, order, scale: *scale })
    }

    /// The scale at which the diagonals are encoded.
    pub(super) fn scale(&self) -> &Scale {
        &self.scale
    }

    /// The matrix times the slots: one level down.
    ///
    /// # Errors
    /// As [`Evaluator::sum_giant_steps`].
    pub(super) fn apply(&self, evaluator: &Evaluator, x: &Ciphertext) -> Result<Ciphertext> {
        if self.giants.is_empty() {
            let prime = evaluator.context().parameters().prime(x.level());
            let target = x.scale().mul(&self.scale).div_u64(prime);
            return evaluator.combine(&[(x, Complex64::ONE)], Complex64::ZERO, x.level() - 1, &target);
        }
        match self.order {
            GiantOrder::Separate => evaluator.sum_giant_steps(x, &self.babies, &self.giants),
            GiantOrder::Horner => evaluator.sum_giant_steps_in_turn(x, &self.babies, &self.giants),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrapping::plan::BootstrapPlan;
    use crate::bootstrapping::preset::Preset;

    #[test]
    fn encoded_matrices_have_the_planned_size() {
        let parameters = Preset::Toy.parameters().expect("a preset");
        let context = Context::new(parameters.ckks().expect("primes")).expect("rings");
        let mut bytes = 0;
        for direction in [Direction::SlotToCoeff, Direction::CoeffToSlot] {
            let matrices = direction.matrices(parameters.slots(), &parameters.transform(direction).groups);
            for (place, diagonals) in places(&parameters, direction).into_iter().zip(&matrices) {
                let scale = context.parameters().scale_at(place.level);
                let matrix =
                    Matrix::encode(&context, &parameters, direction, place, diagonals, scale, false).expect("encode");
                let factors = matrix.giants.iter().flat_map(|giant| &giant.terms);
                bytes += factors.map(|(_, factor)| factor.rlwe().limbs() * factor.rlwe().degree() * 8).sum::<usize>();
            }
        }
        assert_eq!(bytes as u64, BootstrapPlan::new(&parameters).expect("a plan").factor_bytes());
    }
}
