//! The keys that bootstrapping evaluates with.

use std::sync::Arc;

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keygen::{KeyGenerator, KeyRequest};
use noren_rlwe::keys::{EvaluationKeys, KeySwitchKey, SecretKey};
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::shape::KeyShape;

use crate::bootstrapping::dft::Direction;
use crate::bootstrapping::matrix::places;
use crate::bootstrapping::parameters::Parameters;
use crate::bootstrapping::slots::projection;
use crate::schemes::ckks::Context;

/// The keys of one secret; nothing in them decrypts.
#[derive(Debug, Clone)]
pub struct BootstrapKeys {
    /// For products, conjugation, and the rotations of both transforms.
    pub evaluation: Arc<EvaluationKeys>,
    /// From the main secret to the ephemeral one, modulo `q_0` and one special prime.
    pub to_ephemeral: Arc<KeySwitchKey>,
    /// From the ephemeral secret to the main one, for all limbs, with one special prime.
    pub from_ephemeral: Arc<KeySwitchKey>,
}

impl BootstrapKeys {
    /// Makes all keys for a secret. The ephemeral secret is drawn from the seed, and forgotten.
    ///
    /// The seed is as secret as the keys, and is used for nothing else. `progress` hears how many evaluation keys are done,
    /// of how many, after each.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the context or the secret are not of these parameters, [`Error::Insecure`] names a key
    /// whose modulus is too large.
    pub fn generate(
        context: &Context,
        parameters: &Parameters,
        secret: &SecretKey,
        seed: Seed,
        progress: Option<&dyn Fn(usize, usize)>,
    ) -> Result<Self> {
        context.check(&parameters.ckks()?, "the bootstrapping")?;
        let generator = KeyGenerator::new(context.rlwe(), seed);
        let weight = parameters.spec().ephemeral_weight as usize;
        let ephemeral = generator.ephemeral_secret("bootstrapping", SecretDistribution::SparseTernary(weight))?;
        let switching = |limbs: usize| generator.shaped(KeyShape { limbs, special: 1, digits: 1 });
        let limbs = parameters.max_level() + 1;
        let to_ephemeral = switching(1)?.switching(secret, &ephemeral, None)?;
        let from_ephemeral = switching(limbs)?.switching(&ephemeral, secret, None)?;
        let evaluation = generator.evaluation_keys(secret, &request(context, parameters), progress)?;
        Ok(Self {
            evaluation: Arc::new(evaluation),
            to_ephemeral: Arc::new(to_ephemeral),
            from_ephemeral: Arc::new(from_ephemeral),
        })
    }

    /// Refuses keys that do not serve these parameters, before anything is computed.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for keys of other parameters, [`Error::MissingKey`] names all that are missing,
    /// [`Error::KeyLevel`] for one of too few limbs.
    pub(super) fn check(&self, context: &Context, parameters: &Parameters) -> Result<()> {
        let rlwe = context.parameters().rlwe();
        rlwe.check_fingerprint(&self.evaluation.parameters().fingerprint(), "the evaluation keys")?;
        rlwe.check_fingerprint(self.to_ephemeral.fingerprint(), "the key to the ephemeral secret")?;
        rlwe.check_fingerprint(self.from_ephemeral.fingerprint(), "the key from the ephemeral secret")?;
        let (found, needed) = (self.from_ephemeral.limbs(), parameters.max_level() + 1);
        if found != needed {
            return Err(Error::KeyLevel { kind: "the ephemeral secret".into(), found, needed });
        }

        let request = request(context, parameters);
        let relinearization = request.relinearization.map(|limbs| self.evaluation.relinearization(limbs));
        let galois = request.galois.iter().map(|&(k, limbs)| self.evaluation.galois(k, limbs));
        let (mut missing, mut available) = (Vec::new(), String::new());
        for key in relinearization.into_iter().chain(galois) {
            match key {
                Err(Error::MissingKey { kind, available: others }) => {
                    available = others;
                    if !missing.contains(&kind) {
                        missing.push(kind);
                    }
                }
                other => _ = other?,
            }
        }
        if missing.is_empty() { Ok(()) } else { Err(Error::MissingKey { kind: missing.join(", "), available }) }
    }
}

/// What is evaluated with, each for as many limbs as it is used at.
fn request(context: &Context, parameters: &Parameters) -> KeyRequest {
    let limbs = parameters.slots_level() + 1;
    let mut galois = vec![(context.conjugation_exponent(), limbs)];
    let all = parameters.max_level() + 1;
    galois.extend(projection(parameters).rotations().into_iter().map(|r| (context.rotation_exponent(r), all)));
    for direction in [Direction::CoeffToSlot, Direction::SlotToCoeff] {
        for place in places(parameters, direction) {
            let steps = place.group.steps(parameters.slots(), place.below, parameters.transform(direction).giants);
            let rotations = steps.babies.into_iter().chain(steps.giants).filter(|&rotation| rotation != 0);
            galois.extend(rotations.map(|r| (context.rotation_exponent(r as isize), place.level + 1)));
        }
    }
    KeyRequest { relinearization: Some(limbs), galois }
}
