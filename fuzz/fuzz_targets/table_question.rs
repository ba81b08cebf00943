//! Bytes as the text of a question on a table.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use noren::tables::{Column, Question, Schema, Values};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    let schema = SCHEMA.get_or_init(|| {
        let column = |name: &str, values| Column { name: name.to_owned(), values };
        let columns = vec![
            column("a", Values::Integers { low: -7, high: 300 }),
            column("b c", Values::Steps { low: -1.0, high: 1.0, step: 0.01 }),
            column("d", Values::Categories(vec!["x".to_owned(), "it's".to_owned()])),
        ];
        Schema { rows: 100, columns }
    });
    if let Ok(question) = Question::parse(text, schema) {
        assert!(!question.measures.is_empty() && question.groups.iter().all(|&column| column < schema.columns.len()));
    }
});
