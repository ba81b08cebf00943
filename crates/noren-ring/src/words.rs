//! Elements from and to words: the door of encoders, samplers and files.
//!
//! Everything above this crate moves elements, not words; only what turns numbers or bytes into elements comes here.

use std::sync::{Mutex, PoisonError};

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
        self.build_pointwise(false, |limb, range, row| {
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
        self.build_pointwise(false, |limb, range, row| {
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
        let mut rows = rows.into_iter();
        let mut poly = Poly::new(self.engine().unset_rows(self.limbs(), self.degree()), self.range().start);
        for (i, (limb, out)) in poly.limbs_mut().enumerate() {
            let row = rows.next().ok_or_else(|| self.length_error(i * self.degree()))?;
            if row.len() != self.degree() {
                return Err(self.length_error(i * self.degree() + row.len()));
            }
            let modulus = self.basis().modulus(limb).value();
            if let Some(index) = row.iter().position(|&word| word >= modulus) {
                return Err(Error::Word { modulus, index, found: row[index] });
            }
            out.copy_from_slice(row);
        }
        match rows.next() {
            None => Ok(poly),
            Some(row) => Err(self.length_error(self.limbs() * self.degree() + row.len())),
        }
    }

    /// The element whose rows `write` writes, each with the position of its prime in the whole list; several at a time.
    ///
    /// Range: written `[0, q)`; the row holds anything before.
    ///
    /// # Errors
    /// What `write` returns for the first limb that it refuses.
    pub fn try_from_fn<D: Domain, E: Send>(
        &self,
        write: impl Fn(usize, &mut [u64]) -> Result<(), E> + Send + Sync,
    ) -> Result<Poly<D>, E> {
        let refused = Mutex::new(None::<(usize, E)>);
        let poly = self.build(false, |limb, row| {
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

    /// The words, limb after limb, shape `[limbs, degree]`.
    #[must_use]
    pub fn to_words<D: Domain>(&self, a: &Poly<D>) -> Vec<u64> {
        self.check(a);
        let mut words = Vec::with_capacity(self.limbs() * self.degree());
        a.rows.rows().for_each(|row| words.extend_from_slice(row));
        words
    }

    /// The row of the prime at position `limb` of the whole list; `a` may have more limbs than this ring.
    ///
    /// # Panics
    /// If this ring has no such limb.
    #[must_use]
    pub fn row<'a, D: Domain>(&self, a: &'a Poly<D>, limb: usize) -> &'a [u64] {
        self.check_covers(a);
        assert!(self.range().contains(&limb), "limb {limb} is not one of {:?}", self.range());
        a.limb(limb)
    }

    pub(crate) fn check_degree(&self, found: usize) {
        assert_eq!(found, self.degree(), "an element has one coefficient for each power below the degree");
    }

    fn length_error(&self, found: usize) -> Error {
        Error::Length { found, needed: self.limbs() * self.degree() }
    }
}
