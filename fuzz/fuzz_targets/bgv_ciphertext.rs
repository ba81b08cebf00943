//! Bytes as a BGV ciphertext.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::bgv::Ciphertext;
use noren_fuzz::{integer_context, object};

fuzz_target!(|bytes: &[u8]| object::<Ciphertext>(integer_context(), bytes));
