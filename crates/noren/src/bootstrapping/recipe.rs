//! Which keys there are, in the order of their names, and how each is made from the secret and the seed.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use noren_math::random::Seed;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::key_use::KeyUse;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::{EvaluationKeys, KeySwitchKey, SecretKey};
use noren_rlwe::parameters::Parameters as RlweParameters;
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::shape::KeyShape;

use crate::bootstrapping::keys::{BootstrapKeys, requests};
use crate::bootstrapping::parameters::Parameters;
use crate::schemes::ckks::{Context, KeyRequest};

/// The sets that keys belong to, by the numbers that they have in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum KeySet {
    /// The one key to the ephemeral secret.
    ToEphemeral = 0,
    /// The one key from the ephemeral secret.
    FromEphemeral = 1,
    /// Those of the usual shape: products, conjugation, coefficient to slot, and what the application wants.
    Evaluation = 2,
    /// Those of slot to coefficient.
    SlotToCoeff = 3,
}

impl KeySet {
    pub(super) const ALL: [Self; 4] = [Self::ToEphemeral, Self::FromEphemeral, Self::Evaluation, Self::SlotToCoeff];
}

/// What tells a key from all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeyName {
    pub set: KeySet,
    /// The exponent of its automorphism; 0 for relinearisation, and where there is one key only.
    pub element: u32,
}

impl KeyName {
    /// What the key is for, in a ring of degree n.
    pub(super) fn describe(self, n: usize) -> String {
        match (self.set, self.element) {
            (KeySet::ToEphemeral, _) => "the switch to the ephemeral secret".to_owned(),
            (KeySet::FromEphemeral, _) => "the switch from the ephemeral secret".to_owned(),
            (KeySet::Evaluation, 0) => "relinearisation".to_owned(),
            (KeySet::Evaluation, k) => KeyUse::of_automorphism(k, n).to_string(),
            (KeySet::SlotToCoeff, k) => format!("{}, of slot to coefficient", KeyUse::of_automorphism(k, n)),
        }
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of set {}", self.element, self.set as u64)
    }
}

/// A key that is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub name: KeyName,
    pub shape: KeyShape,
    pub limbs: usize,
}

/// All keys that these parameters and an application need, names ascending.
///
/// Keys of the application serve up to the level of results, unless the request says otherwise.
///
/// # Errors
/// As [`Context::automorphisms_of`].
pub(super) fn recipe(context: &Context, parameters: &Parameters, application: &KeyRequest) -> Result<Vec<Entry>> {
    let level = application.level.unwrap_or(parameters.output_level());
    let wanted = context.automorphisms_of(&KeyRequest { level: Some(level), ..application.clone() })?;
    let [(usual, mut evaluation), (few, slot_to_coeff)] = requests(context, parameters)?;
    evaluation.relinearization = evaluation.relinearization.max(wanted.relinearization);
    evaluation.galois.extend(wanted.galois);
    let mut keys = BTreeMap::new();
    let shapes = ephemeral_shapes(parameters);
    for (set, shape) in [KeySet::ToEphemeral, KeySet::FromEphemeral].into_iter().zip(shapes) {
        keys.insert(KeyName { set, element: 0 }, (shape, shape.limbs));
    }
    let sets = [(KeySet::Evaluation, usual, evaluation), (KeySet::SlotToCoeff, few, slot_to_coeff)];
    for (set, shape, request) in sets {
        let products = request.relinearization.map(|limbs| (0, limbs));
        // X -> X is no key.
        let galois = request.galois.into_iter().filter(|&(element, _)| element != 1);
        for (element, limbs) in products.into_iter().chain(galois) {
            let (_, most) = keys.entry(KeyName { set, element }).or_insert((shape, limbs));
            *most = limbs.max(*most);
        }
    }
    Ok(keys.into_iter().map(|(name, (shape, limbs))| Entry { name, shape, limbs }).collect())
}

/// The shapes of the keys to and from the ephemeral secret.
fn ephemeral_shapes(parameters: &Parameters) -> [KeyShape; 2] {
    [1, parameters.max_level() + 1].map(|limbs| KeyShape { limbs, special: 1, digits: 1 })
}

/// Makes keys one by one, in any order: each has streams of its own.
pub(super) struct Maker<'a> {
    generator: KeyGenerator,
    secret: &'a SecretKey,
    ephemeral: SecretKey,
}

impl<'a> Maker<'a> {
    /// Draws the ephemeral secret.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the context is not of these parameters.
    pub(super) fn new(context: &Context, parameters: &Parameters, secret: &'a SecretKey, seed: Seed) -> Result<Self> {
        context.check(&parameters.ckks()?, "the bootstrapping")?;
        let generator = KeyGenerator::new(context.rlwe(), seed);
        let weight = parameters.spec().ephemeral_weight as usize;
        let ephemeral = generator.ephemeral_secret("bootstrapping", SecretDistribution::SparseTernary(weight))?;
        Ok(Self { generator, secret, ephemeral })
    }

    /// Makes one key.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if the secret is of other parameters, [`Error::Insecure`] if the modulus is too large.
    pub(super) fn make(&self, entry: &Entry) -> Result<KeySwitchKey> {
        let generator = self.generator.shaped(entry.shape)?;
        let limbs = Some(entry.limbs);
        match (entry.name.set, entry.name.element) {
            (KeySet::ToEphemeral, _) => generator.switching(self.secret, &self.ephemeral, limbs),
            (KeySet::FromEphemeral, _) => generator.switching(&self.ephemeral, self.secret, limbs),
            (_, 0) => generator.relinearization(self.secret, limbs),
            (_, element) => generator.galois(self.secret, element, limbs),
        }
    }
}

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
