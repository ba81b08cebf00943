//! Sums over windows of a table, for instruction sets whose vectors the compiler fills with the loops of
//! `portable_windows.rs`.

/// Expands to the verbs over windows, compiled with the CPU features that the string names.
macro_rules! vector_windows {
    ($features:literal) => {
        use crate::kernels::portable_windows;

        /// See `portable_windows::window_combination`.
        #[target_feature(enable = $features)]
        pub(super) fn window_combination(out: &mut [u64], a: &[u64], table: &[u64], starts: &[u32]) {
            portable_windows::window_combination(out, a, table, starts);
        }

        /// See `portable_windows::window_dots`.
        #[target_feature(enable = $features)]
        pub(super) fn window_dots(out: &mut [u64], a: &[u64], table: &[u64], starts: &[u32]) {
            portable_windows::window_dots(out, a, table, starts);
        }
    };
}

pub(super) use vector_windows;
