//! Errors of questions on tables.

use noren_rlwe::error::SchemeError;

/// Errors of questions on tables.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// A text that is no question.
    #[error("{text:?}, character {at}: found {found}, needed {needed}")]
    Text {
        /// The text.
        text: String,
        /// Where the fault is, from 1.
        at: usize,
        /// The word there.
        found: String,
        /// What would do.
        needed: String,
    },
    /// A column that the table does not have.
    #[error("there is no column {name:?}: there are {columns}")]
    NoColumn {
        /// The name.
        name: String,
        /// The names that there are.
        columns: String,
    },
    /// Something that is not asked of the values of a column.
    #[error("column {column:?}: found {found}, needed {needed}")]
    Column {
        /// The name.
        column: String,
        /// What was found.
        found: String,
        /// What would do.
        needed: String,
    },
    /// A cell that its column does not hold.
    #[error("row {row}, column {column:?}: found {found}, needed {needed}")]
    Cell {
        /// The row, from 0.
        row: usize,
        /// The name of the column.
        column: String,
        /// The cell.
        found: String,
        /// What the column holds.
        needed: String,
    },
    /// A question that is too large, or that no row can meet.
    #[error("the question has {found}, needed {needed}")]
    Question {
        /// What was found.
        found: String,
        /// What would do.
        needed: String,
    },
}

impl SchemeError for TableError {}
