//! Digits that are written down: of rings whose switches go step by step, and the oracle of those that are fused.

use crate::poly::{Eval, Poly};

/// The digits of an element, in evaluation form over all primes of `P Q_l`.
#[derive(Debug, Clone)]
pub struct Digits {
    polys: Vec<Poly<Eval>>,
}

impl Digits {
    pub(super) fn new(polys: Vec<Poly<Eval>>) -> Self {
        Self { polys }
    }

    /// The digits, first that of q_0.
    #[must_use]
    pub fn polys(&self) -> &[Poly<Eval>] {
        &self.polys
    }
}
