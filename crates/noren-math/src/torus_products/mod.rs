//! Products of polynomials of torus words by the negacyclic transform in `f64`.

pub mod bound;
pub mod exact;
pub mod matrix;
pub mod product;
mod transform;
