//! Contexts of exact integers, to which keys lead back. The methods are in `context_class`.

use noren::bgv::Context;
use pyo3::prelude::*;

/// Parameters of exact integers with their tables, for BGV: makes keys, encrypts and decrypts.
///
/// Results do not depend on `threads`: None works on all cores, 1 starts no thread, n starts n of its own. All
/// methods let other Python threads run. A pickle holds the parameters alone.
#[pyclass(frozen, name = "Context", module = "noren.bgv")]
#[derive(Clone)]
pub(crate) struct PyBgvContext(pub(crate) Context);

/// Parameters of exact integers with their tables, for BFV: makes keys, encrypts and decrypts.
///
/// Results do not depend on `threads`: None works on all cores, 1 starts no thread, n starts n of its own. All
/// methods let other Python threads run. A pickle holds the parameters alone.
#[pyclass(frozen, name = "Context", module = "noren.bfv")]
#[derive(Clone)]
pub(crate) struct PyBfvContext(pub(crate) Context);
