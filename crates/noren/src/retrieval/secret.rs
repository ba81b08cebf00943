//! The secret key of the client.

use std::sync::Arc;

use noren_math::random::Seed;
use noren_rlwe::error::Result;
use noren_rlwe::keys::SecretKey as RlweSecret;

use crate::backends::{PartKind, SecretKey, part};
use crate::schemes::bfv::{Context, KeyFile, KeyRequest, Parameters};

/// A secret key that is one of these parameters.
pub(super) struct Secret(Arc<SecretKey>);

impl Secret {
    /// The objects that such a key consists of.
    pub fn parts(parameters: &Parameters) -> Vec<PartKind> {
        vec![PartKind::of::<KeyFile<RlweSecret>>(parameters.fingerprint())]
    }

    pub fn generate(parameters: &Parameters, seed: &Seed) -> Result<Self> {
        let context = Context::new(parameters.clone())?;
        let seed = seed.derive("noren retrieval secret");
        let key = context.generate_keys(seed, &KeyRequest::default())?.secret;
        Ok(Self(Arc::new(SecretKey::of(vec![part(KeyFile { context, key })]))))
    }

    /// # Errors
    /// A key of other parameters.
    pub fn new(parameters: &Parameters, secret: Arc<SecretKey>) -> Result<Self> {
        secret.check(&Self::parts(parameters))?;
        Ok(Self(secret))
    }

    pub const fn shared(&self) -> &Arc<SecretKey> {
        &self.0
    }

    pub fn file(&self) -> Result<&KeyFile<RlweSecret>> {
        self.0.get(0)
    }
}
