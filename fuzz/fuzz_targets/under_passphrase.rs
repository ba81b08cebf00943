//! Bytes as a file under a passphrase.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren_files::encrypted::{decrypt_within, is_encrypted};
use noren_files::passphrase::{Passphrase, Work};

fuzz_target!(|bytes: &[u8]| {
    let passphrase = Passphrase::new("fuzz").expect("not empty");
    match decrypt_within(bytes, &passphrase, Work::LEAST) {
        Ok(content) => assert!(is_encrypted(bytes) && content.len() < bytes.len()),
        Err(reason) => assert!(!reason.to_string().is_empty()),
    }
});
