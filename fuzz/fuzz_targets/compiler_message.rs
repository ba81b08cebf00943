//! Bytes as a message between the halves of a compiled function.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::compiler::Message;

fuzz_target!(|bytes: &[u8]| {
    let Ok(message) = Message::from_bytes(bytes) else { return };
    assert_eq!(message.to_bytes(), bytes);
});
