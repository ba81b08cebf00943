//! CKKS on the command line: keys, encryption and decryption of tables of numbers, and programs on them.

pub(crate) mod decrypt;
pub(crate) mod encrypt;
pub(crate) mod eval;
pub(crate) mod keys;
