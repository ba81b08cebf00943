//! The ways: down to samples over the torus, packing, and up to ciphertexts.

use noren_ring::torus::lwe::Lwe;
use noren_ring::torus::server::TorusServer;
use noren_ring::torus::trace;

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::keyswitch::{check_degree, switch_secret};
use crate::torus::scheme_switch::keys::SwitchKeys;
use crate::torus::scheme_switch::slices::{Slice, SlicedSample};
use crate::words::{element_of_circle, write_on_circle};

/// The sample over the torus, under Z, whose phase is that of the ciphertext over `q_0`, with the noise
/// [`SwitchLaw::down`](crate::torus::scheme_switch::law::SwitchLaw::down).
///
/// Coefficients x of the parts become words `2^64 x / q_0`, rounded to the nearest; as `c_0 + c_1 s` is `b - a s` for `b = c_0` and
/// `a = -c_1`, this is a sample under s, which the key switches to Z.
///
/// # Errors
/// [`Error::ParameterMismatch`] for a context of other parameters, [`Error::KeyMismatch`] for a ciphertext of another secret key,
/// [`Error::Parameters`] for one of several limbs, [`Error::DegreeTooHigh`] for one of more than two parts.
///
/// # Panics
/// If the server is not the one that holds the key.
pub fn down(
    context: &Context,
    ciphertext: &Ciphertext,
    keys: &SwitchKeys,
    large: &TorusServer,
) -> Result<SlicedSample> {
    let parameters = keys.parameters();
    parameters.rlwe().check_fingerprint(&context.parameters().fingerprint(), "the context")?;
    keys.rlwe_owner().key.check(ciphertext.key_id(), "the ciphertext")?;
    check_degree(ciphertext)?;
    if ciphertext.limbs() != 1 {
        return Err(Error::parameter("limbs", ciphertext.limbs(), "1, that of q_0: drop the others first"));
    }
    let ring = context.ring_q(1);
    let mut sample = vec![0; parameters.sliced().words()];
    let (mask, body) = sample.split_at_mut(parameters.sliced().degree);
    for (out, part) in [body, &mut *mask].into_iter().zip(ciphertext.parts()) {
        write_on_circle(&ring, part, out);
    }
    mask.iter_mut().for_each(|word| *word = word.wrapping_neg());
    Ok(SlicedSample::from_words(large.glwe_switch(keys.down(), &sample), parameters.slices()))
}

/// For each group, a number of a slice and samples of dimension `N'`, that slice: sample i of m at coefficient `i 2^t / m`, for t
/// steps, with the noise [`SwitchLaw::packing`](crate::torus::scheme_switch::law::SwitchLaw::packing). Samples that are missing
/// count as 0. Coefficients from `2^t` on hold anything: with all `log2 N'` steps there are none.
///
/// # Errors
/// [`Error::Parameters`] unless there are 1 to `log2 N'` steps, [`Error::Length`] for a number of samples that is not a power of two up
/// to `2^t`, or samples of another dimension.
///
/// # Panics
/// If the server is not the one that holds the key.
pub fn pack(
    steps: usize,
    groups: Vec<(usize, Vec<Option<&Lwe>>)>,
    keys: &SwitchKeys,
    small: &TorusServer,
) -> Result<Vec<Slice>> {
    let degree = keys.parameters().torus().shape().degree;
    let most = trace::steps(degree);
    if !(1..=most).contains(&steps) {
        return Err(Error::parameter("steps", steps, format!("1 to {most}")));
    }
    let (numbers, groups): (Vec<usize>, Vec<Vec<Option<&Lwe>>>) = groups.into_iter().unzip();
    for samples in &groups {
        let found = samples.len();
        if !(found.is_power_of_two() && found <= 1 << steps) {
            let needed = format!("a power of two up to {}", 1usize << steps);
            return Err(Error::Length { what: "samples of a slice", found, needed });
        }
        if let Some(other) = samples.iter().flatten().find(|sample| sample.dimension() != degree) {
            let (found, needed) = (other.dimension(), degree.to_string());
            return Err(Error::Length { what: "dimension of the sample", found, needed });
        }
    }
    let packed = small.pack(keys.packing(), steps, &groups);
    Ok(numbers.into_iter().zip(packed).map(|(number, words)| Slice { number, words }).collect())
}

/// The ciphertext of one limb, under s, whose phase over `q_0` is that of the slices, with the noise
/// [`SwitchLaw::up`](crate::torus::scheme_switch::law::SwitchLaw::up). Slices that are missing are 0.
///
/// # Errors
/// [`Error::ParameterMismatch`] for a context of other parameters, [`Error::Parameters`] for a slice that there is not, or that is given
/// twice, [`Error::Length`] for one of another degree.
pub fn up(context: &Context, slices: &[Slice], keys: &SwitchKeys) -> Result<Ciphertext> {
    let parameters = keys.parameters();
    parameters.rlwe().check_fingerprint(&context.parameters().fingerprint(), "the context")?;
    let sample = SlicedSample::join(slices, (parameters.slices(), parameters.torus().shape().degree))?;
    let ring = context.ring_q(1);
    let (mask, body) = sample.words().split_at(parameters.sliced().degree);
    let turned = mask.iter().map(|word| word.wrapping_neg());
    let parts = vec![element_of_circle(&ring, body.iter().copied())?, element_of_circle(&ring, turned)?];
    switch_secret(context, &Ciphertext::new(parts, keys.up().from()), keys.up())
}
