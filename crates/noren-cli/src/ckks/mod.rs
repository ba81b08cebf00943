//! CKKS on the command line: keys, encryption and decryption of tables of numbers, and programs on them.

pub(crate) mod eval;

mod decrypt;
mod encrypt;
mod keys;
mod parameters;
mod plan;
mod reencrypt;
mod scheme;

pub(crate) use scheme::SCHEME;
