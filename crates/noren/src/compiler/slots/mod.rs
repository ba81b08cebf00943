//! Graphs on slots: the operations of [`SlotEvaluator`](crate::schemes::slots::SlotEvaluator) for each node.
//!
//! | file | what it holds |
//! |---|---|
//! | `number` | real numbers and integers as scalars |
//! | `value` | arrays in ciphertexts; views of inputs, which the client arranges |
//! | `lowering` | node after node |
//! | `elementwise` | sums, differences and products |
//! | `reduce` | sums, products and extremes along axes |
//! | `matrix`, `gather` | products with matrices; elements in another order |
//! | `functions`, `signs` | polynomials and smooth functions; comparisons by signs |

mod elementwise;
mod functions;
mod gather;
pub(super) mod lowering;
mod matrix;
pub(super) mod number;
mod reduce;
mod signs;
#[cfg(test)]
mod tests;
pub(super) mod value;
