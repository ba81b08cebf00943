//! Machines: the cost of each unit of work, measured once and kept in a file.

use std::collections::BTreeMap;

use noren_rlwe::error::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::cost::work::{Caches, UNITS, Unit, Work};

/// A machine, as far as the time of homomorphic operations depends on it.
///
/// [`calibrate`](crate::backends::calibrate()) measures one; [`reference`](Self::reference) has figures of a known one.
/// A machine is kept as JSON, and prices work for the numbers of threads that it was measured with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The version of noren that measured it.
    pub version: String,
    /// The name of the processor.
    pub processor: String,
    /// The table of kernels: `portable`, `avx2`, ...
    pub isa: String,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of caches.
    pub caches: Caches,
    /// Costs of units, for each number of threads; the first is for one.
    pub units: Vec<UnitCosts>,
    /// Costs of TFHE, for each set and number of threads.
    pub torus: Vec<TorusCosts>,
}

/// The costs of units with a number of threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitCosts {
    /// The number of threads that share the loops.
    pub threads: usize,
    /// The nanoseconds of one unit, by its [name](Unit::name); units without an entry cost nothing.
    pub nanoseconds: BTreeMap<String, f64>,
    /// The median of the relative distances of the calibration's measurements from this model.
    pub median_residual: f64,
    /// The distance that nine tenths of the measurements do not exceed.
    pub most_residual: f64,
}

/// The costs of a set of TFHE with a number of threads, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TorusCosts {
    /// The name of the set.
    pub set: String,
    /// The number of threads.
    pub threads: usize,
    /// Making the server's keys, from the secret key.
    pub server_key: f64,
    /// Making the keys that a client sends.
    pub client_key: f64,
    /// The bytes of the server's keys in memory.
    pub server_key_bytes: u64,
    /// The bytes of the keys that a client sends.
    pub client_key_bytes: u64,
    /// Encryption of one sample.
    pub encrypt: f64,
    /// Decryption of one sample.
    pub decrypt: f64,
    /// For some sizes of batches, in ascending order: one bootstrap of a batch of this size.
    pub bootstraps: Vec<(usize, f64)>,
}

impl Machine {
    /// A server with two cores of Zen 4 and AVX-512, as it was measured in November 2026.
    ///
    /// # Panics
    /// Never: its file is part of the library.
    #[must_use]
    pub fn reference() -> Self {
        serde_json::from_str(include_str!("reference.json")).expect("the reference machine is well formed")
    }

    /// A server with two cores of Zen 5 held to AVX2, as it was measured in November 2026.
    ///
    /// # Panics
    /// As [`reference`](Self::reference).
    #[must_use]
    pub fn reference_avx2() -> Self {
        serde_json::from_str(include_str!("reference_avx2.json")).expect("the reference machine is well formed")
    }

    /// The server with two cores of Zen 4 held to portable kernels.
    ///
    /// # Panics
    /// As [`reference`](Self::reference).
    #[must_use]
    pub fn reference_portable() -> Self {
        serde_json::from_str(include_str!("reference_portable.json")).expect("the reference machine is well formed")
    }

    /// A machine on which everything takes `factor` times as long.
    #[must_use]
    pub fn slower(mut self, factor: f64) -> Self {
        self.units.iter_mut().flat_map(|costs| costs.nanoseconds.values_mut()).for_each(|price| *price *= factor);
        for costs in &mut self.torus {
            let single = [&mut costs.server_key, &mut costs.client_key, &mut costs.encrypt, &mut costs.decrypt];
            single.into_iter().for_each(|price| *price *= factor);
            costs.bootstraps.iter_mut().for_each(|(_, price)| *price *= factor);
        }
        self
    }

    /// Reads a machine from JSON.
    ///
    /// # Errors
    /// [`Error::Parameters`] for what is no machine, or one without costs of one thread.
    pub fn parse(json: &str) -> Result<Self> {
        let needed = "a file of `noren calibrate`: run it again";
        let machine: Self =
            serde_json::from_str(json).map_err(|error| Error::parameter("machine", error.to_string(), needed))?;
        match machine.check() {
            Some(found) => Err(Error::parameter("machine", found, needed)),
            None => Ok(machine),
        }
    }

