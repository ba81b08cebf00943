//! Named parameters of bootstrapping.

use std::fmt;
use std::str::FromStr;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::security::{SecretDistribution, Security};

use crate::bootstrapping::group::{GiantOrder, Group};
use crate::bootstrapping::parameters::{EvalMod, Parameters, ParametersSpec, Primes, Transform};

/// Parameters that were chosen with care. All but [`Toy`](Self::Toy) have 128-bit security with a dense ternary secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Preset {
    /// `n16`: 2^15 slots, 12 levels of 42 bits.
    #[default]
    N16,
    /// `n16-132`: as `n16` with 11 levels, and a modulus that leaves a margin of about 4 bits (`docs/security.md`).
    N16Margin,
    /// `n16-small`: as `n16`, with fewer keys for the price of more divisions.
    N16Small,
    /// `n16-precise`: 2^15 slots, 10 levels of 49 bits, two iterations.
    N16Precise,
    /// `n15`: 2^14 slots, 3 levels of 42 bits.
    N15,
    /// `toy`: 2^9 slots, 2 levels of 42 bits, no security: for tests.
    Toy,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 6] = [Self::N16, Self::N16Margin, Self::N16Small, Self::N16Precise, Self::N15, Self::Toy];

    /// The name, as [`FromStr`] reads it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::N16 => "n16",
            Self::N16Margin => "n16-132",
            Self::N16Small => "n16-small",
            Self::N16Precise => "n16-precise",
            Self::N15 => "n15",
            Self::Toy => "toy",
        }
    }

    /// The description of the preset.
    #[must_use]
    pub fn spec(self) -> ParametersSpec {
        let n16 = ParametersSpec {
            log_n: 16,
            log_slots: 15,
            log_base: 49,
            slot_to_coeff: transform(34, &[(5, 16), (5, 16), (5, 8)], GiantOrder::Separate),
            application: Primes { count: 12, bits: 42 },
            eval_mod: EvalMod { bits: 50, log_ratio: 6.75, interval: 14, doublings: 3, degree: 28 },
            coeff_to_slot: transform(47, &[(4, 8), (4, 8), (4, 8), (3, 8)], GiantOrder::Separate),
            special: Primes { count: 9, bits: 50 },
            dnum: 3,
            ephemeral_weight: 32,
            iterations: 1,
            secret: SecretDistribution::Ternary,
            security: Security::Bits128,
        };
        match self {
            Self::N16 => n16,
            Self::N16Margin => ParametersSpec {
                application: Primes { count: 11, bits: 42 },
                special: Primes { count: 9, bits: 49 },
                ..n16
            },
            Self::N16Small => {
                let coeff_to_slot = transform(47, &[(4, 4), (4, 8), (4, 8), (3, 4)], GiantOrder::Horner);
                ParametersSpec { coeff_to_slot, ..n16 }
            }
            Self::N16Precise => ParametersSpec {
                log_base: 50,
                slot_to_coeff: Transform { bits: 38, ..n16.slot_to_coeff },
                application: Primes { count: 10, bits: 49 },
                iterations: 2,
                ..n16
            },
            Self::N15 => ParametersSpec {
                log_n: 15,
                log_slots: 14,
                slot_to_coeff: transform(33, &[(7, 32), (7, 16)], GiantOrder::Horner),
                application: Primes { count: 3, bits: 42 },
                eval_mod: EvalMod { bits: 48, ..n16.eval_mod },
                coeff_to_slot: transform(46, &[(7, 16), (7, 32)], GiantOrder::Horner),
                special: Primes { count: 2, bits: 50 },
                dnum: 9,
                ..n16
            },
            Self::Toy => ParametersSpec {
                log_n: 10,
                log_slots: 9,
                slot_to_coeff: transform(34, &[(3, 4), (3, 4), (3, 4)], GiantOrder::Separate),
                application: Primes { count: 2, bits: 42 },
                coeff_to_slot: transform(48, &[(3, 4), (3, 4), (3, 4)], GiantOrder::Separate),
                special: Primes { count: 5, bits: 50 },
                dnum: 4,
                security: Security::None,
                ..n16
            },
        }
    }

    /// The preset whose parameters these are, if they are one, for whatever number of slots.
    #[must_use]
    pub fn of(parameters: &Parameters) -> Option<Self> {
        let spec = parameters.spec();
        let is = |preset: &Self| preset.spec_for(spec.log_slots).is_ok_and(|known| known == *spec);
        Self::ALL.into_iter().find(is)
    }

    /// The description of the preset, with `2^log_slots` slots instead of all.
    ///
    /// Both transforms have fewer layers, in as many matrices: so all primes stay as they are, and one context and one
    /// secret serve any numbers of slots, each with bootstrapping keys of its own. A transform in fewer matrices would
    /// have more rotations, and what it left over are primes of sizes that no other part can use.
    ///
    /// # Errors
    /// [`Error::Parameters`] for more slots than the preset has.
    pub fn spec_for(self, log_slots: u32) -> Result<ParametersSpec> {
        let spec = self.spec();
        let most = spec.log_slots;
        if log_slots > most {
            return Err(Error::parameter("log_slots", log_slots, format!("at most {most}, all slots of {self}")));
        }
        Ok(if log_slots == most { spec } else { spec.with_log_slots(log_slots) })
    }

    /// The checked parameters.
    ///
    /// # Errors
    /// None for the presets that there are.
    pub fn parameters(self) -> Result<Parameters> {
        self.spec().build()
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Preset {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let named = Self::ALL.into_iter().find(|preset| preset.name() == name);
        let refused = || {
            let needed = format!("one of {}", Self::ALL.map(Self::name).join(", "));
            Error::parameter("preset", name, needed)
        };
        named.ok_or_else(refused)
    }
}

fn transform(bits: u32, groups: &[(u32, usize)], giants: GiantOrder) -> Transform {
    let groups = groups.iter().map(|&(layers, baby_steps)| Group { layers, baby_steps }).collect();
    Transform { bits, groups, giants }
}
