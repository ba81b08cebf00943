//! Words of the torus.

use std::fmt::Debug;

use zeroize::Zeroize;

/// A number of the torus `R/Z` in steps of `1/q`: the word `x` stands for `x/q`, `q = 2^BITS`, and for the signed integer
/// with the same bits where an integer is asked for. Arithmetic wraps.
pub trait Torus: sealed::Sealed + Copy + Default + Eq + Debug + Zeroize + Send + Sync + 'static {
    /// `log2 q`.
    const BITS: u32;

    /// `a + b mod q`.
    #[must_use]
    fn wrapping_add(self, other: Self) -> Self;

    /// `a - b mod q`.
    #[must_use]
    fn wrapping_sub(self, other: Self) -> Self;

    /// `-a mod q`.
    #[must_use]
    fn wrapping_neg(self) -> Self;

    /// The low bits of an integer: the integer modulo q.
    #[must_use]
    fn wrapping_from(integer: i64) -> Self;

    /// The integer in `[-q/2, q/2)` with these bits.
    #[must_use]
    fn centred(self) -> i64;

    /// The integer nearest to `x`, modulo q. Range: `|x| < 2^51 q`.
    #[must_use]
    fn nearest(x: f64) -> Self;
}

pub(crate) mod sealed {
    /// Two values, one for each word.
    pub trait ForWords {
        /// That for words `T`.
        type Of<T: 'static>;

        /// That for words of 32 bits.
        fn for_u32(&self) -> &Self::Of<u32>;

        /// That for words of 64 bits.
        fn for_u64(&self) -> &Self::Of<u64>;
    }

    /// The words of this crate alone.
    pub trait Sealed: Sized + 'static {
        /// The value for this word.
        fn choose<P: ForWords>(pair: &P) -> &P::Of<Self>;
    }
}

/// Implements the trait for an unsigned word.
macro_rules! torus_word {
    ($word:ty, $choice:ident) => {
        impl sealed::Sealed for $word {
            fn choose<P: sealed::ForWords>(pair: &P) -> &P::Of<Self> {
                pair.$choice()
            }
        }

        impl Torus for $word {
            const BITS: u32 = <$word>::BITS;

            #[inline(always)]
            fn wrapping_add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn wrapping_sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn wrapping_neg(self) -> Self {
                self.wrapping_neg()
            }

            #[inline(always)]
            fn wrapping_from(integer: i64) -> Self {
                integer as Self
            }

            #[inline(always)]
            fn centred(self) -> i64 {
                self.cast_signed().into()
            }

            #[inline(always)]
            fn nearest(x: f64) -> Self {
                let q = (1u128 << Self::BITS) as f64;
                // Exact, and at most q/2 in size, which wraps to the right word: through 128 bits nothing saturates.
                let centred = x - (x / q).round_ties_even() * q;
                centred.round_ties_even() as i128 as Self
            }
        }
    };
}

torus_word!(u32, for_u32);
torus_word!(u64, for_u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_wraps() {
        let q = 2f64.powi(64);
        assert_eq!(u32::nearest(0.75), 1);
        assert_eq!(u32::nearest(-2.0), u32::MAX - 1);
        assert_eq!(u32::nearest(2f64.powi(32) * 1e6 + 3.25), 3);
        assert_eq!(u64::nearest(0.5 * q), 1 << 63);
        assert_eq!(u64::nearest(-(1e9 + 0.5) * q), 1 << 63);
        assert_eq!(u64::nearest((3.0 + 2f64.powi(-50)) * q), 1 << 14);
    }

    #[test]
    fn words_are_signed_integers_too() {
        assert_eq!(u32::MAX.centred(), -1);
        assert_eq!((1u64 << 63).centred(), i64::MIN);
        assert_eq!(u32::wrapping_from(-2), u32::MAX - 1);
    }
}
