//! Bytes as parameters of bootstrapping.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::bootstrapping::Parameters;
use noren_fuzz::object;

fuzz_target!(|bytes: &[u8]| object::<Parameters>(&(), bytes));
