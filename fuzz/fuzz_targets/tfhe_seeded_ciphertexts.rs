//! Bytes as fresh ciphertexts of TFHE whose masks are a seed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::tfhe::SeededCiphertexts;
use noren_fuzz::{TFHE_INTEGERS, object, tfhe_parameters};

fuzz_target!(|bytes: &[u8]| object::<SeededCiphertexts>(&tfhe_parameters(TFHE_INTEGERS), bytes));
