//! The keys that bootstrapping evaluates with.

use std::sync::Arc;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::{EvaluationKeys, KeySwitchKey};
use noren_rlwe::owner::Owner;

use crate::bootstrapping::key_list::{KeyName, KeySet};
use crate::bootstrapping::parameters::Parameters;
use crate::bootstrapping::requests::requests;
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
    /// Refuses results of keys that lie in a file that has changed. To be called after the keys were used.
    ///
    /// # Errors
    /// [`Error::FileChanged`].
    pub fn check_files(&self) -> Result<()> {
        [&self.evaluation, &self.slot_to_coeff].into_iter().try_for_each(|keys| keys.check_files())?;
        [&self.to_ephemeral, &self.from_ephemeral].into_iter().try_for_each(|key| key.check_file())
    }

    /// All keys, names ascending.
    pub(super) fn named(&self) -> impl Iterator<Item = (KeyName, &Arc<KeySwitchKey>)> {
        let one = |set, key| (KeyName { set, element: 0 }, key);
        let products = self.evaluation.relinearization(1).ok().map(|key| one(KeySet::Evaluation, key));
        fn galois(set: KeySet, keys: &EvaluationKeys) -> impl Iterator<Item = (KeyName, &Arc<KeySwitchKey>)> {
            keys.automorphisms().map(move |(element, key)| (KeyName { set, element }, key))
        }
        let ends = [one(KeySet::ToEphemeral, &self.to_ephemeral), one(KeySet::FromEphemeral, &self.from_ephemeral)];
        let evaluation = products.into_iter().chain(galois(KeySet::Evaluation, &self.evaluation));
        ends.into_iter().chain(evaluation).chain(galois(KeySet::SlotToCoeff, &self.slot_to_coeff))
    }

    /// The parameters, and the secret key whose ciphertexts are bootstrapped.
    #[must_use]
    pub fn owner(&self) -> Owner {
        self.evaluation.owner()
    }

    /// Refuses keys that do not serve these parameters, before anything is computed.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for keys of other parameters, [`Error::KeyMismatch`] for keys of different secret keys,
    /// [`Error::MissingKey`] names all that are missing, [`Error::KeyLevel`] for one of too few limbs, [`Error::KeyShape`] for a
    /// set of another shape.
    pub(super) fn check(&self, context: &Context, parameters: &Parameters) -> Result<()> {
        let rlwe = context.parameters().rlwe();
        rlwe.check_fingerprint(&self.evaluation.parameters().fingerprint(), "the evaluation keys")?;
        let (to, from) = (&self.to_ephemeral, &self.from_ephemeral);
        let (found, needed) = (from.limbs(), parameters.max_level() + 1);
        if found != needed {
            return Err(Error::KeyLevel { kind: "the ephemeral secret".into(), found, needed, key: None });
        }
        let owner = self.owner();
        owner.check(&self.slot_to_coeff.owner(), "the set of keys of slot to coefficient")?;
        owner.check(&Owner { key: to.from(), ..to.owner() }, "the key to the ephemeral secret")?;
        owner.check(&from.owner(), "the key from the ephemeral secret")?;
        to.owner().key.check(from.from(), "the ephemeral secret of the key from it")?;

        let (mut missing, mut available) = (Vec::new(), Vec::new());
        let sets = [(&self.evaluation, ""), (&self.slot_to_coeff, "of slot to coefficient: ")];
        for ((shape, request), (keys, name)) in requests(context, parameters)?.into_iter().zip(sets) {
            if keys.shape() != shape {
                return Err(Error::KeyShape { what: "the set of evaluation keys", found: keys.shape(), needed: shape });
            }
            let needs = keys.missing(request.relinearization, request.galois);
            if !needs.is_empty() {
                available.push(format!("{name}{}", keys.describe()));
            }
            missing.extend(needs.iter().map(|need| format!("{name}{}", keys.describe_missing(need))));
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(Error::MissingKey { kind: missing.join(", "), available: available.join("; "), keys: Vec::new() })
    }
}
