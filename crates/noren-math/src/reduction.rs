//! Residues modulo any number below 2^60, prime or not, of secret numbers.

/// Primes stay below 2^50, so that lazy values in `[0, 4q)` fit the 52 bits that IFMA multiplies.
pub const MAX_MODULUS_BITS: u32 = 50;

/// The largest number of bits of a number that is reduced by: two quotients are cut by less than 1 together.
pub const MAX_REDUCTION_BITS: u32 = 60;

/// A number t with `2 <= t < 2^60` and the constants of its reductions (Barrett's method).
///
/// No verb divides, branches or reads memory by its operands: the same instructions run whatever they are. The result is in
/// `[0, t)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reduction {
    value: u64,
    /// `floor(2^(62 + bits) / t)`, at most 2^63.
    inverse: u64,
    /// `2^64 mod t`.
    word: u64,
    /// `2^(bits-1) <= t < 2^bits`.
    bits: u32,
}

impl Reduction {
    /// The constants of t; `None` unless it is in `2 <= t < 2^60`.
    #[must_use]
    pub const fn new(t: u64) -> Option<Self> {
        if t < 2 || t >> MAX_REDUCTION_BITS != 0 {
            return None;
        }
        let bits = u64::BITS - t.leading_zeros();
        let inverse = ((1u128 << (62 + bits)) / t as u128) as u64;
        Some(Self { value: t, inverse, word: ((1u128 << 64) % t as u128) as u64, bits })
    }

    /// t.
    #[inline]
    #[must_use]
    pub const fn value(&self) -> u64 {
        self.value
    }

    /// `x mod t` for any word.
    #[inline]
    #[must_use]
    pub const fn reduce(&self, x: u64) -> u64 {
        reduce_word(x, self.value, self.inverse, self.bits)
    }

    /// `x mod t` for any double word.
    #[inline]
    #[must_use]
    pub const fn reduce_wide(&self, x: u128) -> u64 {
        let (high, low) = (self.reduce((x >> 64) as u64), self.reduce(x as u64));
        self.add(self.mul(high, self.word), low)
    }

    /// `x mod t` for any signed double word.
    #[inline]
    #[must_use]
    pub const fn reduce_signed(&self, x: i128) -> u64 {
        let negative = (x >> 127) as u64;
        let r = self.reduce_wide(x.unsigned_abs());
        r ^ ((r ^ self.neg(r)) & negative)
    }

    /// `a + b mod t`. Range: in `[0, t)`.
    #[inline]
    #[must_use]
    pub const fn add(&self, a: u64, b: u64) -> u64 {
        subtract_if_not_below(a + b, self.value)
    }

    /// `-a mod t`. Range: in `[0, t)`.
    #[inline]
    #[must_use]
    pub const fn neg(&self, a: u64) -> u64 {
        subtract_if_not_below(self.value - a, self.value)
    }

    /// `a b mod t`. Range: in `[0, t)`.
    #[inline]
    #[must_use]
    pub const fn mul(&self, a: u64, b: u64) -> u64 {
        mul_reduced(a, b, self.value, self.inverse, self.bits)
    }

    /// A factor that many numbers are multiplied with. Range: in `[0, t)`.
    #[must_use]
    pub const fn factor(&self, w: u64) -> Factor {
        let raised = self.mul(w, self.word);
        let half = self.reduce(1 << 63);
        let offsets = [self.neg(self.mul(w, half)), self.neg(self.mul(raised, half))];
        Factor { t: self.value, low: self.shoup(w), high: self.shoup(raised), offsets }
    }

    /// `w` with `floor(w 2^64 / t)`.
    const fn shoup(&self, w: u64) -> [u64; 2] {
        [w, (((w as u128) << 64) / self.value as u128) as u64]
    }

    /// The representative in `(-t/2, t/2]`. Range: in `[0, t)`.
    #[inline]
    #[must_use]
    pub const fn center(&self, x: u64) -> i64 {
        let above = ((self.value / 2).wrapping_sub(x).cast_signed() >> 63).cast_unsigned();
        x.wrapping_sub(self.value & above).cast_signed()
    }

    /// The residue of a representative. Range: in `(-t, t)`.
    #[inline]
    #[must_use]
    pub const fn lift(&self, x: i64) -> u64 {
        x.cast_unsigned().wrapping_add(self.value & (x >> 63).cast_unsigned())
    }
}

/// A public factor w modulo t, which multiplies secret numbers by Shoup's method as a [`Reduction`] reduces them.
#[derive(Debug, Clone, Copy)]
pub struct Factor {
    t: u64,
    /// w and `2^64 w mod t`, each with its quotient.
    low: [u64; 2],
    high: [u64; 2],
    /// `-2^63 w` and `-2^127 w` modulo t.
    offsets: [u64; 2],
}

impl Factor {
    /// `x w mod t` for any signed word.
    #[inline]
    #[must_use]
    pub const fn mul_signed(&self, x: i64) -> u64 {
        // x + 2^63 is not negative.
        let product = subtract_if_not_below(self.mul_lazy(x.cast_unsigned() ^ 1 << 63, self.low), self.t);
        subtract_if_not_below(product + self.offsets[0], self.t)
    }

