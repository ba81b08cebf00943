//! All keys from one seed.

use std::ops::Range;
use std::sync::{Arc, RwLock};

use noren_math::machine::aligned::AlignedVec;
use noren_math::machine::memory;
use noren_math::random::{Seed, Xof};
use noren_math::sample;
use noren_ring::key::KeyPairs;
use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;
use zeroize::Zeroizing;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::key_request::KeyRequest;
use crate::keys::{EvaluationKeys, KeySwitchKey, PublicKey, SecretKey};
use crate::owner::{KeyId, Owner};
use crate::security::{self, SecretDistribution};
use crate::shape::KeyShape;
use crate::streams::Purpose;
use crate::switching::Switching;
use crate::words::has_zero_limb;

/// The keys of one owner.
pub struct Keys {
    /// Decrypts; stays with its owner.
    pub secret: SecretKey,
    /// Encrypts.
    pub public: PublicKey,
    /// Evaluates; nothing in it decrypts.
    pub evaluation: Arc<EvaluationKeys>,
}

/// Makes keys from one seed: the same seed gives the same bytes on every machine, for any number of threads.
///
/// Every key has its own streams. The uniform halves come from a seed of their own, derived one-way, which becomes
/// public with the key; secrets and errors come from other streams. All streams are bound to the
/// [parameters](Purpose::Keys), and those of a key to the secrets that it is made from, so that one generator may serve
/// several secrets.
pub struct KeyGenerator {
    context: Context,
    seed: Seed,
    shape: KeyShape,
}

impl KeyGenerator {
    /// The generator of this seed. The seed is as secret as the keys that are made from it, and is used for nothing
    /// else.
    #[must_use]
    pub fn new(context: &Context, seed: Seed) -> Self {
        let parameters = context.parameters();
        let seed = Purpose::Keys.seed(&seed, &parameters.fingerprint());
        Self { context: context.clone(), seed, shape: parameters.shape() }
    }

    /// The generator of the same seed whose key switching keys have this shape; its secrets and its public key are the same.
    ///
    /// The streams of a key are bound to its shape too.
    ///
    /// # Errors
    /// [`Error::Parameters`] if the parameters have fewer primes than the shape, or the shape not one for each digit.
    pub fn shaped(&self, shape: KeyShape) -> Result<Self> {
        self.context.switching(shape)?;
        Ok(Self { context: self.context.clone(), seed: self.seed.clone(), shape })
    }

    /// The secret key, drawn as the parameters say.
    #[must_use]
    pub fn secret(&self) -> SecretKey {
        self.draw("secret", self.context.parameters().secret())
    }

    /// A secret for a while, such as the sparse one of an encapsulation, drawn as asked; `label` tells several apart.
    ///
    /// Keys under it are checked against its distribution: a sparse secret carries few limbs.
    ///
    /// # Errors
    /// [`Error::Parameters`] if the weight of a sparse secret is not in `1..=n`.
    pub fn ephemeral_secret(&self, label: &str, distribution: SecretDistribution) -> Result<SecretKey> {
        let n = self.context.parameters().degree();
        match distribution {
            SecretDistribution::SparseTernary(weight) if !(1..=n).contains(&weight) => {
                Err(Error::parameter("secret", distribution, format!("of weight 1 to {n}")))
            }
            _ => Ok(self.draw(&format!("ephemeral/{label}"), distribution)),
        }
    }

    /// The public key `(-a s + e, a)`, modulo all primes q.
    ///
    /// # Errors
    /// [`Error::Insecure`] if the secret does not carry this modulus, [`Error::ParameterMismatch`] if it was made with
    /// other parameters, [`Error::ZeroKey`] if the key is zero modulo a prime, which no ring in use draws, [`Error::Memory`] if
    /// there is not memory for the key.
    pub fn public(&self, secret: &SecretKey) -> Result<PublicKey> {
        let parameters = self.context.parameters();
        let ring = self.context.ring_q(parameters.max_limbs());
        self.check_secret(secret)?;
        self.check_security("public key", secret, parameters.log_q(parameters.max_limbs()))?;
        let own = self.seed.derive(&format!("public/{}", self.binding(&[secret])));
        let seed = own.derive("uniform");
        let (b, a) = memory::refusing(|| {
            let a = public_half(&ring, &seed);
            (masked(&ring, error(&ring, &own, "error"), &a, &secret.over(&ring)).into_public(), a)
        })?;
        check_public(&ring, &b)?;
        Ok(PublicKey { b, a, seed, owner: secret.owner })
    }

