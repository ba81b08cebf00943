//! Bytes as evaluation keys with their parameters.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::EvaluationKeys;
use noren::ckks::KeyFile;
use noren_fuzz::object;

fuzz_target!(|bytes: &[u8]| object::<KeyFile<EvaluationKeys>>(&(), bytes));