    /// The machine as JSON.
    ///
    /// # Panics
    /// Never: numbers of a machine are finite.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a machine is plain data")
    }

    /// Whether the measurements are of this version of noren, this processor, and this table of kernels.
    #[must_use]
    pub fn is_current(&self, processor: &str, isa: &str) -> bool {
        self.version == env!("CARGO_PKG_VERSION") && self.processor == processor && self.isa == isa
    }

    /// The numbers of threads that it prices work for.
    #[must_use]
    pub fn threads(&self) -> Vec<usize> {
        self.units.iter().map(|costs| costs.threads).collect()
    }

    /// The seconds that work takes with this number of threads.
    ///
    /// # Errors
    /// [`Error::Parameters`] for a number of threads that the machine was not measured with.
    pub fn seconds(&self, work: &Work, threads: usize) -> Result<f64> {
        let [serial, shared] = [self.costs(1)?.prices(), self.costs(threads)?.prices()];
        let [alone, together] = work.amounts();
        let sum =
            |amounts: &[f64; UNITS], prices: &[f64; UNITS]| amounts.iter().zip(prices).map(|(a, p)| a * p).sum::<f64>();
        Ok((sum(alone, &serial) + sum(together, &shared)) * 1e-9)
    }

    /// The costs of units with this number of threads.
    ///
    /// # Errors
    /// As [`seconds`](Self::seconds).
    pub fn costs(&self, threads: usize) -> Result<&UnitCosts> {
        let found = self.units.iter().find(|costs| costs.threads == threads);
        found.ok_or_else(|| {
            Error::parameter("threads", threads, format!("one of {:?}, which were measured", self.threads()))
        })
    }

    /// The fault of it, if there is one.
    fn check(&self) -> Option<String> {
        let names: Vec<String> = Unit::all().into_iter().map(Unit::name).collect();
        if self.units.first().is_none_or(|costs| costs.threads != 1) {
            return Some("no costs of one thread".to_owned());
        }
        let prices = self.units.iter().flat_map(|costs| &costs.nanoseconds);
        let foreign = prices.clone().map(|(name, _)| name).find(|name| !names.contains(name));
        if let Some(name) = foreign {
            return Some(format!("the unit {name}"));
        }
        let torus = self.torus.iter().flat_map(|costs| {
            let singles = [costs.server_key, costs.client_key, costs.encrypt, costs.decrypt];
            singles.into_iter().chain(costs.bootstraps.iter().map(|&(_, price)| price))
        });
        let wrong = prices.map(|(_, &price)| price).chain(torus).find(|price| !(price.is_finite() && *price >= 0.0));
        if let Some(price) = wrong {
            return Some(format!("a cost of {price}"));
        }
        let empty = self
            .torus
            .iter()
            .find(|costs| costs.bootstraps.is_empty() || costs.bootstraps.iter().any(|&(batch, _)| batch == 0));
        empty.map(|costs| format!("no bootstraps of {}", costs.set))
    }
}

impl UnitCosts {
    /// Costs from prices in the order of [`Unit::all`].
    pub(crate) fn new(threads: usize, prices: &[f64], median_residual: f64, most_residual: f64) -> Self {
        let priced = Unit::all().into_iter().zip(prices).filter(|(_, price)| **price > 0.0);
        let nanoseconds = priced.map(|(unit, &price)| (unit.name(), price)).collect();
        Self { threads, nanoseconds, median_residual, most_residual }
    }

    /// The nanoseconds of one unit.
    #[must_use]
    pub fn price(&self, unit: Unit) -> f64 {
        self.nanoseconds.get(&unit.name()).copied().unwrap_or_default()
    }

    /// The prices in the order of [`Unit::all`].
    pub(crate) fn prices(&self) -> [f64; UNITS] {
        let mut prices = [0.0; UNITS];
        Unit::all().into_iter().for_each(|unit| prices[unit.position()] = self.price(unit));
        prices
    }
}

impl TorusCosts {
    /// The nanoseconds of one of `batch` bootstraps that are done together: between measured sizes, linear in the logarithm.
    #[must_use]
    pub fn bootstrap(&self, batch: usize) -> f64 {
        let above = self.bootstraps.iter().position(|&(size, _)| size >= batch.max(1));
        match above {
            None => self.bootstraps.last().map_or(0.0, |&(_, price)| price),
            Some(0) => self.bootstraps[0].1,
            Some(i) => {
                let [(low, first), (high, last)] = [self.bootstraps[i - 1], self.bootstraps[i]];
                let part = libm::log2(batch as f64 / low as f64) / libm::log2(high as f64 / low as f64);
                first + part * (last - first)
            }
        }
    }
}
