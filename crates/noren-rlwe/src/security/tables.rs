//! The largest modulus for a degree, a secret and a level, by dated tables.

use crate::security::level::Security;
use crate::security::secret::SecretDistribution;

/// A published table of the largest `log2 QP`, for errors of standard deviation about 3.2.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Where the table was published.
    pub source: &'static str,
    /// The attacks and the cost model that it rests on.
    pub model: &'static str,
    /// When it was published, as year or year-month.
    pub date: &'static str,
    /// Which secrets it covers.
    pub secrets: Secrets,
    /// `log2 n` with the largest `log2 QP` in bits; what the columns are, `secrets` says. 0: none is secure.
    rows: &'static [(u32, &'static [u32])],
}

/// Which secrets a [`Table`] covers, and so what its columns are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    /// Uniform ternary secrets; the columns are 128, 192 and 256 bits.
    Ternary,
    /// Gaussian secrets; the columns are 128, 192 and 256 bits.
    Gaussian,
    /// Sparse ternary secrets at 128 bits; the columns are these weights.
    Sparse(&'static [usize]),
}

/// All tables; where two cover the same secret, the smaller bound holds.
pub const TABLES: [Table; 4] = [
    Table {
        source: "Bossuat et al., Security Guidelines for Implementing Homomorphic Encryption, table 5.2, \
                 eprint 2024/463",
        model: "classical, RC.MATZOV: primal usvp, bdd and hybrid, dual hybrid",
        date: "2024",
        secrets: Secrets::Ternary,
        rows: &[
            (10, &[26, 0, 0]),
            (11, &[53, 36, 27]),
            (12, &[106, 73, 56]),
            (13, &[214, 147, 114]),
            (14, &[430, 297, 230]),
            (15, &[868, 597, 462]),
            (16, &[1747, 1199, 929]),
            (17, &[3523, 2411, 1866]),
        ],
    },
    Table {
        source: "Bossuat et al., Security Guidelines for Implementing Homomorphic Encryption, table 5.2, \
                 eprint 2024/463",
        model: "classical, RC.MATZOV: primal usvp, bdd and hybrid, dual hybrid",
        date: "2024",
        secrets: Secrets::Gaussian,
        rows: &[
            (10, &[28, 0, 0]),
            (11, &[55, 38, 30]),
            (12, &[108, 75, 58]),
            (13, &[216, 149, 116]),
            (14, &[432, 299, 232]),
            (15, &[870, 599, 464]),
            (16, &[1749, 1201, 931]),
            (17, &[3525, 2413, 1868]),
        ],
    },
    Table {
        source: "Albrecht et al., Homomorphic Encryption Standard, table 1, homomorphicencryption.org",
        model: "classical: usvp, decoding and dual",
        date: "2018-11",
        secrets: Secrets::Ternary,
        rows: &[
            (10, &[27, 19, 14]),
            (11, &[54, 37, 29]),
            (12, &[109, 75, 58]),
            (13, &[218, 152, 118]),
            (14, &[438, 305, 237]),
            (15, &[881, 611, 476]),
        ],
    },
    Table {
        source: "rotated hybrid attacks on sparse ring secrets, eprint 2026/279",
        model: "classical, hybrid attacks that use the rotations of the secret",
        date: "2026-03",
        secrets: Secrets::Sparse(&[32, 64, 128, 192, 256, 512, 1024]),
        rows: &[
            (12, &[19, 58, 86, 96, 101, 106, 111]),
            (13, &[37, 113, 167, 187, 197, 209, 214]),
            (14, &[77, 229, 333, 370, 388, 416, 426]),
            (15, &[164, 468, 669, 739, 774, 829, 854]),
            (16, &[349, 961, 1351, 1481, 1553, 1659, 1714]),
        ],
    },
];

impl Table {
    /// The bound of this table in bits: `None` if it does not cover the case, 0 if it finds no modulus secure.
    ///
    /// A degree or weight between two entries takes the next smaller one, which is easier to attack. A dense table does
    /// not cover degrees from twice its last row on.
    fn bound(&self, n: usize, secret: SecretDistribution, level: Security) -> Option<u32> {
        let by_level = match level {
            Security::None => return None,
            Security::Bits128 => 0,
            Security::Bits192 => 1,
            Security::Bits256 => 2,
        };
        let column = match (self.secrets, secret) {
            // A sparse secret is no harder to find than a dense one, so the dense bound holds too.
            // All but one party may know one another's: what is left of a joint secret is the ternary one of that party.
            (
                Secrets::Ternary,
                SecretDistribution::Ternary | SecretDistribution::SparseTernary(_) | SecretDistribution::Joint(_),
            )
            | (Secrets::Gaussian, SecretDistribution::Gaussian) => Some(by_level),
            (Secrets::Sparse(weights), SecretDistribution::SparseTernary(weight)) => {
                if by_level == 0 {
                    weights.iter().rposition(|&w| w <= weight)
                } else {
                    None
                }
            }
            _ => return None,
        };
        let Some(column) = column else { return Some(0) };
        let (last, _) = self.rows.last()?;
        // Nothing newer covers sparse secrets, so their last row serves all larger degrees; a dense table just ends.
        if n >= 2 << last && !matches!(self.secrets, Secrets::Sparse(_)) {
            return None;
        }
        let row = self.rows.iter().rev().find(|(log_n, _)| 1 << log_n <= n);
        Some(row.map_or(0, |(_, bounds)| bounds[column]))
    }
}

