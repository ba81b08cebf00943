//! The keys that bootstrapping evaluates with.

use std::collections::BTreeSet;
use std::sync::Arc;

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keygen::{KeyGenerator, KeyRequest};
use noren_rlwe::keys::{EvaluationKeys, KeySwitchKey, SecretKey};
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::shape::KeyShape;

use crate::bootstrapping::dft::Direction;
use crate::bootstrapping::key_classes::rotation_shape;
use crate::bootstrapping::matrix::places;
use crate::bootstrapping::parameters::Parameters;
use crate::schemes::ckks::Context;

/// The keys of one secret; nothing in them decrypts.
#[derive(Debug, Clone)]
pub struct BootstrapKeys {
    /// For products, conjugation, and the rotations of coefficient to slot.
    pub evaluation: Arc<EvaluationKeys>,
    /// For the rotations of slot to coefficient: of few limbs, with few special primes.
    pub slot_to_coeff: Arc<EvaluationKeys>,
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
        let mut sets = Vec::new();
        let requests = requests(context, parameters)?;
        let total = requests.iter().map(|(_, request)| keys_of(request)).sum::<usize>();
        let mut before = 0;
        for (shape, request) in &requests {
            let report = |done: usize, _: usize| progress.iter().for_each(|progress| progress(before + done, total));
            sets.push(Arc::new(generator.shaped(*shape)?.evaluation_keys(secret, request, Some(&report))?));
            before += keys_of(request);
        }
        let [evaluation, slot_to_coeff] = sets.try_into().unwrap_or_else(|_| unreachable!("a set for each request"));
        Ok(Self {
            evaluation,
            slot_to_coeff,
            to_ephemeral: Arc::new(to_ephemeral),
            from_ephemeral: Arc::new(from_ephemeral),
        })
    }

    /// Refuses keys that do not serve these parameters, before anything is computed.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for keys of other parameters, [`Error::MissingKey`] names all that are missing,
    /// [`Error::KeyLevel`] for one of too few limbs, [`Error::KeyShape`] for a set of another shape.
    pub(super) fn check(&self, context: &Context, parameters: &Parameters) -> Result<()> {
        let rlwe = context.parameters().rlwe();
        rlwe.check_fingerprint(&self.evaluation.parameters().fingerprint(), "the evaluation keys")?;
        rlwe.check_fingerprint(&self.slot_to_coeff.parameters().fingerprint(), "the keys of slot to coefficient")?;
        rlwe.check_fingerprint(self.to_ephemeral.fingerprint(), "the key to the ephemeral secret")?;
        rlwe.check_fingerprint(self.from_ephemeral.fingerprint(), "the key from the ephemeral secret")?;
        let (found, needed) = (self.from_ephemeral.limbs(), parameters.max_level() + 1);
        if found != needed {
            return Err(Error::KeyLevel { kind: "the ephemeral secret".into(), found, needed });
        }

        let (mut missing, mut available) = (Vec::new(), Vec::new());
        let sets = [(&self.evaluation, ""), (&self.slot_to_coeff, "of slot to coefficient: ")];
        for ((shape, request), (keys, name)) in requests(context, parameters)?.into_iter().zip(sets) {
            if keys.shape() != shape {
                return Err(Error::KeyShape { what: "the set of evaluation keys", found: keys.shape(), needed: shape });
            }
            let relinearization = request.relinearization.map(|limbs| keys.relinearization(limbs));
            let galois = request.galois.iter().map(|&(k, limbs)| keys.galois(k, limbs));
            for key in relinearization.into_iter().chain(galois) {
                match key {
                    Err(Error::MissingKey { kind, available: others }) => {
                        let (kind, others) = (format!("{name}{kind}"), format!("{name}{others}"));
                        [(kind, &mut missing), (others, &mut available)].into_iter().for_each(|(one, all)| {
                            if !all.contains(&one) {
                                all.push(one);
                            }
                        });
                    }
                    other => _ = other?,
                }
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(Error::MissingKey { kind: missing.join(", "), available: available.join("; ") })
    }
}

/// What is evaluated with, each for as many limbs as it is used at: the keys of the usual shape, and the rotations of slot to
/// coefficient.
fn requests(context: &Context, parameters: &Parameters) -> Result<[(KeyShape, KeyRequest); 2]> {
    let limbs = parameters.slots_level() + 1;
    let set = |direction| -> Result<(KeyShape, KeyRequest)> {
        let mut galois = Vec::new();
        for place in places(parameters, direction) {
            let steps = place.group.steps(parameters.slots(), place.below, parameters.transform(direction).giants);
            let exponents = steps.keys.into_iter().map(|rotation| context.rotation_exponent(rotation as isize));
            galois.extend(exponents.map(|exponent| (exponent, place.level + 1)));
        }
        let (shape, _) = rotation_shape(parameters, direction)?;
        Ok((shape, KeyRequest { relinearization: None, galois }))
    };
    let (usual, mut request) = set(Direction::CoeffToSlot)?;
    request.relinearization = Some(limbs);
    request.galois.push((context.conjugation_exponent(), limbs));
    Ok([(usual, request), set(Direction::SlotToCoeff)?])
}

/// How many keys a request brings.
fn keys_of(request: &KeyRequest) -> usize {
    let exponents: BTreeSet<u32> = request.galois.iter().map(|&(k, _)| k).collect();
    exponents.len() + usize::from(request.relinearization.is_some())
}
