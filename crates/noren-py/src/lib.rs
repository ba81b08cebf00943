//! The Python extension module `noren._noren`: convert, release the interpreter, call, wrap.
//!
//! | room | what it holds |
//! |---|---|
//! | [`array`] | numpy in, numpy out |
//! | [`errors`] | one exception for each family of errors |
//! | [`parameters`] | `Parameters` |
//! | [`keys`] | `SecretKey`, `PublicKey`, `EvaluationKeys`, `Keys` |
//! | [`context`] | `Context`: encryption, decryption, key generation |
//! | [`ciphertext`] | `Ciphertext` and its operators |
//! | [`evaluator`] | `Evaluator` |
#![forbid(unsafe_code)]

use pyo3::prelude::*;

mod array;
mod ciphertext;
mod context;
mod errors;
mod evaluator;
mod keys;
mod parameters;

/// The compiled part of the package `noren`.
#[pymodule(name = "_noren")]
mod module {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::ciphertext::PyCiphertext;
    #[pymodule_export]
    use crate::context::PyContext;
    #[pymodule_export]
    use crate::errors::{
        Error, EncodingError, InsecureError, LevelError, MissingKeyError, ParameterMismatchError, ScaleError, WireError,
    };
    #[pymodule_export]
    use crate::evaluator::PyEvaluator;
    #[pymodule_export]
    use crate::keys::{PyEvaluationKeys, PyKeys, PyPublicKey, PySecretKey};
    #[pymodule_export]
    use crate::parameters::PyParameters;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// Runs the command-line tool and returns its exit code; the first argument is the name of the program.
    #[pyfunction]
    fn run_tool(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
        py.detach(|| noren_cli::run(arguments))
    }
}
