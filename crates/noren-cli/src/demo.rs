//! `noren demo`: the Python demonstration, started from here.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use crate::console::Console;
use crate::failure::Failure;

/// Trains a clear model, scores encrypted records with it, and compares
#[derive(Debug, Args)]
#[command(
    after_help = "The demonstration is the Python module noren.demo: it needs the package noren, scikit-learn and\n\
        matplotlib. NOREN_PYTHON names the interpreter, python3 is the default.\n\n\
        Example:\n  noren demo --out demo-out"
)]
pub(crate) struct Arguments {
    /// The directory for keys, ciphertexts and plots
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let python = env::var_os("NOREN_PYTHON").unwrap_or_else(|| "python3".into());
    let mut command = Command::new(&python);
    command.args(["-m", "noren.demo"]);
    if let Some(out) = &arguments.out {
        command.arg("--out").arg(out);
    }
    if console.is_json() {
        command.arg("--json");
    }
    let program = format!("{} -m noren.demo", python.to_string_lossy());
    let advice =
        "beside noren it needs: pip install scikit-learn matplotlib (or name another interpreter in NOREN_PYTHON)";
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::Program { program, reason: format!("{status}; if a module is missing, {advice}") }),
        Err(error) => Err(Failure::Program { program, reason: format!("{error}; {advice}") }),
    }
}
