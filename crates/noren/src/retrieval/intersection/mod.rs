//! Private set intersection with payload: which keywords of one party stand in the table of another, and with which rows.
//!
//! The client puts its keywords into bins by cuckoo hashing, one in each slot, and encrypts powers of their values. The holder of the
//! table puts each row into all three bins where its keyword may lie, and has for each bin a polynomial P that is zero at the values of
//! its rows, and for each number of a row one, Q, that interpolates it there. It answers with `r P(x) + Q(x)` for random r: the number
//! where x is among the values, and otherwise a random one. Two numbers are checks, digests of the keyword, and the others the row.
//!
//! The client learns the rows of its own keywords: replies are [flooded](crate::bfv::Flood) with noise, and randomised anew. The holder
//! learns how many keywords were asked for at most. Both follow the protocol.
//!
//! Sources: Chen, Laine and Rindal, eprint 2017/299; Chen, Huang, Laine and Rindal, eprint 2018/787 (rows, as labels).
//!
//! | file | what it holds |
//! |---|---|
//! | `bins` | keywords as values, and in bins |
//! | `plan` | [`Plan`]: what both halves know |
//! | `polynomials` | the polynomials of a bin |
//! | `database` | [`Database`]: the half that has the table |
//! | `client` | [`Client`]: the half that asks |

mod bins;
mod client;
mod database;
mod plan;
mod polynomials;

pub use client::Client;
pub use database::Database;
pub use plan::{Options, Plan};

#[cfg(test)]
mod tests;
