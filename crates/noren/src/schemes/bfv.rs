//! BFV: exact integers modulo t, whose products are scaled, so that the noise does not depend on when limbs are dropped.
//!
//! All but the product of ciphertexts is what it shares with BGV: see [`integers`]. The product of
//! two phases `(Q/t) m + e` over the integers, times t/Q and rounded, is a phase of the product of the messages. Its noise
//! is that of the operands times about `t sqrt(n |s|^2/12)`, whatever the modulus: limbs are dropped where the noise that is
//! there is far above what their rounding adds.
//!
//! Source: Fan and Vercauteren, eprint 2012/144; Halevi, Polyakov and Shoup, eprint 2018/117.

use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::context::Context as RlweContext;
use noren_rlwe::error::Result;
use noren_rlwe::keys::EvaluationKeys;
use noren_rlwe::product::{Factors, multiply_scaled, tensor_scaled};
use noren_rlwe::wire::kind::Kind;

use crate::schemes::integers;
use crate::schemes::integers::noise::Laws;
use crate::schemes::integers::scheme::{Scheme, Sealed, limbs_without_loss};

pub use crate::schemes::integers::{
    Context, Decryptor, Encoder, Entries, Flood, IntegerError, KeyFile, KeyRequest, Keys, Noise, Opening, Parameters,
    ParametersSpec, Plaintext, PlaintextModulus, Requirements, RotationKeys, SlotMatrix,
};

/// The scheme BFV.
#[derive(Debug, Clone, Copy)]
pub struct Bfv;

/// A ciphertext of BFV.
pub type Ciphertext = integers::Ciphertext<Bfv>;
/// Encrypts plaintexts for BFV.
pub type Encryptor<'a> = integers::Encryptor<'a, Bfv>;
/// Evaluates on ciphertexts of BFV.
pub type Evaluator = integers::Evaluator<Bfv>;

impl Sealed for Bfv {}

impl Scheme for Bfv {
    const NAME: &'static str = "BFV";
    const KIND: Kind = Kind::BFV_CIPHERTEXT;
    const KIND_OF_SEVERAL: Kind = Kind::BFV_CIPHERTEXTS;

    fn product_factor(parameters: &Parameters, a: u64, b: u64, _limbs: usize) -> u64 {
        parameters.modulus().mul(a, b)
    }

    fn product_noise(laws: &Laws, a: &Noise, b: &Noise, limbs: usize) -> Noise {
        laws.scaled_product(a, b, limbs)
    }

    fn limbs_to_keep(laws: &Laws, noise: &Noise, limbs: usize) -> usize {
        limbs_without_loss(laws, noise, limbs)
    }

    fn multiply(
        context: &RlweContext,
        products: &[Factors],
        t: u64,
        kept: usize,
        keys: &EvaluationKeys,
    ) -> Result<rlwe::Ciphertext> {
        multiply_scaled(context, products, t, kept, keys)
    }

    fn tensor(context: &RlweContext, products: &[Factors], t: u64) -> Result<rlwe::Ciphertext> {
        tensor_scaled(context, products, t)
    }
}
