//! Shapes of key switching keys.

use std::fmt;

/// The shape of key switching keys: the first primes q, cut into digits, and the last special primes, whose product is P.
///
/// A key may be made for fewer limbs than its shape has; then it has the first of the digits. The usual shape is that of
/// the parameters, with all primes. Others are for ciphertexts of few limbs, whose digits need no larger P, and for secrets
/// that carry few limbs.
///
/// The order of the fields is the order of two shapes in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyShape {
    /// How many of the primes `q_0, q_1, ...` are cut into digits: a key covers this number of limbs or fewer.
    pub limbs: usize,
    /// How many special primes are used: the last of the list.
    pub special: usize,
    /// How many digits there are.
    pub digits: usize,
}

impl fmt::Display for KeyShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limbs, special, digits } = self;
        write!(f, "limbs: {limbs}, digits: {digits}, special primes: {special}")
    }
}
