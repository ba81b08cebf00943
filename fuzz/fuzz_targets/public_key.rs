//! Bytes as a public key.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren_fuzz::{context, object};
use noren_rlwe::keys::PublicKey;

fuzz_target!(|bytes: &[u8]| object::<PublicKey>(context(), bytes));
