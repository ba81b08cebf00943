//! Words leave the crate, and come into it, through few files: encoders, samplers and files use them, and nothing else can.

use std::fs;
use std::path::{Path, PathBuf};

/// Where public functions take or give words, and why.
const DOORS: [(&str, &str); 4] = [
    ("ring/words.rs", "encoders, samplers and files"),
    ("key.rs", "expanded keys, which lie in files"),
    ("small.rs", "factors of lookups, which lie in files"),
    ("device.rs", "what a device shows the host"),
];
/// Lists of numbers, one for each prime, are no words of an element.
const LISTS: [&str; 3] = ["moduli: &[u64]", "residues: &[u64]", "integer_residues(&self, x: i128) -> Vec<u64>"];

/// All sources in a folder, without those of the torus, whose words are not yet behind the door.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            if !path.ends_with("torus") {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The signatures of public functions.
fn signatures(source: &str) -> impl Iterator<Item = &str> {
    let starts = source.match_indices("    pub fn ").map(|(start, _)| &source[start..]);
    starts.map(|text| &text[..text.find(['{', ';']).expect("a function has a body")])
}

#[test]
fn words_leave_through_the_doors_alone() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&folder, &mut files);
    let mut doors = Vec::new();
    for file in files {
        let name = file.strip_prefix(&folder).expect("below the folder").to_string_lossy().replace('\\', "/");
        let source = fs::read_to_string(&file).expect("a source");
        for signature in signatures(&source) {
            let without_lists = LISTS.iter().fold(signature.to_owned(), |text, list| text.replace(list, ""));
            if !["[u64]", "[u64;", "Vec<u64>"].iter().any(|words| without_lists.contains(words)) {
                continue;
            }
            let door = DOORS.iter().find(|(door, _)| *door == name);
            assert!(door.is_some(), "{name} hands words out, and is no door: {signature}");
            doors.push(name.clone());
        }
    }
    doors.dedup();
    assert!(doors.len() >= 3, "the doors that are used: {doors:?}");
}
