//! The number-theoretic transform: between coefficient and evaluation form, for one prime in one
//! ring.

pub mod table;
mod transform;
