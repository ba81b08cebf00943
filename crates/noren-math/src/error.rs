//! Why a number is refused.

/// A number that the arithmetic cannot work with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The modulus is even, composite, too small or too large.
    #[error("modulus {found} is refused: {reason}")]
    Modulus {
        /// The number that was offered.
        found: u64,
        /// The reason.
        reason: &'static str,
    },
    /// The ring index is outside what the transforms support.
    #[error("ring index {found} is refused: {reason}")]
    Index {
        /// The index that was offered.
        found: u32,
        /// The reason.
        reason: &'static str,
    },
    /// The prime has no primitive root of the order that the ring needs.
    #[error("prime {prime} has no primitive root of order {order}: it must be 1 modulo {order}")]
    NoRoot {
        /// The prime.
        prime: u64,
        /// The order of root that the transform needs.
        order: u64,
    },
    /// There are not enough primes of the wanted size.
    #[error("no further prime of {bits} bits is 1 modulo {step}: choose another size or a smaller ring")]
    PrimesExhausted {
        /// The wanted size, in bits.
        bits: u32,
        /// The wanted primes are 1 modulo this number.
        step: u64,
    },
    /// The kernel table that `NOREN_ISA` names does not exist, or this CPU cannot run it.
    #[error("NOREN_ISA={found} is refused: this CPU runs {available}")]
    Isa {
        /// The name that was asked for.
        found: String,
        /// The names that can be asked for here.
        available: String,
    },
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness: {0}")]
    Entropy(String),
}
