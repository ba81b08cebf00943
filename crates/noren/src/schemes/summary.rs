//! Facts about ciphertexts that their sections tell without a key.

use noren_rlwe::ciphertext::Ciphertext;
use noren_rlwe::error::Result;
use noren_rlwe::wire::reader::Reader;
use serde::Serialize;

/// Ciphertexts that travel together, in numbers: the lowest of each.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CiphertextSummary {
    /// How many there are.
    pub count: usize,
    /// The slots; none for exact integers, which have no scale either.
    pub slots: Option<u64>,
    /// How many primes can be dropped.
    pub level: usize,
    /// The base-two logarithm of the scale.
    pub log_scale: Option<f64>,
    /// How many of them have a seed in place of their second half.
    pub seeded: usize,
}

impl CiphertextSummary {
    /// That of one ciphertext, without slots and scale, by [`Ciphertext::skim`].
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let (limbs, seeded) = Ciphertext::skim(reader)?;
        Ok(Self { count: 1, slots: None, level: limbs - 1, log_scale: None, seeded: seeded.into() })
    }

    /// That of the ciphertexts in the current item and in all that follow, each by `skim`.
    pub(crate) fn of_all(reader: &mut Reader<'_>, skim: fn(&mut Reader<'_>) -> Result<Self>) -> Result<Self> {
        let mut all = skim(reader)?;
        while reader.next_item()? {
            let next = skim(reader)?;
            all = Self {
                count: all.count + 1,
                slots: all.slots.min(next.slots),
                level: all.level.min(next.level),
                log_scale: all.log_scale.zip(next.log_scale).map(|(a, b)| a.min(b)),
                seeded: all.seeded + next.seeded,
            };
        }
        Ok(all)
    }
}