    /// The relinearisation key, from `s^2` to `s`, for ciphertexts of `limbs` limbs; `None` means all of the shape.
    ///
    /// # Errors
    /// [`Error::Insecure`], [`Error::ParameterMismatch`] as [`KeyGenerator::public`]; [`Error::Parameters`] without
    /// special primes or for more limbs than there are.
    pub fn relinearization(&self, secret: &SecretKey, limbs: Option<usize>) -> Result<KeySwitchKey> {
        let (switching, limbs) = self.check("relinearisation key", secret, limbs)?;
        let ring = switching.ring_qp(limbs);
        let s = memory::refusing(|| secret.over(&ring))?;
        let square = memory::refusing(|| ring.mul(&s, &s))?;
        let label = format!("relinearization/{}", self.binding(&[secret]));
        self.switch(&switching, &label, [&square, &s], [secret, secret], limbs)
    }

    /// The key of the automorphism `X -> X^k`, for ciphertexts of `limbs` limbs; `None` means all.
    ///
    /// # Errors
    /// As [`KeyGenerator::relinearization`], and [`Error::NotAnAutomorphism`].
    pub fn galois(&self, secret: &SecretKey, k: u32, limbs: Option<usize>) -> Result<KeySwitchKey> {
        self.context.check_automorphism(k)?;
        let (switching, limbs) = self.check("Galois key", secret, limbs)?;
        let ring = switching.ring_qp(limbs);
        let automorphism = self.context.automorphism(k)?.inverse();
        let s = memory::refusing(|| secret.over(&ring))?;
        let image = memory::refusing(|| ring.automorphism(&s, &automorphism))?;
        let label = format!("galois/{k}/{}", self.binding(&[secret]));
        self.switch(&switching, &label, [&s, &image], [secret, secret], limbs)
    }

    /// The key that switches ciphertexts of `limbs` limbs from one secret to another; `None` means all. It is an
    /// encryption under `to`, and checked against that secret.
    ///
    /// # Errors
    /// As [`KeyGenerator::relinearization`].
    pub fn switching(&self, from: &SecretKey, to: &SecretKey, limbs: Option<usize>) -> Result<KeySwitchKey> {
        self.check_secret(from)?;
        let (switching, limbs) = self.check("key switching key", to, limbs)?;
        let (ring_q, ring_qp) = (switching.ring_q(limbs), switching.ring_qp(limbs));
        let [before, after] = [(from, ring_q), (to, ring_qp)].map(|(s, ring)| memory::refusing(|| s.over(&ring)));
        let label = format!("switching/{}", self.binding(&[from, to]));
        self.switch(&switching, &label, [&*before?, &*after?], [from, to], limbs)
    }

    /// The secret key, its public key and the evaluation keys of a request; `progress` as in
    /// [`KeyGenerator::evaluation_keys`].
    ///
    /// # Errors
    /// As [`KeyGenerator::public`] and [`KeyGenerator::evaluation_keys`].
    pub fn keys(&self, request: &KeyRequest, progress: Option<&dyn Fn(usize, usize)>) -> Result<Keys> {
        let secret = memory::refusing(|| self.secret())?;
        let public = self.public(&secret)?;
        let evaluation = Arc::new(self.evaluation_keys(&secret, request, progress)?);
        // Keys are made once, and what they were made in has other sizes than what follows.
        self.context.ring().engine().release();
        Ok(Keys { secret, public, evaluation })
    }

