//! Polynomials modulo t, which messages are encoded as.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::Result;

use crate::schemes::costs::factor_words;
use crate::schemes::integers::content::Content;
use crate::schemes::integers::parameters::Parameters;

/// A polynomial modulo t, of which all levels can make use.
#[derive(Clone)]
pub struct Plaintext {
    /// From `-t/2` to `t/2`.
    pub(crate) coefficients: Arc<[i64]>,
    /// See [`Plaintext::norms`].
    norms: OnceLock<Norms>,
    /// The content of the polynomial.
    content: Content,
    /// The same polynomial modulo the primes of some ring, or of a subring, for products.
    pub(crate) prepared: Option<Poly<Eval>>,
    /// The polynomial as it is added to ciphertexts of a factor and of some limbs.
    addend: Option<Addend>,
    pub(crate) parameters: Parameters,
}

/// `round(Q/t f m)` at some limbs, for a message m and a factor f.
#[derive(Clone)]
struct Addend {
    factor: u64,
    limbs: usize,
    plaintext: rlwe::Plaintext,
}

/// How large a polynomial is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Norms {
    /// `log2` of the root of the mean square of its values at the primitive roots of unity: for powers of two, of the sum of
    /// the squares of all coefficients.
    pub(crate) log2_norm: f64,
    /// `log2` of the largest absolute value.
    pub(crate) log2_max: f64,
}

/// The most bytes of a plaintext that was prepared as a factor of `limbs` limbs, whose rows are the same and repeat after `period`
/// slots: its coefficients, and the factor.
pub(super) fn factor_bytes(parameters: &Parameters, limbs: usize, period: usize) -> usize {
    let degree = parameters.degree();
    let words = if parameters.has_rows() { factor_words(degree, 2 * period) } else { degree };
    let rows = limbs + parameters.rlwe().p().len();
    rows.saturating_mul(words).saturating_add(degree).saturating_mul(size_of::<u64>())
}

impl Plaintext {
    /// How it is encoded, and which slots are values.
    #[must_use]
    pub fn content(&self) -> Content {
        self.content
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The same plaintext, of which the first `length` slots are the vector; `None` for all slots of a period.
    ///
    /// # Errors
    /// [`Error::Length`](noren_rlwe::error::Error::Length) for a length of 0 or above the slots.
    pub fn with_length(mut self, length: Option<usize>) -> Result<Self> {
        self.content = self.content.with_length(length, &self.parameters)?;
        Ok(self)
    }

    /// The same plaintext, of which the caller knows that both rows are the same and repeat after `period` slots. A period
    /// that is wrong makes products with matrices wrong.
    ///
    /// # Errors
    /// [`Error::Length`](noren_rlwe::error::Error::Length) for what is no power of two up to n/2.
    pub fn with_period(mut self, period: usize) -> Result<Self> {
        self.content = self.content.with_period(period, &self.parameters)?;
        Ok(self)
    }

    /// The same plaintext, of which the caller knows that the slots from each multiple of `stretch` on hold one number `stretch`
    /// times, counted through both rows, as [lookups](crate::lookup) take them. A stretch that is wrong makes lookups wrong.
    ///
    /// # Errors
    /// [`Error::Length`](noren_rlwe::error::Error::Length) for what is no power of two up to n,
    /// [`Error::Parameters`](noren_rlwe::error::Error::Parameters) for coefficients.
    pub fn with_stretch(mut self, stretch: usize) -> Result<Self> {
        self.content = self.content.with_stretch(stretch, &self.parameters)?;
        Ok(self)
    }

    /// The polynomial in a ring: where it was prepared for it, without a transform.
    ///
    /// It may have more limbs than the ring.
    pub(crate) fn in_ring(&self, ring: &Ring) -> Cow<'_, Poly<Eval>> {
        match self.factor_in(ring) {
            Cow::Borrowed(factor) if factor.degree() < ring.degree() => Cow::Owned(self.transformed(ring)),
            poly => poly,
        }
    }

    /// As [`Plaintext::in_ring`], or in a subring as a factor of sums of giant steps.
    pub(crate) fn factor_in(&self, ring: &Ring) -> Cow<'_, Poly<Eval>> {
        let (first, end) = (ring.range().start, ring.range().end);
        match &self.prepared {
            Some(poly) if poly.window().start <= first && end <= poly.window().end => Cow::Borrowed(poly),
            _ => Cow::Owned(self.transformed(ring)),
        }
    }

    /// The addend `round(Q/t f m)` for ciphertexts of factor f and `limbs` limbs, if it was prepared for these.
    pub(crate) fn addend(&self, factor: u64, limbs: usize) -> Option<&rlwe::Plaintext> {
        let fits = |addend: &&Addend| (addend.factor, addend.limbs) == (factor, limbs);
        self.addend.as_ref().filter(fits).map(|addend| &addend.plaintext)
    }

    pub(crate) fn with_addend(self, factor: u64, limbs: usize, poly: Poly<Eval>) -> Self {
        Self { addend: Some(Addend { factor, limbs, plaintext: rlwe::Plaintext { poly } }), ..self }
    }

    /// In a ring, or in its subring of polynomials in a power of X if it is one of those.
    pub(crate) fn transformed(&self, ring: &Ring) -> Poly<Eval> {
        let gap = self.coefficients.len() / ring.degree();
        let coefficients: Vec<i64> = self.coefficients.iter().step_by(gap).copied().collect();
        ring.ntt(ring.from_signed(&coefficients))
    }

    /// How many words a row of it has as a factor: of polynomials in `X^g` every g-th coefficient counts, in rings that
    /// have such a subring.
    pub(crate) fn factor_words(&self) -> usize {
        if !self.parameters.has_rows() {
            return self.coefficients.len();
        }
        let nonzero = self.coefficients.iter().enumerate().filter(|(_, x)| **x != 0);
        let gap = nonzero.fold(self.coefficients.len(), |gap, (i, _)| gap.min(1 << i.trailing_zeros().min(63)));
        factor_words(self.coefficients.len(), self.coefficients.len() / gap)
    }

    pub(crate) fn new(parameters: &Parameters, coefficients: Vec<i64>, content: Content) -> Self {
        let (coefficients, parameters) = (coefficients.into(), parameters.clone());
        Self { coefficients, norms: OnceLock::new(), content, prepared: None, addend: None, parameters }
    }

    /// How large it is. Calculated once, for products with ciphertexts: logarithms branch, and whoever predicts noise by the
    /// polynomial tells it. What is only encrypted or decrypted has no norms.
    pub(crate) fn norms(&self) -> Norms {
        *self.norms.get_or_init(|| {
            let ring = self.parameters.rlwe().index();
            let squares = match ring.is_power_of_two() {
                true => self.coefficients.iter().map(|&x| x as f64 * x as f64).sum(),
                false => ring.mean_square(&self.coefficients),
            };
            let max = self.coefficients.iter().map(|x| x.unsigned_abs()).max().unwrap_or(0);
            Norms { log2_norm: libm::log2(squares) / 2.0, log2_max: libm::log2(max as f64) }
        })
    }
}
