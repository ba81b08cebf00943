//! Keys from the sums of the shares of all parties. Anybody can make them.

use std::sync::Arc;

use noren_math::random::Seed;
use noren_ring::poly::{Eval, Poly};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::joint::generator::{public_seed, switch_seed};
use crate::joint::share::{KeyShare, RELINEARIZATION, Round, Rows};
use crate::keygen::{Digits, check_public, digit_half, public_half};
use crate::keys::{EvaluationKeys, KeySwitchKey, PublicKey};
use crate::owner::{KeyId, Owner};
use crate::words::digest_residues;

/// The domain separator of identities of joint secrets.
const CONTEXT: &str = "noren identity of a joint secret key, version 1";

/// The public key of a joint secret, from the sum of all shares of the first round. It gives the secret its identity: a hash of the
/// parameters, the common seed (which is bound to the names of the parties) and the key.
///
/// # Errors
/// [`Error::Parameters`] for a sum of the second round, [`Error::ZeroKey`] for a key that hides nothing.
pub fn public_key(context: &Context, common: &Seed, sum: &KeyShare) -> Result<PublicKey> {
    let needed = || Error::parameter("a sum of shares", "one of the second round", "that of the first round");
    let b = sum.public.clone().ok_or_else(needed)?;
    let ring = context.ring_q(context.parameters().max_limbs());
    check_public(&ring, &b)?;
    let seed = public_seed(common);
    let a = public_half(&ring, &seed);
    let fingerprint = context.parameters().fingerprint();
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    hasher.update(&fingerprint).update(common.as_bytes());
    digest_residues(&mut hasher, &ring, &b);
    let mut id = [0; KeyId::BYTES];
    hasher.finalize_xof().fill(&mut id);
    Ok(PublicKey { b, a, seed, owner: Owner { fingerprint, key: KeyId(id) } })
}

/// The evaluation keys of a joint secret: those of automorphisms from the sum of the first round, and relinearisation, if there is one,
/// from both.
///
/// # Errors
/// [`Error::Parameters`] for sums of other rounds, or of rounds that do not belong together.
pub fn evaluation_keys(
    context: &Context,
    common: &Seed,
    public: &PublicKey,
    [first, second]: [&KeyShare; 2],
) -> Result<EvaluationKeys> {
    let parameters = context.parameters();
    let of_first = first.switches.get(&RELINEARIZATION);
    let of_second = second.switches.get(&RELINEARIZATION);
    let fits =
        |(first, second): (&Rows, &Rows)| first.limbs == second.limbs && first.rows.len() == 2 * second.rows.len();
    let together = of_first.zip(of_second).map_or(of_first.is_none() && of_second.is_none(), fits);
    if first.round != Round::First || second.round != Round::Second || !together {
        return Err(Error::parameter(
            "sums of shares",
            "those of other rounds or keys",
            "those of both rounds of a session",
        ));
    }
    let mut keys = EvaluationKeys::shaped(parameters, parameters.shape(), public.owner.key);
    for (&element, rows) in &first.switches {
        let (seed, b): (_, &[Poly<Eval>]) = match (element, of_second) {
            (RELINEARIZATION, Some(second)) => (None, &second.rows),
            _ => (Some(switch_seed(common, element)), &rows.rows),
        };
        let digits = Digits::new(&*context.switching(parameters.shape())?, rows.limbs);
        let ring = &digits.ring;
        let mut pairs = ring.zero_key(digits.count());
        for (j, b) in b.iter().enumerate() {
            match &seed {
                Some(seed) => ring.set_key_pair(&mut pairs, j, [b, &digit_half(ring, seed, j)]),
                None => ring.set_key_pair(&mut pairs, j, [b, &rows.rows[digits.count() + j]]),
            }
        }
        let (owner, shape, limbs) = (public.owner, parameters.shape(), rows.limbs);
        let key = Arc::new(KeySwitchKey { pairs, shape, seed, limbs, owner, from: owner.key });
        match element {
            RELINEARIZATION => keys.insert_relinearization(key)?,
            k => keys.insert_galois(k, key)?,
        }
    }
    Ok(keys)
}
