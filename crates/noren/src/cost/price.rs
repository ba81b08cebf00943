//! Prices: what a computation costs its client and its server, from counts and machines.

use noren_rlwe::error::Result;
use noren_rlwe::parameters::Parameters;
use serde::Serialize;

use crate::cost::machine::Machine;
use crate::cost::ring::RingMeter;
use crate::cost::work::Work;

/// Memory of a process before any context: the program and its allocator.
pub(crate) const PROCESS_BYTES: u64 = 12 << 20;

/// One side of a computation: a machine, and how many of its threads work.
#[derive(Debug, Clone, PartialEq)]
pub struct Party {
    /// The machine.
    pub machine: Machine,
    /// The number of threads, one that the machine was measured with.
    pub threads: usize,
}

/// The price of a computation, of all instances together. Times in seconds, sizes in bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Price {
    /// The client's time for all keys, once.
    pub keys_seconds: f64,
    /// The time of a stronger device of the client's owner that makes the keys from two seeds, with the costs of the server
    /// on one thread; 0 where the client makes its keys itself.
    pub helper_seconds: f64,
    /// The client's time to encode and encrypt the inputs.
    pub encrypt_seconds: f64,
    /// The client's time to decrypt and decode the results.
    pub decrypt_seconds: f64,
    /// The server's time to prepare what does not depend on the inputs, once: expanded keys, encoded factors, tables.
    pub prepare_seconds: f64,
    /// The server's time.
    pub server_seconds: f64,
    /// The keys that the client sends, once.
    pub key_bytes: u64,
    /// The encrypted inputs.
    pub input_bytes: u64,
    /// The encrypted results.
    pub result_bytes: u64,
    /// The most memory of the client, if it makes and sends one key after the other.
    pub client_memory: u64,
    /// The most memory of the server.
    pub server_memory: u64,
    /// The parts of the server's time.
    pub parts: Vec<Part>,
    /// The part of the server's memory that each of several runs at once takes for itself.
    #[serde(skip)]
    pub run_memory: u64,
}

/// A part of the server's time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// The operation, in words.
    pub name: String,
    /// How often it is done.
    pub count: f64,
    /// The seconds of all of them.
    pub seconds: f64,
}

impl Party {
    /// A machine with `wanted` threads, or as many as it was measured with below that.
    #[must_use]
    pub fn new(machine: Machine, wanted: usize) -> Self {
        let measured = machine.threads();
        let threads = measured.into_iter().filter(|&threads| threads <= wanted.max(1)).max().unwrap_or(1);
        Self { machine, threads }
    }

    /// A thread of the [reference machine](Machine::reference): what does not depend on this machine is counted for it.
    #[must_use]
    pub fn reference() -> Self {
        Self { machine: Machine::reference(), threads: 1 }
    }

    /// A meter for operations in a ring on this machine.
    ///
    /// # Errors
    /// A ring whose index is no power of two.
    pub fn meter(&self, parameters: &Parameters) -> Result<RingMeter> {
        RingMeter::new(parameters, self.machine.caches, self.threads)
    }

    /// The seconds of work on this machine.
    ///
    /// # Errors
    /// A number of threads that the machine was not measured with.
    pub fn seconds(&self, work: &Work) -> Result<f64> {
        self.machine.seconds(work, self.threads)
    }
}

impl Price {
    /// All of the client's time, keys included.
    #[must_use]
    pub fn client_seconds(&self) -> f64 {
        self.keys_seconds + self.encrypt_seconds + self.decrypt_seconds
    }

    /// The price of so many runs with the same keys, one after the other.
    #[must_use]
    pub(crate) fn times(self, runs: usize) -> Self {
        let (factor, count) = (runs as f64, runs as u64);
        let part = |part: Part| Part { count: part.count * factor, seconds: part.seconds * factor, ..part };
        Self {
            encrypt_seconds: self.encrypt_seconds * factor,
            decrypt_seconds: self.decrypt_seconds * factor,
            server_seconds: self.server_seconds * factor,
            input_bytes: self.input_bytes.saturating_mul(count),
            result_bytes: self.result_bytes.saturating_mul(count),
            parts: self.parts.into_iter().map(part).collect(),
            ..self
        }
    }

    /// The price of this and then of another computation, whose keys are there all the time.
    pub(crate) fn then(self, other: Self) -> Self {
        let resident =
            |price: &Self| price.server_memory.saturating_sub(PROCESS_BYTES.saturating_add(price.run_memory));
        let run_memory = self.run_memory.max(other.run_memory);
        let mut price = Self {
            keys_seconds: self.keys_seconds + other.keys_seconds,
            helper_seconds: self.helper_seconds + other.helper_seconds,
            encrypt_seconds: self.encrypt_seconds + other.encrypt_seconds,
            decrypt_seconds: self.decrypt_seconds + other.decrypt_seconds,
            prepare_seconds: self.prepare_seconds + other.prepare_seconds,
            key_bytes: self.key_bytes.saturating_add(other.key_bytes),
            input_bytes: self.input_bytes.saturating_add(other.input_bytes),
            result_bytes: self.result_bytes.saturating_add(other.result_bytes),
            client_memory: self.client_memory.max(other.client_memory),
            server_memory: PROCESS_BYTES + run_memory + resident(&self) + resident(&other),
            run_memory,
            ..self
        };
        other.parts.into_iter().for_each(|part| price.add_part(part.name, part.count, part.seconds));
        price
    }

    /// Counts the memory in which the server has the bytes of all keys, and the keys made of them, before it computes.
    pub(crate) fn add_reading(&mut self, keys: u64) {
        let reading = PROCESS_BYTES.saturating_add(self.key_bytes).saturating_add(keys);
        self.server_memory = self.server_memory.max(reading);
    }

    /// Adds a part of the server's time.
    pub(crate) fn add_part(&mut self, name: impl Into<String>, count: f64, seconds: f64) {
        self.server_seconds += seconds;
        let name = name.into();
        match self.parts.iter_mut().find(|part| part.name == name) {
            Some(part) => {
                part.count += count;
                part.seconds += seconds;
            }
            None => self.parts.push(Part { name, count, seconds }),
        }
    }
}

/// The price of a client whose keys another device makes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Left {
    /// Making its secrets, in seconds.
    pub secrets_seconds: f64,
    /// The most memory.
    pub memory: u64,
}
