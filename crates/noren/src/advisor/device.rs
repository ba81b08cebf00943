//! Devices of clients: how much slower than a measured machine, with how much memory.

use noren_rlwe::error::{Error, Result};
use serde::Serialize;

use crate::cost::machine::Machine;
use crate::cost::price::Party;
use crate::cost::work::Caches;

/// The kernels that a device has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernels {
    /// AVX-512 with IFMA.
    Avx512,
    /// AVX2.
    Avx2,
    /// No vector instructions.
    Portable,
}

/// A device that may be a client.
///
/// Costs are those of a server that was [measured](Machine::reference) with the same kernels, times `slower`. Only the server
/// itself is measured; the other devices are models. Those of the Raspberry Pis rest on the client times of CKKS that Tsuji
/// and Oguchi measured with OpenFHE (table 5: 653 ms on a Xeon Gold 5115, 1765 ms on a Raspberry Pi 4, 4131 ms on a Raspberry
/// Pi Zero 2 W), and on a ratio of 1.7 between that Xeon and a core of Zen 4, by their clocks and generations. With the
/// instructions that an emulator counts on AArch64 (`bench/arm_instructions.py`) they stand for 1.2 to 1.5 a cycle on the
/// Cortex-A72, which decodes three, and 0.8 to 1.0 on the Cortex-A53, which decodes two.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Device {
    /// The name, as options have it.
    pub name: &'static str,
    /// The device.
    pub description: &'static str,
    /// The kernels that it has.
    pub kernels: Kernels,
    /// How many times as long as on the measured server operations take on one core.
    pub slower: f64,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of caches.
    pub caches: Caches,
    /// Whether its costs were measured, or follow from a model.
    pub measured: bool,
}

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;
/// How many times as long as on the measured server a core of the Xeon of the published points takes.
const XEON: f64 = 1.7;
/// How many times as long as on the measured server with AVX2 a laptop takes: the same transforms took 1.4 times as long on
/// Zen 3 at 3.2 GHz as on Zen 5, and laptops are a little slower under load.
const LAPTOP: f64 = 1.6;

const fn model(
    name: &'static str,
    description: &'static str,
    kernels: Kernels,
    slower: f64,
    memory: u64,
    caches: Caches,
) -> Device {
    Device { name, description, kernels, slower, memory, caches, measured: false }
}

impl Device {
    /// All devices, from the fastest to the slowest.
    pub const ALL: [Self; 6] = [
        Self {
            name: "server",
            description: "a server with AVX-512 (Zen 4)",
            kernels: Kernels::Avx512,
            slower: 1.0,
            memory: 24 * GIB,
            caches: Caches { near: MIB, last: 32 * MIB },
            measured: true,
        },
        model(
            "laptop",
            "a laptop with AVX2 at 3 GHz",
            Kernels::Avx2,
            LAPTOP,
            8 * GIB,
            Caches { near: MIB / 2, last: 8 * MIB },
        ),
        model(
            "phone",
            "a phone with a Cortex-A78 at 2.4 GHz",
            Kernels::Portable,
            2.2,
            6 * GIB,
            Caches { near: MIB / 2, last: 4 * MIB },
        ),
        model(
            "browser",
            "WebAssembly without vectors in a browser on a laptop",
            Kernels::Portable,
            2.5,
            2 * GIB,
            Caches { near: MIB / 2, last: 8 * MIB },
        ),
        model(
            "pi4",
            "a Raspberry Pi 4: Cortex-A72 at 1.5 GHz",
            Kernels::Portable,
            XEON * 1765.04 / 653.07,
            4 * GIB,
            Caches { near: MIB, last: MIB },
        ),
        model(
            "pi-zero",
            "a Raspberry Pi Zero 2 W: Cortex-A53 at 1 GHz",
            Kernels::Portable,
            XEON * 4130.88 / 653.07,
            512 * MIB,
            Caches { near: MIB / 2, last: MIB / 2 },
        ),
    ];

    /// The device of this name.
    ///
    /// # Errors
    /// [`Error::Parameters`] with the names that there are.
    pub fn named(name: &str) -> Result<Self> {
        let names = || Self::ALL.map(|device| device.name).join(", ");
        let found = Self::ALL.into_iter().find(|device| device.name == name);
        found.ok_or_else(|| Error::parameter("device", name, format!("one of {}", names())))
    }

    /// The basis of its costs, in words: measured, or a model.
    #[must_use]
    pub fn basis(&self) -> String {
        let server = match self.kernels {
            Kernels::Avx512 => "Zen 4 with AVX-512",
            Kernels::Avx2 => "Zen 5 with AVX2",
            Kernels::Portable => "Zen 4 with portable kernels",
        };
        match self.measured {
            true => format!("costs of operations measured on {server}; operations are counted"),
            false => format!("model: costs of operations measured on {server}, times {:.2}", self.slower),
        }
    }

    /// The device as a party: one thread.
    #[must_use]
    pub fn party(&self) -> Party {
        let base = match self.kernels {
            Kernels::Avx512 => Machine::reference(),
            Kernels::Avx2 => Machine::reference_avx2(),
            Kernels::Portable => Machine::reference_portable(),
        };
        let machine = Machine {
            processor: self.description.to_owned(),
            memory: self.memory,
            caches: self.caches,
            ..base.slower(self.slower)
        };
        Party { machine, threads: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::work::{Unit, Work};

    #[test]
    fn devices_are_found_by_their_names_and_slower_one_after_the_other() {
        let work = Work::of(Unit::Transform(13), 1e6);
        let times = Device::ALL.map(|device| device.party().seconds(&work).expect("one thread"));
        assert!(times.is_sorted(), "{times:?}");
        assert_eq!(Device::named("pi4").expect("there is").memory, 4 << 30);
        assert!(Device::named("abacus").is_err_and(|error| error.to_string().contains("pi-zero")));
    }

    #[test]
    fn published_points_are_the_ratios_of_the_models() {
        let slower = |name| Device::named(name).expect("there is").slower;
        assert!((slower("pi-zero") / slower("pi4") - 4130.88 / 1765.04).abs() < 1e-9);
    }
}
