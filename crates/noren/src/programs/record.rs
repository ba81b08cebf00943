//! Layouts as JSON, as they travel with a table: written plainly, read with suspicion.

use noren_rlwe::error::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::programs::layout::{Guarantee, TableLayout, check_length};
use crate::programs::pairs::PairLayout;
use crate::programs::table::Layout;

/// The JSON of a [`Layout`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    rows: usize,
    columns: usize,
    slots: usize,
    height: usize,
    exponents: Vec<i32>,
    row_names: Vec<String>,
    column_names: Vec<String>,
    zero_padding: bool,
    guarantee: Option<Guarantee>,
    pairs: Option<PairsRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PairsRecord {
    exponent: i32,
    /// All pairs, as a matrix, if there is no list.
    list: Option<Vec<(usize, usize)>>,
}

impl Layout {
    /// The layout as JSON.
    ///
    /// # Panics
    /// Never: every layout has a JSON form.
    #[must_use]
    pub fn to_json(&self) -> String {
        let (table, pairs) = match self {
            Self::Table(table) => (table, None),
            Self::Pairs(layout) => {
                let list = (!layout.is_square()).then(|| layout.pairs().to_vec());
                (layout.table(), Some(PairsRecord { exponent: layout.exponent(), list }))
            }
        };
        let record = Record {
            rows: table.rows(),
            columns: table.columns(),
            slots: table.slots(),
            height: table.height(),
            exponents: table.exponents().to_vec(),
            row_names: table.row_names().to_vec(),
            column_names: table.column_names().to_vec(),
            zero_padding: table.zero_padding(),
            guarantee: table.guarantee().cloned(),
            pairs,
        };
        serde_json::to_string(&record).expect("numbers, strings and lists have a JSON form")
    }

    /// The layout that this JSON describes.
    ///
    /// Nothing is allocated by a number in the text that is not the length of a list in it, but for the pairs of up to
    /// 4096 columns.
    ///
    /// # Errors
    /// Text that is not the JSON of a layout; a layout that could not have been made.
    pub fn from_json(text: &str) -> Result<Self> {
        let record: Record = serde_json::from_str(text)
            .map_err(|error| Error::parameter("layout", format!("refused ({error})"), "the JSON of a layout"))?;
        check_length("exponents", record.exponents.len(), record.columns)?;
        let mut table = TableLayout::with_geometry(record.rows, record.columns, record.slots, record.height)?
            .with_exponents(record.exponents)?
            .with_row_names(record.row_names)?
            .with_column_names(record.column_names)?
            .with_zero_padding(record.zero_padding);
        if let Some(guarantee) = record.guarantee {
            if let Some(arguments) = &guarantee.arguments {
                check_length("exponents of arguments", arguments.len(), record.columns)?;
            }
            table = table.with_guarantee(guarantee);
        }
        Ok(match record.pairs {
            None => Self::Table(table),
            Some(PairsRecord { exponent, list: None }) => Self::Pairs(PairLayout::square(table, exponent)?),
            Some(PairsRecord { exponent, list: Some(list) }) => Self::Pairs(PairLayout::list(table, list, exponent)?),
        })
    }
}
