//! Memory and disk that bootstrapping takes, told before any work.

use noren_rlwe::error::Result;
use noren_rlwe::resources::Resources;

use crate::bootstrapping::parameters::Parameters;
use crate::bootstrapping::plan::BootstrapPlan;

/// The footprint of work, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footprint {
    /// The most memory at once.
    pub memory: u64,
    /// New bytes of files.
    pub disk: u64,
}

/// Elements of the whole ring that key generation holds beside one key: the tables of transforms, the secrets and an image,
/// two halves, errors while they are sampled, a permutation for each key, and rows that the pools keep.
const GENERATION_ELEMENTS: u64 = 24;

impl Footprint {
    /// The footprint of [`BootstrapKeyFile::generate`](crate::bootstrapping::key_file::BootstrapKeyFile::generate), without the
    /// keys of an application. An estimate.
    ///
    /// # Errors
    /// None for parameters that were built.
    pub fn generate(parameters: &Parameters) -> Result<Self> {
        let plan = BootstrapPlan::new(parameters)?;
        let largest =
            plan.keys().iter().map(|class| class.bytes() / class.count.max(1) as u64).max().unwrap_or_default();
        let memory = largest + GENERATION_ELEMENTS * element_bytes(parameters);
        Ok(Self { memory, disk: plan.disk_bytes() })
    }

    /// The footprint of the keys in memory, and of a bootstrap with them. An estimate.
    ///
    /// # Errors
    /// None for parameters that were built.
    pub fn bootstrap(parameters: &Parameters) -> Result<Self> {
        Ok(Self { memory: BootstrapPlan::new(parameters)?.memory_bytes(), disk: 0 })
    }

    /// The footprint of a bootstrap beside keys that are mapped already. An estimate.
    ///
    /// # Errors
    /// None for parameters that were built.
    pub fn beside_mapped_keys(parameters: &Parameters) -> Result<Self> {
        let plan = BootstrapPlan::new(parameters)?;
        Ok(Self { memory: plan.memory_bytes().saturating_sub(plan.key_bytes()), disk: 0 })
    }

    /// Refuses what takes more than there is.
    ///
    /// # Errors
    /// [`Error::Resources`](noren_rlwe::error::Error::Resources) with both numbers, for memory or for the disk.
    pub fn check(&self, resources: &Resources) -> Result<()> {
        let advice = "close other programs, raise the limit of the process or container, choose a preset with smaller keys such as \
             n16-small, or a larger machine";
        resources.check_memory(self.memory, "memory for bootstrapping", advice)?;
        let advice = "make room, choose another place, or a preset with smaller keys such as n16-small";
        resources.check_disk(self.disk, "disk for the keys", advice)
    }
}

/// About the bytes of a file of expanded keys, without those of an application.
///
/// # Errors
/// None for parameters that were built.
pub fn expanded_bytes(parameters: &Parameters) -> Result<u64> {
    Ok(BootstrapPlan::new(parameters)?.key_bytes())
}

/// The bytes of an element over all primes.
fn element_bytes(parameters: &Parameters) -> u64 {
    let primes = parameters.max_level() + 1 + parameters.spec().special.count;
    (primes * parameters.degree() * size_of::<u64>()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demands_that_are_not_met_are_refused_with_both_numbers() {
        let footprint = Footprint { memory: 3 << 30, disk: 1 << 30 };
        let check = |memory, disk| footprint.check(&Resources { memory, disk });
        assert!(check(None, None).is_ok() && check(Some(3 << 30), Some(1 << 30)).is_ok());
        let message = check(Some((3 << 30) - 1), None).expect_err("a byte too few").to_string();
        assert!(message.starts_with("memory for bootstrapping: 3.0 GiB available, 3.0 GiB needed"), "{message}");
        let message = check(Some(4 << 30), Some(1 << 20)).expect_err("too little").to_string();
        assert!(message.starts_with("disk for the keys: 1.0 MiB available, 1.0 GiB needed: make room"), "{message}");
    }
}
