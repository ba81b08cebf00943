//! The file of this machine's costs.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use noren_math::kernels;
use noren_rlwe::error::{Error, Result};
use noren_rlwe::wire::file::{self, Access, write_atomically};
use noren_rlwe::wire::publish::Destination;
use noren_rlwe::wire::regular;

use crate::cost::machine::Machine;
use crate::cost::system;

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
        /// Costs of a machine have some kilobytes.
        const MAX_BYTES: u64 = 1 << 24;
        let failed = |source| Error::Io { path: path.to_owned(), source };
        let text = String::from_utf8(file::read(path, MAX_BYTES)?);
        Self::parse(&text.map_err(|error| failed(io::Error::new(ErrorKind::InvalidData, error)))?)
    }

    /// Writes the machine to a file, as a whole or not at all; folders are made where they are missing.
    ///
    /// # Errors
    /// [`Error::Io`] with the path, also for what is no regular file; [`Error::Exists`] for a file that is kept.
    pub fn save<'p>(&self, to: impl Into<Destination<'p>>) -> Result<()> {
        let to = to.into();
        let failed = |source| Error::Io { path: to.path.to_owned(), source };
        regular::check_place(to.path).map_err(failed)?;
        if let Some(folder) = to.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        write_atomically(to, Access::Default, |file| file.write_all(self.to_json().as_bytes()))
    }

    /// This machine, if the [usual file](Self::default_path) has its costs, of this version of noren, this processor and this
    /// table of kernels.
    #[must_use]
    pub fn stored() -> Option<Self> {
        let machine = Self::default_path().and_then(|path| Self::load(&path).ok())?;
        machine.is_current(&system::processor(), kernels::kernels().name()).then_some(machine)
    }

    /// This machine, without a measurement: its [stored](Self::stored) costs, or those of the reference machine with the same
    /// kernels; with portable ones where none was measured.
    ///
    /// # Panics
    /// As [`reference`](Self::reference).
    #[must_use]
    pub fn without_measuring() -> Self {
        Self::stored().unwrap_or_else(|| match kernels::kernels().name() {
            "avx512" => Self::reference(),
            "avx2" => Self::reference_avx2(),
            _ => Self::reference_portable(),
        })
    }
}
