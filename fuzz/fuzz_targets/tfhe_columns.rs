//! Bytes as columns of integers and truth values that are encrypted with TFHE.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::programs::columns::Columns;
use noren_fuzz::{TFHE_DIGITS, object, tfhe_parameters};

fuzz_target!(|bytes: &[u8]| object::<Columns>(&tfhe_parameters(TFHE_DIGITS), bytes));
