//! The real torus: words modulo 2^32 and 2^64, and their signed digits.

pub mod digit;
pub mod gadget;
pub mod word;
