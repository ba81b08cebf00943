//! Bytes as bootstrapping keys.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::bootstrapping::BootstrapKeyFile;
use noren_fuzz::object;

fuzz_target!(|bytes: &[u8]| object::<BootstrapKeyFile>(&(), bytes));
