//! Bytes as a plaintext.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren_fuzz::{context, object};
use noren_rlwe::ciphertext::Plaintext;

fuzz_target!(|bytes: &[u8]| object::<Plaintext>(context(), bytes));
