//! Butterfly layers that become one matrix, and how its diagonals are cut into baby steps and giant steps.

use std::collections::BTreeSet;

/// Consecutive butterfly layers that become one matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// How many layers.
    pub layers: u32,
    /// The number `n_1` of baby steps, a power of two: diagonals at most that many strides apart share a giant step.
    pub baby_steps: usize,
}

/// How the sums of the giant steps are brought together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum GiantOrder {
    /// Each sum is rotated by its own giant step: one key for each, and one division at the end.
    #[default]
    Separate,
    /// `(.. (S_m rotated by g + S_{m-1}) rotated by g ..) + S_0`: one key for all, one division for each.
    Horner,
}

/// The rotations of a matrix with the diagonals `k = a + b mod n`: a baby step a of the operand, a giant step b of a sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steps {
    /// The rotations a of the operand, 0 included where it occurs.
    pub babies: BTreeSet<usize>,
    /// The rotations b of the sums, 0 included where it occurs.
    pub giants: BTreeSet<usize>,
    /// The rotations for which there must be keys.
    pub keys: BTreeSet<usize>,
}

impl Group {
    /// The offsets of the diagonals for `slots` slots, where `below` layers with shorter distances come before.
    ///
    /// With the stride `s = 2^below` and `w = 2^layers - 1` these are the multiples `-w s .. w s` of s modulo `slots`:
    /// `2 w + 1` diagonals, and `w + 1` in the group with the last layer, where both signs are one.
    #[must_use]
    pub fn offsets(self, slots: usize, below: u32) -> BTreeSet<usize> {
        let (stride, width) = (1 << below, (1 << self.layers) - 1);
        (0..=2 * width).map(|i| (slots + i * stride - width * stride) % slots).collect()
    }

    /// The rotations that the matrix of these layers takes.
    ///
    /// With `g = n_1 s` a diagonal k is cut into `b = floor(k / g) g` and `a = k - b`, where k counts from 0. In
    /// [Horner's](GiantOrder::Horner) order k counts from the lowest offset `-w s`, so that all giant steps are
    /// multiples of g from 0 up; the group that holds the last layer has no negative offsets in either order.
    #[must_use]
    pub fn steps(self, slots: usize, below: u32, order: GiantOrder) -> Steps {
        let giant = self.baby_steps << below;
        let cut = |offset| self.cut(slots, below, order, offset);
        let (babies, giants): (BTreeSet<_>, BTreeSet<_>) = self.offsets(slots, below).into_iter().map(cut).unzip();
        let mut keys = babies.clone();
        match order {
            GiantOrder::Separate => keys.extend(&giants),
            GiantOrder::Horner if giants.len() > 1 => _ = keys.insert(giant % slots),
            GiantOrder::Horner => {}
        }
        keys.remove(&0);
        Steps { babies, giants, keys }
    }

    /// The baby step and the giant step whose sum is the offset of a diagonal, modulo `slots`: see [`Group::steps`].
    pub(super) fn cut(self, slots: usize, below: u32, order: GiantOrder, offset: usize) -> (usize, usize) {
        let (stride, width) = (1 << below, (1 << self.layers) - 1);
        let wraps = slots >> below == 1 << self.layers;
        let lowest = match order {
            GiantOrder::Horner if !wraps => slots - width * stride,
            _ => 0,
        };
        let from_lowest = (offset + slots - lowest) % slots;
        let giant_step = from_lowest - from_lowest % (self.baby_steps * stride);
        ((slots + offset - giant_step) % slots, giant_step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(layers: u32, baby_steps: usize, below: u32, order: GiantOrder) -> (usize, usize, usize) {
        let steps = Group { layers, baby_steps }.steps(1 << 15, below, order);
        (steps.babies.len(), steps.giants.len(), steps.keys.len())
    }

    #[test]
    fn every_diagonal_is_one_baby_and_one_giant_step() {
        let slots = 1 << 10;
        for order in [GiantOrder::Separate, GiantOrder::Horner] {
            for (layers, below) in [(1, 0), (3, 0), (4, 3), (3, 7), (1, 9), (10, 0)] {
                for bits in 0..=layers + 1 {
                    let group = Group { layers, baby_steps: 1 << bits };
                    let steps = group.steps(slots, below, order);
                    let sums: BTreeSet<usize> =
                        steps.giants.iter().flat_map(|b| steps.babies.iter().map(move |a| (a + b) % slots)).collect();
                    assert!(group.offsets(slots, below).is_subset(&sums), "{order:?} {layers} {below} {bits}");
                    assert!(steps.babies.len() <= 1 << bits, "{order:?} {layers} {below} {bits}");
                }
            }
        }
    }

    #[test]
    fn steps_and_keys_of_the_usual_groups() {
        use GiantOrder::{Horner, Separate};
        for (layers, baby_steps, below, separate, horner) in [
            // The layers that end at n / 2: 16 diagonals.
            (4, 4, 11, (4, 4, 6), (4, 4, 4)),
            // 31 diagonals, and 15 with the stride 1.
            (4, 8, 7, (8, 4, 10), (8, 4, 9)),
            (4, 16, 3, (16, 2, 16), (16, 2, 16)),
            (3, 4, 0, (4, 4, 6), (4, 4, 5)),
            (3, 8, 0, (8, 2, 8), (8, 2, 8)),
            // 63 diagonals, and 32 that end at n / 2.
            (5, 16, 5, (16, 4, 18), (16, 4, 17)),
            (5, 8, 10, (8, 4, 10), (8, 4, 8)),
        ] {
            assert_eq!(counts(layers, baby_steps, below, Separate), separate, "{layers} {baby_steps} {below}");
            assert_eq!(counts(layers, baby_steps, below, Horner), horner, "{layers} {baby_steps} {below}");
        }
    }
}
