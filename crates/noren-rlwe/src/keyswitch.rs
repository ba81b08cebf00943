//! Hybrid key switching: once, for several automorphisms, and summed before the division.

use std::sync::Arc;

use noren_ring::automorphism::Automorphism;
use noren_ring::operand::Operand;
use noren_ring::poly::{Eval, Poly};
use noren_ring::switch::{KeySwitch, Term};

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::keys::KeySwitchKey;
use crate::switching::Switching;

/// Switches `c`, a polynomial that is multiplied with the secret `s'`, to the secret `s` of the key: a pair with
/// `u_0 + u_1 s = c s' + noise`.
///
/// The digits of c are extended to the special primes (ModUp), their inner products with the halves of the key are
/// taken, and these are divided by the special modulus P (ModDown). The noise has the standard deviation
/// [`key_switch`](crate::noise::key_switch). Source: Han and Ki, eprint 2019/688, section 3.
///
/// # Errors
/// [`Error::KeyLevel`] if the key was made for fewer limbs, [`Error::ParameterMismatch`] if it was made with other
/// parameters.
pub fn switch_key(context: &Context, c: &Poly<Eval>, key: &KeySwitchKey) -> Result<[Poly<Eval>; 2]> {
    let switching = check_key(context, key, c.limbs())?;
    let terms = [Term { key: &key.pairs, automorphism: None }];
    let switch = KeySwitch { terms: &terms, moved: None, added: [None, None], divide: switching.mod_down(c.limbs()) };
    Ok(context.ring_q(c.limbs()).switch(c, switching.decomposer(), &switch))
}

/// The ciphertext, of one or two parts, under the secret of the key, which switches from the one that it is under: what
/// [`switch_key`] does for its second part.
///
/// # Errors
/// As [`switch_key`], [`Error::DegreeTooHigh`] if there are more than two parts, and [`Error::KeyMismatch`] if the key
/// switches from another secret.
pub fn switch_secret(context: &Context, ciphertext: &Ciphertext, key: &KeySwitchKey) -> Result<Ciphertext> {
    let limbs = ciphertext.limbs();
    check_degree(ciphertext)?;
    check_key(context, key, limbs)?;
    key.from.check(ciphertext.key_id(), "the ciphertext")?;
    match ciphertext.parts() {
        [c0, c1] => switch_added(context, c1.into(), limbs, key, [Some(c0.into()), None], limbs),
        parts => Ok(Ciphertext::new(vec![parts[0].clone(), context.ring_q(limbs).zero()], key.owner.key)),
    }
}

/// The switch of `c`, of `limbs` limbs, to the secret of the key, with two elements added. It is divided by all limbs but the
/// first `kept` together with P: one division, with one rounding.
pub(crate) fn switch_added(
    context: &Context,
    c: Operand,
    limbs: usize,
    key: &KeySwitchKey,
    added: [Option<Operand>; 2],
    kept: usize,
) -> Result<Ciphertext> {
    let switching = check_key(context, key, limbs)?;
    let terms = [Term { key: &key.pairs, automorphism: None }];
    let divide = switching.mod_down_to(limbs, kept);
    let switch = KeySwitch { terms: &terms, moved: None, added, divide };
    let parts = context.ring_q(limbs).switch(c, switching.decomposer(), &switch);
    Ok(Ciphertext::new(parts.into(), key.owner.key))
}

/// An automorphism with its key.
pub(crate) type Image<'a> = (Arc<Automorphism>, &'a KeySwitchKey);

/// The images of a ciphertext of one or two parts under automorphisms with their keys, of its secret key: with one
/// decomposition.
pub(crate) fn switch_images(context: &Context, ciphertext: &Ciphertext, images: &[Image]) -> Result<Vec<Ciphertext>> {
    let (limbs, owner) = (ciphertext.limbs(), ciphertext.key_id());
    let ring = context.ring_q(limbs);
    match (ciphertext.parts(), check_images(context, images, ciphertext)?) {
        (_, None) => Ok(Vec::new()),
        ([c0, c1, ..], Some(switching)) => {
            let terms = terms(images);
            let images = ring.switch_each(c1, switching.decomposer(), &moved(&switching, c0, &terms));
            Ok(images.into_iter().map(|parts| Ciphertext::new(parts.into(), owner)).collect())
        }
        (parts, Some(_)) => {
            let image = |(psi, _): &Image| Ciphertext::new(vec![ring.automorphism(&parts[0], psi), ring.zero()], owner);
            Ok(images.iter().map(image).collect())
        }
    }
}

