//! Which keys there are, in the order of their names, and how each is made from the secret and the seed.

use std::collections::BTreeMap;
use std::fmt;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::random::Seed;
use noren_rlwe::error::Result;
use noren_rlwe::key_use::KeyUse;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::{KeySwitchKey, SecretKey};
use noren_rlwe::security::SecretDistribution;
use noren_rlwe::shape::KeyShape;

use crate::bootstrapping::parameters::Parameters;
use crate::bootstrapping::requests::requests;
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

/// The identity of a key among all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeyName {
    pub set: KeySet,
    /// The exponent of its automorphism; 0 for relinearisation, and where there is one key only.
    pub element: u32,
}

impl KeyName {
    /// The use of the key, in a ring of degree n.
    pub(super) fn describe(self, n: usize) -> String {
        let ring = &Cyclotomic::power_of_two(n).expect("the degree of checked parameters");
        match (self.set, self.element) {
            (KeySet::ToEphemeral, _) => "the switch to the ephemeral secret".to_owned(),
            (KeySet::FromEphemeral, _) => "the switch from the ephemeral secret".to_owned(),
            (KeySet::Evaluation, k) => KeyUse::of_element(k, ring).to_string(),
            (KeySet::SlotToCoeff, k) => format!("{}, of slot to coefficient", KeyUse::of_automorphism(k, ring)),
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
pub(super) fn key_list(context: &Context, parameters: &Parameters, application: &KeyRequest) -> Result<Vec<Entry>> {
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
pub(super) fn ephemeral_shapes(parameters: &Parameters) -> [KeyShape; 2] {
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
