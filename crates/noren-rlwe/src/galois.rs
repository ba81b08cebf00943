//! Automorphisms `X -> X^k` of ciphertexts, and their sums.

use std::collections::VecDeque;

use noren_math::cyclotomic::Cyclotomic;
use noren_ring::poly::{Eval, Poly};

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::error::Result;
use crate::keys::EvaluationKeys;
use crate::keyswitch::{Image, check_degree, sum_images, sum_images_in_steps, switch_images};

/// The exponent k of the automorphism `X -> X^k` that rotates slots by `steps` in the ring of degree n: `5^steps mod 2n`,
/// where steps count modulo n/2.
#[must_use]
pub fn rotation_exponent(n: usize, steps: isize) -> u32 {
    let mask = 2 * n as u64 - 1;
    let (mut power, mut square, mut steps) = (1, 5, steps.rem_euclid(n as isize / 2));
    while steps > 0 {
        power = if steps & 1 == 1 { (power * square) & mask } else { power };
        square = (square * square) & mask;
        steps >>= 1;
    }
    power as u32
}

/// The exponent of the automorphism `X -> 1/X` of the ring of degree n, which conjugates slots or swaps rows of slots:
/// `2n - 1`.
#[must_use]
pub fn conjugation_exponent(n: usize) -> u32 {
    2 * n as u32 - 1
}

/// The fewest automorphisms whose keys have `limbs` limbs or more and that together are `X -> X^k` in the ring of this index;
/// `None` if k is no product of theirs.
#[must_use]
pub fn available_product(index: u32, k: u32, limbs: usize, keys: &EvaluationKeys) -> Option<Vec<u32>> {
    let steps: Vec<u32> = keys.automorphisms().filter(|(_, key)| key.limbs() >= limbs).map(|(step, _)| step).collect();
    // Breadth first: of each unit that is reached, the step that reached it.
    let mut last: Vec<Option<u32>> = vec![None; index as usize];
    let mut reached = VecDeque::from([1]);
    let times = |a: u32, b: u32| (u64::from(a) * u64::from(b) % u64::from(index)) as u32;
    while last[k as usize].is_none() && k != 1 {
        let unit = reached.pop_front()?;
        for &step in &steps {
            let next = times(unit, step);
            if next != 1 && last[next as usize].is_none() {
                last[next as usize] = Some(step);
                reached.push_back(next);
            }
        }
    }
    let ring = Cyclotomic::new(index).ok()?;
    let mut rest = k;
    let steps = std::iter::from_fn(|| {
        let step = last[rest as usize].filter(|_| rest != 1)?;
        rest = times(rest, ring.inverse(step).ok()?);
        Some(step)
    });
    Some(steps.collect())
}

/// The image of a ciphertext under `X -> X^k`. The noise of one key switch is added, except for k = 1.
///
/// # Errors
/// [`Error::MissingKey`](crate::error::Error::MissingKey) and [`Error::KeyLevel`](crate::error::Error::KeyLevel) if the
/// key is missing or too short, [`Error::DegreeTooHigh`](crate::error::Error::DegreeTooHigh) if the ciphertext must be
/// relinearised first, [`Error::KeyMismatch`](crate::error::Error::KeyMismatch) if it belongs to another secret key,
/// [`Error::NotAnAutomorphism`](crate::error::Error::NotAnAutomorphism).
pub fn apply_automorphism(
    context: &Context,
    ciphertext: &Ciphertext,
    k: u32,
    keys: &EvaluationKeys,
) -> Result<Ciphertext> {
    let mut images = apply_automorphisms(context, ciphertext, &[k], keys)?;
    Ok(images.remove(0))
}

/// The images of a ciphertext under `X -> X^k` for each of the exponents `ks`, in their order.
///
/// The ciphertext is decomposed only once, so several images cost much less together than one by one.
///
/// # Errors
/// As [`apply_automorphism`].
pub fn apply_automorphisms(
    context: &Context,
    ciphertext: &Ciphertext,
    ks: &[u32],
    keys: &EvaluationKeys,
) -> Result<Vec<Ciphertext>> {
    let mut images = switch_images(context, ciphertext, &moving(context, ciphertext, ks, keys)?)?.into_iter();
    let image = |&k: &u32| match k {
        1 => ciphertext.clone(),
        _ => images.next().expect("there is an image for each exponent that moves anything"),
    };
    Ok(ks.iter().map(image).collect())
}

/// `ct + sum_k psi_k(ct)` over the exponents `ks`, with one decomposition and one division by the special modulus.
///
/// Source: Algorithm 4 (HoistKS) of the unrolled trace of Ishimaki and Yamana, as `ct` plus the hoisted sum.
///
/// # Errors
/// As [`apply_automorphism`].
pub fn sum_automorphisms(
    context: &Context,
    ciphertext: &Ciphertext,
    ks: &[u32],
    keys: &EvaluationKeys,
) -> Result<Ciphertext> {
    let images = moving(context, ciphertext, ks, keys)?;
    // The ciphertext itself, and once more for each exponent that moves nothing.
    let direct = 1 + ks.len() - images.len();
    let ring = context.ring_q(ciphertext.limbs());
    let multiple: Vec<Poly<Eval>>;
    let parts = if direct == 1 {
        ciphertext.parts()
    } else {
        multiple = ciphertext.parts().iter().map(|part| ring.mul_integer(part, direct as i64)).collect();
        &multiple
    };
    sum_images(context, ciphertext, parts, &images)
}

/// The result of steps `ct -> ct + sum_k psi_k(ct)`, each over exponents of its own, as [`sum_automorphisms`] takes them one
/// after another.
///
/// Each step decomposes and divides the second part; the first is divided by the special modulus once, in the end. So h steps
/// transform about `(h - 1)(l + k)` rows less than h sums, for l limbs and k special primes, and round as many times less.
///
/// # Errors
/// As [`apply_automorphism`].
pub fn sum_automorphisms_in_steps(
    context: &Context,
    ciphertext: &Ciphertext,
    steps: &[&[u32]],
    keys: &EvaluationKeys,
) -> Result<Ciphertext> {
    let images = steps.iter().map(|ks| moving(context, ciphertext, ks, keys)).collect::<Result<Vec<_>>>()?;
    let all_move = steps.iter().zip(&images).all(|(ks, images)| !ks.is_empty() && images.len() == ks.len());
    if steps.len() > 1 && all_move && ciphertext.degree() == 1 {
        return sum_images_in_steps(context, ciphertext, &images);
    }
    steps.iter().try_fold(ciphertext.clone(), |sum, ks| sum_automorphisms(context, &sum, ks, keys))
}

/// The automorphisms of those exponents that move anything, with their keys. What is missing is told before anything is made.
fn moving<'a>(
    context: &Context,
    ciphertext: &Ciphertext,
    ks: &[u32],
    keys: &'a EvaluationKeys,
) -> Result<Vec<Image<'a>>> {
    let found = ks.iter().filter(|&&k| k != 1).map(|&k| {
        context.check_automorphism(k)?;
        Ok((k, &**keys.galois(k, ciphertext.limbs())?))
    });
    let found = found.collect::<Result<Vec<_>>>()?;
    check_degree(ciphertext)?;
    keys.check_ciphertext(ciphertext)?;
    found.into_iter().map(|(k, key)| Ok((context.automorphism(k)?, key))).collect()
}
