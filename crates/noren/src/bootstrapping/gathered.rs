//! The sets of keys of bootstrapping, from keys one by one.

use std::sync::Arc;

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::keys::{EvaluationKeys, KeySwitchKey, SecretKey};
use noren_rlwe::parameters::Parameters as RlweParameters;
use noren_rlwe::shape::KeyShape;

use crate::bootstrapping::key_list::{KeyName, KeySet, Maker, ephemeral_shapes, key_list};
use crate::bootstrapping::keys::BootstrapKeys;
use crate::bootstrapping::parameters::Parameters;
use crate::bootstrapping::requests::requests;
use crate::schemes::ckks::{Context, KeyRequest};

/// Keys on their way into sets.
pub(super) struct Gathered {
    parameters: RlweParameters,
    /// Of the keys to and from the ephemeral secret.
    shapes: [KeyShape; 2],
    /// Of the two sets.
    set_shapes: [KeyShape; 2],
    to_ephemeral: Option<Arc<KeySwitchKey>>,
    from_ephemeral: Option<Arc<KeySwitchKey>>,
    evaluation: Vec<(u32, Arc<KeySwitchKey>)>,
    slot_to_coeff: Vec<(u32, Arc<KeySwitchKey>)>,
}

impl Gathered {
    /// No keys yet.
    ///
    /// # Errors
    /// None for parameters that were built.
    pub(super) fn new(context: &Context, parameters: &Parameters) -> Result<Self> {
        let [(usual, _), (few, _)] = requests(context, parameters)?;
        Ok(Self {
            parameters: context.parameters().rlwe().clone(),
            shapes: ephemeral_shapes(parameters),
            set_shapes: [usual, few],
            to_ephemeral: None,
            from_ephemeral: None,
            evaluation: Vec::new(),
            slot_to_coeff: Vec::new(),
        })
    }

    /// Takes in a key.
    ///
    /// # Errors
    /// [`Error::KeyShape`] if it has another shape than the key to or from the ephemeral secret must have.
    pub(super) fn take(&mut self, name: KeyName, key: KeySwitchKey) -> Result<()> {
        let key = Arc::new(key);
        let of_shape = |key: Arc<KeySwitchKey>, what, needed| {
            if key.shape() == needed {
                Ok(Some(key))
            } else {
                Err(Error::KeyShape { what, found: key.shape(), needed })
            }
        };
        match name.set {
            KeySet::ToEphemeral => {
                self.to_ephemeral = of_shape(key, "the key to the ephemeral secret", self.shapes[0])?
            }
            KeySet::FromEphemeral => {
                self.from_ephemeral = of_shape(key, "the key from the ephemeral secret", self.shapes[1])?;
            }
            KeySet::Evaluation => self.evaluation.push((name.element, key)),
            KeySet::SlotToCoeff => self.slot_to_coeff.push((name.element, key)),
        }
        Ok(())
    }

    /// The sets; whether they have all keys, and the keys to and from the ephemeral secret belong to them, is for
    /// [`BootstrapKeys::check`] to say.
    ///
    /// # Errors
    /// [`Error::MissingKey`] if the key to or from the ephemeral secret is missing; [`Error::KeyMismatch`] if a key belongs to
    /// another secret key than the one to the ephemeral secret switches from; [`Error::KeyShape`] if it has another shape than
    /// its set.
    pub(super) fn finish(self) -> Result<BootstrapKeys> {
        let missing =
            |kind: &str| Error::MissingKey { kind: kind.to_owned(), available: "others".to_owned(), keys: Vec::new() };
        let to_ephemeral = self.to_ephemeral.ok_or_else(|| missing("the switch to the ephemeral secret"))?;
        let from_ephemeral = self.from_ephemeral.ok_or_else(|| missing("the switch from the ephemeral secret"))?;
        let set = |shape, keys: Vec<(u32, Arc<KeySwitchKey>)>| {
            let mut set = EvaluationKeys::shaped(&self.parameters, shape, to_ephemeral.from());
            for (element, key) in keys {
                match element {
                    0 => set.insert_relinearization(key)?,
                    k => set.insert_galois(k, key)?,
                }
            }
            Ok::<_, Error>(Arc::new(set))
        };
        let [usual, few] = self.set_shapes;
        let (evaluation, slot_to_coeff) = (set(usual, self.evaluation)?, set(few, self.slot_to_coeff)?);
        Ok(BootstrapKeys { evaluation, slot_to_coeff, to_ephemeral, from_ephemeral })
    }
}

impl BootstrapKeys {
    /// Makes all keys for a secret. The ephemeral secret is drawn from the seed, and forgotten.
    ///
    /// The seed is as secret as the keys, and is used for nothing else. `progress` hears how many keys are done, of how
    /// many, after each. [`BootstrapKeyFile`](crate::bootstrapping::key_file::BootstrapKeyFile) writes the same keys to a file
    /// without holding them.
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
        Self::generate_for(context, parameters, secret, seed, &KeyRequest::default(), progress)
    }

    /// As [`BootstrapKeys::generate`], with the keys that an application asks for besides, which evaluate up to the level of
    /// results unless the request says otherwise.
    ///
    /// # Errors
    /// As [`BootstrapKeys::generate`].
    pub fn generate_for(
        context: &Context,
        parameters: &Parameters,
        secret: &SecretKey,
        seed: Seed,
        application: &KeyRequest,
        progress: Option<&dyn Fn(usize, usize)>,
    ) -> Result<Self> {
        let maker = Maker::new(context, parameters, secret, seed)?;
        let key_list = key_list(context, parameters, application)?;
        let mut gathered = Gathered::new(context, parameters)?;
        for (i, entry) in key_list.iter().enumerate() {
            gathered.take(entry.name, maker.make(entry)?)?;
            progress.iter().for_each(|progress| progress(i + 1, key_list.len()));
        }
        gathered.finish()
    }
}
