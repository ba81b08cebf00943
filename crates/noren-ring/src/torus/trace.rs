//! The automorphisms of a trace.

/// How many steps the trace of degree N has: `log2 N`.
#[must_use]
pub const fn steps(degree: usize) -> usize {
    degree.trailing_zeros() as usize
}

/// The exponent d of step i, `2^(L-i) + 1`.
#[must_use]
pub const fn exponent(degree: usize, step: usize) -> usize {
    (degree >> step) + 1
}
