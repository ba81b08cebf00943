//! Bytes as a plaintext of integers.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::bgv::Plaintext;
use noren_fuzz::{integer_context, object};

fuzz_target!(|bytes: &[u8]| object::<Plaintext>(integer_context(), bytes));
