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
    let (ring, q) = (context.ring_q(1), parameters.rlwe().q()[0]);
    let mut sample = vec![0; parameters.sliced().words()];
    let (mask, body) = sample.split_at_mut(parameters.sliced().degree);
    for (out, part) in [body, &mut *mask].into_iter().zip(ciphertext.parts()) {
        let words = ring.to_words(&ring.intt(part.clone()));
        out.iter_mut().zip(words).for_each(|(out, x)| *out = to_circle(x, q));
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
    let (ring, q) = (context.ring_q(1), parameters.rlwe().q()[0]);
    let (mask, body) = sample.words().split_at(parameters.sliced().degree);
    let part = |words: &mut dyn Iterator<Item = u64>| {
        let residues: Vec<u64> = words.map(|word| from_circle(word, q)).collect();
        Ok::<_, Error>(ring.ntt(ring.from_words(&residues)?))
    };
    let parts = vec![part(&mut body.iter().copied())?, part(&mut mask.iter().map(|word| word.wrapping_neg()))?];
    switch_secret(context, &Ciphertext::new(parts, keys.up().from()), keys.up())
}

/// `2^64 x / q`, rounded to the nearest word.
const fn to_circle(x: u64, q: u64) -> u64 {
    (((x as u128) << u64::BITS) + (q / 2) as u128).div_euclid(q as u128) as u64
}

/// `q x / 2^64`, rounded to the nearest residue, halves up.
const fn from_circle(word: u64, q: u64) -> u64 {
    let rounded = ((word as u128 * q as u128 + (1 << (u64::BITS - 1))) >> u64::BITS) as u64;
    if rounded == q { 0 } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residues_are_nearest_words_and_words_nearest_residues() {
        for q in [97, (1 << 49) - 111, (1 << 50) - 27] {
            let samples = (0..q).step_by(usize::try_from(q / 97).expect("small")).chain([q / 2, q / 2 + 1, q - 1]);
            for x in samples {
                let word = to_circle(x, q);
                let distance = (i128::from(word) * i128::from(q) - (i128::from(x) << 64)).abs();
                assert!(2 * distance <= i128::from(q), "{x} modulo {q}");
                assert_eq!(from_circle(word, q), x);
                assert_eq!(from_circle(word.wrapping_neg(), q), (q - x) % q);
            }
            assert_eq!(from_circle(u64::MAX, q), 0);
        }
    }
}
