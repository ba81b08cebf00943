//! Parameters and keys that the tests share.

use std::sync::Arc;

use noren::tfhe::{
    Context, Decryptor, Encoding, Encryptor, Evaluator, Grouping, Keys, ParametersSpec, Preset, ServerKeys, TorusNoise,
    TorusSpec,
};
use noren::{Security, Seed};
use noren_math::kernels::is_fastest;
use noren_ring::host::torus::bootstrap::Bootstrap;

/// A context with keys.
pub struct World {
    pub context: Context,
    pub keys: Keys,
}

/// Small dimensions and little noise, without security: bootstraps take well below a millisecond.
pub fn small_spec(encoding: Encoding) -> ParametersSpec {
    ParametersSpec {
        torus: TorusSpec {
            n: 40,
            k: 1,
            log_degree: 9,
            lwe_noise: TorusNoise::Gaussian(1e-7),
            glwe_noise: TorusNoise::Gaussian(1e-13),
            log_base: 10,
            levels: 2,
            grouping: Grouping::Single,
            light: None,
            switch_log_base: 4,
            switch_levels: 4,
            security: Security::None,
        },
        encoding,
        max_noise: 5.0,
        max_failure_log2: -64.0,
    }
}

impl World {
    pub fn new(spec: ParametersSpec, seed: u8) -> Self {
        let context = Context::new(spec.build().expect("parameters")).expect("a context");
        let keys = context.generate_keys(self::seed(seed)).expect("keys");
        Self { context, keys }
    }

    pub fn small(encoding: Encoding) -> Self {
        Self::new(small_spec(encoding), 1)
    }

    pub fn preset(name: &str) -> Self {
        Self::new(Preset::named(name).expect("a preset").spec.clone(), 1)
    }

    pub fn encryptor(&self) -> Encryptor<'_> {
        Encryptor::new(&self.context, &self.keys.secret, seed(100)).expect("the same parameters")
    }

    pub fn decryptor(&self) -> Decryptor<'_> {
        Decryptor::new(&self.context, &self.keys.secret).expect("the same parameters")
    }

    pub fn evaluator(&self) -> Evaluator {
        Evaluator::new(&self.context, Arc::clone(&self.keys.server)).expect("the same parameters")
    }
}

/// The cases that a circuit of lookups is run for: all with the fastest kernels of this CPU, the first one with others.
///
/// Circuits call no kernel. Bootstraps, which do, are run with all kernels by the tests of gates and lookups, and tests of
/// `noren-math` compare the kernels of all tables.
pub fn cases<T>(all: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    all.into_iter().take(if is_fastest() { usize::MAX } else { 1 })
}

/// The keys of a bootstrap on the host.
pub fn on_host(keys: &ServerKeys) -> &Bootstrap {
    keys.bootstrap().held().get().expect("keys of the host")
}

pub fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

pub const INTEGERS_1_1: Encoding = Encoding::Integers { message_bits: 1, carry_bits: 1 };
pub const INTEGERS_2_2: Encoding = Encoding::Integers { message_bits: 2, carry_bits: 2 };
