//! Keys by what they are for: rotations and conjugation instead of automorphisms.

use noren_math::random::Seed;
use noren_rlwe::error::Result;
use noren_rlwe::key_request::KeyRequest as RlweRequest;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::{EvaluationKeys, SecretKey};

use crate::schemes::ckks::context::Context;

pub use noren_rlwe::keygen::Keys;

/// Which evaluation keys are wanted.
///
/// A key for a lower level is smaller and faster, and serves all levels up to its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyRequest {
    /// The key for products of ciphertexts.
    pub relinearization: bool,
    /// The rotations, by how many slots; negative ones move the other way. 0 needs no key and is passed over.
    pub rotations: Vec<isize>,
    /// The key for complex conjugation.
    pub conjugation: bool,
    /// The highest level that the keys serve; `None` means all.
    pub level: Option<usize>,
    /// Rotations that are wanted up to a level of their own, as `(steps, level)`.
    pub rotations_at: Vec<(isize, usize)>,
}

impl Context {
    /// Makes a secret, its public key and the evaluation keys of a request, all from one seed.
    ///
    /// The seed is as secret as the keys, and is used for nothing else.
    ///
    /// # Errors
    /// [`Error::Insecure`](noren_rlwe::error::Error::Insecure) names a key whose modulus is too large,
    /// [`Error::Parameters`](noren_rlwe::error::Error::Parameters) says that evaluation keys need special primes,
    /// [`Error::LevelExhausted`](noren_rlwe::error::Error::LevelExhausted) that there is no such level.
    pub fn generate_keys(&self, seed: Seed, request: &KeyRequest) -> Result<Keys> {
        self.generate_keys_with_progress(seed, request, None)
    }

    /// As [`Context::generate_keys`]; `progress` hears how many evaluation keys are done, of how many, after each.
    ///
    /// # Errors
    /// As [`Context::generate_keys`].
    pub fn generate_keys_with_progress(
        &self,
        seed: Seed,
        request: &KeyRequest,
        progress: Option<&dyn Fn(usize, usize)>,
    ) -> Result<Keys> {
        let wanted = self.automorphisms_of(request)?;
        KeyGenerator::new(self.rlwe(), seed).keys(&wanted, progress)
    }

    /// Makes the evaluation keys of a request for a secret that there is; `progress` as in
    /// [`Context::generate_keys_with_progress`]. [`EvaluationKeys::merge`] adds them to those that it has.
    ///
    /// The seed is as secret as the keys. It may be the one that the secret was made from, and otherwise is used for nothing
    /// else.
    ///
    /// # Errors
    /// As [`Context::generate_keys`], and [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch) for a
    /// secret of other parameters.
    ///
    /// # Examples
    /// ```
    /// use noren::ckks::{Context, KeyRequest, ParametersSpec};
    /// use noren::{Security, Seed};
    ///
    /// let spec = ParametersSpec {
    ///     log_n: 10,
    ///     log_q: vec![50, 40],
    ///     log_p: vec![50],
    ///     log_scale: 40,
    ///     security: Security::None,
    ///     ..ParametersSpec::default()
    /// };
    /// let context = Context::new(spec.build()?)?;
    /// let keys = context.generate_keys(Seed::random()?, &KeyRequest::default())?;
    ///
    /// let request = KeyRequest { rotations: vec![1, 2], ..KeyRequest::default() };
    /// let mut evaluation = (*keys.evaluation).clone();
    /// evaluation.merge(context.evaluation_keys(&keys.secret, Seed::random()?, &request, None)?)?;
    /// assert_eq!(evaluation.automorphisms().len(), 2);
    /// # Ok::<(), noren::Error>(())
    /// ```
    pub fn evaluation_keys(
        &self,
        secret: &SecretKey,
        seed: Seed,
        request: &KeyRequest,
        progress: Option<&dyn Fn(usize, usize)>,
    ) -> Result<EvaluationKeys> {
        let wanted = self.automorphisms_of(request)?;
        KeyGenerator::new(self.rlwe(), seed).evaluation_keys(secret, &wanted, progress)
    }

    /// The request in terms of automorphisms and limbs, as [`KeyGenerator`] takes it.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`](noren_rlwe::error::Error::LevelExhausted) if there is no such level.
    pub fn automorphisms_of(&self, request: &KeyRequest) -> Result<RlweRequest> {
        let level = request.level.unwrap_or(self.parameters().max_level());
        let levels = request.rotations_at.iter().map(|&(_, level)| level);
        levels.chain([level]).try_for_each(|level| self.check_level(level))?;
        let plain = request.rotations.iter().map(|&steps| (self.rotation_exponent(steps), level + 1));
        let own = request.rotations_at.iter().map(|&(steps, level)| (self.rotation_exponent(steps), level + 1));
        let conjugation = request.conjugation.then(|| (self.conjugation_exponent(), level + 1));
        Ok(RlweRequest {
            relinearization: request.relinearization.then_some(level + 1),
            galois: plain.chain(own).chain(conjugation).collect(),
        })
    }
}
