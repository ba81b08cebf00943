//! Decryption by all parties: each multiplies the second part of a ciphertext by its secret, and hides the product behind a flood.

use noren_math::random::Seed;
use noren_ring::poly::{Eval, Poly};

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::flood::uniform;
use crate::keys::SecretKey;
use crate::owner::KeyId;
use crate::streams::Purpose;
use crate::words::{has_zero_limb, seed_of_residues};

/// The share of a party in the decryption of a ciphertext of the joint secret `key`: `c_1 s_i` with a flood of `bits` bits, divided to
/// `kept` limbs.
///
/// The flood follows from the party's seed, the session and the second part of the ciphertext, so that a second share for it is the first
/// one again. With the constant part of the ciphertext, divided likewise, the shares of all parties add up to the message with its
/// noise, all floods, and the roundings.
///
/// # Errors
/// [`Error::KeyMismatch`] for a ciphertext of another secret, [`Error::DegreeTooHigh`] for a product that was not relinearised,
/// [`Error::ZeroKey`] for a ciphertext whose second part is zero, which would show the flood, [`Error::Parameters`] for more limbs than it
/// has.
pub fn share(
    context: &Context,
    (secret, seed): (&SecretKey, &Seed),
    (key, session): (KeyId, &Seed),
    ciphertext: &Ciphertext,
    (bits, kept): (u32, usize),
) -> Result<Poly<Eval>> {
    context.parameters().check_fingerprint(secret.fingerprint(), "the secret key")?;
    key.check(ciphertext.key_id(), "the ciphertext")?;
    let [_, c1] = ciphertext.parts() else {
        return Err(Error::DegreeTooHigh { found: ciphertext.degree(), needed: 1 });
    };
    let limbs = ciphertext.limbs();
    if !(1..=limbs).contains(&kept) {
        return Err(Error::parameter("limbs of a share", kept, format!("1 to {limbs}")));
    }
    let ring = context.ring_q(limbs);
    if has_zero_limb(&ring, c1) {
        return Err(Error::ZeroKey { key: "second part of the ciphertext, in some limb or in all," });
    }
    let own = Purpose::JointOpening.seed_of(seed, &secret.owner());
    let public = session.derive("opening");
    let words: Vec<u64> = public.as_bytes().chunks(size_of::<u64>()).map(word).collect();
    let own = seed_of_residues(&own, "flood", &[&words, &[bits.into(), limbs as u64]], &ring, &[c1]);
    let mut share = ring.mul(c1, &secret.over(&ring));
    ring.add_assign(&mut share, &uniform(&ring, bits, own.xof("numbers")));
    Ok(divided(context, share.into_public(), limbs, kept))
}

/// A polynomial at `limbs` limbs, divided by all but the first `kept` of them, and rounded.
#[must_use]
pub fn divided(context: &Context, poly: Poly<Eval>, limbs: usize, kept: usize) -> Poly<Eval> {
    if kept == limbs { poly } else { context.ring().divide_round(poly, &context.mod_switch(limbs, kept)) }
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}
