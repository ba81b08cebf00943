//! Several columns with their names and their shape.

use noren_rlwe::error::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::programs::columns::column::Column;
use crate::programs::columns::element::Element;
use crate::programs::layout::check_length;

/// The public layout of encrypted columns. All of it is public.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// The shape of each column: of a table, the number of its rows.
    pub shape: Vec<usize>,
    /// The columns.
    pub columns: Vec<ColumnLayout>,
}

/// Name and elements of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnLayout {
    /// The name; it may be empty.
    pub name: String,
    /// The type of the elements.
    pub element: Element,
}

/// Encrypted columns of one shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Columns {
    layout: Layout,
    columns: Vec<Column>,
}

impl Layout {
    /// How many elements each column has; nothing if that is no number of this machine.
    #[must_use]
    pub fn size(&self) -> Option<usize> {
        self.shape.iter().try_fold(1usize, |size, &extent| size.checked_mul(extent))
    }

    /// The layout as JSON.
    ///
    /// # Panics
    /// Never: every layout has a JSON form.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers, strings and lists have a JSON form")
    }

    /// The layout that this JSON describes.
    ///
    /// # Errors
    /// [`Error::Parameters`] for text that is not the JSON of a layout of at least one column of at least one element.
    pub fn from_json(text: &str) -> Result<Self> {
        let refused =
            |reason: String| Error::parameter("layout", format!("refused ({reason})"), "the JSON of a layout");
        let layout: Self = serde_json::from_str(text).map_err(|error| refused(error.to_string()))?;
        match layout.size() {
            Some(1..) if !layout.columns.is_empty() => Ok(layout),
            _ => Err(refused("it has no element".to_owned())),
        }
    }
}

impl Columns {
    /// Columns of this shape, with their names.
    ///
    /// # Errors
    /// [`Error::Length`] for no column, and for a column of another number of elements than the shape.
    pub fn new(shape: Vec<usize>, columns: Vec<(String, Column)>) -> Result<Self> {
        if columns.is_empty() {
            return Err(Error::Length { what: "columns", found: 0, needed: "at least 1".into() });
        }
        let (names, columns): (Vec<String>, Vec<Column>) = columns.into_iter().unzip();
        let elements = columns.iter().map(Column::element);
        let names = names.into_iter().zip(elements).map(|(name, element)| ColumnLayout { name, element }).collect();
        let layout = Layout { shape, columns: names };
        for column in &columns {
            check_length("elements of a column", column.count(), layout.size().unwrap_or(0))?;
        }
        Ok(Self { layout, columns })
    }

    /// The public layout.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The columns by themselves.
    #[must_use]
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }
}
