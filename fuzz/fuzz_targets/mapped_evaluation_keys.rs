//! Bytes as a file of expanded evaluation keys or lookup keys, mapped and used.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren_fuzz::mapped_evaluation_keys;

fuzz_target!(|bytes: &[u8]| mapped_evaluation_keys(bytes));
