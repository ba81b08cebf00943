//! Bytes as parameters.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren_fuzz::object;
use noren_rlwe::parameters::Parameters;

fuzz_target!(|bytes: &[u8]| object::<Parameters>(&(), bytes));
