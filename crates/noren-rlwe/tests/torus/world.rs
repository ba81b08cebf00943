//! Parameters and keys that the tests share.

use std::sync::Arc;

use noren_math::kernels::is_fastest;
use noren_math::random::Seed;
use noren_math::torus_products::product::Grouping;
use noren_ring::engine::Engine;
use noren_ring::host::Host;
use noren_ring::host::torus::bootstrap::Bootstrap;
use noren_ring::parallel::Parallel;
use noren_ring::torus::product::TorusProduct;
use noren_ring::torus::ring::TorusRing;
use noren_ring::torus::server::TorusServer;
use noren_rlwe::security::Security;
use noren_rlwe::torus::keygen::TorusKeyGenerator;
use noren_rlwe::torus::keys::ServerKeys;
use noren_rlwe::torus::noise::TorusNoise;
use noren_rlwe::torus::parameters::TorusParameters;
use noren_rlwe::torus::secret::TorusSecret;
use noren_rlwe::torus::spec::TorusSpec;

pub struct World {
    pub parameters: TorusParameters,
    pub secret: TorusSecret,
    pub keys: ServerKeys,
    pub server: TorusServer,
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
        light: None,
        security: Security::None,
    }
}

impl World {
    pub fn new(spec: TorusSpec, byte: u8) -> Self {
        let parameters = spec.build().expect("parameters");
        let generator = TorusKeyGenerator::new(&parameters, &seed(byte));
        let secret = generator.secret();
        let product = TorusProduct::new(parameters.shape().degree).expect("transforms");
        let server = server(1, product);
        let (engine, product) = (server.ring().engine(), server.ring().product());
        let keys = if parameters.spec().light.is_some() {
            generator.light(engine, product, &secret).expect("its own secret").expand(&server)
        } else {
            generator.compact(engine, product, &secret).expect("its own secret").expand(&server)
        };
        Self { parameters, secret, keys, server }
    }
}

/// The keys of a bootstrap on the host.
pub fn on_host(keys: &ServerKeys) -> &Bootstrap {
    keys.bootstrap().held().get().expect("keys of the host")
}

/// `body - sum_r A_r S_r` of a GLWE sample.
pub fn glwe_phase(secret: &TorusSecret, product: &TorusProduct, sample: &[u64]) -> Vec<u64> {
    let shape = secret.parameters().shape();
    let (masks, body) = sample.split_at(shape.extracted());
    let mut hidden = vec![0; shape.degree];
    let secrets = secret.long_bits().chunks_exact(shape.degree);
    for (mask, bits) in masks.chunks_exact(shape.degree).zip(secrets) {
        let factor = product.small_factor(&bits.iter().map(|&s| i64::from(s)).collect::<Vec<_>>());
        product.mul_small_add(&mut hidden, mask, &factor);
    }
    body.iter().zip(&hidden).map(|(x, y)| x.wrapping_sub(*y)).collect()
}

/// The cases for which a law is measured: all with the fastest kernels of this CPU, the first one with others.
///
/// Tests of `noren-math` compare the kernels of all tables bit for bit, and the errors of their transforms, which differ,
/// with the deviation that laws count.
pub fn cases<T>(all: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    all.into_iter().take(if is_fastest() { usize::MAX } else { 1 })
}

/// The host.
pub fn server(threads: usize, product: TorusProduct) -> TorusServer {
    TorusServer::on(Arc::new(Host), TorusRing::new(engine(threads), product))
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
