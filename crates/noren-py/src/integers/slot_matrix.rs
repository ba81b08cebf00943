//! `SlotMatrix`: a matrix that multiplies encrypted slots, encoded once.

use std::path::PathBuf;

use noren::bgv::{Context, RotationKeys, SlotMatrix};
use noren::wire::{Form, Limits, Object};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::detached;
use crate::integers::classes::PyIntegerContext;
use crate::integers::parameters::PyIntegerParameters;
use crate::integers::plaintext::WholeNumbers;
use crate::pickle::{Pickle, Shared, Threading, bytes_beside, shared_context};
use crate::whole::whole;

/// A matrix for products with encrypted vectors, in a ring whose slots have dimensions: encoded once, for ``matrix @ x``.
///
/// context: that of the vectors, of BGV or BFV: the matrix serves both.
/// entries: whole numbers from -t/2 to t - 1, of shape (rows, columns); elements of GR(p^r, d), of shape (rows, columns, d);
///     or linear maps of the coefficients of an element, of shape (rows, columns, d, d).
/// limbs: the most primes of the vectors, None for all.
///
/// Keys for a product are those of ``automorphisms``. A factor of n coefficients is held for each of the diagonals that are
/// not zero. Matrices can be pickled; files and bytes hold the coefficients alone, which is 64 times less for t = 2 and one
/// prime.
///
/// Raises EncodingError for entries out of range or another shape, Error in a ring without such slots.
///
/// >>> import numpy as np
/// >>> from noren import bgv
/// >>> params = bgv.Parameters(m=511, p=2, log_q=[40] * 3, log_p=[48], security=None)  # a small ring, for an example
/// >>> params.slots, params.slot_degree, params.dimensions
/// (48, 9, [(24, True), (2, True)])
/// >>> ctx = bgv.Context(params)
/// >>> A, x = np.tri(4, 5, dtype=int), np.array([1, 0, 1, 1, 0])
/// >>> matrix = bgv.SlotMatrix(ctx, A)
/// >>> keys = ctx.keygen(automorphisms=matrix.automorphisms)
/// >>> ev = ctx.evaluator(keys.evaluation)
/// >>> ctx.decrypt(matrix @ ctx.encrypt(x, keys.public), keys.secret)
/// array([1, 1, 0, 1])
#[pyclass(frozen, name = "SlotMatrix", module = "noren.bgv")]
pub(crate) struct PySlotMatrix(pub(crate) HeldMatrix);

/// A matrix with its context.
pub(crate) struct HeldMatrix {
    pub(crate) matrix: SlotMatrix,
    context: Context,
}

#[pymethods]
impl PySlotMatrix {
    #[new]
    #[pyo3(signature = (context, entries, *, limbs = None))]
    fn new(
        py: Python<'_>,
        context: &PyIntegerContext,
        entries: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = whole)] limbs: Option<usize>,
    ) -> PyResult<Self> {
        let context = context.shared().clone();
        let limbs = limbs.unwrap_or(context.parameters().max_limbs());
        let matrix = WholeNumbers::of(entries)?.encode_matrix(py, &context, limbs)?;
        Ok(Self(HeldMatrix { matrix, context }))
    }

    /// The number of rows and of columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.0.matrix.shape().into()
    }

    /// The exponents of the automorphisms whose keys a product needs: ``context.keygen(automorphisms=...)``.
    #[getter]
    fn automorphisms(&self) -> Vec<u32> {
        self.0.matrix.automorphisms()
    }

    /// How many factors are held: one for each diagonal that is not zero.
    #[getter]
    fn factors(&self) -> usize {
        self.0.matrix.factors()
    }

    /// The parameters that it belongs to.
    #[getter]
    fn parameters(&self) -> PyIntegerParameters {
        PyIntegerParameters(self.0.context.parameters().clone())
    }

    /// The most primes of the vectors.
    #[getter]
    fn limbs(&self) -> usize {
        self.0.matrix.limbs()
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_beside(py, &self.0.matrix, &self.0.context, Form::Raw)
    }

    /// The matrix that ``bytes(matrix)`` gave: its factors are transformed again.
    ///
    /// Raises WireError for bytes that are damaged or of another kind, ParameterMismatchError for other parameters.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, context: &PyIntegerContext, data: &[u8]) -> PyResult<Self> {
        Self::read(py, context.shared().clone(), data)
    }

    /// Writes the matrix to a file, as a whole or not at all; one that exists is replaced. Raises OSError.
    ///
    /// prepared: with its transformed factors, ``8 (limbs + special primes) n`` bytes for each. ``load`` maps such a file: it
    /// takes little time, and all processes share its memory. Whoever makes it must be trusted as whoever runs the program.
    #[pyo3(signature = (path, *, prepared = false))]
    fn save(&self, py: Python<'_>, path: PathBuf, prepared: bool) -> PyResult<()> {
        detached(py, || match prepared {
            true => self.0.matrix.save_prepared(&self.0.context, &path),
            false => self.0.matrix.write_file(&self.0.context, Form::Raw, &path),
        })
    }

    /// Reads a matrix from a file, or maps a prepared one; a product with one that has changed meanwhile raises WireError.
    /// Raises OSError, and what ``from_bytes`` raises.
    #[staticmethod]
    fn load(py: Python<'_>, context: &PyIntegerContext, path: PathBuf) -> PyResult<Self> {
        let context = context.shared().clone();
        let matrix = detached(py, || SlotMatrix::open(&context, &path, &Limits::default()))?;
        Ok(Self(HeldMatrix { matrix, context }))
    }

    #[staticmethod]
    fn _unpickle(
        py: Python<'_>,
        parameters: &PyIntegerParameters,
        data: &[u8],
        threading: Threading,
    ) -> PyResult<Self> {
        Self::read(py, shared_context(py, &parameters.0, &threading)?, data)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickle<'py, PyIntegerParameters>> {
        let unpickle = py.get_type::<Self>().getattr("_unpickle")?;
        Ok((unpickle, (self.parameters(), self.__bytes__(py)?, self.0.context.threading())))
    }

    fn __repr__(&self) -> String {
        let (shape, factors) = (self.shape(), self.factors());
        format!("SlotMatrix(shape={shape:?}, factors={factors})")
    }
}

impl PySlotMatrix {
    fn read(py: Python<'_>, context: Context, data: &[u8]) -> PyResult<Self> {
        let matrix = detached(py, || SlotMatrix::from_bytes(&context, data))?;
        Ok(Self(HeldMatrix { matrix, context }))
    }
}

/// The set of keys for rotations of this name.
pub(crate) fn rotation_keys(name: &str) -> PyResult<RotationKeys> {
    match name {
        "full" => Ok(RotationKeys::Full),
        "baby-giant" => Ok(RotationKeys::BabyGiant),
        "minimal" => Ok(RotationKeys::Minimal),
        _ => Err(PyValueError::new_err(format!("there are no rotation keys {name:?}: full, baby-giant or minimal"))),
    }
}
