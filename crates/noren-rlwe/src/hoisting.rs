//! Double hoisting: sums of rotations times plaintexts, divided by the special modulus as late as can be.

use std::borrow::Cow;
use std::sync::Arc;

use noren_ring::automorphism::Automorphism;
use noren_ring::matrix::{self, Matrix};
use noren_ring::poly::{Eval, Poly};
use noren_ring::switch::Term;

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::keys::{EvaluationKeys, KeySwitchKey};
use crate::keyswitch::check_degree;
use crate::linear::check_levels;

pub use noren_ring::matrix::Order;

/// One giant step: an automorphism of a sum of baby steps times plaintexts.
pub struct GiantStep<'a> {
    /// The exponent of the automorphism `X -> X^k`; 1 for the identity.
    pub automorphism: u32,
    /// For each term the position of its baby step, and its plaintext modulo `P q_0 ... q_l`, for the P of the keys' shape; it
    /// may have more limbs.
    pub terms: Vec<(usize, &'a Poly<Eval>)>,
}

/// `sum_b psi_b(S_b)` for the sums `S_b = sum_a p_ab psi_a(ct)`, over the giant steps b and their baby steps a; [in turn](Order::InTurn) `S_0 + psi_1(S_1 + psi_2(S_2 + ..))`, which needs one key where all `psi_b` are one.
///
/// The exponents `babies` share one decomposition, and their images stay where the inner product with the key leaves
/// them: times P, modulo `P q_0 ... q_l`. The sums with plaintexts are taken there too. Of a giant step only the second
/// part is divided by P, so that it can be decomposed; all other parts add up undivided. At the end there is one
/// division: by P, and if `rescale` by the last prime too.
///
/// With k special primes, l limbs and n coefficients, each giant step holds `(l + k) n` words until it is added, and in turn
/// `2 (l + k) n`.
///
/// A baby step adds the noise of a [key switch](crate::noise::key_switch) without its rounding, a giant step that of one
/// whose rounding is that of its second part alone. In turn, a sum goes through all giant steps before its own, too.
///
/// Source: Bossuat, Mouchet, Troncoso-Pastoriza and Hubaux, section 4, eprint 2020/1203.
///
/// # Errors
/// [`Error::LevelExhausted`] if only one limb should be rescaled, [`Error::DegreeTooHigh`] if the ciphertext must be
/// relinearised first, [`Error::MissingKey`], [`Error::KeyLevel`] and [`Error::NotAnAutomorphism`] as for single automorphisms,
/// [`Error::KeyMismatch`] if the keys belong to another secret key, [`Error::Parameters`] without special primes.
///
/// # Panics
/// A term names a baby step that there is not, a plaintext lacks a limb, or there is no giant step; in turn, if the first
/// automorphism is not the identity or a later one is.
pub fn sum_giant_steps(
    context: &Context,
    ciphertext: &Ciphertext,
    babies: &[u32],
    giants: &[GiantStep],
    order: Order,
    keys: &EvaluationKeys,
    rescale: bool,
) -> Result<Ciphertext> {
    check_levels(usize::from(rescale), ciphertext.level())?;
    check_degree(ciphertext)?;
    keys.check_ciphertext(ciphertext)?;
    let limbs = ciphertext.limbs();
    let shape = keys.shape();
    if shape.limbs < limbs {
        return Err(Error::KeyLevel { kind: "sums of rotations".into(), found: shape.limbs, needed: limbs, key: None });
    }
    let switching = context.switching(shape)?;
    let c0 = &ciphertext.parts()[0];
    let c1 = ciphertext.parts().get(1).map_or_else(|| Cow::Owned(context.ring_q(limbs).zero()), Cow::Borrowed);

    let moved = |k| Move::new(context, keys, k, limbs);
    let moves = babies.iter().map(|&k| moved(k)).collect::<Result<Vec<_>>>()?;
    let images: Vec<_> = moves.iter().map(|step| step.as_ref().map(Move::term)).collect();
    let steps = giants.iter().map(|giant| moved(giant.automorphism)).collect::<Result<Vec<_>>>()?;
    let giants = giants.iter().zip(&steps).map(|(giant, step)| matrix::GiantStep {
        rotation: step.as_ref().map(|step| (step.key.pairs(), &*step.automorphism)),
        terms: giant.terms.clone(),
    });
    let giants: Vec<_> = giants.collect();
    let mod_down = switching.mod_down(limbs);
    let divide = if rescale { switching.mod_down_rescale(limbs) } else { mod_down };
    let matrix = Matrix { images: &images, giants: &giants, order, mod_down, divide };
    let parts = context.ring_q(limbs).multiply_matrix([c0, &c1], switching.decomposer(), &matrix);
    Ok(Ciphertext::new(parts.into(), ciphertext.key_id()))
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
