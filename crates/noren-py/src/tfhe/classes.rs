//! Classes of `noren.tfhe` whose methods need each other. The methods are in a room for each.

use std::sync::Arc;

use noren::programs::columns::{Column, ColumnEvaluator};
use noren::tfhe::Context;
use pyo3::prelude::*;

use crate::evaluators::Registration;

/// Parameters of TFHE with their tables: makes keys, encrypts and decrypts.
///
/// Results do not depend on `threads`: None works on all cores, 1 starts no thread, n starts n of its own. All methods let
/// other Python threads run. A pickle holds the parameters and `threads`.
#[pyclass(frozen, name = "Context", module = "noren.tfhe")]
#[derive(Clone)]
pub(crate) struct PyTfheContext(pub(crate) Context);

/// An array of truth values or integers, each encrypted by itself; its shape and type are public.
///
/// The operators ``+ - * // % & | ^ ~ << >> < <= == != >= >`` work element by element, as those of numpy arrays of the same type
/// do: sums and products are modulo 2^bits; quotients are rounded down. The other operand is encrypted, of the same type, or
/// clear: a number, or an array; shapes are spread over each other as numpy does it. Comparisons give truth values.
/// Operators are those of the evaluator that made one of the operands, or of the one that there is for their parameters and key;
/// where there are several with different keys, ``Evaluator.bind`` says which.
///
/// Indexing works as for numpy arrays, and costs nothing. Arrays are immutable, and can be pickled.
#[pyclass(frozen, name = "EncryptedArray", module = "noren.tfhe")]
#[derive(Clone)]
pub(crate) struct PyEncryptedArray {
    pub(crate) context: Context,
    pub(crate) shape: Vec<usize>,
    pub(crate) column: Column,
    /// The evaluator that made it, which its operators use.
    pub(crate) evaluator: Option<PyTfheEvaluator>,
}

/// Evaluates on encrypted arrays with server keys; for all threads at once.
///
/// Where a method takes an operand `y`, this is an EncryptedArray of the type of `x`, or clear: a number, or an array. Shapes are
/// spread over each other as numpy does it. Every method raises ParameterMismatchError for an array of other parameters, EncodingError for
/// shapes that differ and numbers out of range, Error for arrays of other keys or types, and for operations that a type does not have.
///
/// progress: called with (done, of) as the work goes on. What it raises ends the work.
#[pyclass(frozen, name = "Evaluator", module = "noren.tfhe")]
pub(crate) struct PyTfheEvaluator {
    pub(crate) inner: Arc<Inner>,
    /// That of the object which Python holds, for as long as it lives.
    #[expect(dead_code, reason = "it is there to be dropped with the object")]
    pub(crate) registration: Option<Registration<Self>>,
}

/// The state that all copies of an evaluator share.
pub(crate) struct Inner {
    pub(crate) columns: ColumnEvaluator,
    pub(crate) context: Context,
    pub(crate) has_circuit_keys: bool,
}
