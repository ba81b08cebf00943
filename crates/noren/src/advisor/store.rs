//! The file of this machine's costs.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use noren_math::kernels;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::wire::file::{Access, write_atomically};

use crate::advisor::calibrate::calibrate;
use crate::advisor::machine::Machine;
use crate::advisor::system;

impl Machine {
    /// Where the costs of this machine are kept: `$NOREN_MACHINE`, or `noren/machine.json` in `$XDG_CACHE_HOME` or `~/.cache`;
    /// nothing if the environment names none of them.
    #[must_use]
    pub fn default_path() -> Option<PathBuf> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = || variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
        variable("NOREN_MACHINE").or_else(|| cache().map(|cache| cache.join("noren").join("machine.json")))
    }

    /// Reads the machine of a file.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read, and as [`parse`](Self::parse).
    pub fn load(path: &Path) -> Result<Self> {
        let failed = |source| Error::Io { path: path.to_owned(), source };
        Self::parse(&fs::read_to_string(path).map_err(failed)?)
    }

    /// Writes the machine to a file, as a whole or not at all; folders are made where they are missing.
    ///
    /// # Errors
    /// [`Error::Io`] with the path.
    pub fn save(&self, path: &Path) -> Result<()> {
        let failed = |source| Error::Io { path: path.to_owned(), source };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        write_atomically(path, Access::Default, |file| file.write_all(self.to_json().as_bytes()))
    }

    /// This machine, with costs for `threads` threads: from the [usual file](Self::default_path) if it is of this version of
    /// noren, this processor and this table of kernels, and else [measured](calibrate()) now, and written there.
    ///
    /// A file that cannot be read is measured again; one that cannot be written is left.
    ///
    /// # Errors
    /// As [`calibrate`].
    pub fn here(threads: usize, progress: impl Fn(usize, usize)) -> Result<Self> {
        let path = Self::default_path();
        let stored = path.as_deref().and_then(|path| Self::load(path).ok());
        let isa = kernels::kernels().name();
        let current =
            |machine: &Self| machine.is_current(&system::processor(), isa) && machine.threads().contains(&threads);
        if let Some(machine) = stored.filter(current) {
            return Ok(machine);
        }
        let machine = calibrate(&[1, threads], progress)?;
        if let Some(path) = path {
            // Where it cannot be written, it is measured again next time.
            let _ = machine.save(&path);
        }
        Ok(machine)
    }
}
