//! Integers in: arrays as slots or coefficients, and what stands beside a ciphertext.

use noren::bgv::{Context, Encoder, Entries, Parameters, Plaintext, SlotMatrix};
use noren::circuits::matrix::Matrix;
use noren::error::{Error, Result};
use noren::schemes::extent::Extent;
use noren::schemes::integers::{Content, Encoding};
use numpy::PyArrayDyn;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::array::{as_array, ask_for, copied, detached_by};
use crate::errors::{EncodingError, raise_of_integers};
use crate::tfhe::shape;
use crate::vectors::no_values;

/// Whole numbers from Python: a shape, and the entries in row-major order.
pub(crate) struct WholeNumbers {
    shape: Vec<usize>,
    pub(crate) entries: Vec<i64>,
    /// How many entries hold each number, of numbers that were spread for lookups; 1 for others.
    stretch: usize,
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
        let spread = values.is_instance(&values.py().import("noren._lookup")?.getattr("Spread")?)?;
        let stretch = if spread { values.getattr("stretch")?.extract()? } else { 1 };
        let array = array.call_method1("astype", ("int64",))?.cast_into::<PyArrayDyn<i64>>()?;
        Ok(Self { shape, entries: copied(&array)?, stretch })
    }

    /// The number, if it is a single one: of no dimension, or alone in a vector.
    pub(crate) fn as_scalar(&self) -> Option<i64> {
        if matches!(self.shape[..], [] | [1]) { self.entries.first().copied() } else { None }
    }

    /// Whether there is one vector of this layout, and not several.
    pub(crate) fn is_single(&self, layout: Layout) -> bool {
        self.shape.len() == layout.dimensions()
    }

    /// Encodes a matrix of the slots of a ring whose index is not a power of two, for ciphertexts of at most `limbs`
    /// limbs: of numbers, of elements, or of linear maps of elements, by the dimensions.
    pub(crate) fn encode_matrix(&self, py: Python<'_>, context: &Context, limbs: usize) -> PyResult<SlotMatrix> {
        let d = detached_by(py, raise_of_integers, || context.galois_ring())?.degree();
        let (rows, columns, entries) = match self.shape[..] {
            [rows, columns] => (rows, columns, Entries::Numbers(&self.entries)),
            [rows, columns, depth] if depth == d => (rows, columns, Entries::Elements(&self.entries)),
            [rows, columns, out, of] if [out, of] == [d, d] => (rows, columns, Entries::Maps(&self.entries)),
            _ => return Err(self.wrong_shape(&format!("(rows, columns), with {d} or {d}, {d} after them, is needed"))),
        };
        detached_by(py, raise_of_integers, || SlotMatrix::new(context, [rows, columns], entries, limbs))
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

    /// Encodes one vector, or each of those that lie along the first dimension of an array of one more.
    pub(crate) fn encode(&self, encoder: &Encoder, layout: Layout) -> PyResult<Vec<Plaintext>> {
        let (rows, columns) = match (layout, &self.shape[..]) {
            // No vectors are encoded to none, but a vector has a value.
            (_, &[0, ref of_each @ ..]) if of_each.len() == layout.dimensions() => return Ok(Vec::new()),
            (_, shape) if !shape.is_empty() && self.entries.is_empty() => return Err(no_values()),
            (Layout::Elements, &[values, d]) => (1, values * d),
            (Layout::Elements, &[rows, values, d]) => (rows, values * d),
            (Layout::Elements, _) => {
                return Err(self.wrong_shape("2 or 3 dimensions are needed, the last of coefficients"));
            }
            (_, &[values]) => (1, values),
            (_, &[rows, columns]) => (rows, columns),
            _ => return Err(self.wrong_shape("1 or 2 dimensions are needed")),
        };
        let encode = |row: &[i64]| match layout {
            Layout::Slots if self.stretch > 1 => spread(encoder, row, self.stretch),
            Layout::Slots => encoder.encode(row),
            Layout::Repeated => encoder.encode_repeated(row),
            Layout::Coefficients => encoder.encode_coefficients(row),
            Layout::Elements => encoder.encode_elements(row),
        };
        if layout == Layout::Elements {
            let d = encoder.context().galois_ring().map_err(raise_of_integers)?.degree();
            if self.shape.last() != Some(&d) {
                return Err(self.wrong_shape(&format!("{d} coefficients of each element are needed")));
            }
        }
        debug_assert_eq!(rows * columns, self.entries.len());
        ask_for::<i64>(rows.saturating_mul(encoder.context().parameters().degree()))?;
        self.entries.chunks_exact(columns).map(encode).collect::<Result<_>>().map_err(raise_of_integers)
    }

    /// Encodes a vector beside an encrypted one, as that one is encoded. An array of two dimensions is one of elements,
    /// where slots hold such.
    pub(crate) fn encode_beside(&self, encoder: &Encoder, x: Content) -> PyResult<Plaintext> {
        let parameters = encoder.context().parameters();
        let slots = parameters.slots();
        if self.shape.len() == 2 && x.encoding() == Encoding::Slots && parameters.hypercube().is_some() {
            let extent = x.extent().beside(self.shape[0], slots).map_err(raise_of_integers)?;
            let plaintext = self.encode(encoder, Layout::Elements)?.remove(0);
            return plaintext.with_length(extent.length()).map_err(raise_of_integers);
        }
        let row = self.as_vector()?;
        let extent = match x.encoding() {
            // Polynomials of all lengths go together.
            Encoding::Coefficients if row.is_empty() => return Err(no_values()),
            Encoding::Coefficients => return encoder.encode_coefficients(row).map_err(raise_of_integers),
            Encoding::Slots => x.extent().beside(row.len(), slots).map_err(raise_of_integers)?,
        };
        let encoded = || {
            let plaintext = encoder.encode(&extent.fill(row, slots))?.with_length(extent.length())?;
            if extent.period() < slots { plaintext.with_period(extent.period()) } else { Ok(plaintext) }
        };
        encoded().map_err(raise_of_integers)
    }

    fn wrong_shape(&self, needed: &str) -> PyErr {
        EncodingError::new_err(format!("an array of shape {} was given, {needed}", shape::text(&self.shape)))
    }
}

