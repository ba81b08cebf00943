//! Integers in: arrays as slots or coefficients, and what stands beside a ciphertext.

use noren::bgv::{Context, Encoder, Parameters, Plaintext};
use noren::circuits::matrix::Matrix;
use noren::error::{Error, Result};
use noren::schemes::integers::{Content, Encoding};
use numpy::{PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::array::as_array;
use crate::errors::{EncodingError, raise_of_integers};
use crate::vectors::{check_all_fit, check_fits, extent_beside, no_values, tiled};

/// Whole numbers from Python: a shape, and the entries in row-major order.
pub(crate) struct WholeNumbers {
    shape: Vec<usize>,
    pub(crate) entries: Vec<i64>,
}

impl WholeNumbers {
    /// Reads anything that numpy takes for an array of integers; they become int64.
    pub(crate) fn of(values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (array, kind) = as_array(values)?;
        let empty = array.getattr("size")?.extract::<usize>()? == 0;
        if !matches!(kind.as_str(), "b" | "i" | "u") && !empty {
            let dtype = array.getattr("dtype")?.str()?;
            return Err(PyTypeError::new_err(format!("whole numbers are needed, found dtype {dtype}")));
        }
        if kind == "u" && !empty && array.call_method0("max")?.gt(i64::MAX)? {
            let largest = array.call_method0("max")?;
            return Err(EncodingError::new_err(format!(
                "the value {largest} was given, int64 has none above {}",
                i64::MAX
            )));
        }
        let shape = array.getattr("shape")?.extract()?;
        let array = array.call_method1("astype", ("int64",))?.cast_into::<PyArrayDyn<i64>>()?;
        Ok(Self { shape, entries: array.try_readonly()?.as_array().iter().copied().collect() })
    }

    /// The number, if it is a single one: of no dimension, or alone in a vector.
    pub(crate) fn as_scalar(&self) -> Option<i64> {
        if matches!(self.shape[..], [] | [1]) { self.entries.first().copied() } else { None }
    }

    /// Whether there is one dimension.
    pub(crate) fn is_vector(&self) -> bool {
        self.shape.len() == 1
    }

    /// The matrix, if there are two dimensions.
    pub(crate) fn into_matrix(self) -> PyResult<Matrix<i64>> {
        match self.shape[..] {
            [rows, columns] => Matrix::new(rows, columns, self.entries).map_err(raise_of_integers),
            _ => Err(self.wrong_shape("2 dimensions are needed")),
        }
    }

    /// The vector, if there is one dimension.
    pub(crate) fn as_vector(&self) -> PyResult<&[i64]> {
        match self.shape[..] {
            [_] => Ok(&self.entries),
            _ => Err(self.wrong_shape("1 dimension is needed")),
        }
    }

    /// Encodes one vector, or each of those that lie along the first of two dimensions.
    pub(crate) fn encode(&self, encoder: &Encoder, layout: Layout) -> PyResult<Vec<Plaintext>> {
        let rows: Vec<&[i64]> = match self.shape[..] {
            [0] | [1..=usize::MAX, 0] => return Err(no_values()),
            [_] => vec![&self.entries],
            [rows, columns] => (0..rows).map(|row| &self.entries[row * columns..(row + 1) * columns]).collect(),
            _ => return Err(self.wrong_shape("1 or 2 dimensions are needed")),
        };
        let encode = |row: &[i64]| match layout {
            Layout::Slots => encoder.encode(row),
            Layout::Repeated => encoder.encode_repeated(row),
            Layout::Coefficients => encoder.encode_coefficients(row),
        };
        rows.into_iter().map(encode).collect::<Result<_>>().map_err(raise_of_integers)
    }

    /// Encodes a vector beside an encrypted one of n slots or coefficients, as that one is encoded.
    pub(crate) fn encode_beside(&self, encoder: &Encoder, x: Content, n: usize) -> PyResult<Plaintext> {
        let row = self.as_vector()?;
        let extent = match x.encoding() {
            // Polynomials of all lengths go together.
            Encoding::Coefficients if row.is_empty() => return Err(no_values()),
            Encoding::Coefficients => return encoder.encode_coefficients(row).map_err(raise_of_integers),
            Encoding::Slots => extent_beside(row.len(), x.extent(), n)?,
        };
        let period = extent.period();
        let plaintext = if period < n {
            encoder.encode(&tiled(row, period, n)).and_then(|plaintext| plaintext.with_period(period))
        } else {
            encoder.encode(row)
        };
        plaintext.and_then(|plaintext| plaintext.with_length(extent.length())).map_err(raise_of_integers)
    }

    fn wrong_shape(&self, needed: &str) -> PyErr {
        EncodingError::new_err(format!("an array of shape {:?} was given, {needed}", self.shape))
    }
}

/// How numbers are encrypted.
#[derive(Clone, Copy)]
pub(crate) enum Layout {
    /// In the first slots.
    Slots,
    /// Over and over in the slots of both rows.
    Repeated,
    /// As coefficients.
    Coefficients,
}

impl Layout {
    /// That of the arguments of ``Context.encrypt``.
    pub(crate) fn of(coefficients: bool, repeat: bool) -> PyResult<Self> {
        match (coefficients, repeat) {
            (false, false) => Ok(Self::Slots),
            (false, true) => Ok(Self::Repeated),
            (true, false) => Ok(Self::Coefficients),
            (true, true) => Err(EncodingError::new_err("coefficients cannot be repeated: leave repeat out")),
        }
    }
}

/// Refuses to read slots as coefficients, and the other way round.
pub(crate) fn check_read(content: Content, coefficients: bool) -> PyResult<()> {
    match (content.encoding(), coefficients) {
        (Encoding::Slots, true) => Err(EncodingError::new_err(
            "the numbers are in slots, and were asked for as coefficients: decrypt without coefficients=True",
        )),
        (Encoding::Coefficients, false) => Err(EncodingError::new_err(
            "the numbers are coefficients of a polynomial, and were asked for as slots: decrypt with coefficients=True",
        )),
        _ => Ok(()),
    }
}

/// Refuses a sum of vectors in slots of which two have different lengths.
pub(crate) fn check_all_contents(all: impl IntoIterator<Item = Content>) -> PyResult<()> {
    check_all_fit(all.into_iter().filter(|x| x.encoding() == Encoding::Slots).map(Content::extent))
}

/// Refuses a thing of other parameters than those of a context.
pub(crate) fn check_parameters(context: &Context, found: &Parameters) -> PyResult<()> {
    let needed = context.parameters();
    if found == needed {
        return Ok(());
    }
    Err(raise_of_integers(Error::mismatch(&needed.fingerprint(), &found.fingerprint(), "the ciphertext")))
}

/// Refuses an operation of vectors in slots whose lengths differ.
pub(crate) fn check_contents(x: Content, y: Content) -> PyResult<()> {
    if x.encoding() == Encoding::Slots && y.encoding() == Encoding::Slots {
        return check_fits(x.extent(), y.extent());
    }
    Ok(())
}
