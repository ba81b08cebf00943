//! Values between the schemes: samples over the torus whose phases are parts of the circle.

use noren_ring::torus::lwe::Lwe;
use noren_rlwe::owner::Owner;

/// Values of a CKKS ciphertext as samples of TFHE, one each.
///
/// The phase of the sample of z is `part z` of the circle, with a systematic error and noise.
#[derive(Debug, Clone)]
pub struct Samples {
    pub(super) values: Vec<Lwe>,
    pub(super) owner: Owner,
    pub(super) part: f64,
    pub(super) error: f64,
    pub(super) deviation: f64,
}

impl Samples {
    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The samples of dimension kN, a value each.
    #[must_use]
    pub fn values(&self) -> &[Lwe] {
        &self.values
    }

    /// Parameters of samples over the torus, and the secret key.
    #[must_use]
    pub const fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The part of the circle that a value of 1 is.
    #[must_use]
    pub const fn part(&self) -> f64 {
        self.part
    }

    /// A bound on the error that the CKKS ciphertext had, as a part of the circle.
    #[must_use]
    pub const fn error(&self) -> f64 {
        self.error
    }

    /// The deviation of their noise, in units of the circle.
    #[must_use]
    pub const fn deviation(&self) -> f64 {
        self.deviation
    }
}
