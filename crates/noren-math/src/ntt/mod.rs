//! The number-theoretic transform: between coefficient and evaluation form, for one prime in one
//! ring.

pub mod general;
pub mod transform;
