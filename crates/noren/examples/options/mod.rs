//! The command line of the examples, as that of their twins in Python: `--help`, and `--preset` where an example has two sets
//! of parameters.

use std::process::ExitCode;
use std::{env, error};

/// The status of a command line that is not understood.
const USAGE: u8 = 2;

/// Which parameters an example takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// Parameters of 128 bits of security.
    Secure,
    /// Small parameters without security, which are fast.
    Toy,
}

/// Runs an example that has no options but `--help`; `source` is its file, whose first comment is the help.
#[allow(dead_code, reason = "each example calls one of two functions")]
pub fn run<E: error::Error>(source: &str, example: impl FnOnce() -> Result<(), E>) -> ExitCode {
    match env::args().nth(1).as_deref() {
        None => finish(example()),
        Some("-h" | "--help") => help("", source, ""),
        Some(other) => refuse("", other),
    }
}

/// Runs an example that has `--preset` too.
#[allow(dead_code, reason = "each example calls one of two functions")]
pub fn run_with_preset<E: error::Error>(source: &str, example: impl FnOnce(Preset) -> Result<(), E>) -> ExitCode {
    let usage = " [--preset {secure,toy}]";
    let options =
        "  --preset {secure,toy}  which parameters: of 128 bits of security (the default), or small ones without any\n";
    let arguments: Vec<String> = env::args().skip(1).flat_map(|text| split(&text)).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] | ["--preset", "secure"] => finish(example(Preset::Secure)),
        ["--preset", "toy"] => finish(example(Preset::Toy)),
        ["--preset"] => refuse(usage, "--preset without a value"),
        ["--preset", ref other @ ..] => refuse(usage, &format!("--preset {}", other.join(" "))),
        [other, ..] if ["-h", "--help"].contains(&other) => help(usage, source, options),
        [other, ..] => refuse(usage, other),
    }
}

/// `--name=value` as two arguments.
fn split(argument: &str) -> Vec<String> {
    match argument.split_once('=') {
        Some((name, value)) if name.starts_with("--") => vec![name.to_owned(), value.to_owned()],
        _ => vec![argument.to_owned()],
    }
}

/// Says an error in its words.
pub fn finish<E: error::Error>(result: Result<(), E>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn program() -> String {
    let path = env::args().next().unwrap_or_default();
    std::path::Path::new(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn help(usage: &str, source: &str, options: &str) -> ExitCode {
    println!("usage: {} [-h]{usage}\n", program());
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        println!("{}", line.strip_prefix(' ').unwrap_or(line).replace('`', ""));
    }
    println!("\noptions:\n  -h, --help             show this help\n{options}");
    ExitCode::SUCCESS
}

fn refuse(usage: &str, found: &str) -> ExitCode {
    eprintln!("usage: {0} [-h]{usage}\n{0}: error: not understood: {found}", program());
    ExitCode::from(USAGE)
}
