//! Bytes as a CKKS plaintext.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::ckks::Plaintext;
use noren_fuzz::{ckks_context, object};

fuzz_target!(|bytes: &[u8]| object::<Plaintext>(ckks_context(), bytes));
