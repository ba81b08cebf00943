//! Many polynomials of small coefficients, four to a word: factors of a large sum, of which each is needed once in a while.

use std::fmt;
use std::sync::Arc;

use noren_math::kernels::Kernels;
use noren_math::machine::aligned::AlignedVec;
use noren_math::machine::mapped::{MappedFile, MappedRow};
use noren_math::modulus::Modulus;

use crate::engine::Engine;
use crate::storage::Storage;

/// Coefficients in a word, 16 bits each.
const COEFFICIENTS_PER_WORD: usize = 4;
/// The largest coefficient, which 16 bits do not hold.
const LARGEST: i64 = 1 << 15;
/// The 16-bit value that marks the largest coefficient.
const STAND_IN: i64 = -LARGEST;

/// Polynomials of one degree with coefficients from `-2^15` to `2^15`, as 16 bits each: shape `[polynomial, coefficient]`, a
/// quarter of what one limb takes. The coefficients `2^15`, which 16 bits do not hold, stand in a list.
///
/// So residues modulo any `t <= 2^16 + 1` fit, centred.
pub struct SmallPolynomials {
    degree: usize,
    words: Storage,
    /// Polynomial i has the places `starts[i]..starts[i + 1]` of `places`.
    starts: Vec<u64>,
    /// Positions of the coefficient `2^15`.
    places: Vec<u64>,
}

impl SmallPolynomials {
    /// `count` polynomials: `write` writes the coefficients of each, by its number; `done` hears how many are
    /// written, after each, from any thread.
    ///
    /// # Panics
    /// If the degree is no multiple of 4, or a coefficient is not from `-2^15` to `2^15`.
    #[must_use]
    pub fn build(
        engine: &Engine,
        degree: usize,
        count: usize,
        write: impl Fn(usize, &mut [i64]) + Send + Sync,
        done: impl Fn() + Send + Sync,
    ) -> Self {
        assert_eq!(degree % COEFFICIENTS_PER_WORD, 0, "whole words of coefficients");
        let mut words = AlignedVec::zeroed(Self::word_count(degree, count));
        let mut places: Vec<Vec<u64>> = Vec::new();
        places.resize_with(count, Vec::new);
        let rows = words.chunks_exact_mut((degree / COEFFICIENTS_PER_WORD).max(1)).zip(&mut places).enumerate();
        let memory = || vec![0; degree];
        engine.run_with(count * degree, rows, memory, |coefficients, (i, (row, places))| {
            write(i, coefficients);
            pack(coefficients, row, places);
            done();
        });
        let lengths = places.iter().map(|places| places.len() as u64);
        let starts = std::iter::once(0).chain(lengths.scan(0, |end, length| {
            *end += length;
            Some(*end)
        }));
        Self { degree, words: Storage::Own(words), starts: starts.collect(), places: places.concat() }
    }

    /// Polynomials that lie in a file as [`SmallPolynomials::words`], [`SmallPolynomials::starts`] and
    /// [`SmallPolynomials::places`] gave them; `None` if the numbers do not fit each other.
    #[must_use]
    pub fn mapped(degree: usize, words: MappedRow, starts: Vec<u64>, places: Vec<u64>) -> Option<Self> {
        let count = starts.len().checked_sub(1)?;
        let fits = words.len() == Self::word_count(degree, count)
            && starts[0] == 0
            && starts[count] == places.len() as u64
            && starts.is_sorted()
            && places.iter().all(|&place| place < degree as u64);
        fits.then_some(Self { degree, words: Storage::Mapped(words), starts, places })
    }

    /// The file, if the polynomials lie in one.
    #[must_use]
    pub fn file(&self) -> Option<&Arc<MappedFile>> {
        self.words.file()
    }

    /// The number of words of `count` polynomials.
    #[must_use]
    pub fn word_count(degree: usize, count: usize) -> usize {
        degree / COEFFICIENTS_PER_WORD * count
    }

    /// How many polynomials there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The degree.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// All coefficients but the largest, four to a word, the first in the lowest bits.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Where the places of each polynomial start, and the end of all.
    #[must_use]
    pub fn starts(&self) -> &[u64] {
        &self.starts
    }

    /// The positions of the coefficients `2^15`, polynomial by polynomial.
    #[must_use]
    pub fn places(&self) -> &[u64] {
        &self.places
    }

    /// The coefficients of polynomial `i`.
    ///
    /// # Panics
    /// If there is no such polynomial.
    pub fn coefficients(&self, i: usize) -> impl Iterator<Item = i64> {
        (0..self.degree).map(move |place| self.coefficient(i, place))
    }

    /// Coefficient `place` of polynomial `i`.
    ///
    /// # Panics
    /// If there is no such coefficient.
    #[must_use]
    pub fn coefficient(&self, i: usize, place: usize) -> i64 {
        let (words, places) = self.polynomial(i);
        let half = ((words[place / COEFFICIENTS_PER_WORD] >> (16 * (place % COEFFICIENTS_PER_WORD))) as u16)
            .cast_signed()
            .into();
        if half == STAND_IN && places.contains(&(place as u64)) { LARGEST } else { half }
    }

    /// Writes polynomial `i` plus q in every coefficient. Range: q above 2^15, out `(0, 2q)`.
    pub(crate) fn write(&self, kernels: &Kernels, i: usize, q: &Modulus, out: &mut [u64]) {
        let (words, places) = self.polynomial(i);
        kernels.unpack_halves(out, words, q);
        places.iter().for_each(|&place| out[place as usize] = q.value() + LARGEST.cast_unsigned());
    }

    fn polynomial(&self, i: usize) -> (&[u64], &[u64]) {
        let row = self.degree / COEFFICIENTS_PER_WORD;
        let places = self.starts[i] as usize..self.starts[i + 1] as usize;
        (&self.words[i * row..][..row], &self.places[places])
    }
}

impl fmt::Debug for SmallPolynomials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mapped = matches!(self.words, Storage::Mapped(_));
        f.debug_struct("SmallPolynomials")
            .field("degree", &self.degree)
            .field("count", &self.count())
            .field("mapped", &mapped)
            .finish_non_exhaustive()
    }
}

/// Packs the coefficients of a polynomial, and lists the largest ones.
fn pack(coefficients: &[i64], words: &mut [u64], places: &mut Vec<u64>) {
    for (j, (word, four)) in words.iter_mut().zip(coefficients.as_chunks::<COEFFICIENTS_PER_WORD>().0).enumerate() {
        *word = 0;
        for (k, &x) in four.iter().enumerate() {
            assert!((-LARGEST..=LARGEST).contains(&x), "{x} is not from -2^15 to 2^15");
            let kept = if x == LARGEST { STAND_IN } else { x };
            if x == LARGEST {
                places.push((COEFFICIENTS_PER_WORD * j + k) as u64);
            }
            *word |= u64::from((kept as i16).cast_unsigned()) << (16 * k);
        }
    }
}
