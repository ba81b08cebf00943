//! numpy in: arrays of numbers as the library takes them, and work without the interpreter.

use noren::Complex64;
use noren::ckks::{Encoder, Operand, Plaintext, Scale};
use noren::error::{Error, Result};
use noren::memory;
use numpy::{Element, PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::errors::{EncodingError, raise};
use crate::progress::Heard;
use crate::tfhe::shape;
use crate::vectors::no_values;

/// Numbers from Python: a shape, and the entries in row-major order.
pub(crate) struct Numbers {
    shape: Vec<usize>,
    entries: Entries,
}

enum Entries {
    Real(Vec<f64>),
    Complex(Vec<Complex64>),
}

/// One vector.
#[derive(Clone, Copy)]
pub(crate) enum Row<'a> {
    Real(&'a [f64]),
    Complex(&'a [Complex64]),
}

impl Numbers {
    /// Reads anything that numpy takes for an array of real or complex numbers; they become float64 or complex128.
    pub(crate) fn of(values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (array, kind) = as_array(values)?;
        let entries = match kind.as_str() {
            "c" => Entries::Complex(entries(&array, "complex128")?),
            "b" | "i" | "u" | "f" => Entries::Real(entries(&array, "float64")?),
            _ => {
                let dtype = array.getattr("dtype")?.str()?;
                return Err(PyTypeError::new_err(format!("numbers are needed, found dtype {dtype}")));
            }
        };
        Ok(Self { shape: array.getattr("shape")?.extract()?, entries })
    }

    /// The number, if it is a single one: of no dimension, or alone in a vector.
    pub(crate) fn as_scalar(&self) -> Option<Complex64> {
        match (&self.shape[..], &self.entries) {
            ([] | [1], Entries::Real(x)) => Some(Complex64::new(x[0], 0.0)),
            ([] | [1], Entries::Complex(x)) => Some(x[0]),
            _ => None,
        }
    }

    /// The vector, if there is one dimension.
    pub(crate) fn as_vector(&self) -> PyResult<Row<'_>> {
        if self.is_vector() { Ok(self.flat()) } else { Err(wrong_shape(&self.shape, "1 dimension")) }
    }

    /// All entries as one vector.
    pub(crate) fn flat(&self) -> Row<'_> {
        self.entries.row(0, self.shape.iter().product())
    }

    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// One vector, or those that lie along the first of two dimensions.
    pub(crate) fn rows(&self) -> PyResult<Vec<Row<'_>>> {
        match self.shape[..] {
            [0] | [1..=usize::MAX, 0] => Err(no_values()),
            [_] => Ok(vec![self.flat()]),
            [rows, columns] => Ok((0..rows).map(|row| self.entries.row(row * columns, columns)).collect()),
            _ => Err(wrong_shape(&self.shape, "1 or 2 dimensions")),
        }
    }

    /// Whether there is one dimension.
    pub(crate) fn is_vector(&self) -> bool {
        self.shape.len() == 1
    }

    /// A vector of real numbers.
    pub(crate) fn into_real_vector(self) -> PyResult<Vec<f64>> {
        self.as_vector()?;
        Ok(self.into_real()?.1)
    }

    /// Rows, columns and entries of a matrix of real numbers.
    pub(crate) fn into_real_matrix(self) -> PyResult<(usize, usize, Vec<f64>)> {
        match self.into_real()? {
            (shape, entries) if shape.len() == 2 => Ok((shape[0], shape[1], entries)),
            (shape, _) => Err(wrong_shape(&shape, "2 dimensions")),
        }
    }

    fn into_real(self) -> PyResult<(Vec<usize>, Vec<f64>)> {
        match self.entries {
            Entries::Real(entries) => Ok((self.shape, entries)),
            Entries::Complex(_) => Err(PyTypeError::new_err("real numbers are needed, found complex ones")),
        }
    }
}

impl Entries {
    fn row(&self, start: usize, len: usize) -> Row<'_> {
        match self {
            Self::Real(entries) => Row::Real(&entries[start..start + len]),
            Self::Complex(entries) => Row::Complex(&entries[start..start + len]),
        }
    }
}

