//! Graphs on slots: from a [graph](crate::graph) to operations of a [`SlotEvaluator`](crate::schemes::slots::SlotEvaluator).
//!
//! | file | what it holds |
//! |---|---|
//! | `layout` | where elements lie in slots |
//! | `number` | real numbers and integers as scalars |
//! | `value` | arrays in ciphertexts; views of inputs, which the client arranges |
//! | `nodes` | node after node |
//! | `elementwise` | sums, differences and products |
//! | `reduce` | sums, products and extremes along axes |
//! | `matrix`, `gather` | products with matrices; elements in another order |
//! | `functions`, `comparisons`, `signs` | polynomials and smooth functions; comparisons by polynomials of signs |
//! | `decisions` | comparisons that are decided in place of polynomials |
//! | `orders` | sorting, and the places of the largest |
//! | `selection`, `thresholds` | order statistics and masks of the largest, by searches; the rounds of these |
//! | `kept` | encoded matrices, from one run to the next |
//! | `recording` | a dry run: views of inputs, levels, keys, counts |
//! | `error` | [`CompileError`]: what a graph asks for and does not get |

mod comparisons;
pub(crate) mod decisions;
mod elementwise;
pub(crate) mod error;
mod functions;
mod gather;
pub(crate) mod kept;
pub(crate) mod layout;
mod matrix;
pub(crate) mod nodes;
pub(crate) mod number;
mod orders;
pub(crate) mod recording;
mod reduce;
mod selection;
mod signs;
#[cfg(test)]
mod tests;
mod thresholds;
pub(crate) mod value;

pub use error::CompileError;
