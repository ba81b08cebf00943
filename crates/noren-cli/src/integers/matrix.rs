//! Matrices that multiply encrypted integers: tables in clear, or files of matrices that were prepared.

use std::path::Path;

use noren::bfv::{Context, Entries, SlotMatrix};
use noren::wire::Limits;

use crate::console::Console;
use crate::describe::words::count;
use crate::failure::Failure;
use crate::integers::whole::{residues, whole};
use crate::progress;
use crate::tables::dialect::Format;
use crate::tables::numbers::Numbers;
use crate::takes;

/// The matrix in a file, for ciphertexts of so many rows and limbs: mapped, if it was prepared, or else encoded.
pub(crate) fn read(
    context: &Context,
    path: &Path,
    rows: usize,
    limbs: usize,
    console: &Console,
) -> Result<SlotMatrix, Failure> {
    let check = |columns: usize| {
        let needed = || format!("{rows}, as many as the table has rows");
        if columns == rows {
            Ok(())
        } else {
            Err(Failure::input(path, "the matrix", count(columns, "column"), needed()))
        }
    };
    // The name says whether it is a table: what a file says of itself exempts none from signatures.
    if Format::of(path).is_ok() {
        let table = Numbers::read(path, false)?;
        check(table.columns)?;
        return encode(context, &table, path, limbs);
    }
    let shown = progress::spinner("checking the prepared matrix".to_owned());
    console.inputs().verify(path, &takes::EVAL_MATRIX)?;
    let matrix = SlotMatrix::open(context, path, &Limits::default()).map_err(Failure::file(path))?;
    drop(shown);
    check(matrix.shape()[1])?;
    Ok(matrix)
}

/// Encodes a table of whole numbers, which stood in this file.
pub(crate) fn encode(context: &Context, table: &Numbers, path: &Path, limbs: usize) -> Result<SlotMatrix, Failure> {
    let modulus = context.parameters().modulus().value();
    let entries = whole(table, path, |_| residues(modulus))?;
    let shown = progress::spinner("encoding the matrix".to_owned());
    let shape = [table.rows, table.columns];
    let matrix = SlotMatrix::new(context, shape, Entries::Numbers(&entries), limbs).map_err(Failure::file(path));
    drop(shown);
    matrix
}
