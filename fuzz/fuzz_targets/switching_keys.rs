//! Bytes as scheme switching keys with parameters of both schemes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::switching::KeyFile;
use noren_fuzz::object;

fuzz_target!(|bytes: &[u8]| object::<KeyFile>(&(), bytes));
