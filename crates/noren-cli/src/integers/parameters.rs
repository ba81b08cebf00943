//! Parameters of exact integers that files carry.

use std::path::Path;

use noren::bfv::Parameters;
use noren::wire::{Kind, Limits, Object};
use noren_rlwe::wire::items::Items;

use crate::console::Console;
use crate::failure::Failure;
use crate::files;
use crate::takes::Takes;

/// The parameters of exact integers in a file of them, or in one of keys, of which no more is read; refuses those that
/// promise too little security.
pub(crate) fn read_parameters(path: &Path, takes: &Takes, console: &Console) -> Result<Parameters, Failure> {
    /// More bytes than parameters and their frame take.
    const MOST_BYTES: u64 = 1 << 16;
    let kind = console.inputs().kind(path, takes)?;
    if kind == Kind::INTEGER_PARAMETERS {
        return files::read_parameters(path, takes, console);
    }
    console.inputs().verify(path, takes)?;
    let mut items = Items::open(path, kind, &Limits::default()).map_err(Failure::file(path))?;
    let parameters = items.read(1, MOST_BYTES).and_then(|reader| {
        let missing = || noren::Error::Wire { what: kind.name(), reason: noren::wire::Reason::Fingerprint };
        let mut reader = reader.ok_or_else(missing)?;
        let parameters = Parameters::read(&(), &mut reader)?;
        reader.finish()?;
        Ok(parameters)
    });
    let parameters = parameters.map_err(Failure::file(path))?;
    files::admit(&parameters, path, console)?;
    Ok(parameters)
}
