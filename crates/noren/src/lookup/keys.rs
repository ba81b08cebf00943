//! The keys of a lookup: few limbs, under a sparse secret.

use noren_math::random::Seed;
use noren_rlwe::error::Result;
use noren_rlwe::key_request::KeyRequest;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::{EvaluationKeys, KeySwitchKey, SecretKey};
use noren_rlwe::owner::Owner;

use crate::lookup::plan::{LookupPlan, Method};
use crate::schemes::bfv::Context;

/// The keys that lookups of a [`LookupPlan`] need besides the relinearisation key of the evaluator: nothing in them
/// decrypts.
///
/// They serve every function with the same plan.
pub struct LookupKeys {
    /// From the usual secret to the sparse one and back, if there is one.
    pub(super) switches: Option<[KeySwitchKey; 2]>,
    /// Rotations and the relinearisation under the sparse secret, or the usual one.
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
        plan: &LookupPlan,
        progress: Option<&dyn Fn(usize, usize)>,
    ) -> Result<Self> {
        context.check(plan.parameters(), "the plan")?;
        let generator = KeyGenerator::new(context.rlwe(), seed);
        let low = generator.shaped(plan.shape())?;
        let limbs = plan.limbs();
        let rotations = plan.rotations().into_iter().map(|steps| (plan.layout().rotation_exponent(steps), limbs));
        let swap = (plan.layout().swap_exponent(), limbs);
        let request = KeyRequest { relinearization: Some(limbs), galois: rotations.chain([swap]).collect() };
        if plan.method() == Method::Linear {
            return Ok(Self { switches: None, sparse: low.evaluation_keys(secret, &request, progress)? });
        }
        let sparse = generator.ephemeral_secret("lookup", plan.secret())?;
        let enter = generator.shaped(plan.entry_shape())?.switching(secret, &sparse, None)?;
        let switches = Some([enter, low.switching(&sparse, secret, None)?]);
        Ok(Self { switches, sparse: low.evaluation_keys(&sparse, &request, progress)? })
    }

    /// The parameters, and the secret key whose numbers are looked up.
    #[must_use]
    pub fn owner(&self) -> Owner {
        match &self.switches {
            Some([_, exit]) => exit.owner(),
            None => self.sparse.owner(),
        }
    }

    /// Refuses results of keys that lie in a mapped file which has changed. To be called after the keys were used.
    ///
    /// # Errors
    /// [`Error::FileChanged`](noren_rlwe::error::Error::FileChanged).
    pub fn check_files(&self) -> Result<()> {
        self.switches.iter().flatten().try_for_each(KeySwitchKey::check_file)?;
        self.sparse.check_files()
    }

    /// How many bytes all keys take in memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let rotations = self.sparse.automorphisms().map(|(_, key)| key.bytes()).sum::<u64>();
        let relinearization = self.sparse.relinearization(1).map_or(0, |key| key.bytes());
        rotations + relinearization + self.switches.iter().flatten().map(KeySwitchKey::bytes).sum::<u64>()
    }
}
