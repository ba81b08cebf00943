//! A column: encrypted elements of one kind.

use noren_rlwe::error::{Error, Result};

use crate::programs::columns::element::Element;
use crate::schemes::tfhe::{Bit, Bits, Ciphertext, Ciphertexts, Decryptor, Encoding, Encryptor, Parameters};

/// Encrypted elements of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    element: Element,
    samples: Samples,
}

/// The ciphertexts of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Samples {
    /// One for each truth value, with parameters of bits.
    Bits(Bits),
    /// Those of each element one after the other, the lowest digit first.
    Digits(Ciphertexts),
}

impl Column {
    /// Encrypts values: 0 and 1 are the truth values.
    ///
    /// # Errors
    /// [`Error::Parameters`] for a value out of range, and for elements that the parameters do not hold; [`Error::Length`] for no
    /// values.
    pub fn encrypt(encryptor: &Encryptor<'_>, element: Element, values: &[i128]) -> Result<Self> {
        let parameters = encryptor.context().parameters();
        let digits = element.digits(parameters)?;
        let range = element.range(parameters);
        if let Some(value) = values.iter().find(|value| !range.contains(value)) {
            let needed = format!("{} to {} for {element}", range.start(), range.end());
            return Err(Error::parameter("value", value, needed));
        }
        if parameters.encoding() == Encoding::Bits {
            let bits = values.iter().map(|&value| encryptor.encrypt_bit(value == 1));
            return Self::of_bits(bits.collect::<Result<_>>()?);
        }
        let bits = parameters.message_size().trailing_zeros();
        let digit = |value: i128, place: usize| {
            // Of negative values the two's complement.
            let digit = value >> (place * bits as usize) & i128::from(parameters.message_size() - 1);
            encryptor.encrypt(digit as u64)
        };
        let ciphertexts = values.iter().flat_map(|&value| (0..digits).map(move |place| digit(value, place)));
        Self::of_digits(parameters, element, ciphertexts.collect::<Result<_>>()?)
    }

    /// The column of these truth values.
    ///
    /// # Errors
    /// [`Error::Length`] for none.
    pub fn of_bits(bits: Vec<Bit>) -> Result<Self> {
        check_some(bits.len())?;
        Ok(Self { element: Element::Bool, samples: Samples::Bits(Bits(bits)) })
    }

    /// The column of these digits, those of each element one after the other, the lowest first.
    ///
    /// # Errors
    /// [`Error::Length`] for none, or another number than a multiple of the digits of an element; [`Error::OutOfRoom`] for a digit
    /// that may be too large; as [`Element::digits`].
    pub fn of_digits(parameters: &Parameters, element: Element, ciphertexts: Vec<Ciphertext>) -> Result<Self> {
        check_some(ciphertexts.len())?;
        let digits = element.digits(parameters)?;
        if !ciphertexts.len().is_multiple_of(digits) {
            let needed = format!("a multiple of {digits}");
            return Err(Error::Length { what: "digits of a column", found: ciphertexts.len(), needed });
        }
        Ok(Self { element, samples: Samples::Digits(Ciphertexts(ciphertexts)) })
    }

    /// The values; 0 and 1 for truth values.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`].
    pub fn decrypt(&self, decryptor: &Decryptor<'_>) -> Result<Vec<i128>> {
        let parameters = decryptor.context().parameters();
        let ciphertexts = match &self.samples {
            Samples::Bits(Bits(bits)) => {
                return bits.iter().map(|bit| Ok(i128::from(decryptor.decrypt_bit(bit)?))).collect();
            }
            Samples::Digits(Ciphertexts(ciphertexts)) => ciphertexts,
        };
        let number = |digits: &[Ciphertext]| {
            let size = i128::from(parameters.message_size());
            let mut value = 0;
            for digit in digits.iter().rev() {
                value = value * size + i128::from(decryptor.decrypt(digit)?);
            }
            Ok(match self.element {
                Element::Signed(bits) if value >> (bits - 1) == 1 => value - (1 << bits),
                _ => value,
            })
        };
        ciphertexts.chunks(self.element.digits(parameters)?).map(number).collect()
    }

    /// What the elements are.
    #[must_use]
    pub const fn element(&self) -> Element {
        self.element
    }

    /// The ciphertexts.
    #[must_use]
    pub const fn samples(&self) -> &Samples {
        &self.samples
    }

    /// How many elements there are.
    #[must_use]
    pub fn len(&self, parameters: &Parameters) -> usize {
        match &self.samples {
            Samples::Bits(Bits(bits)) => bits.len(),
            // What a column was made with has digits.
            Samples::Digits(Ciphertexts(digits)) => digits.len() / self.element.digits(parameters).unwrap_or(1),
        }
    }

    /// The elements at these positions.
    ///
    /// # Panics
    /// If one is beyond the last, or there are none.
    #[must_use]
    pub fn gather(&self, parameters: &Parameters, positions: &[usize]) -> Self {
        assert!(!positions.is_empty(), "a column has at least one element");
        let samples = match &self.samples {
            Samples::Bits(Bits(bits)) => Samples::Bits(Bits(positions.iter().map(|&at| bits[at].clone()).collect())),
            Samples::Digits(Ciphertexts(all)) => {
                let digits = all.len() / self.len(parameters);
                let element = |&at: &usize| all[at * digits..(at + 1) * digits].iter().cloned();
                Samples::Digits(Ciphertexts(positions.iter().flat_map(element).collect()))
            }
        };
        Self { element: self.element, samples }
    }
}

fn check_some(found: usize) -> Result<()> {
    if found > 0 {
        Ok(())
    } else {
        Err(Error::Length { what: "elements of a column", found, needed: "at least 1".into() })
    }
}
