//! Bytes as a file of expanded bootstrapping keys, mapped and used.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren_fuzz::mapped_key_file;

fuzz_target!(|bytes: &[u8]| mapped_key_file(bytes));
