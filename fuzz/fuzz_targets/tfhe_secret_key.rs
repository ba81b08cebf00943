//! Bytes as a secret key with TFHE parameters.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::tfhe::{KeyFile, SecretKey};
use noren_fuzz::object;

fuzz_target!(|bytes: &[u8]| object::<KeyFile<SecretKey>>(&(), bytes));
