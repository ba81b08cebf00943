//! Directories for tests that write files, of this crate and of those above it.

use std::fs;
use std::path::PathBuf;

/// A directory of its own for each test, removed at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let program = env!("CARGO_CRATE_NAME");
        let path = std::env::temp_dir().join(format!("noren-{program}-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a writable temporary directory");
        Self(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("it exists").map(|entry| entry.expect("readable").file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).expect("still there");
    }
}
