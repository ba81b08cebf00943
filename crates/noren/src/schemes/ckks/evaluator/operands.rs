//! Operations with a second operand of any kind, in clear or encrypted.

use num_complex::Complex64;

use noren_rlwe::error::{Error, Result};

use crate::schemes::ckks::encoder::{Encoder, Plaintext};
use crate::schemes::ckks::encryption::Ciphertext;
use crate::schemes::ckks::evaluator::Evaluator;
use crate::schemes::ckks::scale::Scale;
use crate::schemes::error::ShapeError;
use crate::schemes::extent::Extent;

/// The second operand of an operation.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Operand<'a> {
    /// An encrypted vector, at any level.
    Ciphertext(&'a Ciphertext),
    /// An encoded vector.
    Plaintext(&'a Plaintext),
    /// A whole number, by which a product uses no level.
    Integer(i64),
    /// A number for every slot.
    Number(Complex64),
    /// A vector of as many numbers as the first operand has values or slots, which is encoded beside it.
    Real(&'a [f64]),
    /// The same of complex numbers.
    Complex(&'a [Complex64]),
}

impl<'a> From<&'a Ciphertext> for Operand<'a> {
    fn from(x: &'a Ciphertext) -> Self {
        Self::Ciphertext(x)
    }
}

impl<'a> From<&'a Plaintext> for Operand<'a> {
    fn from(x: &'a Plaintext) -> Self {
        Self::Plaintext(x)
    }
}

impl From<f64> for Operand<'_> {
    fn from(x: f64) -> Self {
        Self::Number(x.into())
    }
}

impl<'a> From<&'a [f64]> for Operand<'a> {
    fn from(x: &'a [f64]) -> Self {
        Self::Real(x)
    }
}

impl Operand<'_> {
    /// Refuses what does not fit beside a vector in `slots` slots.
    ///
    /// # Errors
    /// [`ShapeError`] with both lengths.
    pub fn check_beside(&self, x: Extent, slots: usize) -> Result<()> {
        match self {
            Self::Ciphertext(y) => x.check_fits(y.extent()),
            Self::Plaintext(y) => x.check_fits(y.extent()),
            Self::Real(y) => x.beside(y.len(), slots).map(|_| ()),
            Self::Complex(y) => x.beside(y.len(), slots).map(|_| ()),
            Self::Integer(_) | Self::Number(_) => Ok(()),
        }
    }

    /// A whole number as one of `f64`.
    ///
    /// # Errors
    /// [`ShapeError::Inexact`] unless there is one.
    pub fn exact(found: i64) -> Result<f64> {
        let number = found as f64;
        let nearest = number as i128;
        if nearest == i128::from(found) { Ok(number) } else { Err(ShapeError::Inexact { found, nearest }.into()) }
    }
}

impl Evaluator {
    /// `x + y`.
    ///
    /// # Errors
    /// As [`Evaluator::add`], [`Evaluator::add_plain`] and [`Evaluator::add_const`]; [`ShapeError`] for an operand of another
    /// length, or a whole number that is none of `f64`.
    pub fn add_operand<'a>(&self, x: &Ciphertext, y: impl Into<Operand<'a>>) -> Result<Ciphertext> {
        let y = y.into();
        y.check_beside(x.extent(), x.slots())?;
        match y {
            Operand::Ciphertext(y) => self.add(x, y),
            Operand::Plaintext(y) => self.add_plain(x, y),
            Operand::Integer(k) => self.add_const(x, Operand::exact(k)?.into()),
            Operand::Number(c) => self.add_const(x, c),
            Operand::Real(_) | Operand::Complex(_) => self.add_plain(x, &self.encode_beside(y, x, x.scale())?),
        }
    }

    /// `x - y`.
    ///
    /// # Errors
    /// As [`Evaluator::add_operand`].
    pub fn sub_operand<'a>(&self, x: &Ciphertext, y: impl Into<Operand<'a>>) -> Result<Ciphertext> {
        let y = y.into();
        y.check_beside(x.extent(), x.slots())?;
        match y {
            Operand::Ciphertext(y) => self.sub(x, y),
            Operand::Plaintext(y) => self.sub_plain(x, y),
            Operand::Integer(k) => self.add_const(x, (-Operand::exact(k)?).into()),
            Operand::Number(c) => self.add_const(x, -c),
            Operand::Real(_) | Operand::Complex(_) => self.sub_plain(x, &self.encode_beside(y, x, x.scale())?),
        }
    }

    /// `x y`, slot by slot; one level, but for whole numbers.
    ///
    /// # Errors
    /// As [`Evaluator::mul`], [`Evaluator::mul_plain`] and [`Evaluator::mul_const`]; [`ShapeError`] for an operand of another
    /// length.
    pub fn mul_operand<'a>(&self, x: &Ciphertext, y: impl Into<Operand<'a>>) -> Result<Ciphertext> {
        let y = y.into();
        y.check_beside(x.extent(), x.slots())?;
        match y {
            Operand::Ciphertext(y) => self.mul(x, y),
            Operand::Plaintext(y) => self.mul_plain(x, y),
            Operand::Integer(k) => self.mul_integer(x, k),
            Operand::Number(c) => self.mul_const(x, c),
            Operand::Real(_) | Operand::Complex(_) => {
                let scale = self.context().parameters().scale_at(x.level());
                self.mul_plain(x, &self.encode_beside(y, x, scale)?)
            }
        }
    }

    /// x where the condition is 1, y where it is 0: `y + c (x - y)`, or `y - c (y - x)` where x is in clear.
    ///
    /// # Errors
    /// As [`Evaluator::add_operand`] and [`Evaluator::mul_operand`]; [`Error::Parameters`] if both are in clear: of them the
    /// caller knows the difference, by which the condition is multiplied.
    pub fn select<'a, 'b>(
        &self,
        condition: &Ciphertext,
        x: impl Into<Operand<'a>>,
        y: impl Into<Operand<'b>>,
    ) -> Result<Ciphertext> {
        match (x.into(), y.into()) {
            (Operand::Ciphertext(x), y) => {
                let added = self.mul_operand(condition, &self.sub_operand(x, y)?)?;
                self.add_operand(&added, y)
            }
            (x, Operand::Ciphertext(y)) => {
                let taken = self.mul_operand(condition, &self.sub_operand(y, x)?)?;
                self.sub_operand(y, &taken)
            }
            _ => {
                let needed = "one that is encrypted: in clear, add y to the product of the condition and x - y";
                Err(Error::parameter("values to choose from", "two in clear", needed))
            }
        }
    }

    /// Numbers that are known to fit, as a plaintext beside a ciphertext.
    fn encode_beside(&self, y: Operand<'_>, x: &Ciphertext, scale: &Scale) -> Result<Plaintext> {
        let (encoder, slots, level) = (Encoder::new(self.context()), x.slots(), x.level());
        let (extent, plaintext) = match y {
            Operand::Complex(y) => {
                let extent = x.extent().beside(y.len(), slots)?;
                (extent, encoder.encode_complex(&extent.fill(y, slots), slots, level, scale)?)
            }
            Operand::Real(y) => {
                let extent = x.extent().beside(y.len(), slots)?;
                (extent, encoder.encode_real(&extent.fill(y, slots), slots, level, scale)?)
            }
            _ => unreachable!("an operand that is no vector"),
        };
        plaintext.with_length(extent.length())?.with_period(extent.period())
    }
}
