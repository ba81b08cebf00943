//! Bytes as the file of a compiled function.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::compiler::Program;
use noren::tables::Query;

fuzz_target!(|bytes: &[u8]| {
    let Ok(program) = Program::from_bytes(bytes) else { return };
    let written = program.to_bytes();
    let again = Program::from_bytes(&written).expect("what was written is read");
    assert_eq!(again.to_bytes(), written);
    assert_eq!(again.digest(), program.digest());
    if let Ok(Some(query)) = Query::of(&program) {
        assert!(!query.question().measures.is_empty());
    }
});
