//! Types of the elements of a column.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use noren_rlwe::error::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::schemes::tfhe::{Encoding, Parameters};

/// The type of the elements of a column; its name is that of numpy, such as `uint16`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Element {
    /// A truth value, `bool`.
    Bool,
    /// An integer that one ciphertext holds, with room for carries: `digit`.
    Digit,
    /// An integer from 0 to `2^bits - 1`, such as `uint16`.
    Unsigned(u32),
    /// An integer from `-2^(bits - 1)` to `2^(bits - 1) - 1`, such as `int16`.
    Signed(u32),
}

/// The widths of integers.
const BITS: [u32; 4] = [8, 16, 32, 64];

impl Element {
    /// The bits of an integer; nothing for truth values and single digits.
    #[must_use]
    pub const fn bits(self) -> Option<u32> {
        match self {
            Self::Bool | Self::Digit => None,
            Self::Unsigned(bits) | Self::Signed(bits) => Some(bits),
        }
    }

    /// Whether elements may be negative.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::Signed(_))
    }

    /// The values that an element can have.
    #[must_use]
    pub fn range(self, parameters: &Parameters) -> RangeInclusive<i128> {
        match self {
            Self::Bool => 0..=1,
            Self::Digit => 0..=i128::from(parameters.message_size()) - 1,
            Self::Unsigned(bits) => 0..=(1 << bits) - 1,
            Self::Signed(bits) => -(1 << (bits - 1))..=(1 << (bits - 1)) - 1,
        }
    }

    /// How many ciphertexts an element takes with these parameters.
    ///
    /// # Errors
    /// [`Error::Parameters`] for integers with parameters of bits, or of messages whose bits do not divide theirs.
    pub fn digits(self, parameters: &Parameters) -> Result<usize> {
        match (self, parameters.encoding()) {
            (Self::Bool, _) | (Self::Digit, Encoding::Integers { .. }) => Ok(1),
            (Self::Unsigned(bits) | Self::Signed(bits), Encoding::Integers { message_bits, .. })
                if bits.is_multiple_of(message_bits) =>
            {
                Ok((bits / message_bits) as usize)
            }
            _ => Err(Error::parameter("element", self, format!("such as the parameters hold ({parameters})"))),
        }
    }
}

impl Element {
    /// The fewest bits of an integer that holds a number: 8, 16, 32 or 64.
    #[must_use]
    pub const fn narrowest(number: usize) -> u32 {
        match number as u64 {
            0..0x100 => 8,
            0x100..0x1_0000 => 16,
            0x1_0000..0x1_0000_0000 => 32,
            _ => 64,
        }
    }

    /// The narrowest element of the same sign that holds every sum of `count` of these, the one of 64 bits where none does; of
    /// truth values the narrowest unsigned one that holds how many are true.
    #[must_use]
    pub fn of_sum(self, count: usize) -> Self {
        let narrowest = |own: u32| {
            let fits = |bits: &u32| *bits >= own && (count as u128) << own <= 1 << bits;
            [own, 8, 16, 32, 64].into_iter().find(fits).unwrap_or(64)
        };
        match self {
            Self::Unsigned(own) => Self::Unsigned(narrowest(own)),
            Self::Signed(own) => Self::Signed(narrowest(own)),
            Self::Bool => Self::Unsigned(Self::narrowest(count)),
            Self::Digit => self,
        }
    }

    /// Refuses elements that the parameters do not hold, and values that an element does not have.
    pub(super) fn check(self, parameters: &Parameters, values: &[i128]) -> Result<()> {
        self.digits(parameters)?;
        let range = self.range(parameters);
        match values.iter().find(|value| !range.contains(value)) {
            None => Ok(()),
            Some(value) => {
                Err(Error::parameter("value", value, format!("from {} to {} for {self}", range.start(), range.end())))
            }
        }
    }

    /// The word of a value, modulo `2^bits`: of a negative one the two's complement.
    #[must_use]
    pub const fn word(self, value: i128) -> u64 {
        match self.bits() {
            Some(bits) => (value & ((1 << bits) - 1)) as u64,
            None => value as u64,
        }
    }

    /// The element that a value is modulo `2^bits`; truth values and single digits as they are.
    #[must_use]
    pub const fn wrapped(self, value: i128) -> i128 {
        match self.bits() {
            Some(_) => self.of_word(self.word(value) as i128),
            None => value,
        }
    }

    /// The value of a word; no branch depends on its sign.
    pub(super) const fn of_word(self, word: i128) -> i128 {
        match self {
            Self::Signed(bits) => word - ((word >> (bits - 1) & 1) << bits),
            _ => word,
        }
    }

    /// The digits of values one after the other, the lowest first; of negative values those of the two's complement.
    pub(super) fn cut(self, parameters: &Parameters, values: &[i128]) -> Result<impl Iterator<Item = u64>> {
        let (digits, size) = (self.digits(parameters)?, parameters.message_size());
        let bits = size.trailing_zeros() as usize;
        let digit = move |value: i128, place: usize| (value >> (place * bits) & i128::from(size - 1)) as u64;
        Ok(values.iter().flat_map(move |&value| (0..digits).map(move |place| digit(value, place))))
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::Digit => f.write_str("digit"),
            Self::Unsigned(bits) => write!(f, "uint{bits}"),
            Self::Signed(bits) => write!(f, "int{bits}"),
        }
    }
}

impl FromStr for Element {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let integers = BITS.into_iter().flat_map(|bits| [Self::Unsigned(bits), Self::Signed(bits)]);
        let mut all = [Self::Bool, Self::Digit].into_iter().chain(integers);
        all.find(|element| element.to_string() == name).ok_or_else(|| {
            Error::parameter("element", name, "bool, digit, or uint or int with 8, 16, 32 or 64 behind, such as uint16")
        })
    }
}

impl TryFrom<String> for Element {
    type Error = Error;

    fn try_from(name: String) -> Result<Self> {
        name.parse()
    }
}

impl From<Element> for String {
    fn from(element: Element) -> Self {
        element.to_string()
    }
}
