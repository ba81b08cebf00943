//! Files that keep a secret: secret keys under a passphrase.
//!
//! The format is that of a well-known tool: a file under a passphrase is one of [age](https://age-encryption.org/v1), so that
//! `age -d` gives its content. `docs/contract.md` says what is guaranteed.
//!
//! | room | what it holds |
//! |---|---|
//! | [`passphrase`] | [`Passphrase`](passphrase::Passphrase), and [`Work`](passphrase::Work): what a guess of one costs |
//! | [`encrypted`] | files under a passphrase: [`write`](encrypted::write), [`read`](encrypted::read) |
//! | [`error`] | why files are refused |

#![forbid(unsafe_code)]

pub mod encrypted;
pub mod error;
pub mod passphrase;
