//! A context: both schemes with their transforms, and the keys between their secrets.

use std::sync::Arc;

use noren_math::machine::memory;
use noren_math::random::Seed;
use noren_ring::torus::product::TorusProduct;
use noren_ring::torus::ring::TorusRing;
use noren_ring::torus::server::TorusServer;
use noren_rlwe::error::Result;
use noren_rlwe::keys::SecretKey;
use noren_rlwe::torus::scheme_switch::keys::{CompactSwitchKeys, SwitchKeys};

use crate::schemes::{ckks, tfhe};
use crate::switching::parameters::Parameters;

/// Both schemes with their transforms and threads. Cheap to clone, and shared between threads.
#[derive(Clone)]
pub struct Context(Arc<Inner>);

struct Inner {
    parameters: Parameters,
    ckks: ckks::Context,
    tfhe: tfhe::Context,
    /// Over the torus, in the degree of the ring of CKKS.
    large: TorusServer,
}

impl Context {
    /// The context of these parameters, over contexts of both schemes.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch) for contexts of other parameters, [`Error::Memory`](noren_rlwe::error::Error::Memory) if there is not memory for the transforms.
    pub fn new(parameters: &Parameters, ckks: &ckks::Context, tfhe: &tfhe::Context) -> Result<Self> {
        ckks.check(parameters.ckks(), "the parameters of switching")?;
        tfhe.check_fingerprint(&parameters.tfhe().fingerprint(), "the parameters of switching")?;
        let product = memory::refusing(|| TorusProduct::new(parameters.bootstrapping().degree()))??;
        let ring = TorusRing::new(tfhe.engine().clone(), product);
        let large = TorusServer::on(tfhe.server().device().clone(), ring);
        let (parameters, ckks, tfhe) = (parameters.clone(), ckks.clone(), tfhe.clone());
        Ok(Self(Arc::new(Inner { parameters, ckks, tfhe, large })))
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.0.parameters
    }

    /// The context of CKKS.
    #[must_use]
    pub fn ckks(&self) -> &ckks::Context {
        &self.0.ckks
    }

    /// The context of TFHE.
    #[must_use]
    pub fn tfhe(&self) -> &tfhe::Context {
        &self.0.tfhe
    }

    /// Over the torus, in the degree of the ring of CKKS.
    pub(super) fn large(&self) -> &TorusServer {
        &self.0.large
    }

    /// The keys between two secrets of one owner, in the form in which they travel. The seed is as secret as they are; it may be
    /// that of other keys.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch) for secrets of other parameters, [`Error::Insecure`](noren_rlwe::error::Error::Insecure) if the secret of CKKS does not carry the
    /// key to it, [`Error::Memory`](noren_rlwe::error::Error::Memory) if there is not memory for the keys.
    pub fn generate_keys(&self, ckks: &SecretKey, tfhe: &tfhe::SecretKey, seed: &Seed) -> Result<CompactSwitchKeys> {
        let rings = (self.large().ring(), self.tfhe().server().ring());
        let parameters = self.parameters().switch();
        memory::refusing(|| CompactSwitchKeys::generate(self.ckks().rlwe(), rings, parameters, (ckks, tfhe), seed))?
    }

    /// Keys that travelled, ready for use.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch) for keys of other parameters, [`Error::Memory`](noren_rlwe::error::Error::Memory) if there is not memory for them.
    pub fn expand(&self, keys: &CompactSwitchKeys) -> Result<SwitchKeys> {
        Ok(memory::refusing(|| keys.expand(self.large(), self.tfhe().server()))?)
    }
}
