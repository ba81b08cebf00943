//! Keys: the secret one, the public one, and those that evaluation needs.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use noren_math::machine::aligned::AlignedVec;
use noren_math::machine::mapped::MappedFile;
use noren_math::random::Seed;
use noren_ring::key::KeyPairs;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use zeroize::Zeroizing;

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::key_request::KeyRequest;
use crate::key_use::{KeyNeed, KeyUse};
use crate::mapped::check_unchanged;
use crate::owner::{KeyId, Owner};
use crate::parameters::Parameters;
use crate::security::SecretDistribution;
use crate::shape::KeyShape;

/// The secret `s`. Wiped when dropped, on pages that the system is asked to keep in memory and out of core dumps
/// ([`AlignedVec::guarded`]); whoever holds it reads everything.
pub struct SecretKey {
    /// Small integers; a distribution is never wider than 32.
    pub(crate) coefficients: AlignedVec<i8>,
    /// The ring over all primes of the context that the key was made in.
    pub(crate) ring: Ring,
    /// The evaluation form, over as many primes as were asked for so far: who encrypts at a low level holds few.
    pub(crate) evaluations: RwLock<Option<Arc<Poly<Eval>>>>,
    pub(crate) distribution: SecretDistribution,
    pub(crate) owner: Owner,
}

impl SecretKey {
    /// Bytes in memory, of what was made so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let limbs = self.known().map_or(0, |poly| poly.limbs());
        let n = self.coefficients.len();
        (n + size_of::<u64>() * n * limbs) as u64
    }

    /// The evaluation form over the primes of a ring, at least. It is made once, and again when more primes are asked for.
    ///
    /// # Panics
    /// If the ring is not a window of the one that the key was made in.
    pub(crate) fn over(&self, ring: &Ring) -> Arc<Poly<Eval>> {
        let needed = ring.range();
        let covers = |poly: &Arc<Poly<Eval>>| poly.window().start <= needed.start && needed.end <= poly.window().end;
        if let Some(known) = self.known().filter(covers) {
            return known;
        }
        let mut held = self.evaluations.write().unwrap_or_else(PoisonError::into_inner);
        let range = match &*held {
            Some(known) if covers(known) => return known.clone(),
            Some(known) => known.window().start.min(needed.start)..known.window().end.max(needed.end),
            None => needed,
        };
        let ring = self.ring.window(range);
        let wide = Zeroizing::new(self.coefficients.iter().map(|&x| i64::from(x)).collect::<Vec<_>>());
        let made = Arc::new(ring.ntt(ring.from_signed(&wide).into_secret()).into_guarded());
        *held = Some(made.clone());
        made
    }

    fn known(&self) -> Option<Arc<Poly<Eval>>> {
        self.evaluations.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How the secret was drawn.
    #[must_use]
    pub fn distribution(&self) -> SecretDistribution {
        self.distribution
    }

    /// The parameters that the key was made with, and its identity.
    #[must_use]
    pub const fn owner(&self) -> Owner {
        self.owner
    }

    /// The fingerprint of the parameters that the key was made with.
    #[must_use]
    pub fn fingerprint(&self) -> &[u8; 32] {
        &self.owner.fingerprint
    }
}

/// An encryption `(b, a) = (-a s + e, a)` of zero, which lets anybody encrypt.
#[derive(Debug, Clone)]
pub struct PublicKey {
    /// Modulo `q_0 ... q_L`, as `a`.
    pub(crate) b: Poly<Eval>,
    pub(crate) a: Poly<Eval>,
    /// `a` is `uniform(seed, "public")`.
    pub(crate) seed: Seed,
    pub(crate) owner: Owner,
}

impl PublicKey {
    /// The parameters that the key was made with, and the secret key that it belongs to.
    #[must_use]
    pub const fn owner(&self) -> Owner {
        self.owner
    }

    /// Bytes in memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (2 * size_of::<u64>() * self.b.degree() * self.b.limbs()) as u64
    }

    /// The fingerprint of the parameters that the key was made with.
    #[must_use]
    pub fn fingerprint(&self) -> &[u8; 32] {
        &self.owner.fingerprint
    }
}

