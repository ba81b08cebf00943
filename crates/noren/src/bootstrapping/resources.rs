//! Whether memory and disk suffice, said before any work.

use std::fs;
use std::path::Path;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::wire::file;

use crate::bootstrapping::parameters::Parameters;
use crate::bootstrapping::plan::Plan;

/// What a machine has to offer, in bytes; what is not known is taken to suffice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Resources {
    /// Memory that a new program can have.
    pub memory: Option<u64>,
    /// Room on the disk.
    pub disk: Option<u64>,
}

/// What work takes, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// The most memory at once.
    pub memory: u64,
    /// New bytes of files.
    pub disk: u64,
}

/// Elements of the whole ring that key generation holds beside one key: the tables of transforms, the secrets and an image,
/// two halves, errors while they are sampled, a permutation for each key, and rows that the pools keep.
const GENERATION_ELEMENTS: u64 = 24;

impl Demand {
    /// What [`BootstrapKeyFile::generate`](crate::bootstrapping::key_file::BootstrapKeyFile::generate) takes, without the
    /// keys of an application. An estimate.
    ///
    /// # Errors
    /// None for parameters that were built.
    pub fn generate(parameters: &Parameters) -> Result<Self> {
        let plan = Plan::new(parameters)?;
        let largest =
            plan.keys().iter().map(|class| class.bytes() / class.count.max(1) as u64).max().unwrap_or_default();
        let memory = largest + GENERATION_ELEMENTS * element_bytes(parameters);
        Ok(Self { memory, disk: plan.disk_bytes() })
    }

    /// What the keys in memory take, and a bootstrap with them. An estimate.
    ///
    /// # Errors
    /// None for parameters that were built.
    pub fn bootstrap(parameters: &Parameters) -> Result<Self> {
        Ok(Self { memory: Plan::new(parameters)?.memory_bytes(), disk: 0 })
    }
}

/// About the bytes of a file of expanded keys, without those of an application.
///
/// # Errors
/// None for parameters that were built.
pub fn expanded_bytes(parameters: &Parameters) -> Result<u64> {
    Ok(Plan::new(parameters)?.key_bytes())
}

/// The bytes of an element over all primes.
fn element_bytes(parameters: &Parameters) -> u64 {
    let primes = parameters.max_level() + 1 + parameters.spec().special.count;
    (primes * parameters.degree() * size_of::<u64>()) as u64
}

impl Resources {
    /// Those of this machine, with the disk on which `directory` lies, as far as the system tells.
    #[must_use]
    pub fn of_machine(directory: &Path) -> Self {
        let memory = fs::read_to_string("/proc/meminfo").ok().and_then(|text| available(&text));
        Self { memory, disk: file::available(directory) }
    }

    /// Refuses work that takes more than there is.
    ///
    /// # Errors
    /// [`Error::Resources`] with both numbers, for memory or for the disk.
    pub fn check(&self, demand: Demand) -> Result<()> {
        if let Some(found) = self.memory.filter(|&found| found < demand.memory) {
            let advice =
                "close other programs, choose a preset with smaller keys such as n16-small, or a larger machine";
            return Err(Error::Resources { what: "memory for bootstrapping", found, needed: demand.memory, advice });
        }
        if let Some(found) = self.disk.filter(|&found| found < demand.disk) {
            let advice = "make room, choose another place, or a preset with smaller keys such as n16-small";
            return Err(Error::Resources { what: "disk for the keys", found, needed: demand.disk, advice });
        }
        Ok(())
    }
}

/// The bytes of the line `MemAvailable:  123 kB` of `/proc/meminfo`.
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_suffice_is_refused_with_both_numbers() {
        let demand = Demand { memory: 3 << 30, disk: 1 << 30 };
        let check = |memory, disk| Resources { memory, disk }.check(demand);
        assert!(check(None, None).is_ok() && check(Some(3 << 30), Some(1 << 30)).is_ok());
        let message = check(Some((3 << 30) - 1), None).expect_err("a byte too few").to_string();
        assert!(message.starts_with("memory for bootstrapping: 3.0 GiB available, 3.0 GiB needed"), "{message}");
        let message = check(Some(4 << 30), Some(1 << 20)).expect_err("too little").to_string();
        assert!(message.starts_with("disk for the keys: 1.0 MiB available, 1.0 GiB needed: make room"), "{message}");
    }

    #[test]
    fn available_memory_is_read_from_its_line() {
        assert_eq!(available("MemTotal:  9 kB\nMemAvailable:     123 kB\n"), Some(123 << 10));
        assert_eq!(available("MemTotal:  9 kB\n"), None);
        assert_eq!(available("MemAvailable: 99999999999999999999 kB\n"), None);
    }
}
