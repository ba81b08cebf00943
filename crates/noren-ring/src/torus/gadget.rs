//! A word of the torus as few small digits.

/// How words are cut into digits: `x ~ sum_j d_j 2^64 / B^j` for `j = 1..=l`, with `B = 2^log_base`.
///
/// The digits are signed, `d_j` in `[-B/2, B/2)`, and their sum is the multiple of `2^64 / B^l` nearest to x, so that it is
/// at most `2^63 / B^l` away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TorusGadget {
    log_base: u32,
    levels: usize,
}

impl TorusGadget {
    /// The gadget of `levels` digits of `log_base` bits.
    ///
    /// # Panics
    /// If there is no digit, or the digits have more than 63 bits together.
    #[must_use]
    pub const fn new(log_base: u32, levels: usize) -> Self {
        assert!(log_base > 0 && levels > 0, "a gadget has digits");
        assert!(log_base as usize * levels < 64, "digits have fewer bits than a word");
        Self { log_base, levels }
    }

    /// `log2 B`.
    #[must_use]
    pub const fn log_base(&self) -> u32 {
        self.log_base
    }

    /// How many digits there are.
    #[must_use]
    pub const fn levels(&self) -> usize {
        self.levels
    }

    /// `log2` of what digit j counts, `2^64 / B^j`, for `j` from 1.
    #[must_use]
    pub const fn log_weight(&self, j: usize) -> u32 {
        u64::BITS - self.log_base * j as u32
    }

    /// Writes the digits of `x`, `d_1` first.
    ///
    /// # Panics
    /// If there is not one place for each digit.
    #[inline]
    pub fn digits(&self, x: u64, out: &mut [i64]) {
        assert_eq!(out.len(), self.levels, "a place for each digit");
        let mut rest = self.rounded(x);
        for digit in out.iter_mut().rev() {
            *digit = self.low_digit(&mut rest);
        }
    }

    /// The digits of all words, shape `[levels, words]`.
    ///
    /// # Panics
    /// If there is not one place for each digit of each word.
    pub fn rows(&self, words: &[u64], out: &mut [i64]) {
        assert_eq!(out.len(), self.levels * words.len(), "a place for each digit of each word");
        for (place, &word) in words.iter().enumerate() {
            let mut rest = self.rounded(word);
            for level in (0..self.levels).rev() {
                out[level * words.len() + place] = self.low_digit(&mut rest);
            }
        }
    }

    /// `x B^l / 2^64`, rounded to the nearest whole number, halves up.
    #[inline]
    const fn rounded(&self, x: u64) -> u64 {
        let dropped = u64::BITS - self.log_base * self.levels as u32;
        x.wrapping_add(1 << (dropped - 1)) >> dropped
    }

    /// Takes the lowest digit off `rest`.
    #[inline]
    const fn low_digit(&self, rest: &mut u64) -> i64 {
        let half = 1 << (self.log_base - 1);
        let low = rest.wrapping_add(half) & ((1 << self.log_base) - 1);
        let digit = low.cast_signed() - (half.cast_signed());
        *rest = rest.wrapping_add(half) >> self.log_base;
        digit
    }
}
