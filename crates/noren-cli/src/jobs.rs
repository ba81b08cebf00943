//! The jobs of `prepare`, `encrypt`, `decrypt` and `expand`, which the scheme of the key does.

use std::fmt;
use std::path::{Path, PathBuf};

use noren::EvaluationKeys;
use noren::programs::columns::Element;
use noren::wire::{Destination, ExpandedFileKey, FileContext, Kind};
use noren_rlwe::wire::file::Access;
use serde::Serialize;

use crate::console::Console;
use crate::describe::Describe;
use crate::describe::words::bytes;
use crate::failure::Failure;
use crate::files;
use crate::given::Given;
use crate::outputs::{Force, Output};
use crate::progress;
use crate::tables::dialect::Style;
use crate::tables::numbers::Numbers;
use crate::takes;

/// The encryption of a table under a key.
pub(crate) struct Encryption<'a> {
    pub(crate) key: &'a Path,
    /// The kind of the key.
    pub(crate) kind: Kind,
    pub(crate) input: &'a Path,
    pub(crate) numbers: Numbers,
    /// The file of the largest absolute values of columns.
    pub(crate) bounds: Option<&'a Path>,
    /// The exclusive bound of the numbers of each column, or one of all; empty unless the numbers are arguments of lookups.
    pub(crate) domain: &'a [usize],
    /// The exclusive bound of the numbers of the other table, where a lookup has its two arguments in two tables.
    pub(crate) beside: Option<usize>,
    /// The types of the columns, or one of all, for schemes that encrypt numbers one by one.
    pub(crate) types: &'a [Element],
    pub(crate) output: Output,
}

/// The decryption of a table, and the form of its numbers.
pub(crate) struct Decryption<'a> {
    pub(crate) key: &'a Path,
    pub(crate) input: &'a Path,
    pub(crate) output: Output,
    /// How numbers are written.
    pub(crate) style: Style,
    /// Exact integers are written from -t/2 to t/2.
    pub(crate) signed: bool,
    /// Numbers are written whose errors may exceed their bounds.
    pub(crate) unchecked: bool,
    /// The file of exact integers may be read by others.
    pub(crate) public: bool,
    /// All options, with those that schemes add.
    pub(crate) given: &'a Given,
}

/// The preparation of what a server uses in many computations.
pub(crate) struct Preparation<'a> {
    /// The parameters, or a key that carries them.
    pub(crate) params: Option<&'a Path>,
    pub(crate) output: Output,
    /// All options, with those that schemes add.
    pub(crate) given: &'a Given,
}

/// The expansion of keys into a file that is mapped.
pub(crate) struct Expansion<'a> {
    pub(crate) input: &'a Path,
    pub(crate) output: &'a Path,
    pub(crate) force: &'a Force,
}

/// The file of expanded keys.
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

    /// Expands evaluation keys with their parameters.
    pub(crate) fn of_evaluation_keys<C: FileContext<Parameters: Describe>>(
        self,
        console: &Console,
    ) -> Result<(), Failure>
    where
        EvaluationKeys: ExpandedFileKey<C>,
    {
        let open = || files::open_evaluation_keys::<C>(self.input, &takes::EXPAND_INPUT, console);
        self.run(console, open, |keys, to| Ok(keys.write_expanded(to)?))
    }
}

impl Encryption<'_> {
    /// Refuses types of columns, which other keys take.
    pub(crate) fn refuse_types(&self) -> Result<(), Failure> {
        if self.types.is_empty() {
            return Ok(());
        }
        let (what, found, needed) = ("--type", format!("{}", self.kind), format!("a {}", takes::TYPED_KEY));
        Err(Failure::Unsuitable { what, found, needed })
    }
}

impl Decryption<'_> {
    /// The readers that a file of exact integers allows.
    pub(crate) fn access_to_integers(&self) -> Access {
        if self.public { Access::Default } else { Access::Owner }
    }
}
