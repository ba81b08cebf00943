//! Bytes as a CKKS ciphertext.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::ckks::Ciphertext;
use noren_fuzz::{ckks_context, object};

fuzz_target!(|bytes: &[u8]| object::<Ciphertext>(ckks_context(), bytes));
