//! Bytes as bits encrypted with TFHE.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::tfhe::{Bits, Encoding};
use noren_fuzz::{object, tfhe_parameters};

fuzz_target!(|bytes: &[u8]| object::<Bits>(&tfhe_parameters(Encoding::Bits), bytes));
