//! Shifts and rotations, by known and by encrypted amounts.

use crate::radix::carry::BASE;
use crate::radix::circuit::{Circuit, DIGIT_BITS};
use crate::radix::select::clean;
use crate::radix::value::Value;

/// Where bits move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Move {
    /// To higher places; zeros come in.
    ShiftLeft,
    /// To lower places; zeros come in.
    ShiftRight,
    /// To lower places; copies of the highest bit, the sign, come in.
    ShiftRightSigned,
    /// To higher places; what falls out comes in below.
    RotateLeft,
    /// To lower places; what falls out comes in above.
    RotateRight,
}

impl Move {
    const fn rotates(self) -> bool {
        matches!(self, Self::RotateLeft | Self::RotateRight)
    }

    /// The digit, of `digits` digits, that comes to a place from `away` places away, if one does.
    fn source(self, place: usize, away: usize, digits: usize) -> Option<usize> {
        match self {
            Self::ShiftLeft => place.checked_sub(away),
            Self::ShiftRight | Self::ShiftRightSigned => Some(place + away).filter(|&source| source < digits),
            Self::RotateLeft => Some((place + digits - away % digits) % digits),
            Self::RotateRight => Some((place + away) % digits),
        }
    }

    /// The part of a digit that stays in its place when all moves by one bit.
    const fn stays(self, digit: u64) -> u64 {
        match self {
            Self::ShiftLeft | Self::RotateLeft => digit % 2 * 2,
            Self::ShiftRight | Self::ShiftRightSigned | Self::RotateRight => digit / 2,
        }
    }

    /// The part that comes to the neighbour.
    const fn leaves(self, digit: u64) -> u64 {
        match self {
            Self::ShiftLeft | Self::RotateLeft => digit / 2,
            Self::ShiftRight | Self::ShiftRightSigned | Self::RotateRight => digit % 2 * 2,
        }
    }

    /// The digit that comes in, from the highest digit x of a number.
    const fn beyond(self, x: u64) -> u64 {
        match self {
            Self::ShiftRightSigned => (BASE - 1) * (x / 2),
            _ => 0,
        }
    }

    /// Moves by a number of bits that everybody knows.
    pub(super) fn by(self, circuit: &mut Circuit, digits: &[Value], bits: usize) -> Vec<Value> {
        let width = DIGIT_BITS * digits.len();
        let bits = if self.rotates() { bits % width } else { bits.min(width) };
        let beyond = circuit.lookup(&digits[digits.len() - 1], |x| self.beyond(x));
        let moved = |place, away| self.source(place, away, digits.len()).map_or(&beyond, |source| &digits[source]);
        let digit = |place| {
            let near = moved(place, bits / DIGIT_BITS);
            if bits.is_multiple_of(DIGIT_BITS) || self.source(place, bits / DIGIT_BITS, digits.len()).is_none() {
                return near.clone();
            }
            let far = clean(circuit, moved(place, bits / DIGIT_BITS + 1)) * BASE as i64;
            let sum = far + &clean(circuit, near);
            circuit.lookup(&sum, |x| self.stays(x % BASE) + self.leaves(x / BASE))
        };
        (0..digits.len()).map(digit).collect()
    }

    /// Moves by an encrypted number of bits, of which as many low bits count as numbers below the width need.
    ///
    /// For each bit of the amount, a digit goes with the bit into a lookup that gives what stays and what leaves.
    pub(super) fn by_encrypted(self, circuit: &mut Circuit, digits: &[Value], amount: &[Value]) -> Vec<Value> {
        /// A bit of the amount counts so much, above every digit.
        const FLAG: u64 = BASE;
        let width = DIGIT_BITS * digits.len();
        let mut digits = digits.to_vec();
        let levels = width.next_power_of_two().trailing_zeros() as usize;
        for level in 0..levels {
            let Some(of_amount) = amount.get(level / DIGIT_BITS) else { break };
            let bit = circuit.lookup(of_amount, |x| FLAG * (x >> (level % DIGIT_BITS) & 1));
            let away = (1 << level) / DIGIT_BITS;
            // A bit alone moves half a digit.
            let stays = |digit| if away == 0 { self.stays(digit) } else { 0 };
            let leaves = |digit| if away == 0 { self.leaves(digit) } else { digit };
            let parts = |digit: &Value| {
                let sum = digit.clone() + &bit;
                let stays = circuit.lookup(&sum, |x| if x < FLAG { x } else { stays(x - FLAG) });
                (stays, circuit.lookup(&sum, |x| if x < FLAG { 0 } else { leaves(x - FLAG) }))
            };
            let highest = digits[digits.len() - 1].clone() + &bit;
            let parts: Vec<(Value, Value)> = digits.iter().map(parts).collect();
            let beyond = circuit.lookup(&highest, |x| if x < FLAG { 0 } else { leaves(self.beyond(x - FLAG)) });
            let digit = |place| {
                let comes = self.source(place, away.max(1), parts.len()).map_or(&beyond, |source| &parts[source].1);
                let stays: Value = parts[place].0.clone();
                (stays + comes).within(BASE - 1)
            };
            digits = (0..parts.len()).map(digit).collect();
        }
        digits
    }
}
