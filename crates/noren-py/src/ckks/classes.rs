//! Classes of `noren.ckks` whose methods need each other. The methods are in a room for each.

use std::sync::Arc;

use noren::bootstrapping::BootstrappingEvaluator;
use noren::ckks::{Ciphertext, Context, Evaluator, Plaintext};
use noren::switching::SchemeSwitch;
use pyo3::prelude::*;

use crate::evaluators::Registration;

/// CKKS parameters with their tables: makes keys, encodes, encrypts and decrypts.
///
/// Results do not depend on `threads`: None works on all cores, 1 starts no thread, n starts n of its own; nor on
/// `parallel`, what threads share: "coefficient", "modulus" or "both", the default. All methods let other Python threads run. A pickle holds the parameters, `threads` and `parallel`.
///
/// >>> from noren import ckks
/// >>> params = ckks.Parameters(10, [50, 40], [50], security=None)  # a small ring, for an example
/// >>> ctx = ckks.Context(params)
/// >>> keys = ctx.keygen()
/// >>> x = ctx.encrypt([[1, 2], [3, 4]], keys.public, slots=2)
/// >>> ctx.decrypt(x, keys.secret).round(3)
/// array([[1., 2.],
///        [3., 4.]])
#[pyclass(frozen, name = "Context", module = "noren.ckks")]
#[derive(Clone)]
pub(crate) struct PyContext(pub(crate) Context);

/// An encoded vector, made by ``Context.encode``.
///
/// As an operand it saves encoding the same vector again and again. Plaintexts can be pickled.
#[pyclass(frozen, name = "Plaintext", module = "noren.ckks")]
pub(crate) struct PyPlaintext {
    pub(crate) inner: Plaintext,
    pub(crate) context: Context,
}

/// An encrypted vector.
///
/// The operators ``+``, ``-``, ``*``, ``/``, ``**`` and ``matrix @ x``, and ``<`` and ``>`` of evaluators with switching, are those of the
/// evaluator that made one of the operands, or of the one that there is for their parameters and key; where there are
/// several with different keys, ``Evaluator.bind`` says which. Ciphertexts are immutable, and can be pickled.
///
/// >>> from noren import ckks
/// >>> params = ckks.Parameters(10, [50, 40], [50], security=None)  # a small ring, for an example
/// >>> ctx = ckks.Context(params)
/// >>> keys = ctx.keygen()
/// >>> ev = ctx.evaluator(keys.evaluation)
/// >>> x = ctx.encrypt([0.5, -0.25], keys.public, slots=2)
/// >>> ctx.decrypt(2 * x * x + 1, keys.secret).round(3)
/// array([1.5  , 1.125])
#[pyclass(frozen, name = "Ciphertext", module = "noren.ckks")]
#[derive(Clone)]
pub(crate) struct PyCiphertext {
    pub(crate) inner: Ciphertext,
    pub(crate) context: Context,
    /// The evaluator that made it, which its operators use.
    pub(crate) evaluator: Option<PyEvaluator>,
}

/// Computes on ciphertexts with evaluation keys. Cheap to copy, and for all threads at once.
///
/// Where a method takes an operand `y`, this is a Ciphertext, a Plaintext, a number, or a vector of as many numbers as
/// x has values or slots; a vector of one number stands for the number. Every product uses one level, but for products with whole
/// numbers, which use none. Ciphertexts of different levels are brought to the lower one. Results carry a bound on
/// their error, and this evaluator for their operators.
///
/// Every method raises ParameterMismatchError for a ciphertext of other parameters, EncodingError for operands of
/// different shapes or numbers of slots, LevelError if too few levels are left, and MissingKeyError that names the key if one is
/// missing. A pickle holds the evaluation keys; an evaluator with bootstrapping or switching cannot be pickled.
#[pyclass(frozen, name = "Evaluator", module = "noren.ckks")]
pub(crate) struct PyEvaluator {
    pub(crate) plain: Evaluator,
    /// With bootstrapping, if it has it.
    pub(crate) bootstrapping: Option<BootstrappingEvaluator>,
    /// With comparisons, if it has them.
    pub(crate) switch: Option<Arc<SchemeSwitch>>,
    /// That of the object which Python holds, for as long as it lives.
    #[expect(dead_code, reason = "it is there to be dropped with the object")]
    pub(crate) registration: Option<Registration<Self>>,
}
