//! Uses of evaluation keys, and which ones an operation needs: so that each face can name the call that makes them.

use std::fmt;

use noren_math::cyclotomic::Cyclotomic;

/// The use of an evaluation key: products, or an automorphism `X -> X^k`, by what it does to slots.
///
/// The powers of 5 rotate the slots, to the left for positive steps, and `2n - 1` conjugates them, or swaps the rows of
/// exact integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyUse {
    /// Relinearisation, which products of ciphertexts need.
    Relinearization,
    /// A rotation, by the shorter way round.
    Rotation {
        /// By how many slots, to the left for positive steps.
        steps: isize,
        /// The exponent of the automorphism.
        k: u32,
    },
    /// Conjugation, or the swap of rows.
    Conjugation,
    /// Both.
    ConjugatedRotation {
        /// By how many slots, to the left for positive steps.
        steps: isize,
        /// The exponent of the automorphism.
        k: u32,
    },
    /// An exponent that is none of these.
    Automorphism {
        /// The exponent of the automorphism.
        k: u32,
    },
}

impl KeyUse {
    /// The use of the key of this exponent in a set: 0 for relinearisation, of an automorphism otherwise.
    #[must_use]
    pub fn of_element(element: u32, ring: &Cyclotomic) -> Self {
        if element == 0 { Self::Relinearization } else { Self::of_automorphism(element, ring) }
    }

    /// The action of the automorphism `X -> X^k` of a ring on slots, where the index is a power of two.
    #[must_use]
    pub fn of_automorphism(k: u32, ring: &Cyclotomic) -> Self {
        if !ring.is_power_of_two() {
            return Self::Automorphism { k };
        }
        let (m, n) = (u64::from(ring.index()), ring.degree());
        // 5 has order n/2 modulo 2n.
        let steps_of = |k: u64| {
            let mut power = 1;
            let steps = (0..n as isize / 2).find(|_| {
                let found = power == k;
                power = power * 5 % m;
                found
            })?;
            // The shorter way round.
            Some(if steps > n as isize / 4 { steps - n as isize / 2 } else { steps })
        };
        let exponent = u64::from(k);
        match (steps_of(exponent), steps_of((m - exponent % m) % m)) {
            (Some(steps), _) => Self::Rotation { steps, k },
            (None, Some(0)) => Self::Conjugation,
            (None, Some(steps)) => Self::ConjugatedRotation { steps, k },
            (None, None) => Self::Automorphism { k },
        }
    }
}

/// Such as `rotation by 3 (X -> X^125)`.
impl fmt::Display for KeyUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relinearization => f.write_str("relinearisation"),
            Self::Rotation { steps, k } => write!(f, "rotation by {steps} (X -> X^{k})"),
            Self::Conjugation => f.write_str("conjugation or row swap"),
            Self::ConjugatedRotation { steps, k } => write!(f, "conjugation and rotation by {steps} (X -> X^{k})"),
            Self::Automorphism { k } => write!(f, "X -> X^{k}"),
        }
    }
}

/// An evaluation key that an operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyNeed {
    /// Its use.
    pub usage: KeyUse,
    /// The number of limbs of the ciphertext.
    pub limbs: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automorphisms_are_described_by_what_they_do_to_slots() {
        let ring = Cyclotomic::new(1024).expect("an index");
        for (k, text) in [
            (1, "rotation by 0 (X -> X^1)"),
            (125, "rotation by 3 (X -> X^125)"),
            // 5 * 205 = 1 modulo 1024.
            (205, "rotation by -1 (X -> X^205)"),
            (1023, "conjugation or row swap"),
            (1019, "conjugation and rotation by 1 (X -> X^1019)"),
            (6, "X -> X^6"),
        ] {
            assert_eq!(KeyUse::of_automorphism(k, &ring).to_string(), text);
        }
    }
}