/// A key that switches from a secret `s'` to a secret `s`: for each digit j the pair
/// `(b_j, a_j)` with `b_j = -a_j s + e_j + P g_j s'` modulo `P q_0 ... q_{limbs-1}`, for the P and the digits of its shape.
///
/// `g_j` is 1 modulo the primes of digit j and 0 modulo the others (hybrid key switching, eprint 2019/688).
///
/// The key of an automorphism `psi_k` switches from `s` to `psi_k^-1(s)`. So digits are never permuted: the inner
/// product of the digits of `c_1` with this key decrypts under `psi_k^-1(s)`, and one application of `psi_k` to the two
/// sums brings the image of `c_1` under `s`.
#[derive(Debug, Clone)]
pub struct KeySwitchKey {
    pub(crate) pairs: KeyPairs,
    pub(crate) shape: KeyShape,
    /// `a_j` is `uniform(seed, "digit/{j}")`; without a seed it is what parties added up to.
    pub(crate) seed: Option<Seed>,
    pub(crate) limbs: usize,
    /// Of s.
    pub(crate) owner: Owner,
    /// The identity of s', or of the secret that s' is an image or a power of.
    pub(crate) from: KeyId,
}

impl KeySwitchKey {
    /// The pairs `(b_j, a_j)`.
    #[must_use]
    pub fn pairs(&self) -> &KeyPairs {
        &self.pairs
    }

    /// The number of limbs of the largest ciphertext that the key switches.
    #[must_use]
    pub fn limbs(&self) -> usize {
        self.limbs
    }

    /// The primes that the key uses, and how they are cut.
    #[must_use]
    pub fn shape(&self) -> KeyShape {
        self.shape
    }

    /// Bytes of the pairs in memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.pairs.bytes() as u64
    }

    /// The key for ciphertexts of at most `limbs` limbs: a copy without the last limbs, and the digits that they alone have. It
    /// is what [`KeyGenerator`](crate::keygen::KeyGenerator) makes for `limbs` limbs from the same seed.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for a context of other parameters, [`Error::KeyLevel`] for more limbs than the key has,
    /// [`Error::Parameters`] for none, [`Error::FileChanged`] for a key in a mapped file that has changed.
    pub fn at_limbs(&self, context: &Context, limbs: usize) -> Result<Self> {
        context.parameters().check_fingerprint(self.fingerprint(), "the key switching key")?;
        if limbs > self.limbs {
            return Err(Error::KeyLevel { kind: "key switching".into(), found: self.limbs, needed: limbs, key: None });
        }
        if limbs == 0 {
            return Err(Error::parameter("limbs", limbs, format!("1 to the {} limbs of the key", self.limbs)));
        }
        let switching = context.switching(self.shape)?;
        let digits = switching.decomposer().gadget().digits_at(limbs).len();
        let ring = switching.ring_qp(limbs);
        let mut pairs = ring.zero_key(digits);
        for digit in 0..digits {
            let [b, a] = ring.key_pair(&self.pairs, digit);
            ring.set_key_pair(&mut pairs, digit, [&b, &a]);
        }
        self.check_file()?;
        Ok(Self { pairs, shape: self.shape, seed: self.seed.clone(), limbs, owner: self.owner, from: self.from })
    }

    /// Refuses results of a key that lies in a file that has changed.
    ///
    /// # Errors
    /// [`Error::FileChanged`].
    pub fn check_file(&self) -> Result<()> {
        check_unchanged(self.pairs.file(), "key switching keys")
    }

    /// The public seed of the uniform halves; none of a joint relinearisation key, whose halves are sums of those of its parties.
    #[must_use]
    pub const fn seed(&self) -> Option<&Seed> {
        self.seed.as_ref()
    }

    /// The identity of the secret key that it switches from. Of keys for relinearisation and automorphisms it is the one
    /// that they are encryptions under.
    #[must_use]
    pub const fn from(&self) -> KeyId {
        self.from
    }

    /// The parameters that the key was made with, and the secret key that it is an encryption under.
    #[must_use]
    pub const fn owner(&self) -> Owner {
        self.owner
    }

    /// The fingerprint of the parameters that the key was made with.
    #[must_use]
    pub fn fingerprint(&self) -> &[u8; 32] {
        &self.owner.fingerprint
    }
}

/// A key switching key without its polynomials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyOutline {
    /// Its shape.
    pub shape: KeyShape,
    /// The number of limbs of the largest ciphertext that it switches.
    pub limbs: usize,
    /// The parameters, and the secret key that it is an encryption under.
    pub owner: Owner,
    /// The secret key that it switches from.
    pub from: KeyId,
    /// The bytes of its item of a container.
    pub bytes: u64,
}

