//! Tables of numbers from files of text (CSV, TSV) and NPY files and back.

pub(crate) mod csv;
pub(crate) mod dialect;
pub(crate) mod format;
pub(crate) mod grid;
pub(crate) mod npy;
pub(crate) mod numbers;
pub(crate) mod options;