impl<'a> Row<'a> {
    /// The vector as an operand, which is encoded beside the other one.
    pub(crate) fn operand(self) -> Operand<'a> {
        match self {
            Self::Real(row) => Operand::Real(row),
            Self::Complex(row) => Operand::Complex(row),
        }
    }

    /// Encodes the vector over and over, at the canonical scale.
    pub(crate) fn encode_repeated(self, encoder: &Encoder, slots: usize, level: usize) -> Result<Plaintext> {
        match self {
            Self::Real(row) => encoder.encode_repeated(row, slots, level),
            Self::Complex(row) => encoder.encode_repeated_complex(row, slots, level),
        }
    }

    /// 1 over each of the numbers.
    ///
    /// # Errors
    /// The position of the first zero.
    pub(crate) fn reciprocals(self) -> std::result::Result<Numbers, usize> {
        let entries = match self {
            Self::Real(row) => {
                row.iter().position(|&x| x == 0.0).map_or(Ok(()), Err)?;
                Entries::Real(row.iter().map(|x| x.recip()).collect())
            }
            Self::Complex(row) => {
                row.iter().position(|&x| x == Complex64::ZERO).map_or(Ok(()), Err)?;
                Entries::Complex(row.iter().map(Complex64::inv).collect())
            }
        };
        let len = match &entries {
            Entries::Real(entries) => entries.len(),
            Entries::Complex(entries) => entries.len(),
        };
        Ok(Numbers { shape: vec![len], entries })
    }

    /// Encodes the vector, with zeros after it.
    pub(crate) fn encode(self, encoder: &Encoder, slots: usize, level: usize, scale: &Scale) -> Result<Plaintext> {
        match self {
            Self::Real(row) => encoder.encode_real(row, slots, level, scale),
            Self::Complex(row) => encoder.encode_complex(row, slots, level, scale),
        }
    }
}

/// The array that numpy makes of something, and the letter of its kind of entries.
///
/// Refuses masked arrays, whose masks would be dropped, and whole numbers that numpy holds as objects.
pub(crate) fn as_array<'py>(values: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, String)> {
    let numpy = values.py().import("numpy")?;
    if values.is_instance(&numpy.getattr("ma")?.getattr("MaskedArray")?)? {
        let message = "a masked array was given, and a mask cannot be encrypted: fill it, such as by values.filled(0)";
        return Err(EncodingError::new_err(message));
    }
    let array = numpy.call_method1("asarray", (values,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if kind == "O" && array.getattr("size")?.extract::<usize>()? > 0 {
        // Whole numbers beyond 64 bits are what numpy holds as objects by itself; others are refused by their type.
        for (index, value) in array.getattr("flat")?.try_iter()?.enumerate() {
            let value = value?;
            if value.is_instance_of::<PyInt>() && value.extract::<i64>().is_err() && value.extract::<u64>().is_err() {
                let message = format!("value {index} is {value}, whole numbers must fit 64 bits");
                return Err(EncodingError::new_err(message));
            }
        }
    }
    Ok((array, kind))
}

/// Refuses a table of columns with names, of which the rows would become vectors.
pub(crate) fn no_table(values: &Bound<'_, PyAny>) -> PyResult<()> {
    if !(values.hasattr("columns")? && (values.hasattr("to_numpy")? || values.hasattr("to_pandas")?)) {
        return Ok(());
    }
    let name = values.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "a table ({name}) was given, a vector or an array is needed: encrypt a column, table[\"name\"], or an array of vectors, \
         table.to_numpy().T for the columns and table.to_numpy() for the rows; noren.programs.encrypt_table takes tables with \
         names"
    )))
}

/// Runs `work` without the interpreter, and turns what it refuses into an exception; signals end it, and the function of
/// ``noren.progress`` hears of it.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    detached_by(py, raise, work)
}

/// [`detached`], with another way to turn what it refuses into an exception.
pub(crate) fn detached_by<T: Send>(
    py: Python<'_>,
    raise: fn(Error) -> PyErr,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    Heard::new(None).follow(py, raise, work)
}

/// The entries of an array in row-major order, whatever the strides.
pub(crate) fn copied<T: Element + Copy>(array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Vec<T>> {
    let array = array.try_readonly()?;
    let array = array.as_array();
    ask_for::<T>(array.len())?;
    Ok(array.iter().copied().collect())
}

/// Asks for memory for so many values, before it is taken.
pub(crate) fn ask_for<T>(count: usize) -> PyResult<()> {
    memory::ask_for::<T>(count).map_err(|missing| raise(missing.into()))
}

/// The entries in row-major order, as a type.
fn entries<T: Element + Copy>(array: &Bound<'_, PyAny>, dtype: &str) -> PyResult<Vec<T>> {
    let array = array.call_method1("astype", (dtype,))?.cast_into::<PyArrayDyn<T>>()?;
    copied(&array)
}

fn wrong_shape(shape: &[usize], needed: &str) -> PyErr {
    EncodingError::new_err(format!("an array of shape {} was given, {needed} are needed", shape::text(shape)))
}
