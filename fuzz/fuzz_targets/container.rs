//! Bytes as a container of any kind.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren_fuzz::container;

fuzz_target!(|bytes: &[u8]| container(bytes));
