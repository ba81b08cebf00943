//! The way of two seeds: a weak client leaves its keys to a stronger device of the same owner.

use noren_rlwe::error::Result;

use crate::advisor::candidate::Candidate;
use crate::advisor::rank::is_slower;
use crate::cost::price::{Left, Party, Price};

/// The same with keys of a stronger device, if the client is slower than its server: the client draws two seeds, makes the secrets
/// from them, and encrypts; the stronger device makes the same secrets and all keys. It has the costs of the server on one thread,
/// as which `priced` prices the keys.
///
/// # Errors
/// What `priced` fails with.
pub(super) fn helped(
    own: &Candidate,
    left: Left,
    client: &Party,
    server: &Party,
    priced: impl FnOnce(&Party) -> Result<f64>,
) -> Result<Option<Candidate>> {
    if !is_slower(client, server) || own.price.key_bytes == 0 {
        return Ok(None);
    }
    let helper_seconds = priced(&Party { threads: 1, ..server.clone() })?;
    let (keys_seconds, client_memory) = (left.secrets_seconds, left.memory);
    let price = Price { keys_seconds, helper_seconds, client_memory, ..own.price.clone() };
    let mut reasons = own.reasons.clone();
    reasons.push("a stronger device of the same owner makes the keys, from two seeds that the client draws".to_owned());
    Ok(Some(Candidate { price, reasons, ..own.clone() }))
}
