//! Bytes as the JSON of a workload: what is read has sizes, and advice where it is small.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use noren::advisor::{Limits, Values, Workload, advise};
use noren::cost::{Machine, Party};

/// The most values of an instance, and the most instances, that advice is asked for: larger ones take long.
const MOST: usize = 64;

fuzz_target!(|bytes: &[u8]| {
    let Ok(json) = std::str::from_utf8(bytes) else { return };
    let Ok(workload) = Workload::parse(json) else { return };
    if workload.check().is_err() {
        return;
    }
    let (inputs, outputs) = (workload.inputs(), workload.outputs());
    assert!(inputs >= 1 && outputs >= 1);
    if let Values::Integer { bits, result_bits } = workload.values {
        assert!((1..=64).contains(&workload.result_bits(bits, result_bits)));
    }
    let written = serde_json::to_string(&workload).expect("a workload is plain data");
    assert_eq!(Workload::parse(&written).expect("what was written is read"), workload);
    static SERVER: OnceLock<Party> = OnceLock::new();
    let server = SERVER.get_or_init(|| Party { machine: Machine::reference(), threads: 1 });
    if inputs * outputs * workload.instances.min(MOST + 1) <= MOST
        && small(&workload)
        && let Ok(advice) = advise(&workload, server, server, &Limits::default())
    {
        assert!(!advice.report(&workload, server, server).to_json().is_empty());
    }
});

/// Whether the polynomial or the chain of squares is short.
fn small(workload: &Workload) -> bool {
    use noren::advisor::Computation::{Polynomial, Squarings};
    !matches!(workload.computation, Polynomial { degree: size } | Squarings { depth: size } if size > MOST)
}
