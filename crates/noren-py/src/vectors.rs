//! Shapes of vectors: what fits beside an encrypted vector, what a matrix multiplies, what a sum adds up.

use noren::schemes::extent::Extent;
use pyo3::prelude::*;

use crate::errors::EncodingError;

/// Refuses an operation slot by slot of encrypted vectors of different lengths.
pub(crate) fn check_fits(x: Extent, y: Extent) -> PyResult<()> {
    if x.fits(y) {
        return Ok(());
    }
    Err(EncodingError::new_err(format!(
        "the vectors have {} and {} values, as many are needed: encrypt as many, or say with x.with_length(n) that the \
         first n slots count",
        x.values(),
        y.values()
    )))
}

/// Refuses a sum of vectors of which two have different lengths.
pub(crate) fn check_all_fit(extents: impl IntoIterator<Item = Extent>) -> PyResult<()> {
    let mut all = extents.into_iter();
    let Some(first) = all.next() else { return Ok(()) };
    all.try_fold(first, |sum, x| check_fits(sum, x).map(|()| sum.join(x))).map(|_| ())
}

/// The extent of `count` numbers in clear beside an encrypted vector in `slots` slots: as many as it has values, or one for
/// every slot. A single number stands in every slot and is none of these.
pub(crate) fn extent_beside(count: usize, x: Extent, slots: usize) -> PyResult<Extent> {
    if count == 0 {
        return Err(no_values());
    }
    if count == x.values() {
        let extent = x.length().map_or(Extent::of_slots(slots), |length| Extent::of_values(length, slots));
        // More numbers than a period do not repeat after it.
        return Ok(if count <= x.period() { extent.repeated(x.period()) } else { extent });
    }
    if count == slots {
        return Ok(Extent::of_slots(slots));
    }
    if x.is_number() && count < slots {
        return Ok(Extent::of_values(count, slots));
    }
    let every = if x.values() == slots { String::new() } else { format!(", {slots} for every slot") };
    Err(EncodingError::new_err(format!(
        "{count} numbers were given beside a vector of {}: as many are needed, or 1{every}",
        x.values()
    )))
}

/// Values followed by zeros up to a period, over and over in all slots.
pub(crate) fn tiled<T: Copy + Default>(values: &[T], period: usize, slots: usize) -> Vec<T> {
    (0..slots).map(|j| values.get(j % period).copied().unwrap_or_default()).collect()
}

/// How many slots a sum adds up and how far they are apart, once it is known that none counts twice and all are values. `row`
/// is the number of slots that rotations move around.
pub(crate) fn terms_of_sum(count: Option<i64>, stride: i64, x: Extent, row: usize) -> PyResult<(usize, isize)> {
    let room = if x.values() > row { row } else { x.values() };
    let count = match count {
        Some(count) => count,
        None if x.values() > row => {
            return Err(EncodingError::new_err(format!(
                "the vector has {} values in two rows: sum each with count={row}, and add ev.swap_rows of the result",
                x.values()
            )));
        }
        None => x.values() as i64,
    };
    if count < 1 || stride == 0 {
        let found = if count < 1 { format!("count is {count}") } else { format!("stride is {stride}") };
        return Err(EncodingError::new_err(format!(
            "{found}: at least one slot is needed, and a distance between slots"
        )));
    }
    let reach = (count - 1).checked_mul(stride.unsigned_abs().min(i64::MAX as u64) as i64).unwrap_or(i64::MAX);
    if reach >= room as i64 {
        return Err(EncodingError::new_err(format!(
            "{count} slots that are {} apart reach over {} slots, the vector has {room} values: at most as many are needed, \
             see with_length",
            stride.unsigned_abs(),
            reach.saturating_add(1)
        )));
    }
    Ok((count as usize, stride as isize))
}

/// The knowledge of a sum of slots of a vector, whose rotations move `row` slots around.
pub(crate) enum SumOf {
    /// One number, which stands in every slot.
    Number,
    /// Every slot is that many slots after one that holds the same.
    Repeats(usize),
    /// The first slot holds the sum of all values.
    First,
    /// Nothing more than of any rotation.
    Slots,
}

impl SumOf {
    pub(crate) fn of((count, stride): (usize, isize), x: Extent, row: usize) -> Self {
        let apart = stride.unsigned_abs();
        if apart.is_power_of_two() && x.period() <= row && count * apart == x.period() {
            if apart == 1 { Self::Number } else { Self::Repeats(apart) }
        } else if x.length() == Some(count) && stride == 1 {
            Self::First
        } else {
            Self::Slots
        }
    }
}

/// Refuses a matrix whose columns are not as many as a vector has values. `whole` is the number of values of a vector that a
/// matrix multiplies row by row.
pub(crate) fn check_columns(columns: usize, x: Extent, whole: Option<usize>) -> PyResult<()> {
    if x.length().is_none_or(|length| length == columns || Some(length) == whole) {
        return Ok(());
    }
    Err(EncodingError::new_err(format!(
        "the matrix has {columns} columns, the vector {} values: as many are needed; x.with_length({columns}) says that the \
         first {columns} slots count",
        x.values()
    )))
}

/// The first entries of an array, without the others behind them.
pub(crate) fn head<'py>(array: Bound<'py, PyAny>, count: usize) -> PyResult<Bound<'py, PyAny>> {
    if array.len()? == count {
        return Ok(array);
    }
    array
        .call_method1("__getitem__", (pyo3::types::PySlice::new(array.py(), 0, count as isize, 1),))?
        .call_method0("copy")
}

/// The rows of several decryptions as one array.
pub(crate) fn stacked<'py>(py: Python<'py>, rows: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let counts = rows.iter().map(|row| row.len()).collect::<PyResult<Vec<_>>>()?;
    if counts.is_empty() {
        return Err(EncodingError::new_err("no ciphertext was given, at least 1 is needed"));
    }
    if counts.iter().any(|&count| count != counts[0]) {
        return Err(EncodingError::new_err(format!(
            "the vectors have {counts:?} values, as many are needed to decrypt them as one array: decrypt them one by one"
        )));
    }
    py.import("numpy")?.call_method1("stack", (rows,))
}

/// Why an empty array is refused.
pub(crate) fn no_values() -> PyErr {
    EncodingError::new_err("no values were given, at least 1 is needed")
}

/// Refuses a sum of products with more or fewer factors than ciphertexts.
pub(crate) fn same_length(xs: usize, others: usize) -> PyResult<()> {
    if xs == others {
        return Ok(());
    }
    Err(EncodingError::new_err(format!("{xs} ciphertexts were given beside {others} factors, as many are needed")))
}
