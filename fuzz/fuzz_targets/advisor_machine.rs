//! Bytes as the JSON of a machine's costs: what is read prices work with finite numbers, and is read back.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::advisor::{Computation, Limits, Values, Workload, advise};
use noren::cost::{Machine, Party};

fuzz_target!(|bytes: &[u8]| {
    let Ok(json) = std::str::from_utf8(bytes) else { return };
    let Ok(machine) = Machine::parse(json) else { return };
    assert_eq!(Machine::parse(&machine.to_json()).expect("what was written is read"), machine);
    for threads in machine.threads() {
        let party = Party { machine: machine.clone(), threads };
        let workload = Workload::new(Computation::Compare, Values::Integer { bits: 4, result_bits: None });
        if let Ok(advice) = advise(&workload, &party, &party, &Limits::default()) {
            assert!(advice.candidates.iter().all(|candidate| candidate.price.server_seconds >= 0.0));
        }
    }
});
