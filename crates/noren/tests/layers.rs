//! The house rules that the compiler does not know: who may import whom, and what has no place where.

use std::fs;
use std::path::{Path, PathBuf};

/// No file grows longer.
const MAX_LINES: usize = 600;

/// A source file: its path below `crates/`, with slashes, and its text.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The lines of code, with their numbers: without comments, and without the tests at the end of the file.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let end = self.text.find("#[cfg(test)]\nmod tests").unwrap_or(self.text.len());
        self.text[..end].lines().enumerate().map(|(i, line)| (i + 1, line.split("//").next().unwrap_or_default()))
    }

    /// The places where the code says one of these.
    fn places(&self, forbidden: &[&str]) -> Vec<String> {
        let says = |line: &str| forbidden.iter().any(|word| line.contains(word));
        self.code()
            .filter(|(_, line)| says(line))
            .map(|(i, line)| format!("{}:{i}: {}", self.path, line.trim()))
            .collect()
    }
}

/// Every Rust file of the project.
fn sources() -> Vec<Source> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a crate lies in crates/").to_path_buf();
    let mut folders = vec![crates.clone()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a readable folder") {
            let path: PathBuf = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&crates).expect("below crates/").components();
                let name: Vec<_> = name.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
                sources.push(Source { path: name.join("/"), text: fs::read_to_string(&path).expect("text") });
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(sources.iter().any(|source| source.path == "noren/src/lib.rs"), "the sources were not found");
    sources
}

fn below<'a>(sources: &'a [Source], folder: &'a str) -> impl Iterator<Item = &'a Source> {
    let mut files = sources.iter().filter(move |source| source.path.starts_with(folder)).peekable();
    assert!(files.peek().is_some(), "{folder} has no files");
    files
}

fn assert_none(places: Vec<String>, rule: &str) {
    assert!(places.is_empty(), "{rule}:\n{}", places.join("\n"));
}

#[test]
fn imports_run_down() {
    let sources = sources();
    for (folder, above) in [
        ("noren/src/schemes/", &["crate::circuits", "crate::bootstrapping", "crate::programs"][..]),
        ("noren/src/circuits/", &["crate::bootstrapping", "crate::programs"]),
        ("noren/src/bootstrapping/", &["crate::programs"]),
        // A circuit is written for every scheme: it names none.
        ("noren/src/circuits/", &["schemes::ckks", "schemes::integers", "schemes::bgv", "schemes::bfv"]),
        // A scheme names no other.
        ("noren/src/schemes/ckks/", &["schemes::integers", "schemes::bgv", "schemes::bfv"]),
        ("noren/src/schemes/integers/", &["schemes::ckks", "schemes::bgv", "schemes::bfv"]),
        ("noren/src/schemes/tfhe/", &["schemes::ckks", "schemes::integers", "schemes::bgv", "schemes::bfv"]),
        ("noren/src/schemes/bgv.rs", &["schemes::ckks", "schemes::bfv"]),
        ("noren/src/schemes/bfv.rs", &["schemes::ckks", "schemes::bgv"]),
    ] {
        // One-hot vectors are those of exact integers alone.
        let files = below(&sources, folder)
            .filter(|source| !(above.contains(&"schemes::bfv") && source.path.contains("/circuits/lookup/")));
        let places = files.flat_map(|source| source.places(above)).collect();
        assert_none(places, "schemes < circuits < bootstrapping < programs");
    }
}

#[test]
fn schemes_see_no_words() {
    let sources = sources();
    let doors = [
        "noren/src/schemes/ckks/encoder.rs",
        "noren/src/schemes/ckks/wire.rs",
        "noren/src/schemes/integers/encoder.rs",
        "noren/src/schemes/integers/wire.rs",
        "noren/src/schemes/tfhe/seeded.rs",
        "noren/src/schemes/tfhe/wire.rs",
        "noren/src/bootstrapping/wire.rs",
        "noren/src/circuits/lookup/wire.rs",
    ];
    let files = below(&sources, "noren/src/").filter(|source| !doors.contains(&source.path.as_str()));
    let places =
        files.flat_map(|source| source.places(&["&[u64]", "&mut [u64]", "Vec<u64>", "from_words", "to_words"]));
    assert_none(places.collect(), "words pass through the encoder and the wire alone");
}

#[test]
fn unsafe_code_lives_in_the_kernels() {
    let sources = sources();
    let files = sources.iter().filter(|source| !source.path.starts_with("noren-math/src/kernels"));
    let says = |source: &Source| {
        let words = |line: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe");
        let found = source.code().filter(|(_, line)| words(line));
        found.map(|(i, line)| format!("{}:{i}: {}", source.path, line.trim())).collect::<Vec<_>>()
    };
    // What forbids it may say it, and so may this test.
    let files = files.filter(|source| !source.path.ends_with("tests/layers.rs"));
    assert_none(files.flat_map(says).collect(), "unsafe has no place outside noren-math/src/kernels");
}

#[test]
fn floors_above_math_forbid_unsafe_code() {
    let sources = sources();
    for library in ["noren-ring", "noren-rlwe", "noren-files", "noren"] {
        let face = format!("{library}/src/lib.rs");
        let forbids =
            sources.iter().any(|source| source.path == face && source.text.contains("#![forbid(unsafe_code)]"));
        assert!(forbids, "{face} does not forbid unsafe code");
    }
}

#[test]
fn files_stay_short_and_say_their_purpose() {
    let sources = sources();
    let long = sources.iter().filter(|source| source.text.lines().count() > MAX_LINES);
    let long = long.map(|source| format!("{}: {} lines", source.path, source.text.lines().count()));
    assert_none(long.collect(), "no file passes 600 lines");
    let mute = sources.iter().filter(|source| !source.text.starts_with("//! "));
    assert_none(mute.map(|source| source.path.clone()).collect(), "the first line of a file says its purpose");
}

#[test]
fn every_room_has_a_purpose() {
    let homeless = ["util", "utils", "common", "misc", "helper", "helpers", "prelude"];
    let stem = |part: &str| part.trim_end_matches(".rs").to_owned();
    let places = sources()
        .into_iter()
        .filter(|source| source.path.split('/').any(|part| homeless.contains(&stem(part).as_str())));
    assert_none(places.map(|source| source.path).collect(), "a function without a home shows that a room is missing");
}

#[test]
fn no_panic_by_unwrap_outside_tests() {
    let sources = sources();
    let files = sources.iter().filter(|source| source.path.contains("/src/"));
    assert_none(files.flat_map(|source| source.places(&[".unwrap()"])).collect(), "unwrap says nothing");
}