    /// All keys of a request; `progress` hears how many are done, of how many, after each.
    ///
    /// # Errors
    /// As [`KeyGenerator::relinearization`] and [`KeyGenerator::galois`].
    pub fn evaluation_keys(
        &self,
        secret: &SecretKey,
        request: &KeyRequest,
        progress: Option<&dyn Fn(usize, usize)>,
    ) -> Result<EvaluationKeys> {
        let wanted = request.automorphisms();
        let total = wanted.len() + usize::from(request.relinearization.is_some());
        let report = |done| progress.iter().for_each(|report| report(done, total));
        self.check_secret(secret)?;
        let mut keys = EvaluationKeys::shaped(self.context.parameters(), self.shape, secret.owner.key);
        let mut done = 0;
        if request.relinearization.is_some() {
            keys.insert_relinearization(Arc::new(self.relinearization(secret, request.relinearization)?))?;
            done += 1;
            report(done);
        }
        for (k, limbs) in wanted {
            keys.insert_galois(k, Arc::new(self.galois(secret, k, Some(limbs))?))?;
            done += 1;
            report(done);
        }
        Ok(keys)
    }

    fn draw(&self, label: &str, distribution: SecretDistribution) -> SecretKey {
        let coefficients = draw(self.context.parameters().degree(), distribution, &mut self.seed.xof(label));
        // At most 127, as is checked where they are drawn.
        let small = Zeroizing::new(coefficients.iter().map(|&x| x as i8).collect());
        secret_key(&self.context, small, distribution)
    }

    /// The pairs of all digits that `limbs` limbs have, from one polynomial to another; the secrets are those that the
    /// polynomials are made of.
    ///
    /// A key for fewer limbs is the longer key without its last limbs: the streams do not depend on them.
    fn switch(
        &self,
        switching: &Switching,
        label: &str,
        [from, to]: [&Poly<Eval>; 2],
        secrets: [&SecretKey; 2],
        limbs: usize,
    ) -> Result<KeySwitchKey> {
        let (pairs, seed) = memory::refusing(|| self.pairs(switching, label, [from, to], limbs))?;
        let [before, after] = secrets.map(|secret| secret.owner);
        Ok(KeySwitchKey { pairs, shape: self.shape, seed: Some(seed), limbs, owner: after, from: before.key })
    }

    /// The pairs, and the public seed of their uniform halves.
    fn pairs(
        &self,
        switching: &Switching,
        label: &str,
        [from, to]: [&Poly<Eval>; 2],
        limbs: usize,
    ) -> (KeyPairs, Seed) {
        let digits = Digits::new(switching, limbs);
        let own = self.seed.derive(&self.shaped_label(label));
        let seed = own.derive("uniform");
        let mut pairs = digits.ring.zero_key(digits.count());
        for j in 0..digits.count() {
            let a = digit_half(&digits.ring, &seed, j);
            let b = digits.hidden(j, error(&digits.ring, &own, &format!("error/{j}")), &a, [from, to]);
            digits.ring.set_key_pair(&mut pairs, j, [&b.into_public(), &a]);
        }
        (pairs, seed)
    }

    /// The label of a key's streams: two keys of different shapes share none.
    fn shaped_label(&self, label: &str) -> String {
        let KeyShape { limbs, special, digits } = self.shape;
        if self.shape == self.context.parameters().shape() {
            label.to_owned()
        } else {
            format!("{label}/shape/{limbs}/{special}/{digits}")
        }
    }

    /// Tells the secrets apart without showing them, so that no two keys share their randomness.
    pub(crate) fn binding(&self, secrets: &[&SecretKey]) -> String {
        let mut hasher = blake3::Hasher::new_keyed(self.seed.as_bytes());
        for secret in secrets {
            let bytes: Zeroizing<Vec<u8>> = Zeroizing::new(secret.coefficients.iter().map(|&x| x as u8).collect());
            hasher.update(&bytes);
        }
        hasher.finalize().to_hex().to_string()
    }

    pub(crate) fn check(
        &self,
        key: &'static str,
        secret: &SecretKey,
        limbs: Option<usize>,
    ) -> Result<(Arc<Switching>, usize)> {
        let parameters = self.context.parameters();
        let (switching, limbs) = self.check_limbs_of_key(limbs)?;
        self.check_secret(secret)?;
        self.check_security(key, secret, parameters.log_q(limbs) + parameters.log_p_of(self.shape))?;
        Ok((switching, limbs))
    }

