//! Bytes as a re-encryption key with its parameters.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::ReencryptionKey;
use noren::ckks::KeyFile;
use noren_fuzz::object;

fuzz_target!(|bytes: &[u8]| object::<KeyFile<ReencryptionKey>>(&(), bytes));
