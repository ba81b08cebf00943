//! Private information retrieval: a row of a table that its holder has in clear, asked for by its number or by a keyword that the
//! holder does not learn.
//!
//! The rows lie in buckets, as coefficients of plaintexts, a matrix of them. The client encrypts one polynomial that selects a row and a
//! column of the matrix; the server [expands](crate::bfv::Evaluator::expand) it into a selector for each, sums each column with the
//! selectors of rows, and the columns with theirs. A request and a reply are a ciphertext or a few, whatever the size of the table.
//!
//! Requests are hidden; the table is not: a reply holds the bucket of the row, with other rows in it.
//!
//! Sources: Angel, Chen, Laine and Setty, eprint 2017/1142 (expansion); Ali et al., eprint 2019/1483 (products of selectors).
//!
//! | file | what it holds |
//! |---|---|
//! | `records` | rows in buckets, and buckets in coefficients |
//! | `secret` | the key of the client |
//! | `plan` | [`Plan`]: what both halves know: places of rows, parameters, bytes |
//! | `database` | [`Database`]: the half that has the table |
//! | `client` | [`Client`], [`Key`]: the half that asks |
//! | `intersection` | many keywords at once, and nothing of other rows: private set intersection |

mod client;
mod database;
pub mod intersection;
mod plan;
mod records;
mod secret;

pub use client::Client;
pub use database::Database;
pub use plan::Plan;
pub use records::{Key, Rows};

#[cfg(test)]
mod tests;
