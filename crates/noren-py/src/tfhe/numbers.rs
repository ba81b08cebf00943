//! numpy in and out: whole numbers and truth values of any width.

use std::ops::RangeInclusive;

use noren::programs::columns::Element;
use noren::tfhe::Parameters;
use numpy::{PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::array::ask_for;
use crate::errors::EncodingError;
use crate::tfhe::shape::text;

/// Whole numbers or truth values from Python: a shape, and the entries in row-major order.
pub(crate) struct ExactNumbers {
    pub(crate) shape: Vec<usize>,
    pub(crate) entries: Vec<i128>,
    /// The element of their type, such as `uint16`.
    pub(crate) element: Element,
}

impl ExactNumbers {
    /// Reads anything that numpy takes for an array of integers or truth values.
    pub(crate) fn of(values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let numpy = values.py().import("numpy")?;
        if numpy.getattr("ma")?.call_method1("isMaskedArray", (values,))?.is_truthy()? {
            let message = "a masked array was given, whose masked entries have no value: give x.filled(value)";
            return Err(PyTypeError::new_err(message));
        }
        let array = numpy.call_method1("asarray", (values,))?;
        let element = element_of(&array.getattr("dtype")?)?;
        let shape = array.getattr("shape")?.extract()?;
        ask_for::<i128>(array.getattr("size")?.extract()?)?;
        let entries = if element == Element::Unsigned(64) {
            let array = array.cast_into::<PyArrayDyn<u64>>()?;
            array.try_readonly()?.as_array().iter().map(|&x| i128::from(x)).collect()
        } else {
            let array = array.call_method1("astype", ("int64",))?.cast_into::<PyArrayDyn<i64>>()?;
            array.try_readonly()?.as_array().iter().map(|&x| i128::from(x)).collect()
        };
        Ok(Self { shape, entries, element })
    }

    /// The entries as elements of a kind, spread over a shape as numpy does it.
    pub(crate) fn spread(
        values: &Bound<'_, PyAny>,
        parameters: &Parameters,
        element: Element,
        shape: &[usize],
    ) -> PyResult<Vec<i128>> {
        let numpy = values.py().import("numpy")?;
        let numbers = Self::of(values)?;
        let array = numpy.call_method1("asarray", (values,))?;
        check_range(&numbers.entries, element, &element.range(parameters))?;
        if numbers.shape == shape {
            return Ok(numbers.entries);
        }
        let array = numpy.call_method1("broadcast_to", (array, shape.to_vec())).map_err(|_| {
            let shapes = format!("{} and {}", text(&numbers.shape), text(shape));
            EncodingError::new_err(format!("arrays of the shapes {shapes} do not broadcast together"))
        })?;
        Ok(Self::of(&array)?.entries)
    }
}

/// Values as an array of a shape, in the type of the element; single digits become uint8.
pub(crate) fn into_array<'py>(
    py: Python<'py>,
    values: &[i128],
    element: Element,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    // Two's complement keeps all bits of the widest type; numpy's casts wrap around.
    ask_for::<u64>(values.len())?;
    let words: Vec<u64> = values.iter().map(|&value| value as u64).collect();
    let array = numpy::PyArray1::from_vec(py, words).into_any();
    let array = array.call_method1("astype", (dtype_name(element),))?;
    array.call_method1("reshape", (shape.to_vec(),))
}

/// The name of the type of an array in clear.
pub(crate) fn dtype_name(element: Element) -> String {
    if element == Element::Digit { "uint8".to_owned() } else { element.to_string() }
}

/// Refuses values that elements of a kind do not have.
pub(crate) fn check_range(values: &[i128], element: Element, range: &RangeInclusive<i128>) -> PyResult<()> {
    match values.iter().find(|value| !range.contains(value)) {
        None => Ok(()),
        Some(value) => {
            let (least, most) = (range.start(), range.end());
            Err(EncodingError::new_err(format!("{value} is no {element}: it must be from {least} to {most}")))
        }
    }
}

/// The element of a type of numpy.
pub(crate) fn element_of(dtype: &Bound<'_, PyAny>) -> PyResult<Element> {
    let dtype = dtype.py().import("numpy")?.call_method1("dtype", (dtype,))?;
    let name: String = dtype.getattr("name")?.extract()?;
    name.parse().ok().filter(|element| *element != Element::Digit).ok_or_else(|| {
        PyTypeError::new_err(format!("whole numbers of 8 to 64 bits or truth values are needed, found dtype {name}"))
    })
}
