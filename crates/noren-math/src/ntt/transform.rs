//! The transform of one prime in any ring.

use crate::cyclotomic::Cyclotomic;
use crate::error::Error;
use crate::kernels::{Kernels, kernels};
use crate::modulus::{Modulus, ShoupFactor};
use crate::ntt::general::GeneralTable;
use crate::roots::ntt::{InverseScale, NttTable};

/// The transform of one prime in the ring of any index.
#[derive(Debug, Clone)]
pub enum Transform {
    /// The index is a power of two.
    PowerOfTwo(NttTable),
    /// It is another number.
    General(GeneralTable),
}

/// A factor that an inverse transform multiplies its results by; [`Transform::inverse_scale`] makes it.
#[derive(Debug, Clone, Copy)]
pub enum TransformScale {
    /// For [`Transform::PowerOfTwo`], at no cost.
    PowerOfTwo(InverseScale),
    /// For [`Transform::General`], with a product for each coefficient.
    General(ShoupFactor),
}

impl TransformScale {
    /// The factor itself, for rows that are in coefficient form already.
    #[must_use]
    pub const fn factor(&self) -> ShoupFactor {
        match self {
            Self::PowerOfTwo(scale) => scale.factor(),
            Self::General(factor) => *factor,
        }
    }
}

impl Transform {
    /// The transforms of several primes that take turns; see [`NttTable::of_primes`].
    ///
    /// # Errors
    /// [`Error::NoRoot`] unless each prime is 1 modulo [`order_of_roots`](crate::ntt::general::order_of_roots),
    /// [`Error::Index`] for an index above 2^16 that is not a power of two.
    pub fn of_primes(moduli: &[Modulus], ring: &Cyclotomic) -> Result<Vec<Self>, Error> {
        if ring.is_power_of_two() {
            return Ok(NttTable::of_primes(moduli, ring)?.into_iter().map(Self::PowerOfTwo).collect());
        }
        moduli.iter().map(|&modulus| Ok(Self::General(GeneralTable::new(modulus, ring)?))).collect()
    }

    /// The prime.
    #[must_use]
    pub fn modulus(&self) -> &Modulus {
        match self {
            Self::PowerOfTwo(table) => table.modulus(),
            Self::General(table) => table.modulus(),
        }
    }

    /// Prepares [`Transform::inverse_scaled`] by a factor. Range: in `[0, q)`.
    #[must_use]
    pub fn inverse_scale(&self, factor: u64) -> TransformScale {
        match self {
            Self::PowerOfTwo(table) => TransformScale::PowerOfTwo(table.inverse_scale(factor)),
            Self::General(table) => TransformScale::General(table.modulus().shoup(factor)),
        }
    }

    /// From coefficients to evaluations, in place. Range: in `[0, 4q)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the row's length is not the degree.
    #[inline]
    pub fn forward(&self, kernels: &Kernels, row: &mut [u64]) {
        match self {
            Self::PowerOfTwo(table) => kernels.ntt_forward(row, table),
            Self::General(table) => table.forward(kernels, row),
        }
    }

    /// From evaluations to coefficients, in place. Range: in `[0, 2q)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the row's length is not the degree.
    #[inline]
    pub fn inverse(&self, kernels: &Kernels, row: &mut [u64]) {
        match self {
            Self::PowerOfTwo(table) => kernels.ntt_inverse(row, table),
            Self::General(table) => table.inverse(kernels, row),
        }
    }

    /// From evaluations to coefficients times the factor of `scale`; otherwise as [`Transform::inverse`].
    ///
    /// # Panics
    /// If the row's length is not the degree, or the scale was made by a transform of the other kind.
    #[inline]
    pub fn inverse_scaled(&self, kernels: &Kernels, row: &mut [u64], scale: &TransformScale) {
        match (self, scale) {
            (Self::PowerOfTwo(table), TransformScale::PowerOfTwo(scale)) => {
                kernels.ntt_inverse_scaled(row, table, scale)
            }
            (Self::General(table), &TransformScale::General(factor)) => {
                table.inverse(kernels, row);
                kernels.mul_scalar_assign(row, factor, table.modulus());
            }
            _ => panic!("a scale belongs to the transform that made it"),
        }
    }
}

impl NttTable {
    /// From coefficients to evaluations, in place. Range: in `[0, 4q)`, out `[0, q)`.
    ///
    /// The range is the widest that costs nothing in any table: what writes the row may leave its last reductions out.
    ///
    /// # Panics
    /// If the row's length is not the degree.
    pub fn forward(&self, row: &mut [u64]) {
        kernels().ntt_forward(row, self);
    }

    /// From evaluations to coefficients, in place. Range: in `[0, 2q)`, out `[0, q)`.
    ///
    /// # Panics
    /// If the row's length is not the degree.
    pub fn inverse(&self, row: &mut [u64]) {
        kernels().ntt_inverse(row, self);
    }
}
