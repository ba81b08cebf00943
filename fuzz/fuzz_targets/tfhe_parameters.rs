//! Bytes as parameters of TFHE.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::tfhe::Parameters;
use noren_fuzz::object;

fuzz_target!(|bytes: &[u8]| object::<Parameters>(&(), bytes));
