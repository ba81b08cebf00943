//! The report of a comparison: sections of text, tables and plots, without a format.

use serde::Serialize;

use crate::compare::plot::Plot;

/// The report of a comparison.
#[derive(Serialize)]
pub(super) struct ComparisonReport {
    pub(super) title: String,
    /// The measurements, with the machine and the method.
    pub(super) facts: Vec<(String, String)>,
    pub(super) sections: Vec<Section>,
}

/// A part of a report with a heading.
#[derive(Serialize)]
pub(super) struct Section {
    /// A word for references.
    pub(super) id: &'static str,
    pub(super) heading: String,
    pub(super) blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Block {
    Text(String),
    List(Vec<String>),
    Table(Table),
    /// Plots side by side.
    Plots(Vec<Plot>),
}

/// A table with one line of names.
#[derive(Serialize)]
pub(super) struct Table {
    pub(super) caption: String,
    pub(super) header: Vec<String>,
    /// As many cells as names. A cell that begins with a digit is a number, and stands at the right.
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub(super) fn new(caption: impl Into<String>, header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { caption: caption.into(), header: header.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// It has more or fewer cells than the table has names.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        let row: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(row.len(), self.header.len(), "a cell for each name of {}", self.caption);
        self.rows.push(row);
    }
}
