//! Complex matrices by their diagonals.

use std::collections::{BTreeMap, BTreeSet};

use num_complex::Complex64;

/// A matrix A on vectors of dimension n, a power of two, by those of its diagonals `D_k[p] = A[p][(p + k) mod n]`,
/// `0 <= k < n`, that are not zero: `(A x)[p] = sum_k D_k[p] x[p + k]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagonals {
    dimension: usize,
    entries: BTreeMap<usize, Vec<Complex64>>,
}

impl Diagonals {
    /// The matrix without any diagonal, to which entries are added.
    pub(super) const fn zero(dimension: usize) -> Self {
        Self { dimension, entries: BTreeMap::new() }
    }

    /// The identity.
    pub(super) fn identity(dimension: usize) -> Self {
        Self { dimension, entries: BTreeMap::from([(0, vec![Complex64::ONE; dimension])]) }
    }

    /// Adds a number to the entry of row `row` on the diagonal `offset` modulo n.
    pub(super) fn add(&mut self, offset: usize, row: usize, value: Complex64) {
        let diagonal = self.entries.entry(offset % self.dimension);
        diagonal.or_insert_with(|| vec![Complex64::ZERO; self.dimension])[row] += value;
    }

    /// The product A B: first `other`, then this. `(A B)_k[p] = sum_{i+j=k} A_i[p] B_j[p + i]`.
    pub(super) fn mul(&self, other: &Self) -> Self {
        let n = self.dimension;
        let mut product = Self::zero(n);
        for (i, a) in &self.entries {
            for (j, b) in &other.entries {
                let sum = product.entries.entry((i + j) % n).or_insert_with(|| vec![Complex64::ZERO; n]);
                let shifted = b[*i..].iter().chain(&b[..*i]);
                for ((sum, a), b) in sum.iter_mut().zip(a).zip(shifted) {
                    *sum += a * b;
                }
            }
        }
        product
    }

    /// The dimension n.
    #[must_use]
    pub const fn dimension(&self) -> usize {
        self.dimension
    }

    /// The offsets k of the diagonals, ascending.
    #[must_use]
    pub fn offsets(&self) -> BTreeSet<usize> {
        self.entries.keys().copied().collect()
    }

    /// The diagonals with their offsets, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &[Complex64])> {
        self.entries.iter().map(|(&k, diagonal)| (k, &diagonal[..]))
    }

    /// `A x`.
    ///
    /// # Panics
    /// If x does not have n entries.
    #[must_use]
    pub fn apply(&self, x: &[Complex64]) -> Vec<Complex64> {
        let n = self.dimension;
        assert_eq!(x.len(), n, "a vector of another dimension than the matrix");
        let mut product = vec![Complex64::ZERO; n];
        for (&k, diagonal) in &self.entries {
            let shifted = x[k..].iter().chain(&x[..k]);
            for ((sum, entry), x) in product.iter_mut().zip(diagonal).zip(shifted) {
                *sum += entry * x;
            }
        }
        product
    }
}
