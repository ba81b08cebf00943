//! The table of circuit bootstrapping.

use noren_math::machine::aligned::AlignedVec;
use noren_math::torus::gadget::Gadget;

/// Leading bits that the width of a box keeps: the zeros below are as many steps of the trace that all boxes share.
const WIDTH_BITS: u32 = 3;

/// The table by which one blind rotation gives all bits of a digit, for all digits of a gadget.
///
/// A digit v of m bits counts `1/2^m` of the circle, so that `v + 2^(m-1)` is half a circle further and negates what
/// the table gives. So the table has `(-1)^(c_i)` for the *control bits* of v, `c_(m-1)` its highest bit and `c_i` the
/// exclusive or of that and bit i: `(1 - (-1)^c) / 2` is the bit. In front of each of the `2^(m-1)` values of the lower
/// bits lie `m l` boxes of w coefficients, one for control bit i and level j, of `-(-1)^(c_i) 2^64 / (2 B^j)`.
#[derive(Debug, Clone)]
pub struct ControlTable {
    bits: u32,
    gadget: Gadget,
    /// w.
    width: usize,
    polynomial: AlignedVec<u64>,
}

impl ControlTable {
    /// The table for digits of `bits` bits, and GGSW samples of this gadget.
    ///
    /// # Panics
    /// If a box would have no coefficient; see [`ControlTable::box_width`].
    #[must_use]
    pub fn new(degree: usize, bits: u32, gadget: Gadget) -> Self {
        let width = Self::box_width(degree, bits, gadget);
        assert!(width >= 2, "no room for {bits} bits at {} levels in degree {degree}", gadget.levels());
        let (value_width, boxes) = (degree >> (bits - 1), bits as usize * gadget.levels());
        let mut polynomial = AlignedVec::zeroed(degree);
        for (place, word) in polynomial.iter_mut().enumerate() {
            // Boxes start half a box early; the last half box is that of the first one, negated.
            let (value, at) = ((place + width / 2) / value_width, (place + width / 2) % value_width / width);
            if at < boxes {
                let (bit, level) = (at / gadget.levels(), at % gadget.levels());
                // The control bits of values of half a circle more are the others.
                let (low, wrapped) = (value % (1 << (bits - 1)), value >> (bits - 1) == 1);
                let control = (low >> bit & 1 == 1) != wrapped;
                let half = half_weight(gadget, level);
                *word = if control { half } else { half.wrapping_neg() };
            }
        }
        Self { bits, gadget, width, polynomial }
    }

    /// How many coefficients a box has: the noise of a phase may be up to half of it, in units of `1/2N`.
    #[must_use]
    pub fn box_width(degree: usize, bits: u32, gadget: Gadget) -> usize {
        let most = (degree >> (bits - 1)) / (bits as usize * gadget.levels());
        let dropped = (usize::BITS - most.leading_zeros()).saturating_sub(WIDTH_BITS).max(1);
        most >> dropped << dropped
    }

    /// The bits of a digit.
    #[must_use]
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// The digits of the GGSW samples.
    #[must_use]
    pub const fn gadget(&self) -> Gadget {
        self.gadget
    }

    /// The coefficients.
    #[must_use]
    pub fn polynomial(&self) -> &[u64] {
        &self.polynomial
    }

    /// Where the box of a bit and of a level from 0 begins, half a box early.
    #[must_use]
    pub const fn place(&self, bit: usize, level: usize) -> usize {
        (bit * self.gadget.levels() + level) * self.width
    }

    /// Half of what digit `level + 1` counts, which is what boxes hold: `2^64 / (2 B^(level + 1))`.
    #[must_use]
    pub const fn half_weight(&self, level: usize) -> u64 {
        half_weight(self.gadget, level)
    }

    /// Steps of the trace that all boxes share: those that keep multiples of w.
    #[must_use]
    pub const fn shared_steps(&self) -> usize {
        self.width.trailing_zeros() as usize
    }
}

/// Half of what digit `level + 1` counts: `2^64 / (2 B^(level + 1))`.
const fn half_weight(gadget: Gadget, level: usize) -> u64 {
    1 << (u64::BITS - 1 - gadget.log_base() * (level as u32 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of the rotated table at box (bit, level) for a phase of `p / 2N` of the circle.
    fn looked_up(table: &ControlTable, phase: usize, bit: usize, level: usize) -> u64 {
        let n = table.polynomial.len();
        let at = (phase + (bit * table.gadget.levels() + level) * table.width) % (2 * n);
        if at < n { table.polynomial[at] } else { table.polynomial[at - n].wrapping_neg() }
    }

    #[test]
    fn tables_give_all_control_bits_for_all_phases_within_half_a_box() {
        for (degree, bits, gadget) in [
            (2048, 2, Gadget::new(7, 3)),
            (512, 1, Gadget::new(5, 4)),
            (1024, 3, Gadget::new(8, 2)),
            (64, 2, Gadget::new(9, 1)),
        ] {
            let table = ControlTable::new(degree, bits, gadget);
            for digit in 0..1 << bits {
                let (centre, half) = (digit * ((2 * degree) >> bits), table.width / 2);
                for phase in (centre + 2 * degree - half..centre + 2 * degree + half).map(|phase| phase % (2 * degree))
                {
                    for (bit, level) in (0..bits as usize).flat_map(|bit| (0..gadget.levels()).map(move |l| (bit, l))) {
                        let highest = digit >> (bits - 1);
                        let control = if bit + 1 == bits as usize { highest } else { digit >> bit & 1 ^ highest };
                        let half = half_weight(gadget, level);
                        let found = looked_up(&table, phase, bit, level).wrapping_add(half);
                        assert_eq!(found, (control as u64) * 2 * half, "digit {digit}, bit {bit}, phase {phase}");
                    }
                }
            }
        }
    }

    #[test]
    fn boxes_share_steps_of_the_trace() {
        let table = ControlTable::new(2048, 2, Gadget::new(7, 3));
        assert_eq!((table.width, table.shared_steps()), (160, 5));
        assert_eq!(ControlTable::box_width(64, 3, Gadget::new(4, 8)), 0, "no room");
    }
}
