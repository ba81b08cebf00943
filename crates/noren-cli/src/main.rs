//! The command-line tool `noren`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(noren_cli::run(std::env::args_os()))
}
