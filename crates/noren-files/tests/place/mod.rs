//! A directory for one test.

use std::fs;
use std::path::PathBuf;

/// A directory that is gone when the test is over.
pub struct Place(PathBuf);

impl Place {
    pub fn new(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("noren-files-{}-{name}", std::process::id()));
        fs::create_dir_all(&directory).expect("a writable temporary directory");
        Self(directory)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The names of all that is in the directory, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("own directory");
        let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> = entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A directory that stays behind does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
