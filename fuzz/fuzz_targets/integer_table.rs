//! Bytes as an encrypted table of integers.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::programs::IntegerTable;
use noren_fuzz::{integer_context, object};

fuzz_target!(|bytes: &[u8]| object::<IntegerTable>(integer_context(), bytes));
