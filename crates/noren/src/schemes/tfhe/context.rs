//! A context: parameters with their transforms and threads; and all keys.

use std::sync::{Arc, OnceLock};

use noren_math::machine::memory;
use noren_math::random::Seed;
use noren_ring::engine::Engine;
use noren_ring::host::Host;
use noren_ring::parallel::Parallel;
use noren_ring::torus::device::TorusDevice;
use noren_ring::torus::product::TorusProduct;
use noren_ring::torus::ring::TorusRing;
use noren_ring::torus::server::TorusServer;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::owner::Owner;
use noren_rlwe::torus::circuit::keys::{CircuitKeys, CompactCircuitKeys};
use noren_rlwe::torus::circuit::parameters::CircuitParameters;
use noren_rlwe::torus::keygen::TorusKeyGenerator;
use noren_rlwe::torus::keys::{CompactKeys, ServerKeys};
use noren_rlwe::torus::light::keys::LightKeys;
use noren_rlwe::torus::secret::TorusSecret;

use crate::schemes::tfhe::large::digits;
use crate::schemes::tfhe::parameters::Parameters;

/// Parameters with their transforms and threads. Cheap to clone, and shared between threads.
#[derive(Clone)]
pub struct Context(Arc<Inner>);

struct Inner {
    parameters: Parameters,
    server: TorusServer,
    circuit: OnceLock<Option<CircuitParameters>>,
}

/// The keys of one owner.
pub struct Keys {
    /// Encrypts and decrypts; stays with its owner.
    pub secret: TorusSecret,
    /// Bootstraps; nothing in it decrypts.
    pub server: Arc<ServerKeys>,
}

impl Context {
    /// The context of these parameters, on the thread pool that is current where it is used.
    ///
    /// # Errors
    /// [`Error::Ring`] if the transforms cannot be made.
    pub fn new(parameters: Parameters) -> Result<Self> {
        Self::with_threads(parameters, None)
    }

    /// The context of these parameters with its own threads: `Some(1)` starts none, `None` is as [`Context::new`].
    /// Results do not depend on it.
    ///
    /// # Errors
    /// [`Error::Ring`] if the transforms or the threads cannot be made.
    pub fn with_threads(parameters: Parameters, threads: Option<usize>) -> Result<Self> {
        let product = memory::refusing(|| TorusProduct::new(parameters.torus().shape().degree))??;
        Self::with_product(parameters, threads, product)
    }

    /// The context of these parameters whose keys are held by a device, which computes with them.
    ///
    /// # Errors
    /// As [`Context::with_threads`].
    pub fn on_device(parameters: Parameters, threads: Option<usize>, device: Arc<dyn TorusDevice>) -> Result<Self> {
        let product = memory::refusing(|| TorusProduct::new(parameters.torus().shape().degree))??;
        Self::with_server(parameters, threads, product, device)
    }

    /// Whether both are clones of one context, which share transforms and threads.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The context of these parameters whose products are all exact: slower by far, and an oracle of the other.
    ///
    /// # Errors
    /// As [`Context::with_threads`].
    pub fn exact(parameters: Parameters, threads: Option<usize>) -> Result<Self> {
        let product = memory::refusing(|| TorusProduct::exact(parameters.torus().shape().degree))??;
        Self::with_product(parameters, threads, product)
    }

    fn with_product(parameters: Parameters, threads: Option<usize>, product: TorusProduct) -> Result<Self> {
        Self::with_server(parameters, threads, product, Arc::new(Host))
    }

    fn with_server(
        parameters: Parameters,
        threads: Option<usize>,
        product: TorusProduct,
        device: Arc<dyn TorusDevice>,
    ) -> Result<Self> {
        let ring = TorusRing::new(Engine::new(threads, Parallel::default(), 0)?, product);
        let server = TorusServer::on(device, ring);
        Ok(Self(Arc::new(Inner { parameters, server, circuit: OnceLock::new() })))
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.0.parameters
    }

