//! The real torus: words modulo 2^32 and 2^64, their signed digits, and products of polynomials of them.

pub mod bound;
pub mod digit;
pub mod exact;
pub mod fft;
pub mod gadget;
pub mod matrix;
pub mod monomial;
pub mod product;
mod transform;
pub mod word;
