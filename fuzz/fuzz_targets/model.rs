//! Bytes as the model of each program, and the plan that it leads to.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::programs::Program;
use noren::programs::TableLayout;

fuzz_target!(|bytes: &[u8]| {
    let Ok(json) = std::str::from_utf8(bytes) else { return };
    let layout = TableLayout::new(3, 2, 8).expect("a small table");
    for name in Program::NAMES {
        if let Ok(program) = Program::parse(name, Some(json)) {
            let _ = program.plan(&layout);
        }
    }
});
