//! Bytes as a file of expanded keys of TFHE, mapped and used.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren_fuzz::mapped_tfhe_keys;

fuzz_target!(|bytes: &[u8]| mapped_tfhe_keys(bytes));
