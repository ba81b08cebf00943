//! Whole numbers from Python: what their types do not hold is refused by the number.

use std::collections::BTreeMap;

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::EncodingError;

/// Reads an argument of whole numbers, for `from_py_with`.
pub(crate) fn whole<T: Whole>(object: &Bound<'_, PyAny>) -> PyResult<T> {
    T::read(object)
}

/// A whole number of the library's types, or several.
pub(crate) trait Whole: Sized {
    fn read(object: &Bound<'_, PyAny>) -> PyResult<Self>;
}

macro_rules! whole_numbers {
    ($($number:ty, $range:literal;)+) => {$(
        impl Whole for $number {
            fn read(object: &Bound<'_, PyAny>) -> PyResult<Self> {
                object.extract().map_err(|error: PyErr| {
                    let is_number = error.is_instance_of::<PyOverflowError>(object.py());
                    if is_number { outside(object, $range) } else { error }
                })
            }
        }
    )+};
}

whole_numbers! {
    i32, "-2^31 to 2^31 - 1";
    u32, "0 to 2^32 - 1";
    i64, "-2^63 to 2^63 - 1";
    u64, "0 to 2^64 - 1";
    isize, "-2^63 to 2^63 - 1";
    usize, "0 to 2^64 - 1";
}

/// The refusal of a number; of a long one its digits are counted.
fn outside(number: &Bound<'_, PyAny>, range: &str) -> PyErr {
    let found = match number.str().map(|text| text.to_string()) {
        Ok(text) if text.len() <= 40 => text,
        Ok(text) => format!("a number of {} digits", text.trim_start_matches('-').len()),
        // Python writes no numbers of more than thousands of digits.
        Err(_) => "a number of thousands of digits".to_owned(),
    };
    EncodingError::new_err(format!("{found} was given, a whole number from {range} is needed"))
}

impl<T: Whole> Whole for Option<T> {
    fn read(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if object.is_none() { Ok(None) } else { T::read(object).map(Some) }
    }
}

impl<T: Whole> Whole for Vec<T> {
    fn read(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        object.extract::<Vec<Bound<'_, PyAny>>>()?.iter().map(T::read).collect()
    }
}

impl<K: Whole + Ord, V: Whole> Whole for BTreeMap<K, V> {
    fn read(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        object.cast::<PyDict>()?.iter().map(|(key, value)| Ok((K::read(&key)?, V::read(&value)?))).collect()
    }
}

/// Whole numbers from anything that can be iterated over.
#[derive(Default)]
pub(crate) struct Integers(pub(crate) Vec<isize>);

impl<'py> FromPyObject<'_, 'py> for Integers {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        object.try_iter()?.map(|item| whole(&item?)).collect::<PyResult<_>>().map(Self)
    }
}
