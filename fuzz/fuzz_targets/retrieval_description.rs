//! Bytes as the description of a table for private retrieval.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::retrieval::Plan;

fuzz_target!(|bytes: &[u8]| {
    let Ok(plan) = Plan::from_bytes(bytes) else { return };
    let again = Plan::from_bytes(&plan.to_bytes()).expect("what was written is read");
    assert_eq!(again.to_bytes(), plan.to_bytes());
    assert_eq!(again.to_json(), plan.to_json());
});
