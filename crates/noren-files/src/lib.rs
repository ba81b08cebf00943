//! Files that keep a secret, and files that say who made them: secret keys under a passphrase, and detached signatures.
//!
//! Both formats are those of well-known tools: a file under a passphrase is one of [age](https://age-encryption.org/v1), so that
//! `age -d` gives its content; a signature is one of [minisign](https://jedisct1.github.io/minisign/), so that `minisign -V`
//! verifies it. `docs/contract.md` says what is guaranteed.
//!
//! | room | what it holds |
//! |---|---|
//! | [`passphrase`] | [`Passphrase`](passphrase::Passphrase), and [`Work`](passphrase::Work): what a guess of one costs |
//! | [`encrypted`] | files under a passphrase: [`write`](encrypted::write), [`read`](encrypted::read); secrets with and without one |
//! | [`signing_key`] | [`SigningKey`](signing_key::SigningKey): what signs, and its file |
//! | [`signer`] | [`Signer`](signer::Signer): the public key that signatures are verified with, and its file |
//! | [`signature`] | [`Signature`](signature::Signature): what a signature says; signing and verifying files |
//! | [`error`] | why files are refused |

#![forbid(unsafe_code)]

pub mod encrypted;
pub mod error;
pub mod passphrase;
pub mod signature;
pub mod signer;
pub mod signing_key;

mod text;
