//! TFHE: bits and small integers, each with a bootstrap that looks up any function.
//!
//! A ciphertext is a sample of learning with errors over the torus. Sums are cheap and add up noise; a bootstrap takes any
//! function of the value and gives its result with new noise, so that computations have no depth. Source: Chillotti, Gama,
//! Georgieva and Izabachene, eprint 2018/421; tables of values and carries: Bergerat et al., eprint 2022/704.
//!
//! ```
//! use noren::Seed;
//! use noren::tfhe::{Context, Decryptor, Encryptor, Evaluator, Gate, Preset};
//!
//! let context = Context::new(Preset::named("BOOL_128")?.parameters()?)?;
//! let keys = context.generate_keys(Seed::random()?)?;
//! let encryptor = Encryptor::new(&context, &keys.secret, Seed::random()?)?;
//! let (a, b) = (encryptor.encrypt_bit(true)?, encryptor.encrypt_bit(false)?);
//!
//! let evaluator = Evaluator::new(&context, keys.server)?;
//! let or = evaluator.gate(Gate::Or, &a, &b)?;
//! assert!(Decryptor::new(&context, &keys.secret)?.decrypt_bit(&evaluator.mux(&or, &a, &b)?)?);
//! # Ok::<(), noren::Error>(())
//! ```
//!
//! | room | what it holds |
//! |---|---|
//! | `parameters` | [`ParametersSpec`], [`Parameters`]: what values are, and how often a bootstrap fails |
//! | `preset` | [`Preset`]: sets by their names |
//! | `context` | [`Context`]: parameters with their transforms and threads; [`Keys`] |
//! | `ciphertext` | [`Ciphertext`]: an integer; [`Bit`]: a bit |
//! | `encryption` | [`Encryptor`], [`Decryptor`] |
//! | `lookup` | [`Lookup`], [`BivariateLookup`]: functions as tables |
//! | `evaluator` | [`Evaluator`]: sums and lookups |
//! | `large` | [`LargeLookup`]: functions of many digits, by circuit bootstrapping |
//! | `gates` | [`Gate`]: functions of bits |
//! | `error` | [`TfheError`] |
//! | `wire` | [`Ciphertexts`], [`Bits`], [`KeyFile`]: bytes |
//! | `seeded` | [`SeededCiphertexts`]: fresh ciphertexts whose masks are a seed |
//! | `key_file` | [`ServerKeyFile`]: keys used where they lie; compact keys written while they are made |

pub(crate) mod ciphertext;
pub(crate) mod context;
pub(crate) mod encryption;
pub(crate) mod error;
pub(crate) mod evaluator;
pub(crate) mod gates;
pub(crate) mod key_file;
pub(crate) mod large;
pub(crate) mod lookup;
pub(crate) mod parameters;
pub(crate) mod parts;
pub(crate) mod preset;
pub(crate) mod seeded;
pub(crate) mod wire;

pub use ciphertext::{Bit, Ciphertext};
pub use context::{Context, Keys};
pub use encryption::{Decryptor, Encryptor};
pub use error::TfheError;
pub use evaluator::Evaluator;
pub use gates::Gate;
pub use key_file::ServerKeyFile;
pub use large::lookup::LargeLookup;
pub use lookup::{BivariateLookup, Lookup};
pub use noren_math::torus_products::product::Grouping;
pub use noren_rlwe::torus::circuit::keys::{CircuitKeys, CompactCircuitKeys};
pub use noren_rlwe::torus::circuit::law::CircuitLaw;
pub use noren_rlwe::torus::circuit::parameters::CircuitParameters;
pub use noren_rlwe::torus::circuit::spec::CircuitSpec;
pub use noren_rlwe::torus::digits::Digits;
pub use noren_rlwe::torus::keys::{CompactKeys, ServerKeys};
pub use noren_rlwe::torus::law::{Failure, NoiseLaw};
pub use noren_rlwe::torus::light::keys::LightKeys;
pub use noren_rlwe::torus::light::spec::LightSpec;
pub use noren_rlwe::torus::noise::TorusNoise;
pub use noren_rlwe::torus::secret::TorusSecret as SecretKey;
pub use noren_rlwe::torus::spec::TorusSpec;
pub use parameters::{Encoding, Parameters, ParametersSpec};
pub use preset::{PRESETS, Preset};
pub use seeded::SeededCiphertexts;
pub use wire::{Bits, Ciphertexts, FileKey, KeyFile};
