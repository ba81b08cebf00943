//! How secrets are drawn.

use std::fmt;

/// How the coefficients of a secret are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SecretDistribution {
    /// Uniform in {-1, 0, 1}.
    #[default]
    Ternary,
    /// Exactly this many coefficients are +-1, the others 0. For short-lived secrets of few limbs.
    SparseTernary(usize),
    /// The distribution of errors: a discrete Gaussian of standard deviation 3.19.
    Gaussian,
    /// The sum of as many secrets as there are parties, each uniform in {-1, 0, 1} and known to its party alone. The keys of such
    /// a secret are made by the parties together, with larger errors than those of one owner.
    Joint(usize),
}

impl SecretDistribution {
    /// The most parties of a joint secret: a sum of so many ternary coefficients fits a byte but for a chance that a draw that is
    /// repeated takes away.
    pub const MAX_PARTIES: usize = 512;

    /// How many parties a secret is the sum of: 1 but for joint ones.
    #[must_use]
    pub const fn parties(self) -> usize {
        match self {
            Self::Joint(parties) => parties,
            _ => 1,
        }
    }
}

impl fmt::Display for SecretDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ternary => f.write_str("ternary"),
            Self::SparseTernary(weight) => write!(f, "sparse ternary (weight {weight})"),
            Self::Gaussian => f.write_str("Gaussian"),
            Self::Joint(parties) => write!(f, "joint, of {parties} parties"),
        }
    }
}
