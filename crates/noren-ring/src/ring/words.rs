//! Elements from and to words: the door of encoders, samplers and files.
//!
//! Everything above this crate moves elements, not words; only what turns numbers or bytes into elements comes here.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use noren_math::machine::aligned::AlignedVec;
use noren_math::machine::mapped::MappedRow;
use noren_math::powerful::PowerfulBasis;

use crate::device::Upload;
use crate::error::Error;
use crate::poly::{Coeff, Domain, Poly};
use crate::ring::Ring;

/// Wide integers are cut into parts of this many bits, small enough for the kernels.
const PART_BITS: usize = 48;
/// Three parts hold 128 bits.
const PARTS: usize = 3;

impl Ring {
    /// The element with these coefficients, from the constant one up. Range: in `(-2^62, 2^62)`.
    ///
    /// # Panics
    /// If there are not as many coefficients as the degree.
    #[must_use]
    pub fn from_signed(&self, coefficients: &[i64]) -> Poly<Coeff> {
        self.check_degree(coefficients.len());
        self.upload_ranges(|limb, range, row| {
            self.engine().kernels().reduce_signed(row, &coefficients[range], self.basis().modulus(limb));
        })
    }

    /// The element with these wide coefficients, from the constant one up.
    ///
    /// # Panics
    /// If there are not as many coefficients as the degree.
    #[must_use]
    pub fn from_i128(&self, coefficients: &[i128]) -> Poly<Coeff> {
        self.check_degree(coefficients.len());
        // x + 2^127 is not negative; its parts are rows that one weighted sum joins modulo each prime.
        let mut parts = self.engine().unset_rows(PARTS, self.degree());
        for (part, row) in parts.rows_mut().enumerate() {
            for (word, &x) in row.iter_mut().zip(coefficients) {
                *word = ((x as u128 ^ 1 << 127) >> (part * PART_BITS)) as u64 & ((1 << PART_BITS) - 1);
            }
        }
        let sources: [&[u64]; PARTS] = std::array::from_fn(|part| parts.row(part));
        self.upload_ranges(|limb, range, row| {
            let q = self.basis().modulus(limb);
            let sources = sources.map(|source| &source[range.clone()]);
            let weights: [u64; PARTS] = std::array::from_fn(|part| q.reduce_u128(1 << (part * PART_BITS)));
            self.engine().kernels().weighted_sum(row, &sources, &weights, q);
            self.engine().kernels().add_scalar_assign(row, q.neg(q.reduce_u128(1 << 127)), q);
        })
    }

    /// The element with these words, limb after limb, shape `[limbs, degree]`.
    ///
    /// # Errors
    /// [`Error::Length`] if there are not limbs times degree words, [`Error::Word`] for one that is not below its prime.
    pub fn from_words<D: Domain>(&self, words: &[u64]) -> Result<Poly<D>, Error> {
        if words.len() != self.limbs() * self.degree() {
            return Err(self.length_error(words.len()));
        }
        self.from_rows(words.chunks_exact(self.degree()))
    }

