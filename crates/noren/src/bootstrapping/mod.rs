//! Bootstrapping: what turns a ciphertext without levels into one of the same message with levels.
//!
//! The order is slots to coefficients, modulus raised under a short-lived sparse secret, coefficients to slots, and the
//! removal of the multiples of `q_0` by a complex exponential. `docs/bootstrapping.md` explains it.
//!
//! | room | what it holds |
//! |---|---|
//! | [`bootstrapper`] | [`Bootstrapper`]: acts on ciphertexts |
//! | [`mode`] | [`Mode`]: real or complex messages |
//! | [`unlimited`] | [`Unlimited`], [`WithBootstrapping`]: an evaluator whose levels do not end |
//! | [`pipeline`] | [`Stages`], [`Stage`]: what lies between |
//! | [`keys`] | [`BootstrapKeys`]: what it evaluates with |
//! | [`key_file`] | [`BootstrapKeyFile`]: these keys in a file, made, read and mapped key by key |
//! | [`demand`] | [`Demand`]: whether memory and disk suffice |
//! | [`cost`] | how long a bootstrap takes, by a model |
//! | [`preset`] | [`Preset`]: named parameters |
//! | [`parameters`] | [`ParametersSpec`], [`Parameters`]: the chain of primes |
//! | [`plan`] | [`Plan`]: keys, memory, time, precision and failure probability before any key exists |
//! | [`key_classes`] | [`KeyClass`]: which keys, how large, of what security |
//! | [`failure`] | the probability that a coefficient leaves the interval |
//! | [`dft`] | [`Direction`]: the special DFT as sparse matrices |
//! | [`diagonals`] | [`Diagonals`]: a matrix by its diagonals |
//! | [`group`] | [`Group`]: baby steps and giant steps of a matrix |
//! | [`slots`] | fewer slots than the ring has |
//! | [`exponential`] | [`Exponential`]: a polynomial and squarings |
//! | [`series`] | [`SineSeries`]: from the exponential to the message |

pub mod bootstrapper;
pub mod cost;
pub mod demand;
pub mod dft;
pub mod diagonals;
pub mod exponential;
pub mod failure;
pub mod group;
pub mod key_classes;
pub mod key_file;
pub mod keys;
pub mod mode;
pub mod paper2;
pub mod parameters;
pub mod pipeline;
pub mod plan;
pub mod preset;
pub mod series;
pub mod slots;
pub mod unlimited;

mod build;
mod chebyshev;
mod eval_mod;
mod gathered;
mod iteration;
mod matrix;
mod minimax;
mod precision;
mod recipe;
mod renewal;
mod requests;
mod transforms;
mod wire;

pub use bootstrapper::Bootstrapper;
pub use demand::Demand;
pub use dft::Direction;
pub use diagonals::Diagonals;
pub use exponential::Exponential;
pub use group::{GiantOrder, Group};
pub use key_classes::{KeyClass, Role};
pub use key_file::{BootstrapKeyFile, Progress};
pub use keys::BootstrapKeys;
pub use mode::Mode;
pub use parameters::{Parameters, ParametersSpec};
pub use pipeline::{Stage, Stages};
pub use plan::Plan;
pub use preset::Preset;
pub use series::SineSeries;
pub use unlimited::{Unlimited, WithBootstrapping};
