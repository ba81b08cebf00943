//! A directory for one test, and the tool run in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A directory that is gone when the test is over.
pub struct Sandbox {
    directory: PathBuf,
}

/// Columns of the table that most tests use.
pub const NAMES: [&str; 3] = ["age", "bmi", "bp"];
/// Rows of that table.
pub const ROWS: usize = 12;

impl Sandbox {
    pub fn new(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("noren-cli-{}-{name}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory of its own");
        Self { directory }
    }

    /// A sandbox with small parameters without security, in `small.params`, and the table `table.csv`.
    pub fn with_table(name: &str) -> Self {
        let sandbox = Self::new(name);
        sandbox.parameters("small.params", 10);
        sandbox.write("table.csv", table().as_bytes());
        sandbox
    }

    /// A sandbox with a table and keys for a program in `keys`.
    pub fn with_keys(name: &str, program: &str) -> Self {
        let sandbox = Self::with_table(name);
        sandbox.keygen("keys", "small.params", program, '1');
        sandbox
    }

    /// Parameters of a ring of degree `2^log_n` with five levels, without security.
    pub fn parameters(&self, name: &str, log_n: u32) {
        let log_n = log_n.to_string();
        let sizes = ["--log-q", "50,40,40,40,40,40", "--log-p", "50,50", "--log-scale", "40"];
        self.done(&[&["params", "check", "--log-n", &log_n, "--security", "none", "-o", name], &sizes[..]].concat());
    }

    /// Keys for a program on the usual table, from a seed of this digit.
    pub fn keygen(&self, directory: &str, parameters: &str, program: &str, seed: char) {
        let (rows, columns, seed) = (ROWS.to_string(), NAMES.join(","), seed.to_string().repeat(64));
        let shape = ["--rows", &rows, "--columns", &columns, "--seed", &seed];
        self.done(
            &[&["keygen", "--out", directory, "--program", program, "--params", parameters], &shape[..]].concat(),
        );
    }

    /// Parameters of integers modulo t in a ring of degree `2^log_n`, with `limbs` limbs of 40 bits, without security.
    pub fn integers(&self, name: &str, log_n: u32, t: u64, limbs: usize) {
        let (log_n, t, log_q) = (log_n.to_string(), t.to_string(), vec!["40"; limbs].join(","));
        let sizes = ["--log-n", &log_n, "--log-q", &log_q, "--log-p", "40,40", "--modulus", &t];
        self.done(&[&["params", "check", "--security", "none", "-o", name], &sizes[..]].concat());
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    pub fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.path(name), content).expect("written");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("there")
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("text")
    }

    pub fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The numbers of a CSV file of results with names in its first line; `skip` columns of names come first.
    pub fn numbers(&self, name: &str, skip: usize) -> Vec<Vec<f64>> {
        let text = self.text(name);
        let number = |field: &str| field.parse().unwrap_or_else(|_| panic!("{field:?} in {name} is no number"));
        text.lines().skip(1).map(|line| line.split(',').skip(skip).map(number).collect()).collect()
    }

    /// The tool, to be run in this directory. It takes keys without security: those of tests are small.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.strict_command(arguments);
        command.args(["--min-security", "none"]);
        command
    }

    /// The tool as it is without options. Costs that it measures while tests run are kept apart from the user's.
    pub fn strict_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(tool());
        let costs = Path::new(env!("CARGO_TARGET_TMPDIR")).join("machine.json");
        command.args(arguments).current_dir(&self.directory).env("NOREN_MACHINE", costs);
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the tool starts")
    }

    /// Runs the tool, which must do the thing; gives its standard output.
    pub fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    /// Runs the tool with `--json`; gives what it prints.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let text = self.done(&[arguments, &["--json"]].concat());
        assert_eq!(text.lines().count(), 1, "one line of JSON: {text}");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Runs the tool, which must refuse with one message that holds all the `needed` texts, and change no file.
    pub fn refused(&self, arguments: &[&str], needed: &[&str]) {
        let before = snapshot(&self.directory);
        let output = self.run(arguments);
        let message = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
        let errors: Vec<&str> = message.lines().filter(|line| !line.starts_with("warning: ")).collect();
        assert!(errors.len() == 1 && errors[0].starts_with("error: "), "{arguments:?}: {message}");
        for text in needed {
            assert!(message.contains(text), "{arguments:?}: {text:?} is not in {message}");
        }
        assert!(output.stdout.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
        assert!(snapshot(&self.directory) == before, "{arguments:?} changed files");
    }
}

/// The tool: the program of this crate, or another one that NOREN_TOOL names, such as the entry point of the Python package.
pub fn tool() -> PathBuf {
    std::env::var_os("NOREN_TOOL").unwrap_or_else(|| env!("CARGO_BIN_EXE_noren").into()).into()
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // A directory that stays behind does no harm.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// An entry of the usual table: whole numbers, exact in every format.
pub fn entry(row: usize, column: usize) -> f64 {
    ((row * 7 + column * 5) % 11) as f64 * (column + 1) as f64 - 4.0
}

/// The usual table as CSV.
pub fn table() -> String {
    let line = |row| NAMES.iter().enumerate().map(|(c, _)| entry(row, c).to_string()).collect::<Vec<_>>().join(",");
    let lines: Vec<String> = std::iter::once(NAMES.join(",")).chain((0..ROWS).map(line)).collect();
    lines.join("\n") + "\n"
}

/// All files below a directory with their contents; of large ones, the length.
fn snapshot(directory: &Path) -> BTreeMap<PathBuf, (u64, Vec<u8>)> {
    const READ: u64 = 1 << 24;
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.insert(path.clone(), (0, Vec::new()));
            files.extend(snapshot(&path));
        } else {
            let length = fs::metadata(&path).expect("a file").len();
            let content = if length < READ { fs::read(&path).expect("a file") } else { Vec::new() };
            files.insert(path, (length, content));
        }
    }
    files
}
