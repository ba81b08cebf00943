//! The classes of `noren.tfhe`.

pub(crate) mod array;
pub(crate) mod classes;
pub(crate) mod context;
pub(crate) mod evaluator;
mod function;
pub(crate) mod keys;
pub(crate) mod numbers;
pub(crate) mod parameters;
pub(crate) mod shape;
