//! Bytes as a key switching key.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren_fuzz::{context, object};
use noren_rlwe::keys::KeySwitchKey;

fuzz_target!(|bytes: &[u8]| object::<KeySwitchKey>(context(), bytes));
