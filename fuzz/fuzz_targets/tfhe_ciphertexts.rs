//! Bytes as integers encrypted with TFHE.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::tfhe::Ciphertexts;
use noren_fuzz::{TFHE_INTEGERS, object, tfhe_parameters};

fuzz_target!(|bytes: &[u8]| object::<Ciphertexts>(&tfhe_parameters(TFHE_INTEGERS), bytes));
