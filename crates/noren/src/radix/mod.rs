//! Integers of 2 to 64 bits, in digits of two bits that are encrypted with TFHE.
//!
//! An operation is a circuit of lookups. Sums of digits are free until a ciphertext has no room for their carries; lookups are
//! bootstraps, and those that do not wait for each other go to the evaluator together, for all integers of a batch.
//!
//! ```no_run
//! use noren::radix::{Comparison, Evaluator, Integer};
//! use noren::tfhe::{self, Context, Decryptor, Encryptor, Preset};
//! use noren::Seed;
//!
//! let context = Context::new(Preset::named("2_2")?.parameters()?)?;
//! let keys = context.generate_keys(Seed::random()?)?;
//! let encryptor = Encryptor::new(&context, &keys.secret, Seed::random()?)?;
//! let encrypt = |value| Integer::encrypt(&encryptor, value, 16);
//! let (a, b) = ([encrypt(40_000)?, encrypt(7)?], [encrypt(123)?, encrypt(8)?]);
//!
//! let evaluator = Evaluator::new(&tfhe::Evaluator::new(&context, keys.server.clone())?)?;
//! let larger = evaluator.compare(Comparison::Gt, &a, &b)?;
//! let chosen = evaluator.select(&larger, &a, &evaluator.mul(&a, &b)?)?;
//!
//! let decryptor = Decryptor::new(&context, &keys.secret)?;
//! assert_eq!((chosen[0].decrypt(&decryptor)?, chosen[1].decrypt(&decryptor)?), (40_000, 56));
//! # Ok::<(), noren::Error>(())
//! ```
//!
//! | room | what it holds |
//! |---|---|
//! | `integer` | [`Integer`]: digits; [`Flag`]: a truth value |
//! | `evaluator` | [`Evaluator`]: operations on batches |
//! | `operation` | [`Operation`]: operations as circuits, and their costs |
//! | `circuit` | circuits of lookups: [`Shape`], [`Cost`] |
//! | `compare` | [`Comparison`]: orders |
//! | `shift` | [`Move`]: shifts and rotations |
//! | `sort` | [`exchanges`]: networks that sort |
//! | `wire` | [`Integers`]: bytes |

mod carry;
pub(crate) mod circuit;
mod columns;
pub(crate) mod compare;
mod divide;
pub(crate) mod evaluator;
pub(crate) mod integer;
mod multiply;
pub(crate) mod operation;
mod run;
mod select;
pub(crate) mod shift;
pub(crate) mod sort;
mod value;
pub(crate) mod wire;

pub use circuit::{Cost, Shape};
pub use compare::Comparison;
pub use evaluator::Evaluator;
pub use integer::{Flag, Integer};
pub(crate) use operation::Digit;
pub use operation::Operation;
pub use shift::Move;
pub use sort::exchanges;
pub use wire::Integers;
