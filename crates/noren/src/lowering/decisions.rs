//! Comparisons of real numbers that are decided, where an evaluator has that, in place of polynomials of signs.

use noren_rlwe::error::Result;

/// Whether numbers are above 0, decided: exact but in a zone about 0.
pub(crate) trait Decide<C>: Sync {
    /// 1 where a number is above 0 and 0 where it is below, with new levels.
    ///
    /// # Errors
    /// A vector whose errors leave nothing to decide.
    fn is_positive(&self, x: &C) -> Result<Decided<C>>;
}

/// The result of a decision.
pub(crate) struct Decided<C> {
    /// 1 or 0.
    pub(crate) result: C,
    /// Up to this distance from 0 it may be either.
    pub(crate) dead_zone: f64,
}