    /// The element with these rows, one for each limb; see [`Ring::from_words`].
    ///
    /// # Errors
    /// As [`Ring::from_words`].
    pub fn from_rows<'a, D: Domain>(&self, rows: impl IntoIterator<Item = &'a [u64]>) -> Result<Poly<D>, Error> {
        let rows: Vec<&[u64]> = rows.into_iter().collect();
        let found = rows.iter().map(|row| row.len()).sum();
        if rows.len() != self.limbs() || rows.iter().any(|row| row.len() != self.degree()) {
            return Err(self.length_error(found));
        }
        for (row, modulus) in rows.iter().zip(self.moduli()) {
            let modulus = modulus.value();
            if let Some(index) = row.iter().position(|&word| word >= modulus) {
                return Err(Error::Word { modulus, index, found: row[index] });
            }
        }
        let start = self.range().start;
        Ok(self.upload(|limb, out| out.copy_from_slice(rows[limb - start])))
    }

    /// The element whose rows `write` writes, each with the position of its prime in the whole list; several at a time.
    ///
    /// Range: written `[0, q)`; the row holds anything before.
    ///
    /// # Errors
    /// The error of `write` for the first limb that it refuses.
    pub fn try_from_fn<D: Domain, E: Send>(
        &self,
        write: impl Fn(usize, &mut [u64]) -> Result<(), E> + Send + Sync,
    ) -> Result<Poly<D>, E> {
        let refused = Mutex::new(None::<(usize, E)>);
        let poly = self.upload(|limb, row| {
            if let Err(error) = write(limb, row) {
                let mut first = refused.lock().unwrap_or_else(PoisonError::into_inner);
                if first.as_ref().is_none_or(|(known, _)| limb < *known) {
                    *first = Some((limb, error));
                }
            }
        });
        match refused.into_inner().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(poly),
            Some((_, error)) => Err(error),
        }
    }

    /// The element whose words lie in a file, limb after limb, shape `[limbs, degree]`, and stay there where the device can read
    /// them; `None` if there are not as many.
    ///
    /// Range: in `[0, q)`. Words are not looked at; others give other numbers.
    #[must_use]
    pub fn mapped<D: Domain>(&self, words: MappedRow) -> Option<Poly<D>> {
        let fits = words.len() == self.limbs() * self.degree();
        fits.then(|| Poly::from_limbs(self.device().map(self, words)))
    }

    /// The words, limb after limb, shape `[limbs, degree]`.
    #[must_use]
    pub fn to_words<D: Domain>(&self, a: &Poly<D>) -> Vec<u64> {
        self.check(a);
        let mut words = Vec::with_capacity(self.limbs() * self.degree());
        self.rows(&self.on_host(a)).for_each(|row| words.extend_from_slice(row));
        words
    }

    /// The element in the memory of the host, where [`Ring::rows`] shows its words: itself, or a copy.
    #[must_use]
    pub fn on_host<'a, D: Domain>(&self, a: &'a Poly<D>) -> Cow<'a, Poly<D>> {
        if a.is_on_host() {
            return Cow::Borrowed(a);
        }
        let read = |limb, row: &mut [u64]| {
            self.device().download(a.as_limbs(), limb, &mut |words| row.copy_from_slice(words));
        };
        Cow::Owned(self.build(a.is_secret(), read))
    }

    /// The rows of an element [on the host](Ring::on_host), one for each limb of this ring; it may have more limbs.
    ///
    /// # Panics
    /// If another device holds the rows.
    pub fn rows<'a, D: Domain>(&self, a: &'a Poly<D>) -> impl ExactSizeIterator<Item = &'a [u64]> {
        self.check_covers(a);
        self.range().map(|limb| a.limb(limb))
    }

    /// The element whose coefficients are those in the [powerful basis](PowerfulBasis), for readers of numbers; where the
    /// index is a power of two, the element itself.
    #[must_use]
    pub fn to_powerful(&self, a: &Poly<Coeff>, basis: &PowerfulBasis) -> Poly<Coeff> {
        self.check(a);
        let (host, first) = (self.on_host(a), self.range().start);
        let rows: Vec<&[u64]> = self.rows(&host).collect();
        self.build(a.is_secret(), |limb, out| {
            let q = self.basis().modulus(limb);
            let mut scratch = AlignedVec::zeroed(basis.ring().index() as usize);
            basis.write_powerful(rows[limb - first], out, &mut scratch, |x, y| q.sub(x, y));
            scratch.wipe();
        })
    }

    /// The coefficients as numbers in `(-Q/2, Q/2)`, rounded to `f64`: exact up to a relative error of `2^-52`. Range:
    /// `|x| < 2^970`; what is larger may come out as no number (NaN).
    #[must_use]
    pub fn to_centered_f64(&self, a: &Poly<Coeff>) -> Vec<f64> {
        self.check(a);
        self.centered_f64(&self.on_host(a), 1)
    }

    /// Every `step`-th coefficient, from the constant one on, as [`to_centered_f64`](Self::to_centered_f64) gives it.
    ///
    /// # Panics
    /// If the step is no power of two, or exceeds the degree.
    #[must_use]
    pub fn to_centered_f64_every(&self, a: &Poly<Coeff>, step: usize) -> Vec<f64> {
        self.check(a);
        let degree = self.degree();
        assert!(step.is_power_of_two() && step <= degree, "a step of {step} is no power of two up to the degree");
        self.centered_f64(&self.on_host(a), step)
    }

    /// The coefficients as numbers in `(-Q/2, Q/2)`, or `None` unless all lie in `(-2^126, 2^126)`.
    ///
    /// Where all numbers below Q/2 do, the same instructions run whatever the coefficients are. With a larger Q they are
    /// looked at.
    #[must_use]
    pub fn to_centered_i128(&self, a: &Poly<Coeff>) -> Option<Vec<i128>> {
        self.check(a);
        self.centered_i128(&self.on_host(a))
    }

    /// An element whose rows the host writes, a range at a time.
    fn upload_ranges<D: Domain>(&self, write: impl Fn(usize, Range<usize>, &mut [u64]) + Send + Sync) -> Poly<D> {
        Poly::from_limbs(self.device().upload(self, Upload::Ranges(&write)))
    }

    pub(super) fn check_degree(&self, found: usize) {
        assert_eq!(found, self.degree(), "an element has one coefficient for each power below the degree");
    }

    fn length_error(&self, found: usize) -> Error {
        Error::Length { found, needed: self.limbs() * self.degree() }
    }
}
