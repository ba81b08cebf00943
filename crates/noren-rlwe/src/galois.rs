//! Automorphisms `X -> X^k` of ciphertexts, and their sums.

use noren_ring::poly::{Eval, Poly};

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::error::Result;
use crate::keys::EvaluationKeys;
use crate::keyswitch::{Hoisted, check_degree, sum_images, switch_automorphism};

/// The image of a ciphertext under `X -> X^k`. The noise of one key switch is added, except for k = 1.
///
/// # Errors
/// [`Error::MissingKey`](crate::error::Error::MissingKey) and [`Error::KeyLevel`](crate::error::Error::KeyLevel) if the
/// key is missing or too short, [`Error::DegreeTooHigh`](crate::error::Error::DegreeTooHigh) if the ciphertext must be
/// relinearised first, [`Error::NotAnAutomorphism`](crate::error::Error::NotAnAutomorphism).
pub fn apply_automorphism(
    context: &Context,
    ciphertext: &Ciphertext,
    k: u32,
    keys: &EvaluationKeys,
) -> Result<Ciphertext> {
    if k == 1 {
        check_degree(ciphertext)?;
        return Ok(ciphertext.clone());
    }
    // What is missing is told before anything is made.
    context.check_automorphism(k)?;
    let key = keys.galois(k, ciphertext.limbs())?;
    check_degree(ciphertext)?;
    switch_automorphism(context, ciphertext, &*context.automorphism(k)?, key)
}

/// As [`apply_automorphism`], with digits that were made before: several images of one ciphertext cost much less.
///
/// # Errors
/// As [`apply_automorphism`].
pub fn apply_automorphism_hoisted(
    context: &Context,
    hoisted: &Hoisted,
    k: u32,
    keys: &EvaluationKeys,
) -> Result<Ciphertext> {
    if k == 1 {
        return Ok(hoisted.ciphertext().clone());
    }
    let psi = context.automorphism(k)?;
    hoisted.switch_automorphism(context, &psi, keys.galois(k, hoisted.ciphertext().limbs())?)
}

/// `ct + sum_k psi_k(ct)` over the exponents `ks`, with one decomposition and one division by the special modulus.
///
/// Source: Algorithm 4 (HoistKS) of the unrolled trace of Ishimaki and Yamana, as `ct` plus the hoisted sum.
///
/// # Errors
/// As [`apply_automorphism`].
pub fn sum_automorphisms(
    context: &Context,
    ciphertext: &Ciphertext,
    ks: &[u32],
    keys: &EvaluationKeys,
) -> Result<Ciphertext> {
    let limbs = ciphertext.limbs();
    for &k in ks.iter().filter(|&&k| k != 1) {
        context.check_automorphism(k)?;
        keys.galois(k, limbs)?;
    }
    check_degree(ciphertext)?;
    let moving = ks.iter().filter(|&&k| k != 1);
    let images = moving.map(|&k| Ok((context.automorphism(k)?, keys.galois(k, limbs)?))).collect::<Result<Vec<_>>>()?;
    // The ciphertext itself, and once more for each exponent that moves nothing.
    let direct = 1 + ks.len() - images.len();
    let ring = context.ring_q(limbs);
    let multiple: Vec<Poly<Eval>>;
    let parts = if direct == 1 {
        ciphertext.parts()
    } else {
        multiple = ciphertext.parts().iter().map(|part| ring.mul_integer(part, direct as i64)).collect();
        &multiple
    };
    sum_images(context, ciphertext, parts, &images)
}
