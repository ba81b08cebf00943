//! The Rust files of the project, as text.

use std::fs;
use std::path::{Path, PathBuf};

use crate::tokens::without_tests;

/// A source file: its path below `crates/`, with slashes, and its text.
pub struct Source {
    pub path: String,
    pub text: String,
}

impl Source {
    /// The lines of code, with their numbers: without comments, and without the tests at the end of the file.
    pub fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = without_tests(&self.text).lines().enumerate();
        lines.map(|(i, line)| (i + 1, line.split("//").next().unwrap_or_default()))
    }

    /// The places where the code says one of these.
    pub fn places(&self, forbidden: &[&str]) -> Vec<String> {
        let says = |line: &str| forbidden.iter().any(|word| line.contains(word));
        self.code()
            .filter(|(_, line)| says(line))
            .map(|(i, line)| format!("{}:{i}: {}", self.path, line.trim()))
            .collect()
    }
}

/// Every Rust file of the project.
pub fn sources() -> Vec<Source> {
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

/// The files in a folder, or the one file of this name.
pub fn below<'a>(sources: &'a [Source], folder: &'a str) -> impl Iterator<Item = &'a Source> {
    let mut files = sources.iter().filter(move |source| source.path.starts_with(folder)).peekable();
    assert!(files.peek().is_some(), "{folder} has no files");
    files
}
