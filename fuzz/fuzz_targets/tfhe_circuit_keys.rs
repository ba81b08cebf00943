//! Bytes as circuit bootstrapping keys with TFHE parameters.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::tfhe::{CompactCircuitKeys, KeyFile};
use noren_fuzz::object;

fuzz_target!(|bytes: &[u8]| object::<KeyFile<CompactCircuitKeys>>(&(), bytes));
