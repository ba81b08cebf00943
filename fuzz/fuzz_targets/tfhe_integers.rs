//! Bytes as integers of digits that are encrypted with TFHE.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::radix::Integers;
use noren_fuzz::{TFHE_DIGITS, object, tfhe_parameters};

fuzz_target!(|bytes: &[u8]| object::<Integers>(&tfhe_parameters(TFHE_DIGITS), bytes));
