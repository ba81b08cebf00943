//! Lookup tables of programmable bootstrapping.

use noren_math::machine::aligned::AlignedVec;

/// A lookup table of programmable bootstrapping: the test polynomial, and the coefficients of the rotated polynomial to
/// extract.
#[derive(Debug, Clone)]
pub struct Table {
    /// N words; coefficient c comes to place 0 for a phase of `c / 2N` of the circle, and its negative for a half more.
    pub polynomial: AlignedVec<u64>,
    /// The coefficients that are extracted, 0 for the value at the phase itself.
    pub outputs: Vec<usize>,
}

impl Table {
    /// The table with these coefficients, each of a number from 0 to N - 1.
    #[must_use]
    pub fn from_fn(degree: usize, coefficient: impl Fn(usize) -> u64, outputs: &[usize]) -> Self {
        let mut polynomial = AlignedVec::zeroed(degree);
        polynomial.iter_mut().enumerate().for_each(|(place, word)| *word = coefficient(place));
        Self { polynomial, outputs: outputs.to_vec() }
    }
}
