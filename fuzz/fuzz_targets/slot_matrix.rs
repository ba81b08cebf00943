//! Bytes as a matrix of slots.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::bgv::SlotMatrix;
use noren_fuzz::{object, slot_context};

fuzz_target!(|bytes: &[u8]| object::<SlotMatrix>(slot_context(), bytes));
