//! Prices of circuits of lookups, in TFHE.

use noren_rlwe::error::{Error, Result};

use crate::cost::machine::{Machine, TorusCosts};
use crate::cost::price::PROCESS_BYTES;
use crate::cost::price::{Left, Party, Price};
use crate::schemes::tfhe::{Grouping, Parameters, Preset};

/// A circuit of lookups, or of gates.
#[derive(Debug, Clone, PartialEq)]
pub struct TorusDraft {
    /// The name of the set.
    pub set: &'static str,
    /// Groups of rounds: how many rounds, and how many bootstraps in each.
    pub rounds: Vec<(usize, f64)>,
    /// The samples that the client encrypts.
    pub inputs: usize,
    /// The samples that it decrypts.
    pub results: usize,
}

/// The keys that a client makes and sends of a set whose keys are light, beside the set whose keys travel whole; `docs/tfhe.md` has the
/// measurements.
struct Light {
    set: &'static str,
    /// The set of the same messages whose keys travel whole.
    whole: &'static str,
    /// The client's time for keys, as part of that for whole ones.
    keys: f64,
    key_bytes: u64,
    /// The server's time to expand keys, in bootstraps of the whole set, one at a time.
    expansion: f64,
    server_key_bytes: u64,
    /// The further memory of the server while it expands.
    expansion_bytes: u64,
    /// The time of a bootstrap, as multiple.
    bootstrap: f64,
}

/// The sets of light keys.
const LIGHT: [Light; 2] = [
    Light {
        set: "2_2_LIGHT",
        whole: "2_2",
        keys: 0.22,
        key_bytes: 3_425_088,
        expansion: 87.0,
        server_key_bytes: 302_000_000,
        expansion_bytes: 129_000_000,
        bootstrap: 2.25,
    },
    Light {
        set: "BOOL_LIGHT",
        whole: "BOOL",
        keys: 0.4,
        key_bytes: 1_300_000,
        expansion: 44.0,
        server_key_bytes: 101_000_000,
        expansion_bytes: 40_000_000,
        bootstrap: 1.5,
    },
];
/// The bootstraps that a circuit bootstrap of a digit takes as long as, with its part of the tree of choices: from the times of
/// tables of two integers of 8 bits.
pub(crate) const BOOTSTRAPS_OF_CHOICE: f64 = 4.8;

/// Making both secrets takes as long as so many encryptions.
const SECRETS: f64 = 8.0;

/// The seed that stands for the mask of fresh samples, and the body of each.
const SEED_BYTES: u64 = 32;
/// Bodies of keys are made and written by so many bytes.
const KEY_PART: u64 = 2 << 20;
const WORD: u64 = size_of::<u64>() as u64;

impl TorusDraft {
    /// The price of a run.
    ///
    /// # Errors
    /// A set that there is not, or a machine on which no set was measured.
    pub fn price(&self, client: &Party, server: &Party) -> Result<Price> {
        let parameters = Preset::named(self.set)?.parameters()?;
        let (own, other) =
            (costs(&client.machine, self.set, client.threads)?, costs(&server.machine, self.set, server.threads)?);
        let sample_bytes = (WORD * (parameters.torus().dimension() as u64 + 1)) as f64;
        let mut price = Price {
            keys_seconds: own.client_key * 1e-9,
            encrypt_seconds: self.inputs as f64 * own.encrypt * 1e-9,
            decrypt_seconds: self.results as f64 * own.decrypt * 1e-9,
            prepare_seconds: (other.server_key - other.client_key).max(0.0) * 1e-9,
            key_bytes: other.client_key_bytes,
            input_bytes: SEED_BYTES + self.inputs as u64 * WORD,
            result_bytes: (self.results as f64 * sample_bytes) as u64,
            client_memory: PROCESS_BYTES + KEY_PART,
            ..Price::default()
        };
        for &(rounds, bootstraps) in &self.rounds {
            let seconds = bootstraps * other.bootstrap(bootstraps.ceil() as usize) * 1e-9;
            price.add_part("bootstraps", rounds as f64 * bootstraps, rounds as f64 * seconds);
        }
        let held = ((price.input_bytes / WORD) as f64 * sample_bytes) as u64;
        let expansion = LIGHT.iter().find(|light| light.set == self.set).map_or(0, |light| light.expansion_bytes);
        let own = PROCESS_BYTES + other.server_key_bytes + expansion;
        price.server_memory = own.saturating_add(held).saturating_add(price.result_bytes);
        price.add_reading(other.server_key_bytes);
        Ok(price)
    }

