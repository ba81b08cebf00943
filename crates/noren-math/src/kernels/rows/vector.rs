//! The kernels that treat each word of a row alike, written once: each instruction set expands them over its own lanes.
//!
//! Whole vectors are done here, the words that are left by `portable`. All verbs are one walk. It goes backwards where a
//! row to be written starts a little after a row to be read, by their addresses modulo a page of 4 KiB: the processor
//! compares only the low twelve bits of a load's address with those of the stores before it, and would wait for each
//! store in turn, up to twelve times as long.
//!
//! A macro, and no generic functions over a trait of lanes: a method of a safe trait cannot have `target_feature`, so each of
//! the 21 operations that verbs are made of would need a second function with an `unsafe` call, and each verb a second one with
//! the features. For `add`, `mul` and `mul_scalar` that gave the same vector instructions with AVX-512 and AVX2, in three times
//! as many lines and with 11 blocks of `unsafe` more.

use crate::machine::aligned::LINE;

/// The modulus of comparisons of load addresses.
const PAGE: usize = 1 << 12;

/// So near, in bytes, stores before a load can still be under way.
const NEAR: usize = 1 << 10;

/// Whether a walk that writes one row and reads the others should go backwards.
#[inline(always)]
pub(in crate::kernels) fn goes_backwards(written: &[u64], read: &[&[u64]]) -> bool {
    let address = |row: &[u64]| row.as_ptr().addr();
    let (mut before, mut after) = (false, false);
    for read in read {
        let distance = address(written).wrapping_sub(address(read)) % PAGE;
        before |= (1..NEAR).contains(&distance);
        after |= distance > PAGE - NEAR;
    }
    before && !after
}

/// Whether a row starts on a cache line, as stores past the caches need.
#[inline(always)]
pub(in crate::kernels) fn starts_on_a_line(row: &[u64]) -> bool {
    row.as_ptr().addr().is_multiple_of(LINE)
}

