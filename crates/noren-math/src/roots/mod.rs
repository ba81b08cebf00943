//! The roots of unity that transforms multiply by, in the orders in which kernels read them.

pub mod fft;
pub mod monomial;
pub mod ntt;
pub mod torus;
