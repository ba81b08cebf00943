//! The bases of the classes of both schemes, whose methods need each other. The methods are in a room for each.

use noren::bgv::Context;
use pyo3::prelude::*;

use crate::evaluators::Registration;
use crate::integers::either::{AnyCiphertext, AnyContext, AnyEvaluator};

/// The context of either scheme, which Python gets as an object of the class of its scheme.
#[pyclass(frozen, subclass, extends = PyAny, name = "Context", module = "noren._noren.integers")]
pub(crate) struct PyIntegerContext(pub(crate) AnyContext);

/// A ciphertext of either scheme, which Python gets as an object of the class of its scheme.
#[pyclass(frozen, subclass, extends = PyAny, name = "Ciphertext", module = "noren._noren.integers")]
#[derive(Clone)]
pub(crate) struct PyEncrypted {
    pub(crate) inner: AnyCiphertext,
    pub(crate) context: Context,
    /// The evaluator that made it, which its operators use.
    pub(crate) evaluator: Option<PyIntegerEvaluator>,
}

/// The evaluator of either scheme, which Python gets as an object of the class of its scheme.
#[pyclass(frozen, subclass, extends = PyAny, name = "Evaluator", module = "noren._noren.integers")]
pub(crate) struct PyIntegerEvaluator {
    pub(crate) inner: AnyEvaluator,
    /// That of the object which Python holds, for as long as it lives.
    #[expect(dead_code, reason = "it is there to be dropped with the object")]
    pub(crate) registration: Option<Registration<Self>>,
}
