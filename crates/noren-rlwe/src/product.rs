//! Products of ciphertexts whose messages are integers modulo t: scaled by t/Q, and multiplied by t.
//!
//! Both are for a message in the upper bits: `c_0 + c_1 s = Q/t m + e` modulo Q.

use noren_ring::operand::Operand;
use noren_ring::poly::{Eval, Poly};
use noren_ring::product::Pairs;

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::keys::EvaluationKeys;
use crate::keyswitch::{check_degree, check_key};
use crate::linear::check_pair;
use crate::multiply::switch_square;
use crate::owner::KeyId;

/// Two ciphertexts of one or two parts that are multiplied. Twice the same one, at the same address, is a square, which
/// takes less time.
pub type Factors<'a> = [&'a Ciphertext; 2];

/// `sum_k a_k b_k t/Q` in three parts, each rounded, for the product Q of the ciphertexts' primes: the products of messages
/// that are `Q/t` times integers are `Q/t` times the products of the integers, modulo t.
///
/// The second of two factors is brought to the auxiliary modulus B, whose primes are the special and the auxiliary ones next
/// to q_0, as few as make it as large as Q. That adds noise as a modulus switch to B would.
/// [`ScaledProduct`](noren_ring::product::ScaledProduct) says how large the error is. Range: t in `[1, 2^50)`.
///
/// # Errors
/// [`Error::LevelMismatch`] if ciphertexts have different numbers of limbs, [`Error::KeyMismatch`] if they belong to
/// different secret keys, [`Error::DegreeTooHigh`] if one must be
/// relinearised first, [`Error::Parameters`] if there are too few auxiliary primes or none is special.
///
/// # Panics
/// If there is no product, or t is a multiple of a prime of the parameters.
pub fn tensor_scaled(context: &Context, products: &[Factors], t: u64) -> Result<Ciphertext> {
    let (limbs, owner) = check(products)?;
    let product = context.scaled_product(limbs, t)?;
    with_parts(context, products, |factors| {
        Ok(Ciphertext::new(context.ring().scaled_product(&product, factors).into(), owner))
    })
}

/// [`tensor_scaled`] and [`relinearize`](crate::multiply::relinearize) at once, modulo the first `kept` limbs alone: the three
/// parts are not divided one by one, and there is one rounding in place of three.
///
/// # Errors
/// As [`tensor_scaled`], also for keys of another secret key; [`Error::MissingKey`] and [`Error::KeyLevel`] if the relinearisation key is missing or too short;
/// [`Error::LevelExhausted`] if more limbs are to be kept than there are.
///
/// # Panics
/// As [`tensor_scaled`], or if `kept` is 0.
pub fn multiply_scaled(
    context: &Context,
    products: &[Factors],
    t: u64,
    kept: usize,
    keys: &EvaluationKeys,
) -> Result<Ciphertext> {
    let (limbs, owner) = check(products)?;
    check_kept(limbs, kept)?;
    keys.owner().key.check(owner, "the ciphertext")?;
    let key = keys.relinearization(limbs)?;
    let switching = check_key(context, key, limbs)?;
    let product = switching.scaled_product(limbs, kept, t)?;
    with_parts(context, products, |factors| {
        let parts = context.ring().switched_product(&product, switching.decomposer(), key.pairs(), factors);
        Ok(Ciphertext::new(parts.into(), owner))
    })
}

/// `sum_k a_k b_k t`, relinearised and divided by all limbs but the first `kept`.
///
/// A message in the upper bits is one in the lowest bits over t: `t (c_0 + c_1 s) = -[Q m]_t + t e`, which is small. So the
/// product of phases `x/t` and `x'/t` modulo Q, for small x and x', times t is the phase `x x'/t` of the same kind. Its
/// message has a factor modulo t: with `x = -Q m` and `x' = -Q m'` it is `-Q m m'`, for the Q of the factors; division by
/// limbs keeps the message. Source: Brakerski, Gentry and Vaikuntanathan, eprint 2011/277, in the form of Alperin-Sheriff
/// and Peikert, eprint 2013/372.
///
/// # Errors
/// As [`multiply_scaled`], but auxiliary primes are not needed.
///
/// # Panics
/// If there is no product, or `kept` is 0.
pub fn multiply_switched(
    context: &Context,
    products: &[Factors],
    t: u64,
    kept: usize,
    keys: &EvaluationKeys,
) -> Result<Ciphertext> {
    let (limbs, owner) = check(products)?;
    check_kept(limbs, kept)?;
    keys.owner().key.check(owner, "the ciphertext")?;
    let ring = context.ring_q(limbs);
    with_parts(context, products, |factors| {
        let residues = ring.integer_residues(t.into());
        let multiples: Vec<[Poly<Eval>; 2]> =
            factors.iter().map(|[a, _]| a.map(|part| ring.mul_scalar(part, &residues))).collect();
        let pairs = || multiples.iter().zip(factors).map(|(a, [_, b])| (a.each_ref(), *b));
        let first: Vec<_> = pairs().map(|([a0, _], [b0, _])| (a0, b0)).collect();
        let middle: Vec<_> = pairs().flat_map(|([a0, a1], [b0, b1])| [(a0, b1), (a1, b0)]).collect();
        let last: Vec<_> = pairs().map(|([_, a1], [_, b1])| (a1, b1)).collect();
        let parts = [&first[..], &middle, &last].map(Operand::Products);
        switch_square(context, parts, limbs, keys, kept)
    })
}

/// Refuses factors of different secret keys, levels or degrees; how many limbs they have, and whose they are.
///
/// # Panics
/// If there is none.
fn check(products: &[Factors]) -> Result<(usize, KeyId)> {
    let first = products.first().expect("a sum of products has one at least")[0];
    products.as_flattened().iter().try_for_each(|factor| {
        check_pair(first, factor)?;
        check_degree(factor)
    })?;
    Ok((first.limbs(), first.key_id()))
}

/// Refuses to keep more limbs than there are.
fn check_kept(limbs: usize, kept: usize) -> Result<()> {
    assert!(kept > 0, "a ciphertext has a limb");
    if kept <= limbs { Ok(()) } else { Err(Error::LevelExhausted { needed: kept - 1, left: limbs - 1 }) }
}

/// Runs `multiply` on the two parts of all factors; a missing one is 0.
fn with_parts(
    context: &Context,
    products: &[Factors],
    multiply: impl FnOnce(&[Pairs]) -> Result<Ciphertext>,
) -> Result<Ciphertext> {
    let single = products.as_flattened().iter().find(|factor| factor.degree() == 0);
    let zero = single.map(|factor| context.ring_q(factor.limbs()).zero());
    fn both<'a>(factor: &'a Ciphertext, zero: &'a Option<Poly<Eval>>) -> [&'a Poly<Eval>; 2] {
        match (factor.parts(), zero) {
            ([c0, c1, ..], _) | ([c0], Some(c1)) => [c0, c1],
            _ => unreachable!("a ciphertext has a part, and there is a zero if one has a single part"),
        }
    }
    multiply(&products.iter().map(|factors| factors.map(|factor| both(factor, &zero))).collect::<Vec<_>>())
}
