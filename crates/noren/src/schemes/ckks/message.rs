//! What plaintexts, ciphertexts and factors have in common: polynomials that mean numbers.

use crate::schemes::ckks::estimate::Estimate;
use crate::schemes::ckks::parameters::Parameters;
use crate::schemes::ckks::scale::Scale;

/// Polynomials `T` with what they mean: numbers in so many slots, at this scale, of these parameters, and as exact as
/// the estimate says.
///
/// [`Plaintext`](crate::schemes::ckks::encoder::Plaintext), [`Ciphertext`](crate::schemes::ckks::encryption::Ciphertext)
/// and [`Factor`](crate::schemes::ckks::factor::Factor) are such messages.
#[derive(Clone)]
pub struct Message<T> {
    pub(crate) inner: T,
    pub(crate) scale: Scale,
    pub(crate) slots: usize,
    pub(crate) estimate: Estimate,
    pub(crate) parameters: Parameters,
}

impl<T> Message<T> {
    /// The same meaning of what the polynomials become.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Message<U> {
        let Self { inner, scale, slots, estimate, parameters } = self;
        Message { inner: change(inner), scale, slots, estimate, parameters }
    }

    /// How many slots it has.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The exact scale: the polynomial is this multiple of the message.
    #[must_use]
    pub fn scale(&self) -> &Scale {
        &self.scale
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The polynomials without their meaning.
    #[must_use]
    pub fn rlwe(&self) -> &T {
        &self.inner
    }

    /// What is known of the message and its error: of its own rounding when encoded, of the encryption and of all
    /// operations besides.
    #[must_use]
    pub fn estimate(&self) -> &Estimate {
        &self.estimate
    }

    /// A bound on the absolute value of the message in every slot, as far as is known without decrypting.
    #[must_use]
    pub fn magnitude(&self) -> f64 {
        self.estimate.magnitude()
    }
}