/// Expands to the verbs over the `Vector`, `WIDTH`, `load`, `store`, `stream`, `fence` and `broadcast` in scope, and over the
/// arithmetic of `Sum`, `Product`, `Scale`, `Reduction`, `SignedReduction` and `add_above`, all of which need the CPU features that
/// the string names.
macro_rules! vector_rows {
    ($features:literal) => {
        use crate::kernels::rows::portable;
        use crate::kernels::rows::vector::{goes_backwards, starts_on_a_line};
        use crate::modulus::{Modulus, ShoupFactor};

        /// `out = f(out, inputs)` on whole vectors, past the caches if `PAST`; gives back how many words that are.
        #[inline]
        #[target_feature(enable = $features)]
        fn walk<const N: usize, const PAST: bool>(
            out: &mut [u64],
            inputs: [&[u64]; N],
            f: impl Fn(Vector, [Vector; N]) -> Vector,
        ) -> usize {
            let past = PAST && starts_on_a_line(out);
            let backwards = goes_backwards(out, &inputs);
            let out = out.as_chunks_mut::<WIDTH>().0;
            let mut vectors: [&[[u64; WIDTH]]; N] = [&[]; N];
            for (vectors, input) in vectors.iter_mut().zip(inputs) {
                *vectors = &input.as_chunks().0[..out.len()];
            }
            let value = |out: &[u64; WIDTH], i: usize| {
                let mut x = [broadcast(0); N];
                for k in 0..N {
                    // SAFETY: `i` counts the vectors of `out`, and all rows were cut to as many.
                    x[k] = load(unsafe { vectors[k].get_unchecked(i) });
                }
                f(load(out), x)
            };
            if past {
                for (i, out) in out.iter_mut().enumerate() {
                    // SAFETY: the row starts on a line, whose size is a multiple of a vector's.
                    unsafe { stream(out, value(out, i)) };
                }
                // Other threads may see what is stored past the caches late, unless told so.
                fence();
            } else if backwards {
                for (i, out) in out.iter_mut().enumerate().rev() {
                    store(out, value(out, i));
                }
            } else {
                for (i, out) in out.iter_mut().enumerate() {
                    store(out, value(out, i));
                }
            }
            out.len() * WIDTH
        }

        #[target_feature(enable = $features)]
        pub(super) fn add(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
            let sum = Sum::new(q);
            let done = walk::<2, false>(out, [a, b], |_, [a, b]| sum.add(a, b));
            portable::add(&mut out[done..], &a[done..], &b[done..], q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn add_streamed(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
            let sum = Sum::new(q);
            let done = walk::<2, true>(out, [a, b], |_, [a, b]| sum.add(a, b));
            portable::add(&mut out[done..], &a[done..], &b[done..], q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn add_assign(a: &mut [u64], b: &[u64], q: &Modulus) {
            let sum = Sum::new(q);
            let done = walk::<1, false>(a, [b], |a, [b]| sum.add(a, b));
            portable::add_assign(&mut a[done..], &b[done..], q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn sub(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
            let sum = Sum::new(q);
            let done = walk::<2, false>(out, [a, b], |_, [a, b]| sum.sub(a, b));
            portable::sub(&mut out[done..], &a[done..], &b[done..], q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn sub_streamed(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
            let sum = Sum::new(q);
            let done = walk::<2, true>(out, [a, b], |_, [a, b]| sum.sub(a, b));
            portable::sub(&mut out[done..], &a[done..], &b[done..], q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn sub_assign(a: &mut [u64], b: &[u64], q: &Modulus) {
            let sum = Sum::new(q);
            let done = walk::<1, false>(a, [b], |a, [b]| sum.sub(a, b));
            portable::sub_assign(&mut a[done..], &b[done..], q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn neg(out: &mut [u64], a: &[u64], q: &Modulus) {
            let sum = Sum::new(q);
            let done = walk::<1, false>(out, [a], |_, [a]| sum.neg(a));
            portable::neg(&mut out[done..], &a[done..], q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn neg_assign(a: &mut [u64], q: &Modulus) {
            let sum = Sum::new(q);
            let done = walk::<0, false>(a, [], |a, []| sum.neg(a));
            portable::neg_assign(&mut a[done..], q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn add_scalar_assign(a: &mut [u64], c: u64, q: &Modulus) {
            let (sum, constant) = (Sum::new(q), broadcast(c));
            let done = walk::<0, false>(a, [], |a, []| sum.add(a, constant));
            portable::add_scalar_assign(&mut a[done..], c, q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn mul(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
            let product = Product::new(q);
            let done = walk::<2, false>(out, [a, b], |_, [a, b]| product.mul(a, b));
            portable::mul(&mut out[done..], &a[done..], &b[done..], q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn mul_streamed(out: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
            let product = Product::new(q);
            let done = walk::<2, true>(out, [a, b], |_, [a, b]| product.mul(a, b));
            portable::mul(&mut out[done..], &a[done..], &b[done..], q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn mul_assign(a: &mut [u64], b: &[u64], q: &Modulus) {
            let product = Product::new(q);
            let done = walk::<1, false>(a, [b], |a, [b]| product.mul(a, b));
            portable::mul_assign(&mut a[done..], &b[done..], q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn mul_add_assign(acc: &mut [u64], a: &[u64], b: &[u64], q: &Modulus) {
            let product = Product::new(q);
            let done = walk::<2, false>(acc, [a, b], |acc, [a, b]| product.mul_add(a, b, acc));
            portable::mul_add_assign(&mut acc[done..], &a[done..], &b[done..], q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn mul_scalar(out: &mut [u64], a: &[u64], w: ShoupFactor, q: &Modulus) {
            let scale = Scale::new(w, q);
            let done = walk::<1, false>(out, [a], |_, [a]| scale.mul(a));
            portable::mul_scalar(&mut out[done..], &a[done..], w, q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn mul_scalar_assign(a: &mut [u64], w: ShoupFactor, q: &Modulus) {
            let scale = Scale::new(w, q);
            let done = walk::<0, false>(a, [], |a, []| scale.mul(a));
            portable::mul_scalar_assign(&mut a[done..], w, q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn mul_scalar_add_assign(acc: &mut [u64], a: &[u64], w: ShoupFactor, q: &Modulus) {
            let scale = Scale::new(w, q);
            let done = walk::<1, false>(acc, [a], |acc, [a]| scale.mul_add(a, acc));
            portable::mul_scalar_add_assign(&mut acc[done..], &a[done..], w, q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn sub_mul_scalar_assign(a: &mut [u64], b: &[u64], w: ShoupFactor, q: &Modulus) {
            let scale = Scale::new(w, q);
            let done = walk::<1, false>(a, [b], |a, [b]| scale.sub_mul(a, b));
            portable::sub_mul_scalar_assign(&mut a[done..], &b[done..], w, q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn reduce(out: &mut [u64], a: &[u64], q: &Modulus) {
            let reduction = Reduction::new(q);
            let done = walk::<1, false>(out, [a], |_, [a]| reduction.reduce_word(a));
            portable::reduce(&mut out[done..], &a[done..], q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn reduce_centred(out: &mut [u64], a: &[u64], from: &Modulus, q: &Modulus) {
            let centring = portable::Centring::new(from, q);
            let (half, offset) = (broadcast(centring.half), broadcast(centring.offset));
            let done = if centring.is_reduced {
                walk::<1, false>(out, [a], |_, [a]| add_above(a, half, offset))
            } else {
                let reduction = Reduction::new(q);
                walk::<1, false>(out, [a], |_, [a]| reduction.reduce_word(add_above(a, half, offset)))
            };
            portable::reduce_centred(&mut out[done..], &a[done..], from, q);
        }

        #[target_feature(enable = $features)]
        pub(super) fn reduce_signed(out: &mut [u64], a: &[i64], q: &Modulus) {
            let reduction = SignedReduction::new(q);
            // SAFETY: the same memory, read as words of the same size.
            let bits = unsafe { std::slice::from_raw_parts(a.as_ptr().cast::<u64>(), a.len()) };
            let done = walk::<1, false>(out, [bits], |_, [a]| reduction.reduce(a));
            portable::reduce_signed(&mut out[done..], &a[done..], q);
        }
    };
}

pub(in crate::kernels) use vector_rows;
