//! The keys of a lookup: few limbs, under a sparse secret.

use noren_math::random::Seed;
use noren_rlwe::error::Result;
use noren_rlwe::keygen::{KeyGenerator, KeyRequest};
use noren_rlwe::keys::{EvaluationKeys, KeySwitchKey, SecretKey};

use crate::circuits::lookup::plan::Plan;
use crate::schemes::bfv::Context;

/// The keys that lookups of a [`Plan`] need besides the relinearisation key of the evaluator: nothing in them decrypts.
///
/// They serve every function with the same plan.
pub struct LookupKeys {
    /// From the usual secret to the sparse one.
    pub(super) entry: KeySwitchKey,
    /// From the sparse secret to the usual one.
    pub(super) exit: KeySwitchKey,
    /// Rotations and the relinearisation under the sparse secret.
    pub(super) sparse: EvaluationKeys,
}

impl LookupKeys {
    /// Makes the keys for a secret from a seed of their own, which is as secret as they are; `progress` hears how many of the
    /// rotations are done, of how many.
    ///
    /// # Errors
    /// [`Error::Insecure`](noren_rlwe::error::Error::Insecure) if the sparse secret does not carry the limbs of the plan,
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch) if the secret is one of other parameters.
    pub fn generate(
        context: &Context,
        seed: Seed,
        secret: &SecretKey,
        plan: &Plan,
        progress: Option<&dyn Fn(usize, usize)>,
    ) -> Result<Self> {
        context.check(plan.parameters(), "the plan")?;
        let generator = KeyGenerator::new(context.rlwe(), seed);
        let sparse = generator.ephemeral_secret("lookup", plan.secret())?;
        let low = generator.shaped(plan.shape())?;
        let limbs = plan.limbs();
        let rotations = plan.rotations().into_iter().map(|steps| (context.rotation_exponent(steps), limbs));
        let swap = (context.swap_exponent(), limbs);
        let request = KeyRequest { relinearization: Some(limbs), galois: rotations.chain([swap]).collect() };
        Ok(Self {
            entry: generator.shaped(plan.entry_shape())?.switching(secret, &sparse, None)?,
            exit: low.switching(&sparse, secret, None)?,
            sparse: low.evaluation_keys(&sparse, &request, progress)?,
        })
    }

    /// How many bytes all keys take in memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let rotations = self.sparse.automorphisms().map(|(_, key)| key_bytes(key)).sum::<u64>();
        let relinearization = self.sparse.relinearization(self.exit.limbs()).map_or(0, |key| key_bytes(key));
        key_bytes(&self.entry) + key_bytes(&self.exit) + rotations + relinearization
    }
}

/// How many bytes a key takes in memory.
fn key_bytes(key: &KeySwitchKey) -> u64 {
    size_of_val(key.pairs().words()) as u64
}
