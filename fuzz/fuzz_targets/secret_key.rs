//! Bytes as a secret key.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren_fuzz::{context, object};
use noren_rlwe::keys::SecretKey;

fuzz_target!(|bytes: &[u8]| object::<SecretKey>(context(), bytes));
