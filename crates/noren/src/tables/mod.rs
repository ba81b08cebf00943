//! Questions on encrypted tables, in words of SQL: counts, sums, means, variances, quantiles and histograms of the rows for which a
//! condition holds, of all of them or in groups.
//!
//! Each column is encrypted bit by bit, a slot for each row: a comparison with a number is a tree of products of its bits, and a sum
//! over rows adds ciphertexts, without a rotation; the owner of the key adds what is left in slots. Everything is exact.
//!
//! | file | what it holds |
//! |---|---|
//! | `column` | [`Column`], [`Cells`]: what a column may hold, and the codes of its values |
//! | `codes` | [`Codes`]: sets of codes |
//! | `question`, `parser` | [`Question`]: what is asked, and its text |
//! | `circuit` | a question as a graph on bits |
//! | `layout`, `encoded` | rows in slots, and numbers in limbs; rows as inputs of the graph |
//! | `query`, `answer` | [`Query`]: a compiled question; [`Answer`]: what it finds |
//! | `error` | [`TableError`]: questions that cannot be asked, cells that columns do not hold |

mod answer;
mod circuit;
mod codes;
mod column;
mod encoded;
mod error;
mod layout;
mod parser;
mod query;
mod question;

pub use answer::{Answer, Cell};
pub use codes::Codes;
pub use column::{Cells, Column, Schema, Values};
pub use error::TableError;
pub use query::Query;
pub use question::{Condition, Measure, Question};

#[cfg(test)]
mod tests;