/// `direct + sum_k psi_k(ct)` over automorphisms with their keys, for a ciphertext of one or two parts, and as many parts of
/// `direct`: with one decomposition and one division.
pub(crate) fn sum_images(
    context: &Context,
    ciphertext: &Ciphertext,
    direct: &[Poly<Eval>],
    images: &[Image],
) -> Result<Ciphertext> {
    let (limbs, owner) = (ciphertext.limbs(), ciphertext.key_id());
    let ring = context.ring_q(limbs);
    match (ciphertext.parts(), check_images(context, images, ciphertext)?) {
        (_, None) => Ok(Ciphertext::new(direct.to_vec(), owner)),
        ([c0, c1, ..], Some(switching)) => {
            let terms = terms(images);
            let added = [0, 1].map(|i| direct.get(i).map(Operand::from));
            let switch = KeySwitch { added, ..moved(&switching, c0, &terms) };
            Ok(Ciphertext::new(ring.switch(c1, switching.decomposer(), &switch).into(), owner))
        }
        (parts, Some(_)) => {
            let mut sum = direct[0].clone();
            images.iter().for_each(|(psi, _)| ring.automorphism_add_assign(&mut sum, &parts[0], psi));
            Ok(Ciphertext::new(vec![sum, ring.zero()], owner))
        }
    }
}

/// The result of steps `ct -> ct + sum_k psi_k(ct)` over automorphisms with their keys, at least one in each, for a
/// ciphertext of two parts: the first is divided once.
pub(crate) fn sum_images_in_steps(
    context: &Context,
    ciphertext: &Ciphertext,
    steps: &[Vec<Image>],
) -> Result<Ciphertext> {
    let limbs = ciphertext.limbs();
    let switchings =
        steps.iter().map(|images| check_images(context, images, ciphertext)).collect::<Result<Vec<_>>>()?;
    let switching = switchings.into_iter().flatten().next().expect("a step has an automorphism");
    let [c0, c1] = [0, 1].map(|i| &ciphertext.parts()[i]);
    let terms: Vec<Vec<Term>> = steps.iter().map(|images| terms(images)).collect();
    let steps: Vec<&[Term]> = terms.iter().map(Vec::as_slice).collect();
    let (ring, divide) = (context.ring_q(limbs), switching.mod_down(limbs));
    let parts = ring.sum_in_steps([c0, c1], switching.decomposer(), &steps, divide);
    Ok(Ciphertext::new(parts.into(), ciphertext.key_id()))
}

/// Refuses ciphertexts that must be relinearised first.
pub(crate) fn check_degree(ciphertext: &Ciphertext) -> Result<()> {
    match ciphertext.degree() {
        0 | 1 => Ok(()),
        found => Err(Error::DegreeTooHigh { found, needed: 1 }),
    }
}

/// The switch that brings the sum of the images of `c_0` and the digits of `c_1` under the automorphisms of the terms.
fn moved<'a>(switching: &'a Switching, c0: &'a Poly<Eval>, terms: &'a [Term<'a>]) -> KeySwitch<'a> {
    KeySwitch { terms, moved: Some(c0), added: [None, None], divide: switching.mod_down(c0.limbs()) }
}

fn terms<'a>(images: &'a [Image]) -> Vec<Term<'a>> {
    images.iter().map(|(psi, key)| Term { key: &key.pairs, automorphism: Some(psi) }).collect()
}

/// Refuses images with keys of other parameters, of another secret key or for fewer limbs; the converters of the keys, which
/// are of one set and so of one shape, unless there are none.
fn check_images(context: &Context, images: &[Image], ciphertext: &Ciphertext) -> Result<Option<Arc<Switching>>> {
    let check = |(_, key): &Image| {
        let switching = check_key(context, key, ciphertext.limbs())?;
        key.from.check(ciphertext.key_id(), "the ciphertext")?;
        Ok(switching)
    };
    let switchings = images.iter().map(check).collect::<Result<Vec<_>>>()?;
    Ok(switchings.into_iter().next())
}

/// Refuses a key of other parameters or for fewer limbs; its converters.
pub(crate) fn check_key(context: &Context, key: &KeySwitchKey, limbs: usize) -> Result<Arc<Switching>> {
    context.parameters().check_fingerprint(key.fingerprint(), "the key switching key")?;
    if key.limbs < limbs {
        return Err(Error::KeyLevel { kind: "key switching".into(), found: key.limbs, needed: limbs, key: None });
    }
    context.switching(key.shape)
}
