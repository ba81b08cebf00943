//! Representations of classes: sizes, contents of keys, and tables for notebooks.

use std::fmt::{self, Write};

use noren::tfhe::{self, CompactCircuitKeys, CompactKeys, LightKeys};
use noren::{EvaluationKeys, PublicKey, ReceiverKey, ReencryptionKey, SecretKey};
use noren_rlwe::owner::KeyId;

use crate::key_sets;

/// Bytes as people read them, such as `60.1 MB`.
pub(crate) fn size(bytes: u64) -> String {
    let units = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    match units.into_iter().find(|&(_, size)| bytes as f64 >= size) {
        Some((unit, size)) => format!("{:.1} {unit}", bytes as f64 / size),
        None => format!("{bytes} bytes"),
    }
}

/// The most numbers that are shown one by one.
const SHOWN: usize = 8;

/// The first of some numbers, and how many there are more.
pub(crate) fn list(numbers: impl ExactSizeIterator<Item = isize>) -> String {
    let more = numbers.len().saturating_sub(SHOWN);
    let mut shown: Vec<String> = numbers.take(SHOWN).map(|number| number.to_string()).collect();
    if more > 0 {
        shown.push(format!("... {more} more"));
    }
    format!("[{}]", shown.join(", "))
}

/// A name with a value.
pub(crate) type Row = (&'static str, String);

/// A key that says what it holds, besides its parameters.
pub(crate) trait Holds {
    /// The identity of the secret key that it belongs to.
    fn key_id(&self) -> KeyId;

    /// Bytes in memory; of mapped keys, those of the file that hold them.
    fn bytes(&self) -> u64;

    /// Names with values.
    fn contents(&self) -> Vec<Row> {
        Vec::new()
    }

    /// The keys, if they are evaluation keys.
    fn evaluation(&self) -> Option<&EvaluationKeys> {
        None
    }
}

impl Holds for SecretKey {
    fn key_id(&self) -> KeyId {
        self.owner().key
    }

    fn bytes(&self) -> u64 {
        self.bytes()
    }
}

impl Holds for PublicKey {
    fn key_id(&self) -> KeyId {
        self.owner().key
    }

    fn bytes(&self) -> u64 {
        self.bytes()
    }
}

impl Holds for ReceiverKey {
    fn key_id(&self) -> KeyId {
        self.owner().key
    }

    fn bytes(&self) -> u64 {
        self.bytes()
    }
}

impl Holds for ReencryptionKey {
    fn key_id(&self) -> KeyId {
        self.owner().key
    }

    fn bytes(&self) -> u64 {
        self.bytes()
    }
}

impl Holds for tfhe::SecretKey {
    fn key_id(&self) -> KeyId {
        self.owner().key
    }

    fn bytes(&self) -> u64 {
        self.bytes() as u64
    }
}

impl Holds for CompactKeys {
    fn key_id(&self) -> KeyId {
        self.owner().key
    }

    fn bytes(&self) -> u64 {
        self.bytes() as u64
    }
}

impl Holds for LightKeys {
    fn key_id(&self) -> KeyId {
        self.owner().key
    }

    fn bytes(&self) -> u64 {
        self.bytes() as u64
    }
}

impl Holds for CompactCircuitKeys {
    fn key_id(&self) -> KeyId {
        self.owner().key
    }

    fn bytes(&self) -> u64 {
        self.bytes() as u64
    }
}

impl Holds for EvaluationKeys {
    fn key_id(&self) -> KeyId {
        self.owner().key
    }

    fn bytes(&self) -> u64 {
        self.bytes()
    }

    fn evaluation(&self) -> Option<&EvaluationKeys> {
        Some(self)
    }

    fn contents(&self) -> Vec<Row> {
        let rotations = key_sets::rotations(self);
        let mut contents = vec![("keys", self.uses().count().to_string())];
        if self.has_relinearization() {
            contents.push(("products", "yes".to_owned()));
        }
        if key_sets::has_conjugation(self) {
            contents.push(("conjugation or swap", "yes".to_owned()));
        }
        if !rotations.is_empty() {
            contents.push(("rotations", list(rotations.keys().copied())));
        }
        contents
    }
}

/// The `repr` of a key, such as `EvaluationKeys(n=1024, keys=3, products, rotations=[1, 2], key=0a1b2c3d, 1.2 MB)`.
pub(crate) fn key(name: &str, parameters: &str, key: &dyn Holds) -> String {
    let mut text = format!("{name}({parameters}, ");
    for (name, value) in key.contents() {
        let _ = if value == "yes" { write!(text, "{name}, ") } else { write!(text, "{name}={value}, ") };
    }
    text + &format!("key={}, {})", key.key_id(), size(key.bytes()))
}

/// The table of a key for notebooks.
pub(crate) fn key_table(name: &str, parameters: String, key: &dyn Holds) -> String {
    let rows = std::iter::once(("parameters", parameters)).chain(key.contents());
    let ends = [("key", key.key_id().to_string()), ("size in memory", size(key.bytes()))];
    table(name, &rows.chain(ends).collect::<Vec<_>>())
}

/// A small table for notebooks: a title, and names with values.
pub(crate) fn table(title: &str, rows: &[Row]) -> String {
    let mut html = format!("<table><caption>{}</caption>", Escaped(title));
    for (name, value) in rows {
        let _ =
            write!(html, "<tr><th style=\"text-align:left\">{}</th><td>{}</td></tr>", Escaped(name), Escaped(value));
    }
    html + "</table>"
}

/// Text in HTML.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|sign| match sign {
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '&' => f.write_str("&amp;"),
            sign => f.write_char(sign),
        })
    }
}
