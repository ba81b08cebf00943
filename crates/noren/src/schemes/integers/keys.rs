//! Keys by what they are for: rotations of rows and their swap instead of automorphisms.

use noren_math::random::Seed;
use noren_rlwe::error::Result;
use noren_rlwe::key_request::KeyRequest as RlweRequest;
use noren_rlwe::keygen::KeyGenerator;
use noren_rlwe::keys::{EvaluationKeys, PublicKey, SecretKey};

use crate::schemes::integers::context::Context;
use crate::schemes::integers::encryption::check_limbs;

pub use noren_rlwe::keygen::Keys;

/// Which evaluation keys are wanted.
///
/// A key for fewer limbs is smaller and faster, and serves all ciphertexts of its number of limbs or fewer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyRequest {
    /// The key for products of ciphertexts.
    pub relinearization: bool,
    /// The rotations of both rows, by how many slots; negative ones move the other way. 0 needs no key and is passed over.
    pub rotations: Vec<isize>,
    /// The key that swaps the rows.
    pub swap: bool,
    /// Automorphisms by their exponents, such as those of
    /// [`rotation_along`](crate::schemes::integers::Context::rotation_along).
    pub automorphisms: Vec<u32>,
    /// The most limbs that the keys serve; `None` means all.
    pub limbs: Option<usize>,
    /// Rotations that are wanted up to limbs of their own, as `(steps, limbs)`.
    pub rotations_at: Vec<(isize, usize)>,
}

impl Context {
    /// Makes a secret, its public key and the evaluation keys of a request, all from one seed.
    ///
    /// The keys serve BGV and BFV. The seed is as secret as the keys, and is used for nothing else.
    ///
    /// # Errors
    /// [`Error::Insecure`](noren_rlwe::error::Error::Insecure) names a key whose modulus is too large,
    /// [`Error::Parameters`](noren_rlwe::error::Error::Parameters) says that evaluation keys need special primes, or that
    /// there are fewer limbs.
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

    /// Makes a public key of a secret that there is. The seed: see [`Context::evaluation_keys`].
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch) for a secret of other parameters.
    pub fn public_key(&self, secret: &SecretKey, seed: Seed) -> Result<PublicKey> {
        KeyGenerator::new(self.rlwe(), seed).public(secret)
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

    /// The request in terms of automorphisms, as [`KeyGenerator`] takes it.
    ///
    /// # Errors
    /// [`Error::Parameters`](noren_rlwe::error::Error::Parameters) if there are fewer limbs, or no rows to rotate.
    pub fn automorphisms_of(&self, request: &KeyRequest) -> Result<RlweRequest> {
        let most = self.parameters().max_limbs();
        let limbs = request.limbs.unwrap_or(most);
        let named = request.rotations_at.iter().map(|&(_, limbs)| limbs);
        named.chain([limbs]).try_for_each(|limbs| check_limbs(limbs, most))?;
        let plain = request.rotations.iter().map(|&steps| Ok((self.rotation_exponent(steps)?, limbs)));
        let own = request.rotations_at.iter().map(|&(steps, limbs)| Ok((self.rotation_exponent(steps)?, limbs)));
        let swap = request.swap.then(|| Ok((self.swap_exponent()?, limbs)));
        let others = request.automorphisms.iter().map(|&k| Ok((k, limbs)));
        Ok(RlweRequest {
            relinearization: request.relinearization.then_some(limbs),
            galois: plain.chain(own).chain(swap).chain(others).collect::<Result<_>>()?,
        })
    }
}
