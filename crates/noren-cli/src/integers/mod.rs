//! Exact integers on the command line: keys, encryption and decryption of tables of whole numbers.

pub(crate) mod decrypt;
pub(crate) mod encrypt;
pub(crate) mod keys;
