//! The classes of `noren.ckks`.

mod ciphertext;
pub(crate) mod classes;
mod comparisons;
mod context;
pub(crate) mod evaluator;
pub(crate) mod keys;
pub(crate) mod level;
pub(crate) mod operand;
pub(crate) mod parameters;
mod plaintext;
pub(crate) mod release;