/// The keys that evaluation needs, all of one secret key and one shape: nothing in them decrypts.
#[derive(Debug, Clone)]
pub struct EvaluationKeys {
    pub(crate) relinearization: Option<Arc<KeySwitchKey>>,
    pub(crate) galois: BTreeMap<u32, Arc<KeySwitchKey>>,
    pub(crate) parameters: Parameters,
    pub(crate) shape: KeyShape,
    pub(crate) key: KeyId,
}

impl EvaluationKeys {
    /// No keys yet, for those of the usual shape and of this secret key.
    #[must_use]
    pub fn new(parameters: &Parameters, key: KeyId) -> Self {
        Self::shaped(parameters, parameters.shape(), key)
    }

    /// No keys yet, for those of this shape and of this secret key.
    #[must_use]
    pub fn shaped(parameters: &Parameters, shape: KeyShape, key: KeyId) -> Self {
        Self { relinearization: None, galois: BTreeMap::new(), parameters: parameters.clone(), shape, key }
    }

    /// The parameters, and the secret key that all keys belong to.
    #[must_use]
    pub fn owner(&self) -> Owner {
        Owner { fingerprint: self.parameters.fingerprint(), key: self.key }
    }

    /// Refuses ciphertexts of another secret key.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn check_ciphertext(&self, ciphertext: &Ciphertext) -> Result<()> {
        self.key.check(ciphertext.key_id(), "the ciphertext")
    }

    /// Refuses results of keys that lie in a file that has changed. To be called after the keys were used.
    ///
    /// # Errors
    /// [`Error::FileChanged`].
    pub fn check_files(&self) -> Result<()> {
        let mut files: Vec<&Arc<MappedFile>> = Vec::new();
        for file in self.relinearization.iter().chain(self.galois.values()).filter_map(|key| key.pairs.file()) {
            if !files.iter().any(|known| Arc::ptr_eq(known, file)) {
                files.push(file);
            }
        }
        files.into_iter().try_for_each(|file| check_unchanged(Some(file), "evaluation keys"))
    }

    /// The parameters that the keys were made with.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The shape of the keys.
    #[must_use]
    pub fn shape(&self) -> KeyShape {
        self.shape
    }

    /// The relinearisation key, for ciphertexts of `limbs` limbs.
    ///
    /// # Errors
    /// [`Error::MissingKey`] if there is none, [`Error::KeyLevel`] if it was made for fewer limbs.
    pub fn relinearization(&self, limbs: usize) -> Result<&Arc<KeySwitchKey>> {
        self.usable(self.relinearization.as_ref(), limbs, || KeyUse::Relinearization)
    }

    /// The key of the automorphism `X -> X^k`, for ciphertexts of `limbs` limbs.
    ///
    /// # Errors
    /// [`Error::MissingKey`] if there is none, [`Error::KeyLevel`] if it was made for fewer limbs.
    pub fn galois(&self, k: u32, limbs: usize) -> Result<&Arc<KeySwitchKey>> {
        self.usable(self.galois.get(&k), limbs, || self.use_of(k))
    }

    /// Refuses uses whose keys are missing: of the relinearisation key for `relinearization` limbs, and of the keys of automorphisms, as
    /// `(k, limbs)`.
    ///
    /// # Errors
    /// [`Error::MissingKey`] names all keys that are missing or were made for fewer limbs, [`Error::KeyLevel`] the only one, if
    /// it was made for fewer limbs.
    pub fn check(&self, relinearization: Option<usize>, galois: impl IntoIterator<Item = (u32, usize)>) -> Result<()> {
        let missing = self.missing(relinearization, galois);
        match missing[..] {
            [] => Ok(()),
            [KeyNeed { usage, limbs }] => match self.uses().find(|own| own.usage == usage) {
                Some(own) => Err(self.too_short(usage, own.limbs, limbs)),
                None => Err(self.lacks(missing)),
            },
            _ => Err(self.lacks(missing)),
        }
    }

    /// Refuses a request that these keys do not serve.
    ///
    /// # Errors
    /// As [`EvaluationKeys::check`].
    pub fn check_request(&self, request: &KeyRequest) -> Result<()> {
        let lacking = self.lacking(request);
        self.check(lacking.relinearization, lacking.galois)
    }

    /// The keys that [`EvaluationKeys::check`] misses, each once, for the most limbs that are needed: those that were made for
    /// fewer limbs, too.
    #[must_use]
    pub fn missing(
        &self,
        relinearization: Option<usize>,
        galois: impl IntoIterator<Item = (u32, usize)>,
    ) -> Vec<KeyNeed> {
        let mut missing: Vec<KeyNeed> = Vec::new();
        let mut miss = |usage, limbs: usize| match missing.iter_mut().find(|need| need.usage == usage) {
            Some(need) => need.limbs = need.limbs.max(limbs),
            None => missing.push(KeyNeed { usage, limbs }),
        };
        if let Some(limbs) = relinearization.filter(|&limbs| self.relinearization(limbs).is_err()) {
            miss(KeyUse::Relinearization, limbs);
        }
        galois
            .into_iter()
            .filter(|&(k, limbs)| self.galois(k, limbs).is_err())
            .for_each(|(k, limbs)| miss(self.use_of(k), limbs));
        missing
    }

    /// The use of a key that is missing, and whether there is one for fewer limbs.
    #[must_use]
    pub fn describe_missing(&self, need: &KeyNeed) -> String {
        if self.uses().any(|own| own.usage == need.usage) {
            format!("{}, beyond the limbs of its key", need.usage)
        } else {
            need.usage.to_string()
        }
    }

    /// The request of these keys.
    #[must_use]
    pub fn request(&self) -> KeyRequest {
        let relinearization = self.relinearization.as_ref().map(|key| key.limbs);
        KeyRequest { relinearization, galois: self.galois.iter().map(|(&k, key)| (k, key.limbs)).collect() }
    }

    /// The part of a request that these keys do not serve: keys that are missing, or were made for fewer limbs.
    #[must_use]
    pub fn lacking(&self, request: &KeyRequest) -> KeyRequest {
        let relinearization = request.relinearization.filter(|&limbs| self.relinearization(limbs).is_err());
        let galois = request.galois.iter().copied().filter(|&(k, limbs)| k != 1 && self.galois(k, limbs).is_err());
        KeyRequest { relinearization, galois: galois.collect() }
    }

    /// The exponents k of the automorphisms that there are keys for, in order, each with its key.
    pub fn automorphisms(&self) -> impl ExactSizeIterator<Item = (u32, &Arc<KeySwitchKey>)> {
        self.galois.iter().map(|(&k, key)| (k, key))
    }

    /// The use of each key, and the most limbs of ciphertexts that it serves: that for products first.
    pub fn uses(&self) -> impl Iterator<Item = KeyNeed> {
        let need = |usage, key: &KeySwitchKey| KeyNeed { usage, limbs: key.limbs };
        let products = self.relinearization.iter().map(move |key| need(KeyUse::Relinearization, key));
        products.chain(self.galois.iter().map(move |(&k, key)| need(self.use_of(k), key)))
    }

    /// Bytes of all keys in memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.relinearization.iter().chain(self.galois.values()).map(|key| key.bytes()).sum()
    }

    /// The keys for ciphertexts of at most `limbs` limbs, which take less memory and time: each as
    /// [`KeySwitchKey::at_limbs`], and those for fewer limbs as they are.
    ///
    /// # Errors
    /// As [`KeySwitchKey::at_limbs`].
    pub fn at_limbs(&self, context: &Context, limbs: usize) -> Result<Self> {
        context.parameters().check_fingerprint(&self.parameters.fingerprint(), "the evaluation keys")?;
        if !(1..=self.shape.limbs).contains(&limbs) {
            return Err(Error::parameter("limbs", limbs, format!("1 to the {} limbs of the keys", self.shape.limbs)));
        }
        let cut = |key: &Arc<KeySwitchKey>| match key.limbs <= limbs {
            true => Ok(key.clone()),
            false => key.at_limbs(context, limbs).map(Arc::new),
        };
        let galois = self.galois.iter().map(|(&k, key)| Ok((k, cut(key)?))).collect::<Result<_>>()?;
        let relinearization = self.relinearization.as_ref().map(cut).transpose()?;
        Ok(Self { relinearization, galois, parameters: self.parameters.clone(), shape: self.shape, key: self.key })
    }

    /// Whether there is a relinearisation key.
    #[must_use]
    pub fn has_relinearization(&self) -> bool {
        self.relinearization.is_some()
    }

    /// Takes in a relinearisation key, unless there is one for more limbs.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if it was made with other parameters, [`Error::KeyMismatch`] if it belongs to another
    /// secret key, [`Error::KeyShape`] if it has another shape.
    pub fn insert_relinearization(&mut self, key: Arc<KeySwitchKey>) -> Result<()> {
        self.check_key("the relinearisation key", &key)?;
        if self.relinearization.as_ref().is_none_or(|known| known.limbs < key.limbs) {
            self.relinearization = Some(key);
        }
        Ok(())
    }

    /// Takes in the key of the automorphism `X -> X^k`, unless there is one for more limbs.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if it was made with other parameters, [`Error::KeyMismatch`] if it belongs to another
    /// secret key, [`Error::KeyShape`] if it has another shape.
    pub fn insert_galois(&mut self, k: u32, key: Arc<KeySwitchKey>) -> Result<()> {
        self.check_key("the Galois key", &key)?;
        if self.galois.get(&k).is_none_or(|known| known.limbs < key.limbs) {
            self.galois.insert(k, key);
        }
        Ok(())
    }

    /// Takes in all keys of another set of the same secret; where both have a key, the one for more limbs stays.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] if they were made with other parameters, [`Error::KeyMismatch`] if they belong to another
    /// secret key, [`Error::KeyShape`] if they have another shape.
    pub fn merge(&mut self, other: Self) -> Result<()> {
        self.owner().check(&other.owner(), "the other set of evaluation keys")?;
        self.check_shape("the other set of evaluation keys", other.shape)?;
        if let Some(key) = other.relinearization {
            self.insert_relinearization(key)?;
        }
        other.galois.into_iter().try_for_each(|(k, key)| self.insert_galois(k, key))
    }

    /// Refuses a key that is not of this set: relinearisation and automorphisms stay under one secret.
    pub(crate) fn check_key(&self, what: &'static str, key: &KeySwitchKey) -> Result<()> {
        self.owner().check(&key.owner, what)?;
        self.key.check(key.from, what)?;
        self.check_shape(what, key.shape)
    }

    fn check_shape(&self, what: &'static str, found: KeyShape) -> Result<()> {
        if found == self.shape { Ok(()) } else { Err(Error::KeyShape { what, found, needed: self.shape }) }
    }

    fn usable<'a>(
        &self,
        key: Option<&'a Arc<KeySwitchKey>>,
        limbs: usize,
        usage: impl Fn() -> KeyUse,
    ) -> Result<&'a Arc<KeySwitchKey>> {
        match key {
            None => Err(self.lacks(vec![KeyNeed { usage: usage(), limbs }])),
            Some(key) if key.limbs < limbs => Err(self.too_short(usage(), key.limbs, limbs)),
            Some(key) => Ok(key),
        }
    }

    /// The error of a key that was made for fewer limbs.
    fn too_short(&self, usage: KeyUse, found: usize, needed: usize) -> Error {
        Error::KeyLevel { kind: usage.to_string(), found, needed, key: self.is_usual().then_some(usage) }
    }

    /// The error that names keys that are missing, or were made for fewer limbs.
    fn lacks(&self, missing: Vec<KeyNeed>) -> Error {
        let kind = missing.iter().map(|need| self.describe_missing(need)).collect::<Vec<_>>().join(", ");
        // Keys of another shape belong to a circuit, which makes them in a way of its own.
        let keys = if self.is_usual() { missing } else { Vec::new() };
        Error::MissingKey { kind, available: self.describe(), keys }
    }

    fn is_usual(&self) -> bool {
        self.shape == self.parameters.shape()
    }

    fn use_of(&self, k: u32) -> KeyUse {
        KeyUse::of_automorphism(k, self.parameters.index())
    }

    /// The keys that there are, in words.
    #[must_use]
    pub fn describe(&self) -> String {
        /// More names than this help nobody.
        const SHOWN: usize = 8;
        let products = self.relinearization.iter().map(|_| KeyUse::Relinearization);
        let moves = self.galois.keys().take(SHOWN).map(|&k| self.use_of(k));
        let mut names: Vec<String> = products.chain(moves).map(|usage| usage.to_string()).collect();
        if self.galois.len() > SHOWN {
            names.push(format!("{} more automorphisms", self.galois.len() - SHOWN));
        }
        if names.is_empty() { "none".into() } else { names.join(", ") }
    }
}
