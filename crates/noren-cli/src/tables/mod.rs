//! Tables of numbers from files of text (CSV, TSV), NPY files, Parquet and Arrow, and back.

mod columnar;
pub(crate) mod csv;
pub(crate) mod decimal;
pub(crate) mod dialect;
pub(crate) mod format;
pub(crate) mod grid;
pub(crate) mod npy;
pub(crate) mod numbers;
pub(crate) mod options;
mod shown;
pub(crate) mod texts;
