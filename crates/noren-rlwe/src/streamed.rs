//! Sums of rotations times so many plaintexts that they are not kept in evaluation form.

use noren_ring::images::Images;
use noren_ring::small::SmallPolynomials;

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::galois::{apply_automorphism, apply_automorphisms};
use crate::keys::EvaluationKeys;
use crate::keyswitch::check_degree;
use crate::linear::{add_assign, check_pair};
use crate::owner::KeyId;

/// The number of images that are made at a time, before they are laid out for the products.
const AT_ONCE: usize = 32;

/// `psi_a(ct)` for the exponents a in `exponents` and each of some ciphertexts, ciphertext by ciphertext, as
/// [`sum_streamed`] reads them, one of `sets` sets of images.
///
/// # Errors
/// [`Error::LevelMismatch`] if the ciphertexts have different numbers of limbs, [`Error::KeyMismatch`] if they or the keys
/// belong to different secret keys, [`Error::DegreeTooHigh`] if one must be
/// relinearised first, [`Error::MissingKey`], [`Error::KeyLevel`] and [`Error::NotAnAutomorphism`] as for single
/// automorphisms.
///
/// # Panics
/// If there is no ciphertext, or one has a single part.
pub fn images(
    context: &Context,
    ciphertexts: &[&Ciphertext],
    exponents: &[u32],
    keys: &EvaluationKeys,
    sets: usize,
) -> Result<Images> {
    let first = ciphertexts.first().expect("images are those of a ciphertext");
    let ring = context.ring_q(first.limbs());
    let mut images = ring.images(ciphertexts.len() * exponents.len(), sets);
    for (i, ciphertext) in ciphertexts.iter().enumerate() {
        check_pair(first, ciphertext)?;
        check_degree(ciphertext)?;
        for (j, exponents_now) in exponents.chunks(AT_ONCE).enumerate() {
            let made = apply_automorphisms(context, ciphertext, exponents_now, keys)?;
            for (k, image) in made.iter().enumerate() {
                let [c0, c1] = image.parts() else { panic!("an image has two parts") };
                ring.set_image(&mut images, i * exponents.len() + j * AT_ONCE + k, [c0, c1]);
            }
        }
    }
    Ok(images)
}

/// The sums `S_b = sum_a f_{b A + a} y_a` over A images under the secret key of this identity, for each set of images: see
/// [`Ring::streamed_sums`](noren_ring::ring::Ring::streamed_sums).
///
/// # Errors
/// [`Error::Length`] unless there are as many factors for each sum as images.
///
/// # Panics
/// If there are no images, or sets differ in their limbs.
pub fn sum_streamed(
    context: &Context,
    limbs: usize,
    sets: &[&Images],
    factors: &SmallPolynomials,
    key: KeyId,
) -> Result<Vec<Vec<Ciphertext>>> {
    let images = sets.first().map_or(0, |set| set.count());
    if images == 0 || !factors.count().is_multiple_of(images) {
        let needed = format!("a multiple of the {images} images, of which there is at least one");
        return Err(Error::Length { what: "factors", found: factors.count(), needed });
    }
    let sums = context.ring_q(limbs).streamed_sums(sets, factors);
    let set = |sums: Vec<_>| sums.into_iter().map(|pair: [_; 2]| Ciphertext::new(pair.into(), key)).collect();
    Ok(sums.into_iter().map(set).collect())
}

/// `S_0 + psi(S_1 + psi(S_2 + ..))` for the automorphism `psi: X -> X^k`, with its key alone.
///
/// # Errors
/// As [`apply_automorphism`]; [`Error::LevelMismatch`] if the sums have different numbers of limbs.
///
/// # Panics
/// If there is no sum.
pub fn sum_in_turn(context: &Context, sums: &[Ciphertext], k: u32, keys: &EvaluationKeys) -> Result<Ciphertext> {
    let (last, rest) = sums.split_last().expect("there is a sum");
    rest.iter().rev().try_fold(last.clone(), |moved, sum| {
        let mut moved = apply_automorphism(context, &moved, k, keys)?;
        add_assign(context, &mut moved, sum)?;
        Ok(moved)
    })
}
