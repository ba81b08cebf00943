//! GLWE samples under a secret of a subring, and the slices that they consist of.

use noren_ring::torus::lwe::{Coefficients, Lwe};

use crate::error::{Error, Result};

/// A GLWE sample `[2, N]` under `Z = z(X^g)`: g samples of degree `N/g` under z.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlicedSample {
    words: Vec<u64>,
    slices: usize,
}

/// Slice j of a GLWE sample under `Z = z(X^g)`: a GLWE sample under z, whose coefficient i is coefficient `g i + j`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// j.
    pub number: usize,
    /// The words `[2, N']`.
    pub words: Vec<u64>,
}

impl SlicedSample {
    /// The sample of these words, `[2, N]`, mask first, that has so many slices.
    ///
    /// # Panics
    /// If the words are not those of two polynomials of whole slices.
    #[must_use]
    pub fn from_words(words: Vec<u64>, slices: usize) -> Self {
        assert!(slices > 0 && words.len().is_multiple_of(2 * slices), "{} words of {slices} slices", words.len());
        Self { words, slices }
    }

    /// The sample with these slices, out of g; those that are missing are 0.
    ///
    /// # Errors
    /// [`Error::Parameters`] for a slice that there is not, or that is given twice, [`Error::Length`] for one of another degree.
    pub fn join(slices: &[Slice], (count, degree): (usize, usize)) -> Result<Self> {
        let mut words = vec![0; 2 * count * degree];
        let mut is_there = vec![false; count];
        for Slice { number, words: slice } in slices {
            if slice.len() != 2 * degree {
                let needed = format!("{}, two polynomials of degree {degree}", 2 * degree);
                return Err(Error::Length { what: "words of a slice", found: slice.len(), needed });
            }
            match is_there.get_mut(*number) {
                Some(is_there) if !*is_there => *is_there = true,
                _ => return Err(Error::parameter("slice", number, format!("below {count}, each once"))),
            }
            words[*number..].iter_mut().step_by(count).zip(slice).for_each(|(word, x)| *word = *x);
        }
        Ok(Self { words, slices: count })
    }

    /// How many slices there are: g.
    #[must_use]
    pub const fn slices(&self) -> usize {
        self.slices
    }

    /// The words `[2, N]`, mask first.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Slice j.
    ///
    /// # Panics
    /// If there is no such slice.
    #[must_use]
    pub fn slice(&self, number: usize) -> Slice {
        assert!(number < self.slices, "slice {number} of {}", self.slices);
        Slice { number, words: self.words[number..].iter().step_by(self.slices).copied().collect() }
    }

    /// Coefficient c of the degree N as an LWE sample of dimension `N/g` under z: it is coefficient `c / g` of slice `c mod g`.
    ///
    /// # Panics
    /// If the degree has no such coefficient.
    #[must_use]
    pub fn coefficient(&self, c: usize) -> Lwe {
        self.slice(c % self.slices).coefficients().sample(c / self.slices)
    }
}

impl Slice {
    /// The degree `N'`.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.words.len() / 2
    }

    /// All coefficients as LWE samples of dimension `N'` under z.
    #[must_use]
    pub fn coefficients(&self) -> Coefficients {
        Coefficients::of(&self.words)
    }
}
