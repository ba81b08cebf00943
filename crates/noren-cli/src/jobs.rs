//! Jobs: what the verbs ask of the scheme of a key, and tables of what serves each kind of file.

use std::fmt;
use std::path::{Path, PathBuf};

use noren::programs::columns::Element;
use noren::wire::{Destination, Kind};
use noren_rlwe::wire::file::Access;
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::bytes;
use crate::failure::Failure;
use crate::outputs::{Force, Output};
use crate::progress;
use crate::tables::dialect::Style;
use crate::tables::numbers::Numbers;

/// An encryption: the table, and for whom.
pub(crate) struct Encryption<'a> {
    pub(crate) key: &'a Path,
    /// The kind of the key.
    pub(crate) kind: Kind,
    pub(crate) input: &'a Path,
    pub(crate) numbers: Numbers,
    /// The file of the largest absolute values of columns.
    pub(crate) bounds: Option<&'a Path>,
    /// The exclusive bound of the numbers of each column, or of all columns; nothing for numbers that are not looked up.
    pub(crate) domain: &'a [usize],
    /// The exclusive bound of the numbers of another table, which are looked up together with these.
    pub(crate) beside: Option<usize>,
    /// The types of the columns, or one for all.
    pub(crate) types: &'a [Element],
    pub(crate) output: Output,
}

/// A decryption: the table, and how.
pub(crate) struct Decryption<'a> {
    pub(crate) key: &'a Path,
    pub(crate) input: &'a Path,
    pub(crate) output: Output,
    /// How numbers are written.
    pub(crate) style: Style,
    /// Bits of rounded numbers, which may be handed on.
    pub(crate) release: Option<i32>,
    /// How many tables are released in all.
    pub(crate) releases: u64,
    /// Bits of statistical security of all releases together.
    pub(crate) statistical_security: u32,
    /// Exact integers from -t/2 to t/2.
    pub(crate) signed: bool,
    /// Numbers that may be wrong are written too.
    pub(crate) unchecked: bool,
    /// Others may read exact integers.
    pub(crate) public: bool,
}

/// An expansion of keys into a file that is mapped.
pub(crate) struct Expansion<'a> {
    pub(crate) input: &'a Path,
    pub(crate) output: &'a Path,
    pub(crate) force: &'a Force,
}

/// A file of expanded keys.
#[derive(Serialize)]
struct ExpansionReport {
    path: PathBuf,
    bytes: u64,
}

impl fmt::Display for ExpansionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wrote {}, {}", self.path.display(), bytes(self.bytes as f64))
    }
}

impl Expansion<'_> {
    /// Opens the keys and writes them as they lie in memory; refuses an existing output before.
    pub(crate) fn run<K>(
        &self,
        console: &Console,
        open: impl FnOnce() -> Result<K, Failure>,
        write: impl FnOnce(K, Destination<'_>) -> Result<u64, Failure>,
    ) -> Result<(), Failure> {
        let output = Output::new(self.output, self.force)?;
        let keys = open()?;
        let shown = progress::spinner("expanding the keys".to_owned());
        let bytes = write(keys, output.destination())?;
        drop(shown);
        console.report(&ExpansionReport { path: output.path().to_owned(), bytes })
    }
}

/// The entry of a table for files of this kind.
pub(crate) fn of_kind<T: Copy>(table: &[(Kind, T)], kind: Kind) -> Option<T> {
    table.iter().find(|(of, _)| *of == kind).map(|&(_, serves)| serves)
}

impl Encryption<'_> {
    /// Refuses types of columns, which keys of TFHE alone take.
    pub(crate) fn refuse_types(&self) -> Result<(), Failure> {
        if self.types.is_empty() {
            return Ok(());
        }
        let (what, found, needed) = ("--type", format!("{}", self.kind), format!("a {}", Kind::TFHE_SECRET_KEY));
        Err(Failure::Unsuitable { what, found, needed })
    }
}

impl Decryption<'_> {
    /// Who may read exact integers.
    pub(crate) fn access_to_integers(&self) -> Access {
        if self.public { Access::Default } else { Access::Owner }
    }
}
