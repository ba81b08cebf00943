//! Bytes as evaluation keys.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren_fuzz::{context, object};
use noren_rlwe::keys::EvaluationKeys;

fuzz_target!(|bytes: &[u8]| object::<EvaluationKeys>(context(), bytes));
