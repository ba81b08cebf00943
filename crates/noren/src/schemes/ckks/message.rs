//! Messages, the common part of plaintexts, ciphertexts and factors: polynomials that encode numbers.

use noren_ring::poly::{Eval, Poly};
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::Result;

use crate::schemes::ckks::content::Content;
use crate::schemes::ckks::estimate::Estimate;
use crate::schemes::ckks::parameters::Parameters;
use crate::schemes::ckks::scale::Scale;
use crate::schemes::extent::Extent;

/// Polynomials `T` with what they mean: numbers in slots, at this scale, of these parameters, and as exact as
/// the estimate says.
///
/// [`Plaintext`](crate::schemes::ckks::encoder::Plaintext), [`Ciphertext`](crate::schemes::ckks::encryption::Ciphertext)
/// and [`Factor`](crate::schemes::ckks::factor::Factor) are such messages.
#[derive(Clone)]
pub struct Message<T> {
    inner: T,
    scale: Scale,
    content: Content,
    parameters: Parameters,
}

/// The polynomials of a message.
pub trait Polynomials {
    /// Whether a message may become too large for so many limbs.
    fn limbs_to_fit(&self) -> Option<usize>;
}

impl Polynomials for rlwe::Plaintext {
    /// Encoded numbers fit.
    fn limbs_to_fit(&self) -> Option<usize> {
        None
    }
}

impl Polynomials for Poly<Eval> {
    fn limbs_to_fit(&self) -> Option<usize> {
        None
    }
}

impl Polynomials for rlwe::Ciphertext {
    fn limbs_to_fit(&self) -> Option<usize> {
        Some(self.limbs())
    }
}

impl<T: Polynomials> Message<T> {
    /// Polynomials that hold this. What their modulus holds is noted, so that a message that may not fit is not used as if it did.
    pub(crate) fn new(inner: T, scale: Scale, content: Content, parameters: Parameters) -> Self {
        let content = match inner.limbs_to_fit() {
            Some(limbs) => content.estimated(|estimate| estimate.with_room(room(&parameters, limbs, &scale))),
            None => content,
        };
        Self { inner, scale, content, parameters }
    }

    /// The same polynomials read at another scale: the estimate is that of the message there.
    pub(crate) fn read_at(self, scale: Scale, estimate: Estimate) -> Self {
        Self::new(self.inner, scale, self.content.estimated(|_| estimate), self.parameters)
    }

    /// The same polynomials read in other slots: in more they repeat; in fewer it is known that they do.
    pub(crate) fn read_in(self, slots: usize, extent: Extent) -> Self {
        Self::new(self.inner, self.scale, self.content.in_slots(slots, extent), self.parameters)
    }

    /// The same polynomials, of which another estimate is known.
    pub(crate) fn estimated(self, change: impl FnOnce(Estimate) -> Estimate) -> Self {
        Self::new(self.inner, self.scale, self.content.estimated(change), self.parameters)
    }
}

impl<T> Message<T> {
    /// The same meaning of what the polynomials become.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Message<U> {
        let Self { inner, scale, content, parameters } = self;
        Message { inner: change(inner), scale, content, parameters }
    }

    /// The polynomials alone.
    pub(crate) fn into_inner(self) -> T {
        self.inner
    }

    /// The content.
    pub(crate) const fn content(&self) -> &Content {
        &self.content
    }

    /// How many slots it has.
    #[must_use]
    pub const fn slots(&self) -> usize {
        self.content.slots()
    }

    /// How many of the slots are values of the vector, and after how many they repeat.
    #[must_use]
    pub const fn extent(&self) -> Extent {
        self.content.extent()
    }

    /// The same message, of which the first `length` slots are the vector; `None` for all slots of a period.
    ///
    /// # Errors
    /// [`Error::Length`](noren_rlwe::error::Error::Length) for a length of 0 or above the slots.
    pub fn with_length(self, length: Option<usize>) -> Result<Self> {
        Ok(Self { content: self.content.with_length(length)?, ..self })
    }

    /// The same message, of which the caller knows that it repeats after `period` slots: matrices of that dimension are then
    /// applied with fewer rotations. A period that is wrong makes such results wrong.
    ///
    /// # Errors
    /// [`Error::Length`](noren_rlwe::error::Error::Length) for what is no power of two up to the slots.
    pub fn with_period(self, period: usize) -> Result<Self> {
        Ok(Self { content: self.content.with_period(period)?, ..self })
    }

    /// The exact scale: the polynomial is this multiple of the message.
    #[must_use]
    pub const fn scale(&self) -> &Scale {
        &self.scale
    }

    /// The parameters.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The polynomials without their meaning.
    #[must_use]
    pub const fn rlwe(&self) -> &T {
        &self.inner
    }

    /// The estimate of the message and its error: of its own rounding when encoded, of the encryption and of all
    /// operations besides.
    #[must_use]
    pub const fn estimate(&self) -> &Estimate {
        self.content.estimate()
    }

    /// A bound on the absolute value of the message in every slot, as far as is known without decrypting.
    #[must_use]
    pub fn magnitude(&self) -> f64 {
        self.estimate().magnitude()
    }
}

/// The largest message with its error that `limbs` limbs hold at a scale.
pub(crate) fn room(parameters: &Parameters, limbs: usize, scale: &Scale) -> f64 {
    libm::exp2(parameters.rlwe().log_q(limbs) - 1.0 - scale.log2())
}
