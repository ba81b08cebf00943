//! Bytes as a file of a matrix of slots with its transformed factors, mapped and used.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren_fuzz::prepared_slot_matrix;

fuzz_target!(|bytes: &[u8]| prepared_slot_matrix(bytes));
