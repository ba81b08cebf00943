//! Operations without keys: sums, products with plaintexts, and fewer limbs.

use std::borrow::Cow;

use noren_ring::poly::{Eval, Poly};
use noren_ring::ring::Ring;

use crate::ciphertext::{Ciphertext, Plaintext};
use crate::context::Context;
use crate::error::{Error, Result};

/// `a += b`; where one has fewer parts, its missing ones are zero.
///
/// # Errors
/// [`Error::LevelMismatch`] if the operands have different numbers of limbs, [`Error::KeyMismatch`] if they belong to
/// different secret keys.
pub fn add_assign(context: &Context, a: &mut Ciphertext, b: &Ciphertext) -> Result<()> {
    join(context, a, b, Ring::add_assign, Poly::clone)
}

/// `a -= b`; see [`add_assign`].
///
/// # Errors
/// As [`add_assign`].
pub fn sub_assign(context: &Context, a: &mut Ciphertext, b: &Ciphertext) -> Result<()> {
    let ring = context.ring_q(b.limbs());
    join(context, a, b, Ring::sub_assign, |part| ring.neg(part))
}

/// `a = -a`.
pub fn neg_assign(context: &Context, a: &mut Ciphertext) {
    let ring = context.ring_q(a.limbs());
    a.parts_mut().iter_mut().for_each(|part| ring.neg_assign(part));
}

/// `a += m`. The plaintext may have more limbs.
///
/// # Errors
/// [`Error::LevelMismatch`] if the plaintext has fewer limbs.
pub fn add_plain_assign(context: &Context, a: &mut Ciphertext, m: &Plaintext) -> Result<()> {
    let ring = plain_ring(context, a, m)?;
    ring.add_assign(&mut a.parts_mut()[0], &shortened(&ring, &m.poly));
    Ok(())
}

/// `a -= m`. The plaintext may have more limbs.
///
/// # Errors
/// As [`add_plain_assign`].
pub fn sub_plain_assign(context: &Context, a: &mut Ciphertext, m: &Plaintext) -> Result<()> {
    let ring = plain_ring(context, a, m)?;
    ring.sub_assign(&mut a.parts_mut()[0], &shortened(&ring, &m.poly));
    Ok(())
}

/// `a *= m`. The plaintext may have more limbs.
///
/// # Errors
/// As [`add_plain_assign`].
pub fn mul_plain_assign(context: &Context, a: &mut Ciphertext, m: &Plaintext) -> Result<()> {
    let ring = plain_ring(context, a, m)?;
    a.parts_mut().iter_mut().for_each(|part| ring.mul_assign(part, &m.poly));
    Ok(())
}

/// The same ciphertext modulo its first `limbs` primes: the message must be small enough for them.
///
/// # Errors
/// [`Error::LevelExhausted`] if the ciphertext has fewer limbs.
///
/// # Panics
/// If `limbs` is 0.
pub fn drop_limbs(context: &Context, mut a: Ciphertext, limbs: usize) -> Result<Ciphertext> {
    if limbs > a.limbs() {
        return Err(Error::LevelExhausted { needed: limbs - 1, left: a.level() });
    }
    if limbs == a.limbs() {
        return Ok(a);
    }
    a.truncate(&context.ring_q(limbs));
    Ok(a)
}

/// Divides message and noise by the last prime, rounding: one level down.
///
/// The rounding adds noise of standard deviation [`rounding`](crate::noise::rounding).
///
/// # Errors
/// [`Error::LevelExhausted`] if there is only one limb.
pub fn rescale(context: &Context, a: Ciphertext) -> Result<Ciphertext> {
    check_levels(1, a.level())?;
    let (divide, owner) = (context.rescale(a.limbs()), a.key_id());
    Ok(Ciphertext::new(context.ring().divide_round_all(a.into_parts(), divide), owner))
}

/// Divides message and noise by all primes but the first `limbs`, with one rounding; at `limbs` limbs it stays as it is.
///
/// The rounding adds noise of standard deviation [`rounding`](crate::noise::rounding).
///
/// # Errors
/// [`Error::LevelExhausted`] if the ciphertext has fewer limbs.
///
/// # Panics
/// If `limbs` is 0.
pub fn mod_switch(context: &Context, a: Ciphertext, limbs: usize) -> Result<Ciphertext> {
    check_levels(limbs.saturating_sub(1), a.level())?;
    if limbs == a.limbs() {
        return Ok(a);
    }
    let (divide, owner) = (context.mod_switch(a.limbs(), limbs), a.key_id());
    Ok(Ciphertext::new(context.ring().divide_round_all(a.into_parts(), &divide), owner))
}

/// Refuses an operation that consumes more levels than are left.
pub(crate) fn check_levels(needed: usize, left: usize) -> Result<()> {
    if needed <= left { Ok(()) } else { Err(Error::LevelExhausted { needed, left }) }
}

/// Refuses operands of different secret keys or different levels.
pub(crate) fn check_pair(a: &Ciphertext, b: &Ciphertext) -> Result<()> {
    a.key_id().check(b.key_id(), "the second operand")?;
    if a.limbs() == b.limbs() { Ok(()) } else { Err(Error::LevelMismatch { left: a.level(), right: b.level() }) }
}

fn plain_ring(context: &Context, a: &Ciphertext, m: &Plaintext) -> Result<Ring> {
    if m.limbs() < a.limbs() {
        return Err(Error::LevelMismatch { left: a.level(), right: m.level() });
    }
    Ok(context.ring_q(a.limbs()))
}

/// The limbs of the ring, copied only where there are more.
fn shortened<'a>(ring: &Ring, poly: &'a Poly<Eval>) -> Cow<'a, Poly<Eval>> {
    if poly.window() == ring.range() { Cow::Borrowed(poly) } else { Cow::Owned(ring.restrict(poly)) }
}

/// Joins the parts of `b` into those of `a`: `both` where a has the part too, `only` where it has not.
fn join(
    context: &Context,
    a: &mut Ciphertext,
    b: &Ciphertext,
    both: impl Fn(&Ring, &mut Poly<Eval>, &Poly<Eval>),
    only: impl Fn(&Poly<Eval>) -> Poly<Eval>,
) -> Result<()> {
    check_pair(a, b)?;
    let ring = context.ring_q(a.limbs());
    let common = a.parts().len().min(b.parts().len());
    for (x, y) in a.parts_mut().iter_mut().zip(b.parts()) {
        both(&ring, x, y);
    }
    a.extend(b.parts()[common..].iter().map(only));
    Ok(())
}
