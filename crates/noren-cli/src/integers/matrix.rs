//! Matrices that multiply encrypted integers: tables in clear, or files of matrices that were prepared.

use std::path::Path;

use noren::bfv::{Context, Entries, SlotMatrix};
use noren::error::Error;
use noren::wire::{Kind, Limits};
use noren_rlwe::wire::file;

use crate::console::Console;
use crate::describe::words::count;
use crate::failure::Failure;
use crate::integers::whole::{residues, whole};
use crate::progress;
use crate::tables::numbers::Numbers;

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
    match file::kind(path)? {
        Some(Kind::PREPARED_SLOT_MATRIX | Kind::SLOT_MATRIX) => {
            let shown = progress::spinner("checking the prepared matrix".to_owned());
            console.inputs().verify(path)?;
            let matrix = SlotMatrix::open(context, path, &Limits::default()).map_err(Failure::file(path))?;
            drop(shown);
            check(matrix.shape()[1])?;
            Ok(matrix)
        }
        Some(kind) => {
            let needed = format!("{}, or a table, .csv or .npy", Kind::PREPARED_SLOT_MATRIX);
            Err(Failure::file(path)(Error::WrongKind { found: kind.to_string(), needed }))
        }
        None => {
            let table = Numbers::read(path, false)?;
            check(table.columns)?;
            encode(context, &table, path, limbs)
        }
    }
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
