//! Messages, the common part of plaintexts, ciphertexts and factors: polynomials that encode numbers.

use noren_rlwe::error::Result;

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
    pub(crate) inner: T,
    pub(crate) scale: Scale,
    pub(crate) slots: usize,
    pub(crate) extent: Extent,
    pub(crate) estimate: Estimate,
    pub(crate) parameters: Parameters,
}

impl<T> Message<T> {
    /// The same meaning of what the polynomials become.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Message<U> {
        let Self { inner, scale, slots, extent, estimate, parameters } = self;
        Message { inner: change(inner), scale, slots, extent, estimate, parameters }
    }

    /// How many slots it has.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// How many of the slots are values of the vector, and after how many they repeat.
    #[must_use]
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// The same message, of which the first `length` slots are the vector; `None` for all slots of a period.
    ///
    /// # Errors
    /// [`Error::Length`](noren_rlwe::error::Error::Length) for a length of 0 or above the slots.
    pub fn with_length(self, length: Option<usize>) -> Result<Self> {
        let extent = self.extent.with_length(length, self.slots)?;
        Ok(Self { extent, ..self })
    }

    /// The same message, of which the caller knows that it repeats after `period` slots: matrices of that dimension are then
    /// applied with fewer rotations. A period that is wrong makes such results wrong.
    ///
    /// # Errors
    /// [`Error::Length`](noren_rlwe::error::Error::Length) for what is no power of two up to the slots.
    pub fn with_period(self, period: usize) -> Result<Self> {
        let extent = Extent::new(self.extent.length(), period, self.slots)?;
        Ok(Self { extent, ..self })
    }

    /// The result of an operation slot by slot with something of this extent.
    pub(crate) fn beside(self, other: Extent) -> Self {
        Self { extent: self.extent.join(other), ..self }
    }

    /// The result of moving slots by `steps` steps.
    pub(crate) fn moved_by(self, steps: isize) -> Self {
        if steps.unsigned_abs().is_multiple_of(self.extent.period()) {
            return self;
        }
        Self { extent: self.extent.moved(), ..self }
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

    /// The estimate of the message and its error: of its own rounding when encoded, of the encryption and of all
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
