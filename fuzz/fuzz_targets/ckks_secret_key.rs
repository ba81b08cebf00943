//! Bytes as a secret key with its parameters.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::SecretKey;
use noren::ckks::KeyFile;
use noren_fuzz::object;

fuzz_target!(|bytes: &[u8]| object::<KeyFile<SecretKey>>(&(), bytes));
