//! Bytes as a ciphertext.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren_fuzz::{context, object};
use noren_rlwe::ciphertext::Ciphertext;

fuzz_target!(|bytes: &[u8]| object::<Ciphertext>(context(), bytes));
