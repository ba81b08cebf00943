//! Bytes as scheme switching keys.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren_fuzz::{object, switch_context};
use noren_rlwe::torus::scheme_switch::keys::CompactSwitchKeys;

fuzz_target!(|bytes: &[u8]| object::<CompactSwitchKeys>(switch_context(), bytes));
