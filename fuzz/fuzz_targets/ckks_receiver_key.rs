//! Bytes as a public key for re-encryption with its parameters.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::ReceiverKey;
use noren::ckks::KeyFile;
use noren_fuzz::object;

fuzz_target!(|bytes: &[u8]| object::<KeyFile<ReceiverKey>>(&(), bytes));
