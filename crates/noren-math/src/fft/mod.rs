//! The special FFT: the canonical embedding that CKKS encodes through.
//!
//! A polynomial `m` with real coefficients `c_0, .., c_{2n-1}` modulo `X^{2n} + 1` has the value
//! `m(zeta^(5^j))` in slot `j < n`, where `zeta = exp(i pi / 2n)`. Since `zeta^(n 5^j) = i`, packing
//! `v_k = c_k + i c_{k+n}` turns this into the values of a complex polynomial of degree below `n`,
//! which split by `Y -> Y^2` like any FFT, with the powers of 5 as the order of the points.
//!
//! Every table of kernels adds and multiplies in the same order and never contracts a product with a
//! sum, and the roots come from the `libm` crate: the same input gives the same bits on every machine.

mod table;
mod transform;

pub(crate) use table::{FftPass, HEAD_LAYERS, LANES, TILE, root};
pub use table::{FftTable, MAX_SLOTS};
