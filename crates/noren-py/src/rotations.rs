//! The rotations that sums and products of slots and products with matrices need keys for, in all schemes with vectors.

use noren::circuits::matrix::Matrix;
use noren::circuits::terms::Terms;
use noren::error::Result;
use noren::schemes::extent::Extent;
use pyo3::prelude::*;

use crate::array::Numbers;
use crate::errors::{EncodingError, raise};
use crate::whole::whole;

/// The rotations that ``Evaluator.sum`` of ``count`` slots needs keys for.
#[pyfunction]
#[pyo3(signature = (count, *, stride = 1, steps = None))]
pub(crate) fn rotations_of_sum(
    #[pyo3(from_py_with = whole)] count: i64,
    #[pyo3(from_py_with = whole)] stride: i64,
    #[pyo3(from_py_with = whole)] steps: Option<usize>,
) -> PyResult<Vec<isize>> {
    Ok(terms_of_any(count, stride).and_then(|terms| terms.unrolling(steps)).map_err(raise)?.rotations())
}

/// The rotations that ``Evaluator.product`` of ``count`` slots needs keys for.
#[pyfunction]
#[pyo3(signature = (count, *, stride = 1))]
pub(crate) fn rotations_of_product(
    #[pyo3(from_py_with = whole)] count: i64,
    #[pyo3(from_py_with = whole)] stride: i64,
) -> PyResult<Vec<isize>> {
    terms_of_any(count, stride).and_then(Terms::rotations_of_product).map_err(raise)
}

/// Slots of any vector that may be meant.
fn terms_of_any(count: i64, stride: i64) -> Result<Terms> {
    Terms::new(Some(count), stride, Extent::of_slots(LARGEST_SLOTS), LARGEST_SLOTS)
}

/// The rotations that ``Evaluator.matvec`` of this matrix needs keys for.
///
/// slots: a power of two after which vectors repeat, as those do that are encrypted with ``slots`` or with
///     ``repeat=True``; None for every vector, which takes about twice as many.
#[pyfunction]
#[pyo3(signature = (matrix, *, slots = None))]
pub(crate) fn rotations_of_matrix(
    matrix: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = whole)] slots: Option<usize>,
) -> PyResult<Vec<isize>> {
    if let Some(found) = slots.filter(|&slots| slots > LARGEST_SLOTS) {
        return Err(EncodingError::new_err(format!(
            "slots is {found}, a power of two up to {LARGEST_SLOTS} is needed"
        )));
    }
    dense(matrix)?.rotations(slots).map_err(raise)
}

/// No ring has more slots.
const LARGEST_SLOTS: usize = 1 << 17;

/// A matrix of real numbers, as `Evaluator.matvec` takes it.
pub(crate) fn dense(matrix: &Bound<'_, PyAny>) -> PyResult<Matrix> {
    let (rows, columns, entries) = Numbers::of(matrix)?.into_real_matrix()?;
    Matrix::new(rows, columns, entries).map_err(raise)
}