    /// The converters of the shape and the limbs of a key switching key; `None` means all.
    pub(crate) fn check_limbs_of_key(&self, limbs: Option<usize>) -> Result<(Arc<Switching>, usize)> {
        let most = self.shape.limbs;
        let limbs = limbs.unwrap_or(most);
        if !self.has_special_primes() {
            return Err(Error::parameter("p", "empty", "at least one special prime, which key switching divides by"));
        }
        if !(1..=most).contains(&limbs) {
            let needed = format!("1 to the {most} limbs of the shape");
            return Err(Error::parameter("limbs", limbs, needed));
        }
        Ok((self.context.switching(self.shape)?, limbs))
    }

    pub(crate) const fn context(&self) -> &Context {
        &self.context
    }

    /// The seed of a purpose among those of keys.
    pub(crate) fn own_seed(&self, label: &str) -> Seed {
        self.seed.derive(label)
    }

    /// Whether the parameters have special primes, which key switching divides by.
    pub(crate) fn has_special_primes(&self) -> bool {
        self.context.parameters().gadget().is_some()
    }

    pub(crate) fn check_secret(&self, secret: &SecretKey) -> Result<()> {
        self.context.parameters().check_fingerprint(secret.fingerprint(), "the secret key")
    }

    pub(crate) fn check_security(&self, key: &'static str, secret: &SecretKey, log_qp: f64) -> Result<()> {
        let parameters = self.context.parameters();
        security::check(key, parameters.degree(), secret.distribution, log_qp, parameters.security())
    }
}

/// The digits of a key switching key for some limbs.
pub(crate) struct Digits {
    pub(crate) ring: Ring,
    ring_q: Ring,
    /// The special modulus, modulo each prime of ciphertexts.
    special: Vec<u64>,
    /// The primes of each digit.
    digits: Vec<Range<usize>>,
}