    /// The engine of loops.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        self.0.server.ring().engine()
    }

    /// How products are made.
    pub(crate) fn product(&self) -> &TorusProduct {
        self.0.server.ring().product()
    }

    /// The device and its verbs.
    pub(crate) fn server(&self) -> &TorusServer {
        &self.0.server
    }

    /// All keys from one seed, which is as secret as they are: the same seed gives the same bytes on every machine.
    /// Those of the server are those of [`Context::compact_keys`], or of [`Context::light_keys`] where parameters are
    /// of light keys.
    ///
    /// # Errors
    /// [`Error::Memory`] if there is not memory for them.
    pub fn generate_keys(&self, seed: Seed) -> Result<Keys> {
        memory::refusing(|| self.make_keys(&seed))?
    }

    fn make_keys(&self, seed: &Seed) -> Result<Keys> {
        let generator = TorusKeyGenerator::new(self.parameters().torus(), seed);
        let secret = generator.secret();
        let server = if self.parameters().torus().spec().light.is_some() {
            generator.light(self.engine(), self.product(), &secret)?.expand(self.server())
        } else {
            generator.server(self.server(), &secret)?
        };
        Ok(Keys { secret, server: Arc::new(server) })
    }

    /// The secret key of a seed.
    #[must_use]
    pub fn secret_key(&self, seed: &Seed) -> TorusSecret {
        TorusKeyGenerator::new(self.parameters().torus(), seed).secret()
    }

    /// The keys for a secret in the form in which they travel: bodies alone, with the seed of the masks. The seed may be the
    /// one that the secret was made from, and otherwise is used for nothing else.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for a secret of other parameters, [`Error::Parameters`] where parameters are of
    /// light keys, [`Error::Memory`] if there is not memory for them.
    pub fn compact_keys(&self, seed: &Seed, secret: &TorusSecret) -> Result<CompactKeys> {
        let generator = TorusKeyGenerator::of_secret(self.parameters().torus(), seed, secret);
        memory::refusing(|| generator.compact(self.engine(), self.product(), secret))?
    }

    /// Keys that travelled, ready for use.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for keys of other parameters, [`Error::Memory`] if there is not memory for them.
    pub fn expand(&self, keys: &CompactKeys) -> Result<ServerKeys> {
        self.check_keys(&keys.owner(), "the compact keys")?;
        Ok(memory::refusing(|| keys.expand(self.server()))?)
    }

    /// As [`Context::compact_keys`], where parameters are of light keys: a tenth of the
    /// bytes, and of the work.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for a secret of other parameters, [`Error::Parameters`] where parameters are not of
    /// light keys, [`Error::Memory`] if there is not memory for them.
    pub fn light_keys(&self, seed: &Seed, secret: &TorusSecret) -> Result<LightKeys> {
        let generator = TorusKeyGenerator::of_secret(self.parameters().torus(), seed, secret);
        memory::refusing(|| generator.light(self.engine(), self.product(), secret))?
    }

    /// Light keys that travelled, made into those of a bootstrap.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for keys of other parameters, [`Error::Memory`] if there is not memory for them.
    pub fn expand_light(&self, keys: &LightKeys) -> Result<ServerKeys> {
        self.check_keys(&keys.owner(), "the light keys")?;
        Ok(memory::refusing(|| keys.expand(self.server()))?)
    }

    /// The digits of circuit bootstrapping for these parameters: the fewest of the blind rotation by which lookups of
    /// 16 bits have no more noise than a bootstrap.
    ///
    /// # Errors
    /// [`Error::Parameters`] for parameters of bits, or for which no digits do.
    pub fn circuit(&self) -> Result<&CircuitParameters> {
        self.parameters().encoding().needs_integers()?;
        self.0.circuit.get_or_init(|| digits::choose(self.parameters())).as_ref().ok_or_else(|| {
            Error::parameter(
                "parameters",
                self.parameters(),
                "less noise, or fewer bits of messages, for circuit bootstrapping",
            )
        })
    }

    /// The keys of circuit bootstrapping for this secret, in the form in which they travel. The seed is as secret as
    /// they are; it may be that of the other keys.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for a secret of other parameters, [`Error::Memory`] if there is not memory for the
    /// keys; as [`Context::circuit`].
    pub fn circuit_keys(&self, seed: &Seed, secret: &TorusSecret) -> Result<CompactCircuitKeys> {
        let circuit = self.circuit()?;
        memory::refusing(|| CompactCircuitKeys::generate(self.engine(), self.product(), circuit, secret, seed))?
    }

    /// Keys of circuit bootstrapping that travelled, ready for use.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for keys of other parameters or other digits, [`Error::Memory`] if there is not
    /// memory for them.
    pub fn expand_circuit(&self, keys: &CompactCircuitKeys) -> Result<CircuitKeys> {
        self.check_circuit(keys.parameters())?;
        Ok(memory::refusing(|| keys.expand(self.server()))?)
    }

    /// Refuses circuit keys of other digits.
    pub(crate) fn check_circuit(&self, found: &CircuitParameters) -> Result<()> {
        let (in_use, found) = (self.circuit()?.fingerprint(), found.fingerprint());
        if in_use == found { Ok(()) } else { Err(Error::mismatch(&in_use, &found, "the circuit keys")) }
    }

    /// Refuses keys of other parameters.
    pub(crate) fn check_keys(&self, owner: &Owner, what: &'static str) -> Result<()> {
        Owner { fingerprint: self.parameters().torus().fingerprint(), ..*owner }.check(owner, what)
    }

    /// Refuses what was made for parameters of another fingerprint.
    pub(crate) fn check_fingerprint(&self, found: &[u8; 32], what: &'static str) -> Result<()> {
        let in_use = self.parameters().fingerprint();
        if *found == in_use { Ok(()) } else { Err(Error::mismatch(&in_use, found, what)) }
    }

    /// The owner of ciphertexts under a key: these parameters, with their encoding.
    pub(crate) fn owner(&self, key: &Owner) -> Owner {
        Owner { fingerprint: self.parameters().fingerprint(), ..*key }
    }
}
