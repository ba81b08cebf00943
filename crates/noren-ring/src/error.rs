//! Why a ring or an element cannot be made.

/// Errors of making rings, digits or elements.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number does not suit the arithmetic.
    #[error(transparent)]
    Math(#[from] noren_math::error::Error),
    /// A ring was asked for without primes.
    #[error("a ring needs at least 1 prime, 0 were given: pass the primes of its modulus")]
    NoModuli,
    /// The CPU has no transforms for a ring.
    #[error(
        "the ring of index {index} has no transforms modulo these primes: take primes that are 1 modulo {order}, and an index \
         of at most 2^16"
    )]
    NoTransforms {
        /// The index.
        index: u32,
        /// The order of the roots of unity that are needed: primes must be 1 modulo it.
        order: u64,
    },
    /// The same prime was given twice.
    #[error("prime {prime} was given twice: the primes of a ring must differ")]
    RepeatedModulus {
        /// The prime.
        prime: u64,
    },
    /// The threads cannot be started.
    #[error("{found} threads cannot be used: {reason}")]
    Threads {
        /// How many threads were asked for.
        found: usize,
        /// The reason.
        reason: String,
    },
    /// There is no way to share out loops of this name.
    #[error("there is no way to go parallel called {found:?}: name coefficient, modulus or both")]
    Parallel {
        /// The name that was given.
        found: String,
    },
    /// The modulus cannot be cut into that many digits.
    #[error(
        "{found} digits were asked for, {limbs} limbs can be cut into 1 to {most}: choose another number of digits"
    )]
    Digits {
        /// How many digits were asked for.
        found: usize,
        /// How many there can be.
        most: usize,
        /// How many limbs there are.
        limbs: usize,
    },
    /// There are too many or too few words for an element.
    #[error("{found} words were given, the element has {needed}: limbs times degree")]
    Length {
        /// How many words were given.
        found: usize,
        /// How many words the element has.
        needed: usize,
    },
    /// A word is not a residue of its prime.
    #[error("word {index} of the limb modulo {modulus} is {found}: it must lie below the prime")]
    Word {
        /// The prime of the limb.
        modulus: u64,
        /// Which word of the limb.
        index: usize,
        /// The word.
        found: u64,
    },
}
