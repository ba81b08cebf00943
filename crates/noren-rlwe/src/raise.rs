//! More limbs for a ciphertext that has few left (ModRaise): where bootstrapping begins.

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::keys::KeySwitchKey;
use crate::keyswitch::check_degree;

/// The ciphertext with as many limbs: it decrypts to `m + Q' I`, where m in `(-Q'/2, Q'/2)` is what it decrypted to, with its
/// noise, modulo the product Q' of its primes, and I has integer coefficients.
///
/// Each part is lifted by its centred representatives, exactly. Under a secret with h coefficients +-1 and the others 0,
/// each coefficient of `m/Q' + I` is a sum of h + 1 numbers that are about uniform in (-1/2, 1/2), if the ciphertext has
/// two parts: its variance is (h + 1)/12, and it is below (h + 1)/2. A dense secret makes I too large for most uses:
/// [`mod_raise_switch`] goes through a sparse one.
///
/// # Errors
/// [`Error::Parameters`] unless there are to be more limbs than the ciphertext has, and no more than the parameters have.
pub fn mod_raise(context: &Context, ciphertext: &Ciphertext, limbs: usize) -> Result<Ciphertext> {
    let most = context.parameters().max_limbs();
    if !(ciphertext.limbs() < limbs && limbs <= most) {
        let needed =
            format!("above the {} of the ciphertext, and at most the {most} of the parameters", ciphertext.limbs());
        return Err(Error::parameter("limbs", limbs, needed));
    }
    let ring = context.ring_q(limbs);
    Ok(Ciphertext::new(ciphertext.parts().iter().map(|part| ring.raise(part)).collect(), ciphertext.key_id()))
}

/// [`mod_raise`] to all limbs of the key and a switch to its secret, in one pass: under the secret of the key the result
/// decrypts to what the raised ciphertext decrypts to under the secret that the key switches from, with the noise
/// [`raise_switch`](crate::noise::raise_switch).
///
/// The second part, which is short, is every digit itself. So nothing is decomposed, and a key of one digit serves as well
/// as one of several.
///
/// With [`switch_secret`](crate::keyswitch::switch_secret) before, this is the encapsulation in a sparse secret: there, with
/// a key for the few limbs that the ciphertext has left, which is all that a sparse secret carries, and back with a key
/// under the main secret. Source: Bossuat, Troncoso-Pastoriza and Hubaux, eprint 2022/024, section 3.
///
/// # Errors
/// [`Error::KeyLevel`] if the key was made for no more limbs than the ciphertext has, [`Error::ParameterMismatch`] if it was
/// made with other parameters, [`Error::KeyMismatch`] if it switches from another secret than that of the ciphertext,
/// [`Error::DegreeTooHigh`] if the ciphertext has more than two parts.
pub fn mod_raise_switch(context: &Context, ciphertext: &Ciphertext, key: &KeySwitchKey) -> Result<Ciphertext> {
    context.parameters().check_fingerprint(key.fingerprint(), "the key switching key")?;
    key.from.check(ciphertext.key_id(), "the ciphertext")?;
    check_degree(ciphertext)?;
    if key.limbs <= ciphertext.limbs() {
        let needed = ciphertext.limbs() + 1;
        return Err(Error::KeyLevel { kind: "raising".into(), found: key.limbs, needed, key: None });
    }
    match ciphertext.parts() {
        [c0, c1] => {
            let switching = context.switching(key.shape)?;
            let parts = context.ring().raise_and_switch([c0, c1], switching.mod_down(key.limbs), &key.pairs);
            Ok(Ciphertext::new(parts.into(), key.owner.key))
        }
        parts => {
            let ring = context.ring_q(key.limbs);
            Ok(Ciphertext::new(vec![ring.raise(&parts[0]), ring.zero()], key.owner.key))
        }
    }
}
