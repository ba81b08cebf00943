//! Questions that are answered with yes or no.

use std::fmt::Display;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use crate::console::Console;
use crate::failure::Failure;

/// Refuses, before any work, to go on without `--yes` where nobody can be asked.
pub(crate) fn check(yes: bool, console: &Console) -> Result<(), Failure> {
    let found = match (yes, console.is_json()) {
        (true, _) => return Ok(()),
        (false, true) => "none, and JSON, which no question stands in",
        (false, false) if !(io::stdin().is_terminal() && io::stderr().is_terminal()) => {
            "none, and no terminal to ask on"
        }
        (false, false) => return Ok(()),
    };
    let needed = "--yes, where it was looked at what is done".to_owned();
    Err(Failure::Unsuitable { what: "--yes", found: found.to_owned(), needed })
}

/// Asks on the terminal, unless `yes` says that nobody has to be asked; refuses where the answer is not yes. `path` is what it is about.
pub(crate) fn ask(yes: bool, question: impl Display, path: &Path) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    let failed = |source| Failure::Io { path: "/dev/tty".into(), source };
    let mut err = io::stderr();
    write!(err, "{question} [y/N] ").and_then(|()| err.flush()).map_err(failed)?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(failed)?;
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::Declined { path: path.to_owned() }),
    }
}
