//! Ciphertexts: an integer, or a bit.

use noren_ring::torus::lwe::Lwe;
use noren_rlwe::owner::Owner;

/// An encrypted integer.
///
/// It carries the largest value that it can have and how much noise, so that what would give a wrong result is refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Ciphertext {
    pub(crate) sample: Lwe,
    pub(crate) owner: Owner,
    pub(crate) max: u64,
    pub(crate) noise: f64,
}

/// An encrypted bit.
#[derive(Debug, Clone, PartialEq)]
pub struct Bit {
    pub(crate) sample: Lwe,
    pub(crate) owner: Owner,
    pub(crate) noise: f64,
}

impl Ciphertext {
    /// The largest value that it can have.
    #[must_use]
    pub const fn max(&self) -> u64 {
        self.max
    }

    /// A bound on the deviation of its noise, as multiple of that of a bootstrap.
    #[must_use]
    pub const fn noise(&self) -> f64 {
        self.noise
    }

    /// Parameters and keys that it belongs to.
    #[must_use]
    pub const fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The sample.
    #[must_use]
    pub const fn sample(&self) -> &Lwe {
        &self.sample
    }
}

impl Bit {
    /// A bound on the deviation of its noise, as multiple of that of a bootstrap.
    #[must_use]
    pub const fn noise(&self) -> f64 {
        self.noise
    }

    /// Parameters and keys that it belongs to.
    #[must_use]
    pub const fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The sample.
    #[must_use]
    pub const fn sample(&self) -> &Lwe {
        &self.sample
    }
}
