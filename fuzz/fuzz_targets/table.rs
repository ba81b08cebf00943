//! Bytes as an encrypted table.

#![no_main]

use libfuzzer_sys::fuzz_target;
use noren::ckks::Ciphertext;
use noren::programs::EncryptedTable;
use noren_fuzz::{ckks_context, object};

fuzz_target!(|bytes: &[u8]| object::<EncryptedTable<Ciphertext>>(ckks_context(), bytes));
