//! Bootstrapping: what turns a ciphertext without levels into one of the same message with levels.
//!
//! The order is slots to coefficients, modulus raised under a short-lived sparse secret, coefficients to slots, and the
//! removal of the multiples of `q_0` by a complex exponential. `docs/bootstrapping.md` explains it.
//!
//! | room | what it holds |
//! |---|---|
//! | `bootstrapper` | [`Bootstrapper`]: acts on ciphertexts |
//! | `mode` | [`Mode`]: real or complex messages |
//! | `evaluator` | [`BootstrappingEvaluator`], [`WithBootstrapping`]: an evaluator whose levels do not end |
//! | `pipeline` | [`Stages`], [`Stage`]: what lies between |
//! | `ends` | the way to coefficients, and from coefficients to their sines, for scheme switching |
//! | `keys` | [`BootstrapKeys`]: what it evaluates with |
//! | `key_file` | [`BootstrapKeyFile`]: these keys in a file, made, read and mapped key by key |
//! | `footprint` | [`Footprint`]: whether memory and disk suffice |
//! | `cost` | how long a bootstrap takes, by a model |
//! | `preset` | [`Preset`]: named parameters |
//! | `parameters` | [`ParametersSpec`], [`Parameters`]: the chain of primes |
//! | `plan` | [`BootstrapPlan`]: keys, memory, time, precision and failure probability before any key exists |
//! | `key_classes` | [`KeyClass`]: which keys, how large, of what security |
//! | `failure` | the probability that a coefficient leaves the interval |
//! | `dft` | [`Direction`]: the special DFT as sparse matrices |
//! | `diagonals` | [`Diagonals`]: a matrix by its diagonals |
//! | `group` | [`Group`]: baby steps and giant steps of a matrix |
//! | `slots` | fewer slots than the ring has |
//! | `exponential` | [`Exponential`]: a polynomial and squarings |
//! | `series` | [`SineSeries`]: from the exponential to the message |

pub(crate) mod bootstrapper;
pub(crate) mod cost;
pub(crate) mod dft;
pub(crate) mod diagonals;
pub(crate) mod ends;
pub(crate) mod evaluator;
pub(crate) mod exponential;
pub(crate) mod failure;
pub(crate) mod footprint;
pub(crate) mod group;
pub(crate) mod key_classes;
pub(crate) mod key_file;
pub(crate) mod keys;
pub(crate) mod mode;
pub(crate) mod parameters;
pub(crate) mod pipeline;
pub(crate) mod plan;
pub(crate) mod preset;
#[cfg(feature = "papers")]
pub mod rns_heaan;
pub(crate) mod series;
pub(crate) mod slots;

mod build;
mod chebyshev;
mod eval_mod;
mod gathered;
mod iteration;
mod key_list;
mod matrix;
pub(crate) mod minimax;
mod precision;
mod renewal;
mod requests;
mod transforms;
mod wire;

pub use bootstrapper::{Bootstrapper, MAX_MAGNITUDE};
pub use cost::Time;
pub use dft::Direction;
pub use diagonals::Diagonals;
pub use evaluator::{BootstrappingEvaluator, WithBootstrapping};
pub use exponential::Exponential;
pub use failure::{log2_failure, log2_tail};
pub use footprint::{Footprint, expanded_bytes};
pub use group::{GiantOrder, Group, Steps};
pub use key_classes::{KeyClass, Role};
pub use key_file::{BootstrapKeyFile, Contents, Progress};
pub use keys::BootstrapKeys;
pub use mode::Mode;
pub use parameters::{EvalMod, Parameters, ParametersSpec, Primes, Transform};
pub use pipeline::{Stage, Stages};
pub use plan::BootstrapPlan;
pub use preset::Preset;
pub use renewal::Bootstraps;
pub use series::SineSeries;
