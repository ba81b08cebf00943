//! Bytes as keys of lookups with their parameters.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::lookup::LookupKeyFile;
use noren_fuzz::object;

fuzz_target!(|bytes: &[u8]| object::<LookupKeyFile>(&(), bytes));