/// Encodes numbers that were spread for lookups, which the array may no longer hold so.
fn spread(encoder: &Encoder, row: &[i64], stretch: usize) -> Result<Plaintext> {
    if row.chunks(stretch).any(|number| number.len() < stretch || number.iter().any(|x| *x != number[0])) {
        let found = "an array that was changed after it was spread";
        return Err(Error::parameter("numbers to look up", found, "what LookupPlan.spread gives, as it is"));
    }
    encoder.encode(row)?.with_stretch(stretch)
}

/// How numbers are encrypted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// In the first slots.
    Slots,
    /// Over and over in the slots of both rows.
    Repeated,
    /// As coefficients.
    Coefficients,
    /// Elements of a Galois ring in the first slots.
    Elements,
}

impl Layout {
    /// How many dimensions an array of one vector has.
    const fn dimensions(self) -> usize {
        if matches!(self, Self::Elements) { 2 } else { 1 }
    }

    /// That of the arguments of ``Context.encrypt``.
    pub(crate) fn of(coefficients: bool, elements: bool, repeat: bool) -> PyResult<Self> {
        match (coefficients, elements, repeat) {
            (false, false, false) => Ok(Self::Slots),
            (false, false, true) => Ok(Self::Repeated),
            (true, false, false) => Ok(Self::Coefficients),
            (false, true, false) => Ok(Self::Elements),
            (true, true, _) => {
                Err(EncodingError::new_err("coefficients are no elements of slots: leave one of both out"))
            }
            (_, _, true) => {
                Err(EncodingError::new_err("coefficients and elements cannot be repeated: leave repeat out"))
            }
        }
    }
}

/// The values of a plaintext as a layout; with it the coefficients of an element, where values are elements.
pub(crate) fn read(
    encoder: &Encoder,
    plaintext: &Plaintext,
    layout: Layout,
    signed: bool,
) -> Result<(Vec<i64>, Option<usize>)> {
    let values = match (layout, signed) {
        (Layout::Coefficients, true) => encoder.decode_coefficients_signed(plaintext),
        (Layout::Coefficients, false) => encoder.decode_coefficients(plaintext),
        (Layout::Elements, true) => encoder.decode_elements_signed(plaintext),
        (Layout::Elements, false) => encoder.decode_elements(plaintext),
        (_, true) => encoder.decode_signed(plaintext),
        (_, false) => encoder.decode(plaintext),
    }?;
    let width = if layout == Layout::Elements { Some(encoder.context().galois_ring()?.degree()) } else { None };
    Ok((values, width))
}

/// Refuses to read slots as coefficients, and the other way round.
pub(crate) fn check_read(content: Content, layout: Layout) -> PyResult<()> {
    match (content.encoding(), layout == Layout::Coefficients) {
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
    let slots = all.into_iter().filter(|x| x.encoding() == Encoding::Slots);
    Extent::check_all_fit(slots.map(Content::extent)).map_err(raise_of_integers)
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
        return x.extent().check_fits(y.extent()).map_err(raise_of_integers);
    }
    Ok(())
}
