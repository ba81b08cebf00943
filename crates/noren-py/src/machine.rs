//! Machines that prices are of.

use std::path::Path;

use noren::cost::Machine;

/// The name of the reference machine, in place of a file.
const REFERENCE: &str = "reference";

/// The machine of a file, or the reference machine by its name.
///
/// # Errors
/// A file that is none of a machine.
pub(crate) fn machine_of(path: &Path) -> noren::error::Result<Machine> {
    if path.as_os_str() == REFERENCE { Ok(Machine::reference()) } else { Machine::load(path) }
}
