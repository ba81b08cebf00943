//! The particulars of one scheme: how ciphertexts are multiplied, and what that does to noise and factor.

use std::fmt::Debug;

use noren_rlwe::ciphertext::Ciphertext;
use noren_rlwe::context::Context;
use noren_rlwe::error::Result;
use noren_rlwe::keys::EvaluationKeys;
use noren_rlwe::product::Factors;
use noren_rlwe::wire::kind::Kind;

use crate::schemes::integers::noise::{Laws, Noise};
use crate::schemes::integers::parameters::Parameters;

/// A scheme for exact integers. All that is not here, the schemes have in common.
pub trait Scheme: Sealed + Debug + Clone + Copy + Send + Sync + 'static {
    /// The name of the scheme.
    const NAME: &'static str;
    /// The kind of container that holds a ciphertext.
    const KIND: Kind;
    /// The kind of container that holds several.
    const KIND_OF_SEVERAL: Kind;

    /// The factor of a product of ciphertexts of these factors at `limbs` limbs. Range: in and out `[0, t)`.
    fn product_factor(parameters: &Parameters, a: u64, b: u64, limbs: usize) -> u64;

    /// The noise of a product at `limbs` limbs, before it is relinearised.
    fn product_noise(laws: &Laws, a: &Noise, b: &Noise, limbs: usize) -> Noise;

    /// How many of `limbs` limbs a ciphertext of this noise should keep.
    fn limbs_to_keep(laws: &Laws, noise: &Noise, limbs: usize) -> usize;

    /// The sum of products of ciphertexts of one number of limbs, at least one product; relinearised, at its first `kept`
    /// limbs.
    ///
    /// # Errors
    /// [`Error::MissingKey`](noren_rlwe::error::Error::MissingKey) and
    /// [`Error::KeyLevel`](noren_rlwe::error::Error::KeyLevel) if the relinearisation key is missing or too short.
    fn multiply(
        context: &Context,
        products: &[Factors],
        t: u64,
        kept: usize,
        keys: &EvaluationKeys,
    ) -> Result<Ciphertext>;

    /// The three parts of the sum of products of ciphertexts of one number of limbs, at least one product.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`](noren_rlwe::error::Error::LevelMismatch) if they have different numbers of limbs.
    fn tensor(context: &Context, products: &[Factors], t: u64) -> Result<Ciphertext>;
}

/// Schemes are those of this crate.
pub trait Sealed {}

/// How many limbs leave the noise as it is but for a part of `2^-4`: rounding to them adds a variance `2^-8` of its own.
pub(crate) fn limbs_without_loss(laws: &Laws, noise: &Noise, limbs: usize) -> usize {
    /// How many bits the rounding stays below the noise.
    const BELOW_BITS: f64 = 4.0;
    let most = noise.log2_std() - BELOW_BITS;
    (1..limbs).find(|&kept| laws.rounding(kept).log2_std() <= most).unwrap_or(limbs)
}

/// The noise of a relinearised product of ciphertexts of `limbs` limbs, and how many it keeps.
pub(crate) fn product<S: Scheme>(laws: &Laws, a: &Noise, b: &Noise, limbs: usize) -> (Noise, usize) {
    relinearized::<S>(laws, &S::product_noise(laws, a, b, limbs), limbs)
}

/// The noise of a product of this noise and `limbs` limbs once it is relinearised, and how many limbs it keeps.
pub(crate) fn relinearized<S: Scheme>(laws: &Laws, product: &Noise, limbs: usize) -> (Noise, usize) {
    let kept = S::limbs_to_keep(laws, product, limbs);
    (product.with(&laws.relinearizes(limbs, kept)), kept)
}

impl Parameters {
    /// How many squarings can follow one another on an encryption with the public key, as predicted.
    #[must_use]
    pub fn depth<S: Scheme>(&self) -> usize {
        depth::<S>(self.laws(), &self.fresh_noise(), self.max_limbs())
    }
}

/// How many squarings can follow one another on a ciphertext of this noise and `limbs` limbs.
pub(crate) fn depth<S: Scheme>(laws: &Laws, noise: &Noise, limbs: usize) -> usize {
    /// More than any parameters carry.
    const MOST: usize = 1 << 10;
    let (mut noise, mut limbs) = (noise.clone(), limbs);
    for depth in 0..MOST {
        (noise, limbs) = product::<S>(laws, &noise, &noise, limbs);
        if laws.budget(&noise) < 0.0 {
            return depth;
        }
    }
    MOST
}
