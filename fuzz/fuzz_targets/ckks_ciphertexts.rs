//! Bytes as several CKKS ciphertexts.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::ckks::Ciphertexts;
use noren_fuzz::{ckks_context, object};

fuzz_target!(|bytes: &[u8]| object::<Ciphertexts>(ckks_context(), bytes));
