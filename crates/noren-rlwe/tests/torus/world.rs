//! Parameters and keys that the tests share.

use noren_math::random::Seed;
use noren_math::torus::product::Grouping;
use noren_ring::engine::Engine;
use noren_ring::parallel::Parallel;
use noren_ring::torus::product::TorusProduct;
use noren_rlwe::security::Security;
use noren_rlwe::torus::keygen::TorusKeyGenerator;
use noren_rlwe::torus::keys::ServerKeys;
use noren_rlwe::torus::noise::TorusNoise;
use noren_rlwe::torus::parameters::{TorusParameters, TorusSpec};
use noren_rlwe::torus::secret::TorusSecret;

pub struct World {
    pub parameters: TorusParameters,
    pub secret: TorusSecret,
    pub keys: ServerKeys,
}

/// Small dimensions, without security.
pub fn small() -> TorusSpec {
    TorusSpec {
        n: 64,
        k: 1,
        log_degree: 9,
        lwe_noise: TorusNoise::Gaussian(1e-7),
        glwe_noise: TorusNoise::Gaussian(1e-12),
        log_base: 8,
        levels: 3,
        grouping: Grouping::Single,
        switch_log_base: 4,
        switch_levels: 4,
        security: Security::None,
    }
}

impl World {
    pub fn new(spec: TorusSpec, byte: u8) -> Self {
        let parameters = spec.build().expect("parameters");
        let generator = TorusKeyGenerator::new(&parameters, &seed(byte));
        let secret = generator.secret();
        let product = TorusProduct::new(parameters.shape().degree).expect("transforms");
        let compact = generator.compact(&engine(1), &product, &secret).expect("its own secret");
        let keys = compact.expand(&engine(1), &product);
        Self { parameters, secret, keys }
    }
}

pub fn engine(threads: usize) -> Engine {
    Engine::new(Some(threads), Parallel::default(), 0).expect("threads")
}

pub fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

/// A word as a number of [-1/2, 1/2) of the circle.
pub fn centred(word: u64) -> f64 {
    word.cast_signed() as f64 / 2f64.powi(64)
}