    /// `x w mod t` for any signed double word.
    #[inline]
    #[must_use]
    pub const fn mul_wide(&self, x: i128) -> u64 {
        // x + 2^127 is not negative.
        let x = x.cast_unsigned() ^ 1 << 127;
        let sum = self.mul_lazy(x as u64, self.low) + self.mul_lazy((x >> 64) as u64, self.high);
        let sum = subtract_if_not_below(sum, 2 * self.t);
        subtract_if_not_below(subtract_if_not_below(sum, self.t) + self.offsets[1], self.t)
    }

    /// `x w` modulo t, not normalised. Range: out `[0, 2t)`.
    #[inline]
    const fn mul_lazy(&self, x: u64, [w, quotient]: [u64; 2]) -> u64 {
        // The cut quotient costs less than 1: the last cut included, 1 at most is missing.
        x.wrapping_mul(w).wrapping_sub(high_word(x, quotient).wrapping_mul(self.t))
    }
}

/// `x mod t` for any word, by `inverse = floor(2^(62 + bits) / t)`.
#[inline]
pub(crate) const fn reduce_word(x: u64, t: u64, inverse: u64, bits: u32) -> u64 {
    // The cut inverse costs less than x / 2^(62 + bits) <= 1/4: the last cut included, 1 at most is missing.
    let quotient = ((x as u128 * inverse as u128) >> (62 + bits)) as u64;
    subtract_if_not_below(x - quotient * t, t)
}

/// `a b mod t`, by `inverse = floor(2^(62 + bits) / t)`. Range: in `[0, 2^bits)`, out `[0, t)`; at most
/// [`MAX_REDUCTION_BITS`] bits.
#[inline]
pub(crate) const fn mul_reduced(a: u64, b: u64, t: u64, inverse: u64, bits: u32) -> u64 {
    // The shifts make both quotients high words: floor(a b / 2^(bits - 2)), then floor(that 2^(bits - 2) / t). The cut bits cost
    // at most 1/2, the cut inverse less than 1/4: the last cut included, 1 at most is missing.
    let quotient = high_word(high_word(a << (u64::BITS - bits), b << 2), inverse);
    subtract_if_not_below(a.wrapping_mul(b).wrapping_sub(quotient.wrapping_mul(t)), t)
}

/// `x - bound` if `x >= bound`, else `x`; without a branch, which the values here would mispredict
/// half of the time. Range: `x` in `[0, 2^63)`.
#[inline]
pub(crate) const fn subtract_if_not_below(x: u64, bound: u64) -> u64 {
    let r = x.wrapping_sub(bound);
    let borrow = (r.cast_signed() >> 63).cast_unsigned();
    r.wrapping_add(bound & borrow)
}

/// `floor(a * b / 2^64)`.
#[inline]
pub(crate) const fn high_word(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small ones, powers of two and their neighbours, primes and products.
    const MODULI: [u64; 17] = [
        2,
        3,
        4,
        5,
        15,
        256,
        257,
        65_536,
        65_537,
        (1 << 49) - 1,
        1 << 49,
        (1 << 49) + 1,
        (1 << 50) - 27,
        (1 << 50) - 1,
        1 << 59,
        (1 << 60) - 93,
        (1 << 60) - 1,
    ];

    #[test]
    fn results_are_those_of_a_division() {
        for t in MODULI {
            let reduction = Reduction::new(t).expect("in range");
            let near = |x: u128| [x.wrapping_sub(1), x, x.wrapping_add(1)];
            let wide: Vec<u128> = (0..=127)
                .flat_map(|bit| near(1 << bit))
                .chain([1, 2, 3, t / 2, t].into_iter().flat_map(|k| near(u128::from(t) * u128::from(k))))
                .chain(near(u128::MAX / u128::from(t) * u128::from(t)))
                .collect();
            for &x in &wide {
                let word = x as u64;
                assert_eq!(reduction.reduce(word), word % t, "{word} modulo {t}");
                assert_eq!(u128::from(reduction.reduce_wide(x)), x % u128::from(t), "{x} modulo {t}");
                let signed = x.cast_signed();
                let expected = signed.rem_euclid(i128::from(t)).cast_unsigned();
                assert_eq!(u128::from(reduction.reduce_signed(signed)), expected, "{signed} modulo {t}");
                for w in [0, 1, t / 2, t - 1] {
                    let factor = reduction.factor(w);
                    let times = |x: i128| (x.rem_euclid(t.into()) * i128::from(w)).rem_euclid(t.into()) as u64;
                    let narrow = word.cast_signed();
                    assert_eq!(factor.mul_signed(narrow), times(narrow.into()), "{narrow} {w} modulo {t}");
                    assert_eq!(factor.mul_wide(signed), times(signed), "{signed} {w} modulo {t}");
                }
            }
            let ends = [0, 1, 2, t / 2, t / 2 + 1, t - 2, t - 1].into_iter().filter(|&a| a < t);
            for a in ends.clone() {
                let centred = reduction.center(a);
                assert!(2 * i128::from(centred) <= i128::from(t) && 2 * i128::from(centred) > -i128::from(t));
                assert_eq!(reduction.lift(centred), a, "{a} modulo {t}");
                assert_eq!(reduction.neg(a), (t - a) % t);
                for b in ends.clone() {
                    assert_eq!(reduction.add(a, b), (a + b) % t);
                    assert_eq!(u128::from(reduction.mul(a, b)), u128::from(a) * u128::from(b) % u128::from(t));
                }
            }
        }
        assert!([0, 1, 1 << 60, u64::MAX].into_iter().all(|t| Reduction::new(t).is_none()));
    }
}
