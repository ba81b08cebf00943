//! Tables whose cells are texts.

use std::path::Path;

use crate::columns::position_for;
use crate::failure::Failure;
use crate::tables::dialect::chosen;
use crate::tables::numbers::Place;

/// A table of texts, without the spaces around them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Texts {
    pub(crate) columns: usize,
    /// The names of columns; none if the file has none.
    pub(crate) names: Vec<String>,
    /// Row after row.
    pub(crate) cells: Vec<String>,
}

impl Texts {
    /// The cells of each row.
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = &[String]> {
        self.cells.chunks_exact(self.columns)
    }

    /// The position of the column that an option names; `path` is what messages show.
    pub(crate) fn position(&self, option: &'static str, text: &str, path: &Path) -> Result<usize, Failure> {
        position_for(option, &self.labels(), text, path)
    }

    /// The positions of these columns.
    pub(crate) fn chosen(&self, columns: &[String], path: &Path) -> Result<Vec<usize>, Failure> {
        chosen(path, columns, &self.names, self.columns)
    }

    /// The place of a cell in the file.
    pub(crate) fn place(&self, row: usize, column: usize) -> Place<'_> {
        Place { row: row + 1, column: column + 1, name: self.names.get(column).map(String::as_str) }
    }

    /// The names of columns, or their positions where they have none.
    pub(crate) fn labels(&self) -> Vec<String> {
        match self.names.is_empty() {
            true => (0..self.columns).map(|column| column.to_string()).collect(),
            false => self.names.clone(),
        }
    }
}
