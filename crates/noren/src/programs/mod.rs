//! Programs on encrypted tables: statistics, and models that others have trained.
//!
//! A client makes a [`plan`] of the parameters and keys that its [programs](program) need, arranges its table in
//! ciphertexts ([`layout`]), and sends the encrypted [`table`] with its evaluation keys to a server. The server runs a
//! program on it and sends a table back, which says itself how it is to be read. Tables of whole numbers, exact, are those
//! of [`integers`], and those of [`columns`], whose elements are encrypted one by one.

pub mod bounds;
pub mod columns;
pub mod encrypted;
mod entries;
pub mod evaluator;
pub mod integers;
pub mod layout;
pub mod model;
pub mod pairs;
pub mod plan;
mod products;
pub mod program;
mod record;
mod scores;
mod statistics;
pub mod table;
mod wire;
