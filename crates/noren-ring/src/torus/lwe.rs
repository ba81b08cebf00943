//! Samples of learning with errors, as words.

use std::sync::Arc;

/// A sample `(a_1, ..., a_d, b)` of dimension d: words of the torus.
///
/// Its phase under a secret s is `b - sum_i a_i s_i`. All arithmetic is that of vectors, modulo `2^64`.
///
/// A clone shares the words until one of both is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lwe {
    words: Arc<Vec<u64>>,
}

impl Lwe {
    /// The sample of these words, mask first, then the body.
    ///
    /// # Panics
    /// If there is no word.
    #[must_use]
    pub fn from_words(words: Vec<u64>) -> Self {
        assert!(!words.is_empty(), "a sample has a body");
        Self { words: Arc::new(words) }
    }

    /// The sample `(0, ..., 0, body)`, whose phase is known to everybody.
    #[must_use]
    pub fn trivial(dimension: usize, body: u64) -> Self {
        let mut words = vec![0; dimension + 1];
        words[dimension] = body;
        Self::from_words(words)
    }

    /// The dimension d.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.words.len() - 1
    }

    /// Mask and body.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The mask `a_1, ..., a_d`.
    #[must_use]
    pub fn mask(&self) -> &[u64] {
        &self.words[..self.dimension()]
    }

    /// The body b.
    #[must_use]
    pub fn body(&self) -> u64 {
        self.words[self.dimension()]
    }

    /// Adds to the phase.
    pub fn add_constant(&mut self, constant: u64) {
        let body = self.dimension();
        let words = Arc::make_mut(&mut self.words);
        words[body] = words[body].wrapping_add(constant);
    }

    /// `self + factor other`.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn add_multiple(&mut self, other: &Self, factor: i64) {
        assert_eq!(self.words.len(), other.words.len(), "samples of the same dimension");
        let factor = factor.cast_unsigned();
        let words = Arc::make_mut(&mut self.words);
        words.iter_mut().zip(other.words()).for_each(|(x, y)| *x = x.wrapping_add(y.wrapping_mul(factor)));
    }

    /// `factor self`.
    pub fn mul_assign(&mut self, factor: i64) {
        Arc::make_mut(&mut self.words).iter_mut().for_each(|x| *x = x.wrapping_mul(factor.cast_unsigned()));
    }
}
