//! Integers as digits, and truth values.

use noren_rlwe::error::{Error, Result};

use crate::radix::circuit::{DIGIT_BITS, DIGIT_NOISE};
use crate::schemes::tfhe::error::TfheError;
use crate::schemes::tfhe::{Ciphertext, Decryptor, Encoding, Encryptor, Parameters};

/// The most bits of an integer.
pub const MAX_BITS: usize = 64;

/// The largest digit.
const MAX_DIGIT: u64 = (1 << DIGIT_BITS) - 1;

/// An encrypted integer of 2 to 64 bits: digits of two bits, the lowest first.
///
/// It stands for an unsigned integer, or for a signed one in two's complement: sums and products are those of both, modulo
/// `2^bits`; where it matters, operations say which they mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Integer {
    digits: Vec<Ciphertext>,
}

/// An encrypted truth value: 0 or 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Flag {
    pub(super) value: Ciphertext,
}

impl Integer {
    /// Encrypts an unsigned integer.
    ///
    /// # Errors
    /// [`TfheError::OutOfRoom`] if it has more bits; [`Error::Parameters`] for a width that is odd or not from 2 to 64,
    /// or for a set without digits of two bits.
    pub fn encrypt(encryptor: &Encryptor<'_>, value: u64, bits: usize) -> Result<Self> {
        check_set(encryptor.context().parameters())?;
        check_bits(bits)?;
        check_fits(value, bits)?;
        let digits = (0..bits).step_by(DIGIT_BITS).map(|at| encryptor.encrypt(value >> at & MAX_DIGIT));
        Self::from_digits(digits.collect::<Result<_>>()?)
    }

    /// Encrypts a signed integer, in two's complement.
    ///
    /// # Errors
    /// As [`Integer::encrypt`].
    pub fn encrypt_signed(encryptor: &Encryptor<'_>, value: i64, bits: usize) -> Result<Self> {
        check_bits(bits)?;
        let unused = MAX_BITS - bits;
        if value << unused >> unused != value {
            let (found, needed) = (value.unsigned_abs(), format!("-2^{0} to 2^{0} - 1", bits - 1));
            let hint = "use integers of more bits";
            return Err(
                TfheError::OutOfRoom { what: "the magnitude of the signed integer", found, needed, hint }.into()
            );
        }
        Self::encrypt(encryptor, value.cast_unsigned() << unused >> unused, bits)
    }

    /// The integer of these digits, the lowest first.
    ///
    /// # Errors
    /// [`Error::Parameters`] for a number of digits that is not from 1 to 32; [`TfheError::OutOfRoom`] if one may be
    /// above 3, [`TfheError::NoisyCombination`] if one has more noise than two bootstraps: look it up first.
    pub fn from_digits(digits: Vec<Ciphertext>) -> Result<Self> {
        check_bits(DIGIT_BITS * digits.len())?;
        for digit in &digits {
            if digit.max() > MAX_DIGIT {
                let (needed, hint) = (format!("at most {MAX_DIGIT}"), "split off its carry first");
                return Err(TfheError::OutOfRoom {
                    what: "the largest value of a digit",
                    found: digit.max(),
                    needed,
                    hint,
                }
                .into());
            }
            if digit.noise() > DIGIT_NOISE {
                let found = digit.noise();
                return Err(TfheError::NoisyCombination { what: "a digit", found, needed: DIGIT_NOISE }.into());
            }
        }
        Ok(Self { digits })
    }

    /// The unsigned integer.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`].
    pub fn decrypt(&self, decryptor: &Decryptor<'_>) -> Result<u64> {
        self.digits.iter().rev().try_fold(0, |number, digit| Ok(number << DIGIT_BITS | decryptor.decrypt(digit)?))
    }

    /// The signed integer, from two's complement.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`].
    pub fn decrypt_signed(&self, decryptor: &Decryptor<'_>) -> Result<i64> {
        let unused = MAX_BITS - self.bits();
        Ok(self.decrypt(decryptor)?.cast_signed() << unused >> unused)
    }

    /// How many bits it has.
    #[must_use]
    pub fn bits(&self) -> usize {
        DIGIT_BITS * self.digits.len()
    }

    /// Its digits below 4, the lowest first.
    #[must_use]
    pub fn digits(&self) -> &[Ciphertext] {
        &self.digits
    }
}

impl Flag {
    /// Encrypts a truth value.
    ///
    /// # Errors
    /// [`Error::Parameters`] for a set without digits of two bits.
    pub fn encrypt(encryptor: &Encryptor<'_>, value: bool) -> Result<Self> {
        check_set(encryptor.context().parameters())?;
        Ok(Self { value: encryptor.encrypt_at_most(u64::from(value), 1)? })
    }

    /// The truth value that a ciphertext of 0 or 1 holds.
    ///
    /// # Errors
    /// [`TfheError::OutOfRoom`] if it may be larger, [`TfheError::NoisyCombination`] if it has more noise than a
    /// bootstrap.
    pub fn from_ciphertext(value: Ciphertext) -> Result<Self> {
        if value.max() > 1 {
            let (needed, hint) = ("at most 1".to_owned(), "look it up first");
            return Err(
                TfheError::OutOfRoom { what: "the largest value of a flag", found: value.max(), needed, hint }.into()
            );
        }
        if value.noise() > 1.0 {
            return Err(TfheError::NoisyCombination { what: "a flag", found: value.noise(), needed: 1.0 }.into());
        }
        Ok(Self { value })
    }

    /// The truth value.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`].
    pub fn decrypt(&self, decryptor: &Decryptor<'_>) -> Result<bool> {
        Ok(decryptor.decrypt(&self.value)? == 1)
    }

    /// The ciphertext of 0 or 1.
    #[must_use]
    pub const fn value(&self) -> &Ciphertext {
        &self.value
    }
}

/// Refuses sets in which digits, their sums and pairs of them have not just the room that circuits count on.
pub(super) fn check_set(parameters: &Parameters) -> Result<()> {
    let needed = Encoding::Integers { message_bits: DIGIT_BITS as u32, carry_bits: DIGIT_BITS as u32 };
    if parameters.encoding() == needed {
        return Ok(());
    }
    let found = format!("{:?}", parameters.encoding());
    Err(Error::parameter("encoding", found, "2 bits of message and 2 of carry, as the set 2_2 has"))
}

/// Refuses widths that are not even, or not from 2 to 64.
pub(super) fn check_bits(bits: usize) -> Result<()> {
    if bits.is_multiple_of(DIGIT_BITS) && (DIGIT_BITS..=MAX_BITS).contains(&bits) {
        return Ok(());
    }
    Err(Error::parameter("bits", bits, format!("an even number from {DIGIT_BITS} to {MAX_BITS}")))
}

/// Refuses numbers of more bits.
pub(super) fn check_fits(value: u64, bits: usize) -> Result<()> {
    if value.checked_shr(bits as u32).unwrap_or(0) == 0 {
        return Ok(());
    }
    let hint = "use integers of more bits";
    Err(TfheError::OutOfRoom { what: "the integer", found: value, needed: format!("below 2^{bits}"), hint }.into())
}
