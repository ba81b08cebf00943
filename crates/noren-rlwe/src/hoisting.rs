//! Double hoisting: sums of rotations times plaintexts, divided by the special modulus as late as can be.

use std::borrow::Cow;
use std::sync::Arc;

use noren_ring::automorphism::Automorphism;
use noren_ring::poly::{Eval, Poly};
use noren_ring::switch::Term;

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::keys::{EvaluationKeys, KeySwitchKey};
use crate::keyswitch::check_degree;
use crate::linear::check_levels;

/// One giant step: an automorphism of a sum of baby steps times plaintexts.
pub struct GiantStep<'a> {
    /// The exponent of the automorphism `X -> X^k`; 1 for the identity.
    pub automorphism: u32,
    /// For each term the position of its baby step, and its plaintext modulo `P q_0 ... q_l`, for the P of the keys' shape; it
    /// may have more limbs.
    pub terms: Vec<(usize, &'a Poly<Eval>)>,
}

/// `sum_b psi_b( sum_a p_ab psi_a(ct) )`, divided by the last prime, over the giant steps b and their baby steps a.
///
/// The exponents `babies` share one decomposition, and their images stay where the inner product with the key leaves
/// them: times P, modulo `P q_0 ... q_l`. The sums with plaintexts are taken there too. Of a giant step only the second
/// part is divided by P, so that it can be decomposed; all other parts add up undivided. At the end there is one
/// division, by P and the last prime.
///
/// With k special primes, l limbs and n coefficients, each giant step holds `2 (l + k) n` words until it is added.
///
/// A baby step adds the noise of a [key switch](crate::noise::key_switch) without its rounding, a giant step that of one
/// whose rounding is that of its second part alone.
///
/// Source: Bossuat, Mouchet, Troncoso-Pastoriza and Hubaux, section 4, eprint 2020/1203.
///
/// # Errors
/// [`Error::LevelExhausted`] if there is only one limb, [`Error::DegreeTooHigh`] if the ciphertext must be relinearised
/// first, [`Error::MissingKey`], [`Error::KeyLevel`] and [`Error::NotAnAutomorphism`] as for single automorphisms,
/// [`Error::Parameters`] without special primes.
///
/// # Panics
/// A term names a baby step that there is not, or a plaintext lacks a limb.
pub fn sum_giant_steps_rescale(
    context: &Context,
    ciphertext: &Ciphertext,
    babies: &[u32],
    giants: &[GiantStep],
    keys: &EvaluationKeys,
) -> Result<Ciphertext> {
    check_levels(1, ciphertext.level())?;
    check_degree(ciphertext)?;
    let limbs = ciphertext.limbs();
    let shape = keys.shape();
    if shape.limbs < limbs {
        return Err(Error::KeyLevel { kind: "sums of rotations".into(), found: shape.limbs, needed: limbs });
    }
    let switching = context.switching(shape)?;
    let (ring_q, ring_qp, decomposer) = (context.ring_q(limbs), switching.ring_qp(limbs), switching.decomposer());
    let c0 = &ciphertext.parts()[0];
    let c1 = ciphertext.parts().get(1).map_or_else(|| Cow::Owned(ring_q.zero()), Cow::Borrowed);

    let moves = babies.iter().map(|&k| Move::new(context, keys, k, limbs)).collect::<Result<Vec<_>>>()?;
    let images: Vec<_> = moves.iter().map(|step| step.as_ref().map(Move::term)).collect();
    let terms: Vec<_> = giants.iter().map(|giant| giant.terms.clone()).collect();
    let digits = decomposer.decompose(&ring_q, &c1);
    let inner = decomposer.sums_of_images(&ring_qp, [c0, &c1], &digits, &images, &terms);

    let mut total = [ring_qp.zero(), ring_qp.zero()];
    for (giant, [first, second]) in giants.iter().zip(inner) {
        let Some(step) = Move::new(context, keys, giant.automorphism, limbs)? else {
            ring_qp.add_assign(&mut total[0], &first);
            ring_qp.add_assign(&mut total[1], &second);
            continue;
        };
        ring_qp.automorphism_add_assign(&mut total[0], &first, &step.automorphism);
        let divided = switching.mod_down(limbs).apply(second);
        decomposer.inner_product_add_assign(&ring_q, &divided, step.term(), &mut total);
    }
    Ok(Ciphertext::new(switching.mod_down_rescale(limbs).apply_many(total).into()))
}

/// An automorphism with its key.
struct Move<'a> {
    automorphism: Arc<Automorphism>,
    key: &'a KeySwitchKey,
}

impl<'a> Move<'a> {
    /// `X -> X^k`; nothing for the identity.
    fn new(context: &Context, keys: &'a EvaluationKeys, k: u32, limbs: usize) -> Result<Option<Self>> {
        if k == 1 {
            return Ok(None);
        }
        Ok(Some(Self { automorphism: context.automorphism(k)?, key: keys.galois(k, limbs)? }))
    }

    fn term(&self) -> Term<'_> {
        Term { key: self.key.pairs(), automorphism: Some(&*self.automorphism) }
    }
}
