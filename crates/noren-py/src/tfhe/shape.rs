//! Shapes of encrypted arrays: numpy says where each element goes, and nothing is computed.

use noren::programs::columns::Column;
use numpy::{PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};

use crate::errors::{EncodingError, Error, raise};
use crate::tfhe::classes::PyEncryptedArray;
use crate::whole::whole;

/// The positions of elements in an array of this shape, as an array of that shape.
pub(crate) fn positions<'py>(py: Python<'py>, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let size: usize = shape.iter().product();
    py.import("numpy")?.call_method1("arange", (size,))?.call_method1("reshape", (shape.to_vec(),))
}

/// Refuses numbers that no shape and no axes have, in tuples and lists too; numpy refuses the others.
pub(crate) fn check_numbers(given: &Bound<'_, PyAny>) -> PyResult<()> {
    if given.is_instance_of::<PyTuple>() || given.is_instance_of::<PyList>() {
        return given.try_iter()?.try_for_each(|item| check_numbers(&item?));
    }
    if given.is_instance_of::<PyInt>() { whole::<i32>(given).map(drop) } else { Ok(()) }
}

/// The elements at these positions, and the shape of the positions.
///
/// Raises EncodingError for no position.
pub(crate) fn taken(column: &Column, positions: &Bound<'_, PyAny>) -> PyResult<(Vec<usize>, Column)> {
    let py = positions.py();
    let array = py.import("numpy")?.call_method1("asarray", (positions, "int64"))?.cast_into::<PyArrayDyn<i64>>()?;
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    let places: Vec<usize> = array.try_readonly()?.as_array().iter().map(|&place| place as usize).collect();
    if places.is_empty() {
        return Err(EncodingError::new_err("no element would be left: an encrypted array has at least one"));
    }
    // The whole array as it is: fresh ciphertexts stay as small as they are.
    if places.len() == column.count() && places.iter().enumerate().all(|(at, &place)| at == place) {
        return Ok((shape, column.clone()));
    }
    Ok((shape, py.detach(|| column.gather(&places))))
}

/// The shape that numpy spreads arrays of these shapes over.
///
/// Raises EncodingError where numpy refuses them.
pub(crate) fn common(py: Python<'_>, shapes: &[&[usize]]) -> PyResult<Vec<usize>> {
    let [first, others @ ..] = shapes else { return Ok(Vec::new()) };
    if others.iter().all(|shape| shape == first) {
        return Ok(first.to_vec());
    }
    let tuples = shapes.iter().map(|shape| PyTuple::new(py, shape.iter())).collect::<PyResult<Vec<_>>>()?;
    let found = py.import("numpy")?.call_method1("broadcast_shapes", PyTuple::new(py, tuples)?);
    let found = found.map_err(|_| {
        let shapes: Vec<String> = shapes.iter().map(|shape| text(shape)).collect();
        EncodingError::new_err(format!("arrays of the shapes {} do not broadcast together", shapes.join(" and ")))
    })?;
    found.extract()
}

/// An array, spread over a shape.
pub(crate) fn spread(py: Python<'_>, x: &PyEncryptedArray, shape: &[usize]) -> PyResult<Column> {
    if x.shape == shape {
        return Ok(x.column.clone());
    }
    let places = py.import("numpy")?.call_method1("broadcast_to", (positions(py, &x.shape)?, shape.to_vec()))?;
    Ok(taken(&x.column, &places)?.1)
}

/// The arrays one after the other along an axis, or side by side along a new one: what numpy's function of this name does.
fn joined(
    py: Python<'_>,
    function: &str,
    arrays: &[Bound<'_, PyEncryptedArray>],
    axis: i32,
) -> PyResult<PyEncryptedArray> {
    let Some(first) = arrays.first() else {
        return Err(EncodingError::new_err("no array was given, at least one is needed"));
    };
    let first = first.get();
    if let Some(other) = arrays.iter().map(Bound::get).find(|array| array.column.element() != first.column.element()) {
        return Err(of_types(first, other));
    }
    let mut start = 0;
    let mut places = Vec::with_capacity(arrays.len());
    for array in arrays {
        let array = array.get();
        places.push(positions(py, &array.shape)?.call_method1("__add__", (start,))?);
        start += array.column.count();
    }
    let places = py.import("numpy")?.call_method1(function, (places, axis))?;
    let all = Column::concatenate(arrays.iter().map(|array| &array.get().column)).map_err(raise)?;
    let (shape, column) = taken(&all, &places)?;
    Ok(first.with(shape, column).or_bound_as(arrays.iter().map(Bound::get)))
}

/// Joins encrypted arrays of one type along an axis, as ``numpy.concatenate`` does. It costs nothing.
///
/// Raises ValueError for shapes that numpy refuses, Error for different types, ParameterMismatchError and KeyMismatchError for
/// arrays of others.
#[pyfunction]
#[pyo3(signature = (arrays, axis = 0))]
pub(crate) fn concatenate(
    py: Python<'_>,
    arrays: Vec<Bound<'_, PyEncryptedArray>>,
    #[pyo3(from_py_with = whole)] axis: i32,
) -> PyResult<PyEncryptedArray> {
    joined(py, "concatenate", &arrays, axis)
}

/// Joins encrypted arrays of one type and shape along a new axis, as ``numpy.stack`` does. It costs nothing.
///
/// Raises what ``concatenate`` raises.
#[pyfunction]
#[pyo3(signature = (arrays, axis = 0))]
pub(crate) fn stack(
    py: Python<'_>,
    arrays: Vec<Bound<'_, PyEncryptedArray>>,
    #[pyo3(from_py_with = whole)] axis: i32,
) -> PyResult<PyEncryptedArray> {
    joined(py, "stack", &arrays, axis)
}

/// The refusal of arrays of different types.
pub(crate) fn of_types(x: &PyEncryptedArray, y: &PyEncryptedArray) -> PyErr {
    let (x, y) = (x.column.element(), y.column.element());
    Error::new_err(format!("an encrypted array of {x} meets one of {y}: make both one type, with x.astype(\"{y}\")"))
}

/// A shape as Python shows it.
pub(crate) fn text(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}
