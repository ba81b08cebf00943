//! Without the feature `parquet`.

use std::path::Path;

use crate::failure::Failure;
use crate::tables::dialect::Format;
use crate::tables::numbers::{Decrypted, Numbers};

/// Refuses to read a table.
pub(in crate::tables) fn read(path: &Path, format: Format, _: Vec<u8>, _: &[String]) -> Result<Numbers, Failure> {
    Err(refusal(path, format))
}

/// Refuses to write a table.
pub(in crate::tables) fn to_bytes(path: &Path, format: Format, _: &Decrypted<'_>) -> Result<Vec<u8>, Failure> {
    Err(refusal(path, format))
}

fn refusal(path: &Path, format: Format) -> Failure {
    let needed = ".csv, .tsv or .npy, or a tool that has Parquet and Arrow: cargo install --locked noren-cli --features \
        parquet (in Python, pandas.read_parquet(...).to_csv(..., index=False))";
    Failure::input(path, "the format", format.noun(), needed)
}
