//! CKKS: arithmetic on encrypted vectors of real or complex numbers, up to a small error that is known.
//!
//! A ciphertext holds `n` slots, `n` a power of two up to half the degree. Every multiplication uses one level; every
//! ciphertext knows its level, its exact scale, and a bound on its error.
//!
//! | room | what it holds |
//! |---|---|
//! | `parameters` | [`ParametersSpec`], [`Parameters`]: primes and the chain of scales |
//! | `requirements` | [`Requirements`]: depth and precision; the parameters of a ring and a scale |
//! | `search` | the smallest parameters that meet them |
//! | `context` | [`Context`]: parameters with their rings and transforms |
//! | `keys` | [`KeyRequest`], [`Keys`]: all keys from one seed |
//! | `encoder` | [`Encoder`]: numbers to plaintexts and back |
//! | `factor` | [`Factor`]: vectors that matrices are made of |
//! | `content` | what a vector holds: slots, extent, estimate |
//! | `message` | [`Message`]: what plaintexts, ciphertexts and factors have in common |
//! | `encryption` | [`Encryptor`], [`Decryptor`], [`Ciphertext`] |
//! | `release` | [`Releases`]: decryptions that may be handed on |
//! | `reencryption` | from one secret key to another |
//! | `evaluator` | [`Evaluator`]: operations on ciphertexts, and on [`Operand`]s |
//! | `model` | [`NoiseModel`]: circuits in clear with the error estimates of ciphertexts |
//! | `scale` | [`Scale`]: exact scales |
//! | `estimate` | [`Estimate`]: the error that each ciphertext carries |
//! | `names` | names of polynomials, which tell sources of errors apart |
//! | `key_file` | [`KeyFile`]: keys with their parameters, for files of their own |
//! | `error` | [`CkksError`] |
//! | `wire` | [`Ciphertexts`], and bytes of everything |

pub(crate) mod content;
pub(crate) mod context;
pub(crate) mod encoder;
pub(crate) mod encryption;
pub(crate) mod error;
pub(crate) mod estimate;
pub(crate) mod evaluator;
pub(crate) mod factor;
pub(crate) mod key_file;
pub(crate) mod keys;
pub(crate) mod message;
pub(crate) mod model;
mod model_plaintext;
pub(crate) mod noise;
pub(crate) mod parameters;
pub(crate) mod release;
pub(crate) mod requirements;
pub(crate) mod scale;
pub(crate) mod search;
pub(crate) mod wire;

mod names;
mod reencryption;
mod slots;
mod tail;

pub use context::Context;
pub use encoder::{Encoder, Plaintext};
pub use encryption::{Ciphertext, Decryptor, Encryptor};
pub use error::CkksError;
pub use estimate::Estimate;
pub use evaluator::Evaluator;
pub use evaluator::operands::Operand;
pub use factor::Factor;
pub use key_file::KeyFile;
pub use keys::{KeyRequest, Keys};
pub use message::Message;
pub use model::{ModelVector, NoiseModel};
pub use model_plaintext::ModelPlaintext;
pub use parameters::{Parameters, ParametersSpec};
pub use release::Releases;
pub use requirements::Requirements;
pub use scale::Scale;
pub use wire::Ciphertexts;
