//! Automorphisms `X -> X^k` of ciphertexts, and their sums.

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::error::Result;
use crate::keys::EvaluationKeys;
use crate::keyswitch::{Hoisted, LazySum, check_degree};

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
    // A missing key is told before the digits are made.
    context.check_automorphism(k)?;
    keys.galois(k, ciphertext.limbs())?;
    apply_automorphism_hoisted(context, &Hoisted::new(context, ciphertext)?, k, keys)
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
    let limbs = hoisted.ciphertext().limbs();
    let pair = hoisted.switch(context, keys.galois(k, limbs)?)?;
    // After ModDown there are fewer limbs to permute, and psi commutes with rounding up to ties.
    let ring = context.ring_q(limbs);
    Ok(Ciphertext::new(pair.iter().map(|part| ring.automorphism(part, &psi)).collect()))
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
    let mut sum = LazySum::new(context, limbs);
    sum.add(ciphertext)?;
    if ks.iter().any(|&k| k != 1) {
        let hoisted = Hoisted::new(context, ciphertext)?;
        for &k in ks.iter().filter(|&&k| k != 1) {
            sum.add_rotated(&hoisted, k, keys.galois(k, limbs)?)?;
        }
    }
    for _ in ks.iter().filter(|&&k| k == 1) {
        sum.add(ciphertext)?;
    }
    Ok(sum.finish())
}
