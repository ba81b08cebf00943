//! `noren-lab`, run in a directory of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A directory that is gone when the test is over.
pub struct Lab {
    directory: PathBuf,
}

impl Lab {
    pub fn new(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("noren-lab-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory of its own");
        Self { directory }
    }

    /// For suites that take long: with the fastest kernels of this CPU, and none with others, with which they print the same
    /// records later.
    pub fn of_fastest_kernels(name: &str) -> Option<Self> {
        noren_math::kernels::is_fastest().then(|| Self::new(name))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Runs the program. Costs that it measures are kept apart from the user's.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_noren-lab"));
        let costs = Path::new(env!("CARGO_TARGET_TMPDIR")).join("machine.json");
        command.args(arguments).current_dir(&self.directory).env("NOREN_MACHINE", costs);
        command.output().expect("the program starts")
    }

    /// The records of a suite.
    pub fn records(&self, suite: &[&str]) -> Vec<Value> {
        let output = self.run(&[&["bench"], suite, &["--json", "--seconds", "0"]].concat());
        assert_eq!(output.status.code(), Some(0), "{suite:?}: {}", String::from_utf8_lossy(&output.stderr));
        crate::records::records(&String::from_utf8(output.stdout).expect("text"))
    }

    /// Runs a suite that must end with this exit code, nothing measured, and a message that holds all the `needed` texts.
    pub fn refused(&self, code: i32, suite: &[&str], needed: &[&str]) {
        let output = self.run(&[&["bench"], suite].concat());
        let message = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(code), "{suite:?}: {message}");
        for text in needed {
            assert!(message.contains(text), "{suite:?}: {text:?} is not in {message}");
        }
        assert!(output.stdout.is_empty(), "{suite:?}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // A directory that remains lies among temporary files.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
