//! Samples of learning with errors, as words.

use std::sync::Arc;

/// A sample `(a_1, ..., a_d, b)` of dimension d: words of the torus.
///
/// Its phase under a secret s is `b - sum_i a_i s_i`. All arithmetic is that of vectors, modulo `2^64`.
///
/// A clone shares the mask until one of both is changed. So do [the coefficients of a polynomial](Coefficients): the mask is a
/// window of words that others may have windows of.
#[derive(Debug, Clone)]
pub struct Lwe {
    words: Arc<Vec<u64>>,
    start: usize,
    dimension: usize,
    body: u64,
}

/// The coefficients of a GLWE sample of one polynomial in the mask, as LWE samples that share their words.
///
/// The mask of coefficient h is `a_h, ..., a_0, -a_{N-1}, ..., -a_{h+1}`: a window of `a_{N-1}, ..., a_0, -a_{N-1}, ..., -a_0`.
#[derive(Debug, Clone)]
pub struct Coefficients {
    /// `[2N]`.
    masks: Arc<Vec<u64>>,
    body: Vec<u64>,
}

impl Lwe {
    /// The sample of these words, mask first, then the body.
    ///
    /// # Panics
    /// If there is no word.
    #[must_use]
    pub fn from_words(mut words: Vec<u64>) -> Self {
        let body = words.pop().expect("a sample has a body");
        Self { start: 0, dimension: words.len(), body, words: Arc::new(words) }
    }

    /// The sample `(0, ..., 0, body)`, whose phase is known to everybody.
    #[must_use]
    pub fn trivial(dimension: usize, body: u64) -> Self {
        Self { words: Arc::new(vec![0; dimension]), start: 0, dimension, body }
    }

    /// The dimension d.
    #[must_use]
    pub const fn dimension(&self) -> usize {
        self.dimension
    }

    /// The mask `a_1, ..., a_d`.
    #[must_use]
    pub fn mask(&self) -> &[u64] {
        &self.words[self.start..self.start + self.dimension]
    }

    /// The body b.
    #[must_use]
    pub const fn body(&self) -> u64 {
        self.body
    }

    /// Adds to the phase.
    pub const fn add_constant(&mut self, constant: u64) {
        self.body = self.body.wrapping_add(constant);
    }

    /// `self + factor other`.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn add_multiple(&mut self, other: &Self, factor: i64) {
        assert_eq!(self.dimension, other.dimension, "samples of the same dimension");
        let factor = factor.cast_unsigned();
        let add = |x: &mut u64, y: u64| *x = x.wrapping_add(y.wrapping_mul(factor));
        self.own_mask().iter_mut().zip(other.mask()).for_each(|(x, y)| add(x, *y));
        add(&mut self.body, other.body);
    }

    /// `factor self`.
    pub fn mul_assign(&mut self, factor: i64) {
        let factor = factor.cast_unsigned();
        self.own_mask().iter_mut().for_each(|x| *x = x.wrapping_mul(factor));
        self.body = self.body.wrapping_mul(factor);
    }

    /// The mask, in words that no other sample has.
    fn own_mask(&mut self) -> &mut [u64] {
        if self.words.len() != self.dimension {
            (self.words, self.start) = (Arc::new(self.mask().to_vec()), 0);
        }
        Arc::make_mut(&mut self.words).as_mut_slice()
    }
}

impl PartialEq for Lwe {
    fn eq(&self, other: &Self) -> bool {
        self.body == other.body && self.mask() == other.mask()
    }
}

impl Eq for Lwe {}

impl Coefficients {
    /// Those of a sample `[2, N]`.
    ///
    /// # Panics
    /// If the words are not those of two polynomials.
    #[must_use]
    pub fn of(sample: &[u64]) -> Self {
        assert!(sample.len().is_multiple_of(2), "{} words of two polynomials", sample.len());
        let (mask, body) = sample.split_at(sample.len() / 2);
        let negated = mask.iter().rev().map(|a| a.wrapping_neg());
        Self { masks: Arc::new(mask.iter().rev().copied().chain(negated).collect()), body: body.to_vec() }
    }

    /// Coefficient h as a sample of dimension N.
    ///
    /// # Panics
    /// If there is no such coefficient.
    #[must_use]
    pub fn sample(&self, h: usize) -> Lwe {
        let dimension = self.body.len();
        Lwe { start: dimension - 1 - h, words: self.masks.clone(), dimension, body: self.body[h] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torus::polynomial::extract_mask;

    #[test]
    fn coefficients_are_those_that_are_extracted_and_change_alone() {
        let n = 8;
        let sample: Vec<u64> = (1..=2 * n as u64).map(|x| x.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let coefficients = Coefficients::of(&sample);
        let extracted = |h: usize| {
            let mut words = vec![0; n + 1];
            extract_mask(&mut words[..n], &sample[..n], n, h);
            words[n] = sample[n + h];
            Lwe::from_words(words)
        };
        for h in 0..n {
            let (mut found, mut expected) = (coefficients.sample(h), extracted(h));
            assert_eq!(found, expected, "coefficient {h}");
            for sample in [&mut found, &mut expected] {
                sample.add_multiple(&coefficients.sample(0), -3);
                sample.mul_assign(5);
                sample.add_constant(7);
            }
            assert_eq!(found, expected);
            assert_eq!(coefficients.sample(h), extracted(h), "others stay");
        }
    }
}
