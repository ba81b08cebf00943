//! Exact integers: the classes of `noren.bgv` and `noren.bfv`.

pub(crate) mod ciphertext;
pub(crate) mod context;
pub(crate) mod either;
pub(crate) mod evaluator;
pub(crate) mod keys;
pub(crate) mod lookup;
pub(crate) mod parameters;
pub(crate) mod plaintext;
pub(crate) mod schemes;
pub(crate) mod slot_matrix;
