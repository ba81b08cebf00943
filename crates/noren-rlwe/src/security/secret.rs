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
}

impl fmt::Display for SecretDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ternary => f.write_str("ternary"),
            Self::SparseTernary(weight) => write!(f, "sparse ternary (weight {weight})"),
            Self::Gaussian => f.write_str("Gaussian"),
        }
    }
}
