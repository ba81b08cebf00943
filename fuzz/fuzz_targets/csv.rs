//! Bytes as a table of numbers in CSV, with and without names.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use noren_cli::table_shape;

fuzz_target!(|bytes: &[u8]| {
    for header in [false, true] {
        if let Ok([rows, columns]) = table_shape(Path::new("table.csv"), bytes, header) {
            assert!(rows > 0 && columns > 0 && rows * columns <= bytes.len(), "{rows} x {columns}");
        }
    }
});
