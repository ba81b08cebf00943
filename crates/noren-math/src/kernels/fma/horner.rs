//! Horner's rule over four lanes.

/// Expands to this kernel over the lanes in scope, whose functions need the CPU features that the string names.
macro_rules! fma_horner {
    ($features:literal) => {
        use super::lanes::{Vector, WIDTH, add, load_numbers as load, mul, splat, store_numbers as store, sub};
        use crate::kernels::transforms::horner::vector_horner;

        vector_horner!($features);
    };
}

pub(in crate::kernels) use fma_horner;