    /// The price of a client whose keys another device makes.
    pub(crate) fn left(&self, client: &Party) -> Result<Left> {
        let secrets_seconds = costs(&client.machine, self.set, client.threads)?.encrypt * SECRETS * 1e-9;
        Ok(Left { secrets_seconds, memory: PROCESS_BYTES })
    }
}

/// The costs of a set: measured, or those of the measured set that is most like it, by the work of a bootstrap.
///
/// # Errors
/// A set that there is not; a machine on which no set was measured with this number of threads.
pub fn costs(machine: &Machine, set: &str, threads: usize) -> Result<TorusCosts> {
    let measured: Vec<&TorusCosts> = machine.torus.iter().filter(|costs| costs.threads == threads).collect();
    if let Some(found) = measured.iter().find(|costs| costs.set == set) {
        return Ok((*found).clone());
    }
    if let Some(light) = LIGHT.iter().find(|light| light.set == set) {
        return Ok(light.costs(costs(machine, light.whole, threads)?));
    }
    let work = |name: &str| Preset::named(name)?.parameters().map(|parameters| Shape::of(&parameters));
    let wanted = work(set)?;
    let known = measured.into_iter().map(|costs| Ok((work(&costs.set)?, costs))).collect::<Result<Vec<_>>>()?;
    let distance = |shape: &Shape| libm::log2(shape.rotation / wanted.rotation).abs();
    let nearest = known.into_iter().min_by(|(a, _), (b, _)| distance(a).total_cmp(&distance(b)));
    let (shape, costs) = nearest.ok_or_else(|| Error::parameter("threads", threads, "a number that was measured"))?;
    let [bootstrap, keys] = [wanted.rotation / shape.rotation, wanted.keys / shape.keys];
    let size = |bytes: u64, factor: f64| (bytes as f64 * factor) as u64;
    Ok(TorusCosts {
        set: set.to_owned(),
        threads,
        server_key: costs.server_key * keys,
        client_key: costs.client_key * keys,
        server_key_bytes: size(costs.server_key_bytes, keys),
        client_key_bytes: size(costs.client_key_bytes, wanted.bodies / shape.bodies),
        encrypt: costs.encrypt * wanted.dimension / shape.dimension,
        decrypt: costs.decrypt * wanted.dimension / shape.dimension,
        bootstraps: costs.bootstraps.iter().map(|&(batch, price)| (batch, price * bootstrap)).collect(),
    })
}

impl Light {
    /// The costs of the set by those of the one whose keys travel whole.
    fn costs(&self, whole: TorusCosts) -> TorusCosts {
        let client_key = whole.client_key * self.keys;
        TorusCosts {
            set: self.set.to_owned(),
            client_key,
            client_key_bytes: self.key_bytes,
            server_key: client_key + self.expansion * whole.bootstrap(1),
            server_key_bytes: self.server_key_bytes,
            bootstraps: whole.bootstraps.iter().map(|&(batch, price)| (batch, price * self.bootstrap)).collect(),
            ..whole
        }
    }
}

/// The numbers that the costs of a set depend on.
struct Shape {
    /// The transforms of a blind rotation, in words times layers.
    rotation: f64,
    /// The words of its keys.
    keys: f64,
    /// The words of the bodies of its keys, which travel.
    bodies: f64,
    /// The dimension of samples.
    dimension: f64,
}

impl Shape {
    /// With `(k + 1) levels + k + 1` transforms of N/2 complex numbers for each of n digits, and keys of `n (k + 1)^2 levels N`
    /// and `k N switch_levels (n + 1)` words. Bodies are one word of `k + 1`, or of `n + 1`; pairs of bits have three keys.
    fn of(parameters: &Parameters) -> Self {
        let spec = parameters.torus().spec();
        let (n, k, levels) = (spec.n as f64, spec.k as f64, spec.levels as f64);
        let (log_degree, degree) = (f64::from(spec.log_degree), libm::exp2(f64::from(spec.log_degree)));
        let rotation = n * (k + 1.0) * (levels + 1.0) * degree * log_degree;
        let keys = n * (k + 1.0) * (k + 1.0) * levels * degree + k * degree * spec.switch_levels as f64 * (n + 1.0);
        let rows = match spec.grouping {
            Grouping::Single => n,
            Grouping::Pair => 1.5 * n,
        };
        let bodies = rows * (k + 1.0) * levels * degree + k * degree * spec.switch_levels as f64;
        Self { rotation, keys, bodies, dimension: k * degree }
    }
}