/// The largest `log2 QP`, in bits, of a sample under such a secret: the smallest bound of all [`TABLES`] that cover it.
///
/// `None` if no modulus is known to be secure, and at [`Security::None`], where there is no bound.
#[must_use]
pub fn max_log_qp(n: usize, secret: SecretDistribution, level: Security) -> Option<f64> {
    let bound = TABLES.iter().filter_map(|table| table.bound(n, secret, level)).min()?;
    (bound > 0).then_some(f64::from(bound))
}

/// The highest level that a sample of modulus `2^log_qp` reaches, for display.
#[must_use]
pub fn estimate(n: usize, secret: SecretDistribution, log_qp: f64) -> Security {
    let reached = |level: &Security| max_log_qp(n, secret, *level).is_some_and(|bound| log_qp <= bound);
    [Security::Bits256, Security::Bits192, Security::Bits128].into_iter().find(reached).unwrap_or(Security::None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use SecretDistribution::{Gaussian, SparseTernary, Ternary};

    #[test]
    fn bounds_are_the_smaller_of_the_tables() {
        // Read off the publications, not off TABLES.
        for (log_n, secret, level, bound) in [
            (10, Ternary, Security::Bits128, Some(26.0)),
            (13, Ternary, Security::Bits128, Some(214.0)),
            (14, Ternary, Security::Bits192, Some(297.0)),
            (15, Ternary, Security::Bits256, Some(462.0)),
            (16, Ternary, Security::Bits128, Some(1747.0)),
            (17, Ternary, Security::Bits128, Some(3523.0)),
            (10, Ternary, Security::Bits192, None),
            (9, Ternary, Security::Bits128, None),
            (12, Gaussian, Security::Bits256, Some(58.0)),
            (16, SparseTernary(192), Security::Bits128, Some(1481.0)),
            (16, SparseTernary(32), Security::Bits128, Some(349.0)),
            // Beyond the rows and columns: the next smaller entry.
            (17, SparseTernary(300), Security::Bits128, Some(1553.0)),
            // The sparse table says 111, a dense secret carries 106.
            (12, SparseTernary(1024), Security::Bits128, Some(106.0)),
            (16, SparseTernary(31), Security::Bits128, None),
            (11, SparseTernary(64), Security::Bits128, None),
            (16, SparseTernary(192), Security::Bits192, None),
            (16, Ternary, Security::None, None),
            // Degrees that no table reaches.
            (18, Ternary, Security::Bits128, None),
            (18, Gaussian, Security::Bits128, None),
            (18, SparseTernary(192), Security::Bits128, Some(1481.0)),
        ] {
            assert_eq!(max_log_qp(1 << log_n, secret, level), bound, "{log_n} {secret} {level}");
        }
        assert_eq!(max_log_qp(3 << 13, Ternary, Security::Bits128), Some(430.0), "degree between two rows");
    }

    #[test]
    fn tables_grow_with_the_degree_and_shrink_with_the_level() {
        for table in TABLES {
            for pair in table.rows.windows(2) {
                assert!(pair[0].0 < pair[1].0);
                assert!(pair[0].1.iter().zip(pair[1].1).all(|(a, b)| a < b), "{}", table.source);
            }
            let sparse = matches!(table.secrets, Secrets::Sparse(_));
            for (_, bounds) in table.rows {
                assert!(bounds.is_sorted_by(|a, b| if sparse { a < b } else { a >= b }), "{}", table.source);
            }
        }
    }

    #[test]
    fn estimate_is_the_highest_level_met() {
        for (log_qp, level) in [
            (114.0, Security::Bits256),
            (115.0, Security::Bits192),
            (148.0, Security::Bits128),
            (214.5, Security::None),
        ] {
            assert_eq!(estimate(1 << 13, Ternary, log_qp), level);
        }
    }
}
