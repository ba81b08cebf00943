//! The polynomials that coefficients refer to.

/// The polynomials that the coefficients refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// `x^k`.
    Power,
    /// The Chebyshev polynomials `T_k(cos t) = cos(k t)`, for `x` in `[-1, 1]`: the numerically stable choice.
    Chebyshev,
}
