//! Rows as inputs of a graph.

use std::collections::BTreeMap;

use noren_rlwe::error::{Error, Result};

use crate::tables::circuit::{Bits, Circuit};
use crate::tables::column::{Cells, Schema, rows_of};
use crate::tables::error::TableError;
use crate::tables::layout::Layout;

impl Circuit {
    /// The inputs of the graph: the bits of the columns that are asked for.
    ///
    /// # Errors
    /// [`TableError`] for columns that are missing, cells that they do not hold, and too many rows.
    pub(super) fn encoded(
        &self,
        schema: &Schema,
        layout: Layout,
        table: &BTreeMap<String, Cells>,
    ) -> Result<Vec<Vec<f64>>> {
        let rows = rows_of(table)?;
        if rows > schema.rows {
            let needed = format!("at most {}, as was compiled", schema.rows);
            return Err(TableError::Question { found: format!("a table of {rows} rows"), needed }.into());
        }
        let mut codes = BTreeMap::new();
        for column in self.inputs.iter().filter_map(|input| input.column()) {
            if codes.contains_key(&column) {
                continue;
            }
            let of = &schema.columns[column];
            let cells = table.get(&of.name).ok_or_else(|| {
                let columns = table.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                Error::from(TableError::NoColumn { name: of.name.clone(), columns })
            })?;
            codes.insert(column, of.codes(cells)?);
        }
        let input = |input: &Bits| {
            let mut places = vec![0.0; layout.lanes * layout.blocks];
            match *input {
                Bits::Present => (0..rows).for_each(|row| places[layout.place(row)] = 1.0),
                Bits::Bit { column, bit } => {
                    for (row, code) in codes[&column].iter().enumerate() {
                        places[layout.place(row)] = f64::from((code >> bit & 1) as u32);
                    }
                }
            }
            places
        };
        Ok(self.inputs.iter().map(input).collect())
    }
}
