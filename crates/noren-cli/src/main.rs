//! The command-line tool `noren`.

use std::process::ExitCode;

use noren::memory::Allocator;

/// Memory that cannot be had is a refusal too.
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> ExitCode {
    ExitCode::from(noren_cli::run(std::env::args_os()))
}
