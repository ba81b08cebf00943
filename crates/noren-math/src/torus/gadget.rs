//! Signed digits of torus words.

use crate::torus::digit::Digit;
use crate::torus::word::Torus;

/// The longest digits: the transform of longer ones would round away what they are for.
const MAX_LOG_BASE: u32 = 32;

/// How words are written in digits: `x/q` is about `sum_j d_j / B^j` for `j = 1..=levels`, with signed digits `d_j` in
/// `[-B/2, B/2)`, the first being the most significant.
///
/// The sum is a multiple of `B^-levels` nearest to `x/q` (upwards where two are as near), modulo 1: the error is at most
/// `1 / (2 B^levels)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gadget {
    log_base: u32,
    levels: u32,
}

impl Gadget {
    /// Digits of `log_base` bits.
    ///
    /// # Panics
    /// If one of the two is 0, `log_base` exceeds 32, or all digits have more than 64 bits.
    #[must_use]
    pub const fn new(log_base: u32, levels: u32) -> Self {
        assert!(log_base > 0 && levels > 0, "digits need a bit, and words a digit");
        assert!(log_base <= MAX_LOG_BASE, "digits have at most 32 bits");
        assert!(log_base * levels <= u64::BITS, "all digits have at most 64 bits");
        Self { log_base, levels }
    }

    /// `log2 B`.
    #[must_use]
    pub const fn log_base(&self) -> u32 {
        self.log_base
    }

    /// The number of digits.
    #[must_use]
    pub const fn levels(&self) -> usize {
        self.levels as usize
    }

    /// The digits of a word, the most significant first.
    ///
    /// # Panics
    /// If all digits have more bits than the word.
    pub fn digits<T: Torus>(&self, x: T) -> impl Iterator<Item = i64> + use<T> {
        let gadget = *self;
        let shifted = x.wrapping_add(gadget.offset());
        (0..gadget.levels()).map(move |level| gadget.digit::<T>(level).of(shifted))
    }

    /// The offset that makes digits unsigned: `B/2` in each, and half of what the last one counts.
    ///
    /// # Panics
    /// If all digits have more bits than the word.
    #[must_use]
    pub fn offset<T: Torus>(&self) -> T {
        let halves =
            (0..self.levels()).fold(0, |sum, level| sum | 1 << (self.digit::<T>(level).shift + self.log_base - 1));
        let lowest = self.digit::<T>(self.levels() - 1).shift;
        T::wrapping_from(halves | if lowest > 0 { 1 << (lowest - 1) } else { 0 })
    }

    /// Where digit `level + 1` lies.
    ///
    /// # Panics
    /// If it has bits below those of the word.
    #[must_use]
    pub fn digit<T: Torus>(&self, level: usize) -> Digit {
        let below = self.log_base * (level as u32 + 1);
        assert!(below <= T::BITS, "digits of {below} bits in a word of {}", T::BITS);
        Digit { shift: T::BITS - below, bits: self.log_base }
    }
}

impl Digit {
    /// The digit of a word to which the offset was added.
    #[inline(always)]
    pub(crate) fn of<T: Torus>(self, shifted: T) -> i64 {
        let digit = shifted.centred() >> self.shift & ((1 << self.bits) - 1);
        digit - (1 << (self.bits - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words around all the places where digits carry.
    fn words() -> impl Iterator<Item = u64> {
        let edges = (0..64).flat_map(|bit| [(1u64 << bit).wrapping_sub(1), 1 << bit, (1 << bit) + 1]);
        edges.chain((0..1000).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).flat_map(|x| [x, x.wrapping_neg()])
    }

    fn check<T: Torus>(gadget: Gadget, word: T) {
        let base = 1i128 << gadget.log_base();
        let mut sum = 0i128;
        for digit in gadget.digits(word) {
            assert!((-base / 2..base / 2).contains(&digit.into()), "{digit} of {word:?} in {gadget:?}");
            sum = sum * base + i128::from(digit);
        }
        let unit = T::BITS - gadget.log_base() * gadget.levels() as u32;
        let (q, x) = (1i128 << T::BITS, i128::from(word.centred()));
        let error = ((sum << unit) - x + q / 2).rem_euclid(q) - q / 2;
        // The nearest multiple, upwards where two are as near.
        let half = (1i128 << unit) / 2;
        assert!(error <= half && error > -half.max(1), "{word:?} in {gadget:?}: {error}");
    }

    #[test]
    fn digits_are_small_and_recompose_to_the_nearest_multiple() {
        for (log_base, levels) in [(1, 1), (1, 32), (2, 3), (7, 3), (10, 2), (23, 1), (32, 1), (16, 2)] {
            let gadget = Gadget::new(log_base, levels);
            words().for_each(|word| {
                check(gadget, word as u32);
                check(gadget, word);
            });
        }
        words().for_each(|word| check(Gadget::new(32, 2), word));
    }

    #[test]
    #[should_panic(expected = "digits of 33 bits in a word of 32")]
    fn digits_fit_the_word() {
        let _ = Gadget::new(11, 3).digits(0u32).count();
    }
}
