//! BGV: exact integers modulo t, whose noise is kept small by dividing after every product.
//!
//! All but the product of ciphertexts is what it shares with BFV: see [`integers`]. Multiplied by
//! t modulo Q, a phase `(Q/t) f m + e` is `-Q f m + t e'`, which is small; the product of two such phases is one of the
//! message `m_a m_b`. In the form that ciphertexts are held in, it is t times the product of the polynomials modulo Q, with
//! the factor `-Q f_a f_b`. Its noise is about the product of the noises, so that limbs are dropped after every product:
//! until another squaring would have the least noise.
//!
//! Source: Brakerski, Gentry and Vaikuntanathan, eprint 2011/277.

use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::context::Context as RlweContext;
use noren_rlwe::error::Result;
use noren_rlwe::keys::EvaluationKeys;
use noren_rlwe::linear;
use noren_rlwe::multiply::tensor;
use noren_rlwe::product::{Factors, multiply_switched};
use noren_rlwe::wire::kind::Kind;

use crate::schemes::integers;
use crate::schemes::integers::noise::Laws;
use crate::schemes::integers::scheme::{Scheme, Sealed, limbs_without_loss};

pub use noren_math::cyclotomic::Cyclotomic;
pub use noren_math::galois_ring::GaloisRing;
pub use noren_math::hypercube::{Dimension, Hypercube};

pub use crate::schemes::integers::{
    Context, Decryptor, Encoder, Entries, Flood, IntegerError, KeyFile, KeyRequest, Keys, Noise, Opening, Parameters,
    ParametersSpec, Plaintext, PlaintextModulus, Requirements, RotationKeys, SlotMatrix,
};

/// The scheme BGV.
#[derive(Debug, Clone, Copy)]
pub struct Bgv;

/// A ciphertext of BGV.
pub type Ciphertext = integers::Ciphertext<Bgv>;
/// Encrypts plaintexts for BGV.
pub type Encryptor<'a> = integers::Encryptor<'a, Bgv>;
/// Evaluates on ciphertexts of BGV.
pub type Evaluator = integers::Evaluator<Bgv>;

impl Sealed for Bgv {}

impl Scheme for Bgv {
    const NAME: &'static str = "BGV";
    const KIND: Kind = Kind::BGV_CIPHERTEXT;
    const KIND_OF_SEVERAL: Kind = Kind::BGV_CIPHERTEXTS;

    fn product_factor(parameters: &Parameters, a: u64, b: u64, limbs: usize) -> u64 {
        let modulus = parameters.modulus();
        modulus.neg(modulus.mul(parameters.q_mod_t(limbs), modulus.mul(a, b)))
    }

    fn product_noise(laws: &Laws, a: &Noise, b: &Noise, limbs: usize) -> Noise {
        laws.phase_product(a, b, limbs)
    }

    /// So many that a squaring of the result has nearly the least noise; where none can follow, as many as leave the noise as
    /// it is.
    fn limbs_to_keep(laws: &Laws, noise: &Noise, limbs: usize) -> usize {
        /// The bits that fewer limbs are worth.
        const WORTH_BITS: f64 = 1.0;
        let switched = |kept: usize| if kept < limbs { noise.with(&laws.rounding(kept)) } else { noise.clone() };
        let squared = |kept: usize| 2.0 * switched(kept).log2_std() + laws.log2_q(kept);
        let least = (1..=limbs).map(squared).fold(f64::INFINITY, f64::min);
        let kept = (1..limbs).find(|&kept| squared(kept) <= least + WORTH_BITS).unwrap_or(limbs);
        let last = switched(kept);
        if laws.budget(&Self::product_noise(laws, &last, &last, kept)) >= 0.0 {
            kept
        } else {
            limbs_without_loss(laws, noise, limbs)
        }
    }

    fn multiply(
        context: &RlweContext,
        products: &[Factors],
        t: u64,
        kept: usize,
        keys: &EvaluationKeys,
    ) -> Result<rlwe::Ciphertext> {
        multiply_switched(context, products, t, kept, keys)
    }

    fn tensor(context: &RlweContext, products: &[Factors], t: u64) -> Result<rlwe::Ciphertext> {
        let mut sum = tensor(context, products[0][0], products[0][1])?;
        for [a, b] in &products[1..] {
            linear::add_assign(context, &mut sum, &tensor(context, a, b)?)?;
        }
        let ring = context.ring_q(sum.limbs());
        sum.parts_mut().iter_mut().for_each(|part| *part = ring.mul_integer(part, t.cast_signed()));
        Ok(sum)
    }
}
