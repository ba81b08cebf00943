//! Bytes as light keys with TFHE parameters.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::tfhe::{KeyFile, LightKeys};
use noren_fuzz::object;

fuzz_target!(|bytes: &[u8]| object::<KeyFile<LightKeys>>(&(), bytes));
