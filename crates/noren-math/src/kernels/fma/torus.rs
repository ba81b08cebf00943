//! Torus words and their spectra over four lanes.

/// Expands to these kernels over the lanes in scope, whose functions need the CPU features that the string names.
macro_rules! fma_torus {
    ($features:literal) => {
        use super::arithmetic::{MAGIC, TWO_52};
        use super::lanes::{
            Integers, Vector, WIDTH, add, add_64, add_lower_32, add_words, and, broadcast, from_bits, get,
            load as load_64, load_numbers as load, mul, mul_add, mul_sub, neg_mul_add, neg_mul_sub, or, prefetch_far,
            set, shift_left, shift_right_each, signed_32, signed_64, splat, sub, to_bits, transpose, unsigned_32,
        };
        use crate::kernels::torus::halves::torus_halves;
        use crate::kernels::torus::layers::torus_layers;
        use crate::kernels::torus::vector::vector_torus;

        vector_torus!($features);
        torus_layers!($features);
        torus_halves!($features);

        /// `2^32`.
        const TWO_32: f64 = (1u64 << 32) as f64;

        /// The constants of [`Digit::of`], in all lanes.
        struct Place {
            shift: Integers,
            mask: Integers,
            /// `2^52`, below whose bits the digit is put.
            above: Integers,
            /// `2^52 + B/2`.
            offset: Vector,
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn place(digit: Digit) -> Place {
            Place {
                shift: broadcast(digit.shift.into()),
                mask: broadcast((1 << digit.bits) - 1),
                above: to_bits(splat(TWO_52)),
                offset: splat(TWO_52 + (1u64 << (digit.bits - 1)) as f64),
            }
        }

        /// See [`Digit::of`].
        #[inline]
        #[target_feature(enable = $features)]
        fn digit_32(words: &[u32; WIDTH], digit: &Place) -> Vector {
            digit_of(unsigned_32(words), digit)
        }

        /// See [`Digit::of`].
        #[inline]
        #[target_feature(enable = $features)]
        fn digit_64(words: &[u64; WIDTH], digit: &Place) -> Vector {
            digit_of(load_64(words), digit)
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn digit_of(words: Integers, digit: &Place) -> Vector {
            let moved = shift_right_each(words, digit.shift);
            let number = or(and(moved, digit.mask), digit.above);
            sub(from_bits(number), digit.offset)
        }

        /// Adds [`Torus::nearest`](crate::torus::word::Torus::nearest).
        #[inline]
        #[target_feature(enable = $features)]
        fn add_nearest_32(words: &Cell<[u32; WIDTH]>, x: Vector) {
            // The low bits of `MAGIC + n` are those of n.
            let steps = to_bits(add(centred::<32>(x), splat(MAGIC)));
            add_lower_32(words, steps);
        }

        /// Adds [`Torus::nearest`](crate::torus::word::Torus::nearest).
        #[inline]
        #[target_feature(enable = $features)]
        fn add_nearest_64(words: &Cell<[u64; WIDTH]>, x: Vector) {
            /// `MAGIC` less its own upper bits, which those of the lower half then bring back.
            const UPPER: f64 = MAGIC - (MAGIC.to_bits() >> 32) as f64;
            let x = centred::<64>(x);
            // The nearest multiple of 2^32, and what is left: exact, as it has no bits below the last one of x.
            let upper = mul_add(x, splat(1.0 / TWO_32), splat(UPPER));
            let rest = neg_mul_add(sub(upper, splat(UPPER)), splat(TWO_32), x);
            let lower = to_bits(add(rest, splat(MAGIC)));
            // The upper bits of UPPER leave with the shift.
            let steps = add_words(shift_left::<32>(to_bits(upper)), lower);
            add_64(words, steps);
        }

        /// `x` modulo `2^BITS`, in `[-2^(BITS - 1), 2^(BITS - 1)]`. Range: `|x| <= 2^(BITS + 51)`.
        #[inline]
        #[target_feature(enable = $features)]
        fn centred<const BITS: u32>(x: Vector) -> Vector {
            let q = (1u128 << BITS) as f64;
            let multiple = sub(mul_add(x, splat(1.0 / q), splat(MAGIC)), splat(MAGIC));
            neg_mul_add(multiple, splat(q), x)
        }

        /// Exchanges rows and columns of 4 x 4 points.
        #[inline]
        #[target_feature(enable = $features)]
        fn transpose_pairs(x: [Pair; 4]) -> [Pair; 4] {
            let (re, im) = (transpose(x.map(|x| x.0)), transpose(x.map(|x| x.1)));
            [(re[0], im[0]), (re[1], im[1]), (re[2], im[2]), (re[3], im[3])]
        }
    };
}

pub(in crate::kernels) use fma_torus;
