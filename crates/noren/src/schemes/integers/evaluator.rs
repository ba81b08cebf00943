//! Operations on ciphertexts.

mod dimensions;
pub(crate) mod expansion;
pub(crate) mod flooding;
mod levels;
mod matrices;
mod products;
mod rotations;
mod sums;

use std::marker::PhantomData;
use std::sync::Arc;

use noren_ring::ring::Ring;
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::EvaluationKeys;

use crate::schemes::integers::content::Content;
use crate::schemes::integers::context::Context;
use crate::schemes::integers::encryption::Ciphertext;
use crate::schemes::integers::growth::{Growth, State};
use crate::schemes::integers::plaintext::Plaintext;
use crate::schemes::integers::scheme::Scheme;

/// Evaluates on ciphertexts, with keys that decrypt nothing. Cheap to clone, and shared between threads.
///
/// - **Limbs.** Products drop the limbs that their noise does not need any more (automatic modulus switching);
///   [`Evaluator::mod_switch`] drops them by hand. Operands of different limbs are brought to the fewer ones.
/// - **Factors.** Messages are known up to a [factor](Ciphertext::factor) that every ciphertext carries. Operands of sums
///   are multiplied by small numbers where their factors differ.
/// - **Noise.** Every result carries a prediction of its noise. Products that would leave no budget are refused with
///   [`IntegerError::NoiseExhausted`](crate::schemes::integers::IntegerError::NoiseExhausted).
///
/// Every operation refuses ciphertexts of other parameters with [`Error::ParameterMismatch`], and those of another secret key
/// than that of the keys with [`Error::KeyMismatch`].
#[derive(Clone)]
pub struct Evaluator<S> {
    context: Context,
    keys: Arc<EvaluationKeys>,
    scheme: PhantomData<S>,
}

impl<S: Scheme> Evaluator<S> {
    /// The evaluator of these keys.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the keys were made with other parameters.
    pub fn new(context: &Context, keys: Arc<EvaluationKeys>) -> Result<Self> {
        context.parameters().rlwe().check_fingerprint(&keys.parameters().fingerprint(), "the evaluation keys")?;
        Ok(Self { context: context.clone(), keys, scheme: PhantomData })
    }

    /// The context.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The keys.
    #[must_use]
    pub fn keys(&self) -> &Arc<EvaluationKeys> {
        &self.keys
    }

    /// The ring of ciphertexts of `limbs` limbs.
    fn ring(&self, limbs: usize) -> Ring {
        self.context.rlwe().ring_q(limbs)
    }

    /// Refuses a ciphertext of other parameters or of another secret key.
    pub(crate) fn check(&self, a: &Ciphertext<S>) -> Result<()> {
        self.context.check(&a.parameters, "the ciphertext")?;
        self.keys.check_ciphertext(&a.inner)
    }

    /// Refuses what has to be relinearised first.
    fn check_linear(&self, a: &Ciphertext<S>) -> Result<()> {
        self.check(a)?;
        if a.degree() <= 1 { Ok(()) } else { Err(Error::DegreeTooHigh { found: a.degree(), needed: 1 }) }
    }

    fn check_plain(&self, p: &Plaintext) -> Result<()> {
        self.context.check(&p.parameters, "the plaintext")
    }

    /// The growth of noise by operations with these parameters.
    fn growth(&self) -> Growth<'_, S> {
        Growth::new(self.context.parameters())
    }

    /// The result of an operation.
    fn result(&self, inner: rlwe::Ciphertext, state: State, content: Content) -> Ciphertext<S> {
        debug_assert_eq!(inner.limbs(), state.limbs, "the polynomials have the limbs that were predicted");
        let parameters = self.context.parameters().clone();
        Ciphertext::new(inner, state.factor, state.noise, content, parameters)
    }
}

/// Refuses an empty sum; gives its first term.
pub(super) fn first<'a, T>(what: &'static str, terms: &'a [T]) -> Result<&'a T> {
    terms.first().ok_or_else(|| Error::Length { what, found: 0, needed: "at least 1".into() })
}
