//! Decryption, for the owner of the secret key.

use crate::ciphertext::{Ciphertext, Plaintext};
use crate::context::Context;
use crate::error::Result;
use crate::keys::SecretKey;

/// `c_0 + c_1 s + ... + c_d s^d` by Horner's rule: the message with its noise.
///
/// The noise depends on the secret. Where a scheme's messages do not hide it (CKKS), the result is for the owner of the
/// key only: given away, decryptions leak the key (Li and Micciancio, eprint 2020/1533).
///
/// # Errors
/// [`Error::ParameterMismatch`](crate::error::Error::ParameterMismatch) if the key was made with other parameters,
/// [`Error::KeyMismatch`](crate::error::Error::KeyMismatch) if the ciphertext belongs to another secret key.
///
/// # Panics
/// If the ciphertext is not over the first primes of the context.
pub fn decrypt(context: &Context, secret: &SecretKey, ciphertext: &Ciphertext) -> Result<Plaintext> {
    context.parameters().check_fingerprint(secret.fingerprint(), "the secret key")?;
    secret.owner.key.check(ciphertext.key_id(), "the ciphertext")?;
    let ring = context.ring_q(ciphertext.limbs());
    let (first, rest) = ciphertext.parts().split_last().expect("a ciphertext has at least one part");
    let mut poly = first.clone().into_secret();
    let s = secret.over(&ring);
    for part in rest.iter().rev() {
        ring.mul_assign(&mut poly, &s);
        ring.add_assign(&mut poly, part);
    }
    Ok(Plaintext { poly })
}
