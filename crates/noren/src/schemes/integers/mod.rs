//! Exact integers modulo t: what BGV and BFV have in common, which is all but the product of ciphertexts.
//!
//! A ciphertext of a polynomial m modulo t satisfies `c_0 + c_1 s = (Q/t) f m + e` modulo Q, for a unit f modulo t that is
//! known (the factor) and a small e. BFV is defined so. BGV is defined by `c_0 + c_1 s = f' m + t e`, with the message in
//! the low bits; its ciphertexts are held here multiplied by `t^-1 mod Q`, which makes them of the first form, with
//! `f = -f'/Q`. So a ciphertext is turned from one scheme to the other for free, and keys, key switching, rotations,
//! modulus switching and matrices are the same, with plain errors and plain divisions. (The equivalence of both forms is
//! known from Alperin-Sheriff and Peikert, appendix A, eprint 2013/372.)
//!
//! | room | what it holds |
//! |---|---|
//! | `modulus` | [`PlaintextModulus`]: numbers modulo t |
//! | `parameters` | [`ParametersSpec`], [`Parameters`]: sizes of primes |
//! | `requirements` | [`Requirements`]: parameters from the operations that are wanted |
//! | `context` | [`Context`]: parameters with their rings and transforms |
//! | `keys` | [`KeyRequest`], [`Keys`]: all keys from one seed |
//! | `plaintext` | [`Plaintext`]: polynomials modulo t |
//! | `encoder` | [`Encoder`]: slots and coefficients |
//! | `encryption` | [`Encryptor`], [`Decryptor`], [`Ciphertext`] |
//! | `grid` | slots of a ring whose index is not a power of two; [`RotationKeys`] |
//! | `scheme` | [`Scheme`]: what one scheme has to say |
//! | `slot_matrix` | [`SlotMatrix`]: matrices that multiply the slots of a `grid` |
//! | `matrix_file` | files of matrices whose transformed factors are mapped |
//! | `opening` | [`Opening`]: decryption by several parties |
//! | `reencryption` | from one secret key to another |
//! | `evaluator` | [`Evaluator`]: operations on ciphertexts |
//! | `key_file` | [`KeyFile`]: keys with their parameters, for files of their own |
//! | `error` | [`IntegerError`] |
//! | `wire` | bytes of everything |
//! | `noise` | [`Noise`], and the [`Laws`] by which it grows |
//! | `growth` | noise, limbs and factors of the result of each operation |
//! | `model` | the evaluator without ciphertexts: noise, limbs and factors alone |

pub(crate) mod content;
pub(crate) mod context;
pub(crate) mod encoder;
pub(crate) mod encryption;
pub(crate) mod error;
pub(crate) mod evaluator;
pub(crate) mod grid;
pub(crate) mod growth;
pub(crate) mod key_file;
pub(crate) mod keys;
mod matrix_file;
pub(crate) mod model;
pub(crate) mod modulus;
pub(crate) mod noise;
pub(crate) mod opening;
pub(crate) mod parameters;
pub(crate) mod plaintext;
pub(crate) mod requirements;
pub(crate) mod scheme;
pub(crate) mod slot_matrix;
pub(crate) mod wire;

mod reencryption;
mod slots;

pub use content::{Content, Encoding};
pub use context::Context;
pub use encoder::Encoder;
pub use encryption::{Ciphertext, Decryptor, Encryptor};
pub use error::IntegerError;
pub use evaluator::Evaluator;
pub use evaluator::expansion::expansion_steps;
pub use evaluator::flooding::Flood;
pub use grid::RotationKeys;
pub use key_file::KeyFile;
pub use keys::{KeyRequest, Keys};
pub use modulus::PlaintextModulus;
pub use noise::{LOG2_FAILURE, Laws, Noise};
pub use opening::Opening;
pub use parameters::{Parameters, ParametersSpec};
pub use plaintext::Plaintext;
pub use requirements::Requirements;
pub use scheme::Scheme;
pub use slot_matrix::{Entries, SlotMatrix};
pub use wire::Ciphertexts;
