//! A whole key switch: digits, inner products and division.

use crate::automorphism::Automorphism;
use crate::divide::DivideRound;
use crate::key::KeyPairs;
use crate::operand::Operand;
use crate::poly::{Eval, Poly};

/// A key with the automorphism that is applied to the inner product of the digits with it.
#[derive(Debug, Clone, Copy)]
pub struct Term<'a> {
    /// The pairs `(k_j0, k_j1)`, over the special primes and the element's limbs or more. There may be more pairs than
    /// digits: a key for a high level serves all lower ones.
    pub key: &'a KeyPairs,
    /// `X -> X^k`; the identity if it is missing.
    pub automorphism: Option<&'a Automorphism>,
}

/// A key switch of an element with digits `d_j`, for i = 0 and 1:
/// `round((P a_i + sum_k psi_k(P m_i + sum_j d_j k_ji)) / D)` over terms with the keys `k_j` and the automorphisms `psi_k`,
/// where `m_1 = 0`.
///
/// A few limbs at a time, each digit is extended, transformed and multiplied with all keys, and what the division subtracts
/// is transformed too, while the rows and the limb's roots are near: neither the digits nor their sums go through memory. So
/// a further term costs little more than to read its key.
///
/// One term is a relinearisation (without automorphism) or a rotation; several are a part of a trace. Source: Algorithm 4
/// (HoistKS) of the unrolled trace of Ishimaki and Yamana, with the loops over limbs and terms exchanged.
#[derive(Debug, Clone, Copy)]
pub struct KeySwitch<'a> {
    /// The keys with their automorphisms, at least one.
    pub terms: &'a [Term<'a>],
    /// `m_0`, over the element's limbs or more: what each automorphism moves along with the first sum.
    pub moved: Option<&'a Poly<Eval>>,
    /// `a_0` and `a_1`, over the element's limbs or more; what is missing is 0.
    pub added: [Option<Operand<'a>>; 2],
    /// The division by `D`: by the special primes' product P, or by P and the last limbs.
    pub divide: &'a DivideRound,
}
