//! Programs on encrypted tables: statistics, and models that others have trained.
//!
//! A client arranges a table in ciphertexts ([`layout`]), asks a [`program`] which keys and levels it needs, and sends
//! the encrypted [`table`] with its evaluation keys to a server. The server runs the program on it and sends a table
//! back, which says itself how it is to be read.

pub mod encrypted;
mod entries;
pub mod layout;
pub mod model;
pub mod pairs;
mod products;
pub mod program;
mod record;
mod scores;
mod statistics;
pub mod table;
mod wire;
