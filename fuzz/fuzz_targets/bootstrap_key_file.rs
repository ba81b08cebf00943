//! Bytes as a file of bootstrapping keys, read key by key.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren_fuzz::key_file;

fuzz_target!(|bytes: &[u8]| key_file(bytes));
