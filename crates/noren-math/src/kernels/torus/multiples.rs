//! Sums of rows of 32-bit words times small numbers, which the key switch of short torus samples is made of.

/// Rows whose multiples are added with one reading of the sums.
pub(in crate::kernels) const ROWS: usize = 4;

/// The kernel: sums `[batch, len]`, factors `[batch, count]`, rows `[count, len]`.
pub(in crate::kernels) type SubMultiples = unsafe fn(&mut [u32], &[u32], &[u32], usize);

/// The reference.
pub(in crate::kernels) fn sub_multiples(outs: &mut [u32], factors: &[u32], rows: &[u32], len: usize) {
    let count = rows.len() / len;
    for (first, rows) in rows.chunks(ROWS * len).enumerate() {
        for (out, factors) in outs.chunks_exact_mut(len).zip(factors.chunks_exact(count)) {
            for (row, &factor) in rows.chunks_exact(len).zip(&factors[first * ROWS..]) {
                out.iter_mut().zip(row).for_each(|(x, a)| *x = x.wrapping_sub(factor.wrapping_mul(*a)));
            }
        }
    }
}

/// The kernel over vectors of `$width` words; `$load`, `$store`, `$broadcast`, `$mul` and `$sub` are those of the
/// instruction set.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! vector_multiples {
    ($features:literal, $width:literal, $vector:ty, $load:path, $store:path, $broadcast:path, $mul:path, $sub:path) => {
        use crate::kernels::torus::multiples::{self, ROWS};

        #[inline]
        #[target_feature(enable = $features)]
        fn load(words: &[u32; $width]) -> $vector {
            // SAFETY: the words are there; the instruction takes any address.
            unsafe { $load(words.as_ptr().cast()) }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn store(words: &mut [u32; $width], vector: $vector) {
            // SAFETY: as in `load`.
            unsafe { $store(words.as_mut_ptr().cast(), vector) }
        }

        /// `out -= sum_r factors_r rows_r` for [`ROWS`] rows.
        #[inline]
        #[target_feature(enable = $features)]
        fn sub_rows(out: &mut [u32], factors: &[u32; ROWS], rows: &[u32]) {
            let len = out.len();
            let factors_wide = [0, 1, 2, 3].map(|r: usize| $broadcast(factors[r].cast_signed()));
            let (vectors, rest) = out.as_chunks_mut::<$width>();
            let start = $width * vectors.len();
            let rows: [&[u32]; ROWS] = [0, 1, 2, 3].map(|r: usize| &rows[r * len..][..len]);
            let [a, b, c, d] = rows.map(|row| row.as_chunks::<$width>().0);
            for ((((out, a), b), c), d) in vectors.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                let first = $mul(load(a), factors_wide[0]);
                let second = $mul(load(b), factors_wide[1]);
                let third = $mul(load(c), factors_wide[2]);
                let fourth = $mul(load(d), factors_wide[3]);
                let sum = $sub($sub($sub($sub(load(out), first), second), third), fourth);
                store(out, sum);
            }
            for (row, &factor) in rows.iter().zip(factors) {
                rest.iter_mut().zip(&row[start..]).for_each(|(x, a)| *x = x.wrapping_sub(factor.wrapping_mul(*a)));
            }
        }

        #[target_feature(enable = $features)]
        pub(super) fn sub_multiples(outs: &mut [u32], factors: &[u32], rows: &[u32], len: usize) {
            let count = rows.len() / len;
            let whole = count / ROWS * ROWS;
            for (group, rows) in rows[..whole * len].chunks_exact(ROWS * len).enumerate() {
                for (out, factors) in outs.chunks_exact_mut(len).zip(factors.chunks_exact(count)) {
                    sub_rows(out, &factors.as_chunks::<ROWS>().0[group], rows);
                }
            }
            if whole < count {
                for (out, factors) in outs.chunks_exact_mut(len).zip(factors.chunks_exact(count)) {
                    multiples::sub_multiples(out, &factors[whole..], &rows[whole * len..], len);
                }
            }
        }
    };
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(in crate::kernels) use vector_multiples;
