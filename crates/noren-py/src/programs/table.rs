//! `EncryptedTable`: encryption and decryption of tables.

use std::path::PathBuf;

use noren::ckks::{Ciphertext, Context, Decryptor, Encoder};
use noren::programs::Bounds;
use noren::programs::TableLayout;
use noren::programs::{EncryptedTable, Layout, Matrix};
use noren::wire::{Form, Limits, Object};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::{Numbers, detached};
use crate::ckks::classes::PyContext;
use crate::ckks::keys::{EncryptionKey, PySecretKey};
use crate::ckks::level::Level;
use crate::ckks::parameters::PyParameters;
use crate::ckks::release::PyReleases;
use crate::pickle::{Pickle, Shared, Threading, bytes_beside, shared_context};
use crate::seeds::seed_of;
use crate::whole::whole;

/// An encrypted table, made by ``encrypt_table`` or as the result of a program.
///
/// Its shape, the names of its rows and columns, and powers of two that their values stay below are in clear. Can be
/// pickled.
#[pyclass(frozen, name = "EncryptedTable", module = "noren.programs")]
pub(crate) struct PyEncryptedTable {
    pub(crate) inner: EncryptedTable<Ciphertext>,
    pub(crate) context: Context,
}

#[pymethods]
impl PyEncryptedTable {
    /// The number of ciphertexts.
    #[getter]
    fn ciphertexts(&self) -> usize {
        self.inner.ciphertexts().len()
    }

    /// The lowest level of the ciphertexts: how many multiplications can still follow one another.
    #[getter]
    fn level(&self) -> usize {
        self.inner.ciphertexts().iter().map(Ciphertext::level).min().unwrap_or(0)
    }

    /// The number of slots of each ciphertext.
    #[getter]
    fn slots(&self) -> usize {
        self.inner.layout().slots()
    }

    /// The names of the columns; none if the table has none, or is the result for pairs of columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        match self.inner.layout() {
            Layout::Table(layout) => layout.column_names().to_vec(),
            Layout::Pairs(_) => Vec::new(),
        }
    }

    /// The parameters that it belongs to.
    #[getter]
    fn parameters(&self) -> PyParameters {
        PyParameters(self.context.parameters().clone())
    }

    /// The identity of the secret key that it belongs to, in hexadecimal: keys and ciphertexts with the same owner are of one secret
    /// key. It is public.
    #[getter]
    fn owner(&self) -> String {
        self.inner.ciphertexts()[0].key_id().to_hex()
    }

    /// The table that ``bytes(table)`` gave.
    ///
    /// Raises WireError for bytes that are damaged or of another kind, ParameterMismatchError for other parameters.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, context: &PyContext, data: &[u8]) -> PyResult<Self> {
        let context = context.0.clone();
        let inner = detached(py, || EncryptedTable::from_bytes(&context, data))?;
        Ok(Self { inner, context })
    }

    /// Reads a table from a file. Raises OSError, and what ``from_bytes`` raises.
    #[staticmethod]
    fn load(py: Python<'_>, context: &PyContext, path: PathBuf) -> PyResult<Self> {
        let context = context.0.clone();
        let inner = detached(py, || EncryptedTable::read_file(&context, &path, &Limits::default()))?;
        Ok(Self { inner, context })
    }

    /// Writes the table to a file, as a whole or not at all; one that exists is replaced. Raises OSError.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        detached(py, || self.inner.write_file(&self.context, Form::Packed, &path))
    }

    #[staticmethod]
    fn _unpickle(py: Python<'_>, parameters: &PyParameters, data: &[u8], threading: Threading) -> PyResult<Self> {
        Self::from_bytes(py, &PyContext(shared_context(py, &parameters.0, &threading)?), data)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_beside(py, &self.inner, &self.context, Form::Packed)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickle<'py, PyParameters>> {
        let unpickle = py.get_type::<Self>().getattr("_unpickle")?;
        Ok((unpickle, (self.parameters(), self.__bytes__(py)?, self.context.threading())))
    }

    fn __repr__(&self) -> String {
        format!("EncryptedTable(ciphertexts={}, level={})", self.ciphertexts(), self.level())
    }
}

