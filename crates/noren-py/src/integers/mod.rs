//! Exact integers: the classes of `noren.bgv` and `noren.bfv`.

mod ciphertext;
pub(crate) mod classes;
mod context;
pub(crate) mod either;
mod evaluator;
pub(crate) mod keys;
pub(crate) mod lookup;
pub(crate) mod parameters;
pub(crate) mod plaintext;
pub(crate) mod schemes;
pub(crate) mod slot_matrix;
