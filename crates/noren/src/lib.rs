//! Homomorphic encryption: arithmetic on numbers that stay encrypted.
//!
//! - [`ckks`]: vectors of real or complex numbers, with a known bound on their error;
//! - [`bgv`], [`bfv`]: vectors of integers modulo t, exact;
//! - [`tfhe`]: bits and small integers, one at a time, with any function of them;
//! - [`circuits`]: matrices, polynomials and sums over slots, written once for every scheme;
//! - [`lookup`]: any function of two encrypted integers of BFV, by its table;
//! - [`radix`]: integers of up to 64 bits of TFHE, from digits that are encrypted one by one;
//! - [`bootstrapping`]: new levels for ciphertexts that have few left;
//! - [`switching`]: between CKKS and TFHE, for comparisons and any function of encrypted reals;
//! - [`programs`]: whole computations on tables, as the command-line tool runs them;
//! - [`advisor`]: which scheme and parameters suit a computation, and what they cost;
//! - [`backends`]: every way to compute a function of arrays, with one trait for all;
//! - [`compiler`]: functions of arrays, from a graph of operations to a client half and a server half;
//! - [`tables`]: questions on encrypted tables, in words of SQL;
//! - [`retrieval`]: a row of a table in clear, without telling which;
//! - [`owners`]: keys of a secret that several parties share, and results that they open together.
//!
//! The layers below are `noren-rlwe` (samples and keys), `noren-ring` (polynomials) and `noren-math` (numbers).
//!
//! # Examples
//! ```
//! use noren::ckks::{Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, ParametersSpec};
//! use noren::{Security, Seed};
//!
//! // A small ring for the example: real parameters keep the default security of 128 bits.
//! let spec = ParametersSpec {
//!     log_n: 10,
//!     log_q: vec![50, 40, 40],
//!     log_p: vec![50],
//!     log_scale: 40,
//!     security: Security::None,
//!     ..ParametersSpec::default()
//! };
//! let context = Context::new(spec.build()?)?;
//! let request = KeyRequest { relinearization: true, rotations: vec![1], ..KeyRequest::default() };
//! let keys = context.generate_keys(Seed::random()?, &request)?;
//!
//! let plaintext = Encoder::new(&context).encode(&[0.5, -0.25, 1.0], 4, 2)?;
//! let x = Encryptor::public(&context, &keys.public, Seed::random()?)?.encrypt(&plaintext)?;
//!
//! let evaluator = Evaluator::new(&context, keys.evaluation.clone())?;
//! let y = evaluator.add(&evaluator.square(&x)?, &evaluator.rotate(&x, 1)?)?;
//!
//! let values = Decryptor::new(&context, &keys.secret)?.decrypt_real(&y)?;
//! for (value, expected) in values.iter().zip([0.0, 1.0625, 1.0, 0.5]) {
//!     assert!((value - expected).abs() < y.error_bound());
//! }
//! # Ok::<(), noren::Error>(())
//! ```

#![forbid(unsafe_code)]

pub mod advisor;
pub mod backends;
pub mod bootstrapping;
pub mod circuits;
pub mod compiler;
pub mod cost;
mod facts;
pub mod graph;
pub mod lookup;
mod lowering;
pub mod owners;
#[cfg(doctest)]
mod pages;
pub mod programs;
pub mod radix;
pub mod retrieval;
pub mod schemes;
pub mod switching;
pub mod tables;

/// Bytes for files and for the network.
pub mod wire {
    pub use crate::facts::{Facts, KeyFacts, SchemeParameters};
    pub use crate::schemes::owners::identity_of_secret;
    pub use crate::schemes::summary::CiphertextSummary;
    pub use noren_rlwe::wire::key_file::{ExpandedFileKey, FileContext, FileKey};
    pub use noren_rlwe::wire::kind::Kind;
    pub use noren_rlwe::wire::object::Object;
    pub use noren_rlwe::wire::publish::{Destination, Existing};
    pub use noren_rlwe::wire::reader::{Limits, Reader};
    pub use noren_rlwe::wire::reason::Reason;
    pub use noren_rlwe::wire::writer::{Form, Writer};
}

/// Samples of ring learning with errors, below their schemes: what the schemes' types show of them.
pub mod rlwe {
    pub use noren_ring::gadget::Gadget;
    pub use noren_ring::poly::{Coeff, Eval, Poly};
    pub use noren_ring::torus::device::TorusDevice;
    pub use noren_ring::torus::lwe::Lwe;
    pub use noren_rlwe::ciphertext::{Ciphertext, Plaintext};
    pub use noren_rlwe::context::Context;
    pub use noren_rlwe::key_class::KeyClass;
    pub use noren_rlwe::key_request::KeyRequest;
    pub use noren_rlwe::keys::KeySwitchKey;
    pub use noren_rlwe::noise::Measured;
    pub use noren_rlwe::parameters::Parameters;
    pub use noren_rlwe::product::Factors;
    pub use noren_rlwe::shape::KeyShape;
    pub use noren_rlwe::torus::parameters::TorusParameters;
    pub use noren_rlwe::wire::key_file::KeyFile;
}

pub use noren_math::machine::memory::{self, OutOfMemory};
pub use noren_math::random::Seed;
pub use noren_ring::engine::Engine;
pub use noren_ring::interrupt::{self, Interrupt, Interrupted};
pub use noren_ring::parallel::Parallel;
pub use noren_rlwe::error::{self, Error, Result};
pub use noren_rlwe::key_use::{KeyNeed, KeyUse};
pub use noren_rlwe::keys::{EvaluationKeys, PublicKey, SecretKey};
pub use noren_rlwe::owner::{KeyId, Owner};
pub use noren_rlwe::reencryption::{Cover, ReceiverKey, ReencryptionKey};
pub use noren_rlwe::resources::Resources;
pub use noren_rlwe::security::{self, SecretDistribution, Security};
pub use num_complex::Complex64;
pub use schemes::{bfv, bgv, ckks, tfhe};
