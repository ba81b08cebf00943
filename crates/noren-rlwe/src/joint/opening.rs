//! Decryption by all parties: each multiplies the second part of a ciphertext by its secret, and hides the product behind a flood.

use noren_math::random::Seed;
use noren_ring::poly::{Eval, Poly};

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::flood::uniform;
use crate::keys::SecretKey;
use crate::owner::KeyId;
use crate::streams::{Purpose, hex};
use crate::words::{has_zero_limb, seed_of_residues};

/// What parties need of a ciphertext to open it: its second part, without the constant one, which is in no share.
pub struct SecondPart {
    pub(crate) c1: Poly<Eval>,
    key: KeyId,
}

impl SecondPart {
    /// The second part of a ciphertext.
    ///
    /// # Errors
    /// [`Error::DegreeTooHigh`] for a product that was not relinearised.
    pub fn of(ciphertext: &Ciphertext) -> Result<Self> {
        match ciphertext.parts() {
            [_, c1] => Ok(Self::new(c1.clone(), ciphertext.key_id())),
            _ => Err(Error::DegreeTooHigh { found: ciphertext.degree(), needed: 1 }),
        }
    }

    /// The second part of a ciphertext under the secret key of this identity.
    #[must_use]
    pub const fn new(c1: Poly<Eval>, key: KeyId) -> Self {
        Self { c1, key }
    }

    /// The polynomial.
    #[must_use]
    pub const fn poly(&self) -> &Poly<Eval> {
        &self.c1
    }

    /// The identity of the secret key that decrypts the ciphertext.
    #[must_use]
    pub const fn key_id(&self) -> KeyId {
        self.key
    }
}

/// What a party opens with.
pub struct Opener<'a> {
    /// Its secret, which every flood is bound to.
    pub secret: &'a SecretKey,
    /// What stands for its secret where not all parties open: see [`weighted`](crate::joint::threshold::weighted).
    pub part: Option<&'a Poly<Eval>>,
    /// The seed of its floods.
    pub seed: &'a Seed,
    /// For each other party that opens a seed that both have and nobody else, and whether the mask of it is added or subtracted: added by
    /// one of the two.
    pub masks: &'a [(Seed, bool)],
}

/// The share of a party in the decryption of a ciphertext of the joint secret `key`: `c_1 s_i` with a flood of `bits` bits, divided to
/// `kept` limbs, and masks whose sum over all parties is 0.
///
/// Flood and masks follow from the party's seeds, the session and the second part of the ciphertext, so that a second share for it is the
/// first one again. With the constant part of the ciphertext, divided likewise, the shares of all parties add up to the message with its
/// noise, all floods, and the roundings. Single shares, and sums of some, are uniform for everybody who has none of the seeds: so they
/// tell nothing of a part, whatever the second parts of several ciphertexts have to do with each other.
///
/// # Errors
/// [`Error::KeyMismatch`] for a ciphertext of another secret, [`Error::ZeroKey`] for a ciphertext whose second part is zero, which would show the flood, [`Error::Parameters`] for more limbs than it
/// has.
pub fn share(
    context: &Context,
    opener: &Opener<'_>,
    (key, session): (KeyId, &Seed),
    part: &SecondPart,
    (bits, kept): (u32, usize),
) -> Result<Poly<Eval>> {
    context.parameters().check_fingerprint(opener.secret.fingerprint(), "the secret key")?;
    key.check(part.key, "the ciphertext")?;
    let (c1, limbs) = (&part.c1, part.c1.limbs());
    if !(1..=limbs).contains(&kept) {
        return Err(Error::parameter("limbs of a share", kept, format!("1 to {limbs}")));
    }
    let ring = context.ring_q(limbs);
    if has_zero_limb(&ring, c1) {
        return Err(Error::ZeroKey { key: "second part of the ciphertext, in some limb or in all," });
    }
    let public = session.derive("opening");
    let words: Vec<u64> = public.as_bytes().chunks(size_of::<u64>()).map(word).collect();
    let bound =
        |seed: &Seed, label| seed_of_residues(seed, label, &[&words, &[bits.into(), limbs as u64]], &ring, &[c1]);
    let own = Purpose::JointOpening.seed_of(opener.seed, &opener.secret.owner());
    let mut share = match opener.part {
        Some(part) => ring.mul(c1, part),
        None => ring.mul(c1, &opener.secret.over(&ring)),
    };
    ring.add_assign(&mut share, &uniform(&ring, bits, bound(&own, "flood").xof("numbers")));
    let mut share = divided(context, share, limbs, kept).into_secret();
    let ring = context.ring_q(kept);
    // Of all seeds one that the second part is bound to, which is read once.
    let second = bound(&public, "masks");
    for (seed, added) in opener.masks {
        let mask = ring.uniform(&seed.derive(&hex(second.as_bytes())), "mask");
        if *added { ring.add_assign(&mut share, &mask) } else { ring.sub_assign(&mut share, &mask) }
    }
    Ok(share.into_public())
}

/// A polynomial at `limbs` limbs, divided by all but the first `kept` of them, and rounded.
#[must_use]
pub fn divided(context: &Context, poly: Poly<Eval>, limbs: usize, kept: usize) -> Poly<Eval> {
    if kept == limbs { poly } else { context.ring().divide_round(poly, &context.mod_switch(limbs, kept)) }
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}
