//! Sums over windows of a table, modulo `2^64`.
//!
//! Inlined always, so that [`vector_windows`] compiles them for the vectors of other tables.

/// The words that are added up at a time.
const BLOCK: usize = 32;

/// The words of a vector.
const LANES: usize = 8;

/// `out_j = sum_i a_i table_(starts_i + j)`.
#[inline(always)]
pub(in crate::kernels) fn window_combination(out: &mut [u64], a: &[u64], table: &[u64], starts: &[u32]) {
    let whole = out.len() / BLOCK * BLOCK;
    let (blocks, rest) = out.split_at_mut(whole);
    let (lanes, last) = rest.as_chunks_mut::<LANES>();
    for (block, at) in blocks.as_chunks_mut::<BLOCK>().0.iter_mut().zip((0..).step_by(BLOCK)) {
        *block = combination(a, table, starts, at);
    }
    for (block, at) in lanes.iter_mut().zip((whole..).step_by(LANES)) {
        *block = combination(a, table, starts, at);
    }
    for (word, at) in last.iter_mut().zip(whole + lanes.len() * LANES..) {
        [*word] = combination(a, table, starts, at);
    }
}

/// The words from `at` on of a combination.
#[inline(always)]
fn combination<const N: usize>(a: &[u64], table: &[u64], starts: &[u32], at: usize) -> [u64; N] {
    let mut sums = [0u64; N];
    for (&a, &start) in a.iter().zip(starts) {
        let window = &table[start as usize + at..][..N];
        sums.iter_mut().zip(window).for_each(|(sum, &x)| *sum = sum.wrapping_add(a.wrapping_mul(x)));
    }
    sums
}

/// `out_k = sum_i a_i table_(starts_k + i)`.
#[inline(always)]
pub(in crate::kernels) fn window_dots(out: &mut [u64], a: &[u64], table: &[u64], starts: &[u32]) {
    for (out, &start) in out.iter_mut().zip(starts) {
        let window = &table[start as usize..][..a.len()];
        *out = a.iter().zip(window).fold(0u64, |sum, (&a, &x)| sum.wrapping_add(a.wrapping_mul(x)));
    }
}

/// Expands to the verbs over windows, compiled with the CPU features that the string names.
#[cfg(target_arch = "x86_64")]
macro_rules! vector_windows {
    ($features:literal) => {
        use crate::kernels::rows::windows;

        /// See `windows::window_combination`.
        #[target_feature(enable = $features)]
        pub(super) fn window_combination(out: &mut [u64], a: &[u64], table: &[u64], starts: &[u32]) {
            windows::window_combination(out, a, table, starts);
        }

        /// See `windows::window_dots`.
        #[target_feature(enable = $features)]
        pub(super) fn window_dots(out: &mut [u64], a: &[u64], table: &[u64], starts: &[u32]) {
            windows::window_dots(out, a, table, starts);
        }
    };
}

#[cfg(target_arch = "x86_64")]
pub(in crate::kernels) use vector_windows;
