//! Products of ciphertexts, and back to two parts.

use noren_ring::operand::Operand;
use noren_ring::poly::{Eval, Poly};

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::keys::EvaluationKeys;
use crate::keyswitch;
use crate::linear;

/// The product of two ciphertexts as polynomials in the secret: part k is the sum of `a_i b_{k-i}`.
///
/// # Errors
/// [`Error::LevelMismatch`] if the operands have different numbers of limbs, [`Error::KeyMismatch`] if they belong to
/// different secret keys.
pub fn tensor(context: &Context, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
    linear::check_pair(a, b)?;
    let ring = context.ring_q(a.limbs());
    let part = |k: usize| {
        let pairs: Vec<(&Poly<Eval>, &Poly<Eval>)> = a
            .parts()
            .iter()
            .enumerate()
            .filter_map(|(i, x)| b.parts().get(k.checked_sub(i)?).map(|y| (x, y)))
            .collect();
        ring.inner_product(&pairs)
    };
    Ok(Ciphertext::new((0..=a.degree() + b.degree()).map(part).collect(), a.key_id()))
}

/// Brings a product back to two parts: `c_2 s^2` is switched to the secret `s`. Two parts stay as they are.
///
/// # Errors
/// [`Error::DegreeTooHigh`] above degree 2, [`Error::MissingKey`] and [`Error::KeyLevel`] if the relinearisation key is
/// missing or too short, [`Error::KeyMismatch`] if the keys belong to another secret key.
pub fn relinearize(context: &Context, ciphertext: &Ciphertext, keys: &EvaluationKeys) -> Result<Ciphertext> {
    keys.check_ciphertext(ciphertext)?;
    let Some([c0, c1, c2]) = three_parts(ciphertext)? else {
        return Ok(ciphertext.clone());
    };
    switch_square(context, [c0, c1, c2].map(Operand::from), ciphertext.limbs(), keys, ciphertext.limbs())
}

/// [`relinearize`] and [`rescale`](crate::linear::rescale) at once: one division by `P q_l`, which saves a round of
/// transforms and one rounding.
///
/// # Errors
/// As [`relinearize`], and [`Error::LevelExhausted`] if there is only one limb.
pub fn relinearize_rescale(context: &Context, ciphertext: &Ciphertext, keys: &EvaluationKeys) -> Result<Ciphertext> {
    keys.check_ciphertext(ciphertext)?;
    linear::check_levels(1, ciphertext.level())?;
    let Some([c0, c1, c2]) = three_parts(ciphertext)? else {
        return linear::rescale(context, ciphertext.clone());
    };
    switch_square(context, [c0, c1, c2].map(Operand::from), ciphertext.limbs(), keys, ciphertext.level())
}

/// [`relinearize_rescale`] of three parts of `limbs` limbs that need not be written down. They belong to the secret key of the
/// keys, which is for the caller to check.
///
/// # Errors
/// As [`relinearize_rescale`].
pub fn relinearize_rescale_parts(
    context: &Context,
    parts: [Operand; 3],
    limbs: usize,
    keys: &EvaluationKeys,
) -> Result<Ciphertext> {
    linear::check_levels(1, limbs.saturating_sub(1))?;
    switch_square(context, parts, limbs, keys, limbs - 1)
}

/// [`tensor`] and [`relinearize`] at once: the three parts of the product are never written down.
///
/// # Errors
/// As [`tensor`] and [`relinearize`].
pub fn multiply_relinearize(
    context: &Context,
    a: &Ciphertext,
    b: &Ciphertext,
    keys: &EvaluationKeys,
) -> Result<Ciphertext> {
    linear::check_pair(a, b)?;
    match (a.parts(), b.parts()) {
        ([a0, a1], [b0, b1]) => {
            keys.check_ciphertext(a)?;
            switched_product(context, [a0, a1], [b0, b1], keys, a.limbs())
        }
        _ => relinearize(context, &tensor(context, a, b)?, keys),
    }
}

/// [`tensor`] and [`relinearize_rescale`] at once: the three parts of the product are never written down.
///
/// # Errors
/// As [`tensor`] and [`relinearize_rescale`].
pub fn multiply_relinearize_rescale(
    context: &Context,
    a: &Ciphertext,
    b: &Ciphertext,
    keys: &EvaluationKeys,
) -> Result<Ciphertext> {
    linear::check_pair(a, b)?;
    linear::check_levels(1, a.level())?;
    match (a.parts(), b.parts()) {
        ([a0, a1], [b0, b1]) => {
            keys.check_ciphertext(a)?;
            switched_product(context, [a0, a1], [b0, b1], keys, a.level())
        }
        _ => relinearize_rescale(context, &tensor(context, a, b)?, keys),
    }
}

/// `(a_0 b_0, a_0 b_1 + a_1 b_0)` with `a_1 b_1` switched and added, and all limbs but the first `kept` dropped.
fn switched_product(
    context: &Context,
    [a0, a1]: [&Poly<Eval>; 2],
    [b0, b1]: [&Poly<Eval>; 2],
    keys: &EvaluationKeys,
    kept: usize,
) -> Result<Ciphertext> {
    let (first, middle, last) = ([(a0, b0)], [(a0, b1), (a1, b0)], [(a1, b1)]);
    let parts = [&first[..], &middle, &last].map(Operand::Products);
    switch_square(context, parts, a0.limbs(), keys, kept)
}

/// `c_0 + c_1 s` with `c_2 s^2` switched and added, all of `limbs` limbs; all but the first `kept` are dropped.
pub(crate) fn switch_square(
    context: &Context,
    [c0, c1, c2]: [Operand; 3],
    limbs: usize,
    keys: &EvaluationKeys,
    kept: usize,
) -> Result<Ciphertext> {
    let key = keys.relinearization(limbs)?;
    keyswitch::switch_added(context, c2, limbs, key, [Some(c0), Some(c1)], kept)
}

/// The three parts of a product; `None` if there are fewer.
fn three_parts(ciphertext: &Ciphertext) -> Result<Option<[&Poly<Eval>; 3]>> {
    match ciphertext.parts() {
        [c0, c1, c2] => Ok(Some([c0, c1, c2])),
        [_] | [_, _] => Ok(None),
        parts => Err(Error::DegreeTooHigh { found: parts.len() - 1, needed: 2 }),
    }
}