impl Digits {
    pub(crate) fn new(switching: &Switching, limbs: usize) -> Self {
        Self {
            ring: switching.ring_qp(limbs),
            ring_q: switching.ring_q(limbs),
            special: switching.special_residues(limbs),
            digits: switching.decomposer().gadget().digits_at(limbs),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.digits.len()
    }

    /// The half b of digit j: `-a to + e + P g_j from`.
    pub(crate) fn hidden(&self, j: usize, e: Poly<Eval>, a: &Poly<Eval>, [from, to]: [&Poly<Eval>; 2]) -> Poly<Eval> {
        let mut b = masked(&self.ring, e, a, to);
        self.add_multiple(j, &mut b, from);
        b
    }

    /// `P g_j from`.
    pub(crate) fn multiple(&self, j: usize, from: &Poly<Eval>) -> Poly<Eval> {
        let mut multiple = self.ring.zero().into_secret();
        self.add_multiple(j, &mut multiple, from);
        multiple
    }

    fn add_multiple(&self, j: usize, sum: &mut Poly<Eval>, from: &Poly<Eval>) {
        let own = |(i, &p): (usize, &u64)| if self.digits[j].contains(&i) { p } else { 0 };
        let factor: Vec<u64> = self.special.iter().enumerate().map(own).collect();
        self.ring_q.mul_scalar_add_assign(sum, from, &factor);
    }
}

/// The coefficients of a secret, not all of them zero, and each at most 127: a draw of all zeros is as likely as a guess of the whole
/// secret, and one beyond 127 as unlikely but for sums of hundreds of secrets; both are repeated.
fn draw(n: usize, distribution: SecretDistribution, xof: &mut Xof) -> Zeroizing<Vec<i64>> {
    let mut coefficients = Zeroizing::new(vec![0; n]);
    loop {
        match distribution {
            SecretDistribution::Ternary => sample::ternary(xof, &mut coefficients),
            SecretDistribution::SparseTernary(weight) => sample::sparse_ternary(xof, weight, &mut coefficients),
            SecretDistribution::Gaussian => sample::gaussian(xof, &mut coefficients),
            SecretDistribution::Joint(parties) => {
                coefficients.fill(0);
                let mut own = Zeroizing::new(vec![0; n]);
                for _ in 0..parties {
                    sample::ternary(xof, &mut own);
                    coefficients.iter_mut().zip(own.iter()).for_each(|(sum, x)| *sum += x);
                }
            }
        }
        // All coefficients are looked at, whatever they are.
        let fits = coefficients.iter().fold(true, |fits, &x| fits & (x.abs() <= i8::MAX.into()));
        if fits && coefficients.iter().fold(0, |any, x| any | x) != 0 {
            return coefficients;
        }
    }
}

/// Refuses a public key that hides a message in no limb, or not in all: its half b is zero modulo some prime.
pub(crate) fn check_public(ring: &Ring, b: &Poly<Eval>) -> Result<()> {
    if has_zero_limb(ring, b) {
        return Err(Error::ZeroKey { key: "half b of the public key, in some limb or in all," });
    }
    Ok(())
}

/// The secret key with these coefficients, which give it its identity.
///
/// # Panics
/// If there are not as many coefficients as the degree.
pub(crate) fn secret_key(
    context: &Context,
    coefficients: Zeroizing<Vec<i8>>,
    distribution: SecretDistribution,
) -> SecretKey {
    assert_eq!(coefficients.len(), context.ring().degree(), "a secret has as many coefficients as the degree");
    // First, while locked memory is left: who has these has the rest.
    let coefficients = AlignedVec::guarded(&coefficients);
    let fingerprint = context.parameters().fingerprint();
    let owner = Owner { fingerprint, key: KeyId::of_secret(&fingerprint, &coefficients) };
    SecretKey { coefficients, ring: context.ring().clone(), evaluations: RwLock::default(), distribution, owner }
}

/// The uniform half of a public key, from its public seed.
pub(crate) fn public_half(ring: &Ring, seed: &Seed) -> Poly<Eval> {
    ring.uniform(seed, "public")
}

/// The uniform half of digit j of a key switching key, from its public seed.
pub(crate) fn digit_half(ring: &Ring, seed: &Seed, j: usize) -> Poly<Eval> {
    ring.uniform(seed, &format!("digit/{j}"))
}

/// A small error of the stream `label`, in evaluation form; wiped when dropped.
pub(crate) fn error(ring: &Ring, seed: &Seed, label: &str) -> Poly<Eval> {
    ring.ntt(ring.from_signed(&error_coefficients(ring, seed, label)).into_secret())
}

/// The coefficients of a small error of the stream `label`: Gaussian, of standard deviation 3.19.
///
/// For an index m that is not a power of two, m coefficients are drawn and reduced modulo `Phi_m`, so that the values
/// of the error in the canonical embedding, which learning with errors over rings is about, are Gaussian of variance
/// `3.19^2 m` for every m; n coefficients alone would not be. HElib draws so too (Halevi and Shoup, eprint 2020/1481).
pub(crate) fn error_coefficients(ring: &Ring, seed: &Seed, label: &str) -> Zeroizing<Vec<i64>> {
    let mut coefficients = Zeroizing::new(vec![0; ring.degree()]);
    let (index, mut xof) = (ring.index(), seed.xof(label));
    if index.is_power_of_two() {
        sample::gaussian(&mut xof, &mut coefficients);
    } else {
        let mut drawn = Zeroizing::new(vec![0; index.index() as usize]);
        sample::gaussian(&mut xof, &mut drawn);
        index.reduce(&mut drawn, &mut coefficients);
    }
    coefficients
}

/// `e - a s`: what hides the error behind the secret.
pub(crate) fn masked(ring: &Ring, e: Poly<Eval>, a: &Poly<Eval>, s: &Poly<Eval>) -> Poly<Eval> {
    let mut b = ring.mul(a, s);
    ring.neg_assign(&mut b);
    ring.add_assign(&mut b, &e);
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_drawn_that_is_zero() {
        // Of two ternary coefficients a ninth of all draws are zero.
        for seed in 0..200u8 {
            for distribution in [SecretDistribution::Ternary, SecretDistribution::Gaussian] {
                let coefficients = draw(2, distribution, &mut Seed::from_bytes([seed; 32]).xof("secret"));
                assert!(coefficients.iter().any(|&x| x != 0), "{distribution}, seed {seed}");
            }
        }
    }
}
