//! Bytes as parameters of exact integers.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::bgv::Parameters;
use noren_fuzz::object;

fuzz_target!(|bytes: &[u8]| object::<Parameters>(&(), bytes));