/// Encrypts an array of shape (rows, columns) of real numbers.
///
/// key: a PublicKey, or the SecretKey: then the table takes half the bytes, and the error is smaller.
/// column_names, row_names: travel with the table, in clear. Without column_names a DataFrame keeps those that it has; no name
///     may occur twice.
/// max_abs: a bound on absolute values, for all columns, for each, or as a dict by name, of which the next power of
///     two is in clear. None takes the largest value of each column, which tells its power of two.
/// level: the level of the ciphertexts, None for the highest: at least the depth of the programs.
/// seed: 32 secret bytes that are used for this call alone; None draws them from the operating system.
///
/// Raises EncodingError for another shape or numbers that are not finite, Error for values above max_abs, LevelError
/// for a level that there is not.
#[pyfunction]
#[pyo3(signature = (values, key, *, column_names = None, row_names = None, max_abs = None, level = None, seed = None))]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
pub(crate) fn encrypt_table<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyAny>,
    key: EncryptionKey,
    column_names: Option<Vec<String>>,
    row_names: Option<Vec<String>>,
    max_abs: Option<&Bound<'py, PyAny>>,
    level: Option<Level>,
    seed: Option<&[u8]>,
) -> PyResult<PyEncryptedTable> {
    let (rows, columns, entries) = Numbers::of(values)?.into_real_matrix()?;
    let column_names = column_names.map_or_else(|| names_of(values), Ok)?;
    let bounds = max_abs.map(bounds_of).transpose()?;
    let context = key.context().clone();
    let seed = seed_of(seed)?;
    let inner = detached(py, || {
        let slots = context.parameters().max_slots();
        let layout = TableLayout::new(rows, columns, slots)?
            .with_column_names(column_names)?
            .with_row_names(row_names.unwrap_or_default())?;
        let layout = match bounds {
            None => layout.with_exponents_of(&entries)?,
            Some(bounds) => layout.with_bounds_on(&bounds, &entries)?,
        };
        let level = Level::or_highest(level, context.parameters());
        EncryptedTable::encrypt(&Encoder::new(&context), &key.encryptor(&context, seed)?, layout, &entries, level)
    })?;
    Ok(PyEncryptedTable { inner, context })
}

/// The names of the columns of a DataFrame of pandas or polars; none of an array, and of columns that are numbered.
fn names_of(values: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let Some(columns) = values.getattr_opt("columns")? else { return Ok(Vec::new()) };
    let Ok(labels) = columns.try_iter() else { return Ok(Vec::new()) };
    let labels = labels.collect::<PyResult<Vec<_>>>()?;
    let numbered = labels.iter().enumerate().all(|(index, label)| label.eq(index).unwrap_or(false));
    if numbered { Ok(Vec::new()) } else { labels.iter().map(|label| Ok(label.str()?.to_string())).collect() }
}

/// Bounds on the absolute values of columns: for all, for each, or by name.
pub(crate) fn bounds_of(max_abs: &Bound<'_, PyAny>) -> PyResult<Bounds> {
    if let Ok(named) = max_abs.extract() {
        return Ok(Bounds::Named(named));
    }
    let numbers = Numbers::of(max_abs)?;
    match numbers.as_scalar() {
        Some(bound) if bound.im == 0.0 => Ok(Bounds::All(bound.re)),
        _ => Ok(Bounds::Each(numbers.into_real_vector()?)),
    }
}

/// A decrypted table: values, errors, row names, column names, entries out of range.
pub(crate) type PyMatrix<'py> =
    (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, Vec<String>, Vec<String>, Vec<(usize, usize)>);

/// Decrypts a table to (values, errors, row names, column names, out of range); see ``noren.programs.decrypt_table``.
#[pyfunction]
#[pyo3(signature = (table, key, *, release_bits = None, releases = None, allow_unbounded = false))]
pub(crate) fn decrypt_table<'py>(
    py: Python<'py>,
    table: &PyEncryptedTable,
    key: &PySecretKey,
    #[pyo3(from_py_with = whole)] release_bits: Option<i32>,
    releases: Option<&PyReleases>,
    allow_unbounded: bool,
) -> PyResult<PyMatrix<'py>> {
    let matrix = detached(py, || {
        let decryptor = Decryptor::new(&key.0.context, key.0.key())?;
        let decryptor = if allow_unbounded { decryptor.allow_unbounded() } else { decryptor };
        match release_bits {
            None => table.inner.decrypt(&decryptor),
            Some(bits) => {
                PyReleases::with(releases, |releases| table.inner.decrypt_for_release(&decryptor, bits, releases))
            }
        }
    })?;
    let Matrix { row_names, column_names, values, errors, out_of_range } = matrix;
    let shape = [row_names.len(), column_names.len()];
    let values = values.into_pyarray(py).reshape(shape)?;
    let errors = errors.into_pyarray(py).reshape(shape)?;
    Ok((values, errors, row_names, column_names, out_of_range))
}
