//! The Python extension module `noren._noren`: convert, release the interpreter, call, wrap.
//!
//! Its submodules have the classes of one public module each, under the names that they have there.
//!
//! | room | what it holds |
//! |---|---|
//! | `ckks` | the classes of `noren.ckks`: parameters, context, keys, plaintexts, ciphertexts, evaluator, releases |
//! | `integers` | the classes of `noren.bgv` and `noren.bfv`; those of lookups |
//! | `tfhe` | the classes of `noren.tfhe` |
//! | `bootstrapping` | the classes of `noren.bootstrapping`: parameters, plan and keys; the bootstrapper |
//! | `switching` | the classes of `noren.switching`: parameters, keys, the switch and what it gives |
//! | `programs` | the classes of `noren.programs`: programs and plans; encrypted tables |
//! | `advisor` | the functions of `noren.advisor` |
//! | `compiler` | the classes of `noren.compiler`: graphs, and compiled functions |
//! | `owners` | the classes of `noren.owners` |
//! | `retrieval` | the classes of `noren.retrieval` and of `noren.intersection` |
//! | `reencryption` | how ciphertexts for another owner are covered |
//! | `admission` | how much security files must promise |
//! | `array` | numpy in |
//! | `whole` | whole numbers in |
//! | `errors` | one exception for each family of errors |
//! | `parameters` | what parameters of all schemes are given and show |
//! | `pickle` | contexts that unpickled objects share |
//! | `key` | a key of any scheme with its context |
//! | `key_classes` | the bases of the classes of keys |
//! | `key_sets` | sets of evaluation keys: what is in them, both of two |
//! | `explain` | what is known of ciphertexts and parameters, in words |
//! | `display` | what classes show of themselves |
//! | `vectors` | shapes: what fits beside an encrypted vector |
//! | `rotations` | the rotations that sums and products with matrices need keys for |
//! | `exponent` | exponents of powers of ciphertexts, and of automorphisms |
//! | `refusals` | what a ciphertext does not do: comparisons, truth, arrays |
//! | `ufuncs` | functions of numpy that are operators |
//! | `seeds` | seeds from Python |
//! | `files` | ciphertexts in files |
//! | `evaluators` | which evaluator serves a ciphertext that none made |
//! | `failure_budget` | how likely a failure of bootstraps may be |
//! | `progress` | functions that hear of progress, and signals |
//! | `signing` | signatures of files |
//!
//! Documentation comments of classes, methods and functions are their docstrings in Python.
#![forbid(unsafe_code)]

use pyo3::prelude::*;

mod admission;
mod advisor;
mod array;
mod bootstrapping;
mod ckks;
mod compiler;
mod display;
mod errors;
mod evaluators;
mod explain;
mod exponent;
mod failure_budget;
mod files;
mod integers;
mod key;
mod key_classes;
mod key_sets;
mod machine;
mod owners;
mod parameters;
mod pickle;
mod programs;
mod progress;
mod reencryption;
mod refusals;
mod retrieval;
mod rotations;
mod seeds;
mod signing;
mod switching;
mod tfhe;
mod ufuncs;
mod vectors;
mod whole;

/// For the tool, which ends with a message where memory cannot be had.
#[global_allocator]
static ALLOCATOR: noren::memory::Allocator = noren::memory::Allocator;

/// The compiled part of the package `noren`.
#[pymodule(name = "_noren", module = "noren")]
mod module {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::errors::{
        EncodingError, Error, InsecureError, KeyMismatchError, LevelError, MissingKeyError, ParameterMismatchError,
        RangeError, ScaleError, SecurityWarning, SignatureError, WireError,
    };
    #[pymodule_export]
    use crate::files::header_of;
    #[pymodule_export]
    use crate::progress::PyProgress;
    #[pymodule_export]
    use crate::rotations::{rotations_of_matrix, rotations_of_product, rotations_of_sum};
    #[pymodule_export]
    use crate::signing::{PySigner, PySigningKey, sign, verify};

    /// The classes of `noren.ckks`.
    #[pymodule]
    mod ckks {
        #[pymodule_export]
        use crate::ckks::classes::{PyCiphertext, PyContext, PyEvaluator, PyPlaintext};
        #[pymodule_export]
        use crate::ckks::keys::{PyEvaluationKeys, PyKeys, PyPublicKey, PyReceiverKey, PyReencryptionKey, PySecretKey};
        #[pymodule_export]
        use crate::ckks::parameters::PyParameters;
        #[pymodule_export]
        use crate::ckks::release::PyReleases;
    }

    /// The classes of exact integers that serve `noren.bgv` and `noren.bfv` both.
    #[pymodule]
    mod integers {
        #[pymodule_export]
        use crate::integers::keys::{
            PyIntegerEvaluationKeys, PyIntegerKeys, PyIntegerPublicKey, PyIntegerReceiverKey, PyIntegerReencryptionKey,
            PyIntegerSecretKey,
        };
        #[pymodule_export]
        use crate::integers::parameters::PyIntegerParameters;
        #[pymodule_export]
        use crate::integers::slot_matrix::PySlotMatrix;
    }

    /// The classes of `noren.bgv` alone.
    #[pymodule]
    mod bgv {
        #[pymodule_export]
        use crate::integers::schemes::{PyBgvCiphertext, PyBgvContext, PyBgvEvaluator};
    }

    /// The classes of `noren.bfv` alone, those of lookups among them.
    #[pymodule]
    mod bfv {
        #[pymodule_export]
        use crate::integers::lookup::{PyLookupKeys, PyLookupPlan, PyPreparedLookup, prepare_lookup};
        #[pymodule_export]
        use crate::integers::schemes::{PyBfvCiphertext, PyBfvContext, PyBfvEvaluator};
    }

    /// The classes and functions of `noren.tfhe`.
    #[pymodule]
    mod tfhe {
        #[pymodule_export]
        use crate::tfhe::classes::{PyEncryptedArray, PyTfheContext, PyTfheEvaluator};
        #[pymodule_export]
        use crate::tfhe::keys::{
            PyTfheCircuitKeys, PyTfheExpandedServerKeys, PyTfheKeys, PyTfheLightKeys, PyTfheSecretKey, PyTfheServerKeys,
        };
        #[pymodule_export]
        use crate::tfhe::parameters::PyTfheParameters;
        #[pymodule_export]
        use crate::tfhe::shape::{concatenate, stack};
    }

    /// The classes of `noren.bootstrapping`.
    #[pymodule]
    mod bootstrapping {
        #[pymodule_export]
        use crate::bootstrapping::bootstrapper::PyBootstrapper;
        #[pymodule_export]
        use crate::bootstrapping::keys::{PyBootstrapKeys, PyBootstrapParameters, PyBootstrapPlan};
    }

    /// The classes and functions of `noren.switching`.
    #[pymodule]
    mod switching {
        #[pymodule_export]
        use crate::switching::keys::PySwitchingKeys;
        #[pymodule_export]
        use crate::switching::parameters::PySwitchingParameters;
        #[pymodule_export]
        use crate::switching::results::{PyDecision, PyExtreme, PySamples};
        #[pymodule_export]
        use crate::switching::switch::{PySwitch, rotations_of_extremes, rotations_of_ranks};
    }

    /// The classes and functions of `noren.programs`.
    #[pymodule]
    mod programs {
        #[pymodule_export]
        use crate::programs::program::{PyPlan, PyProgram, choose_parameters};
        #[pymodule_export]
        use crate::programs::table::{PyEncryptedTable, decrypt_table, encrypt_table};
    }

    /// The functions of `noren.advisor`.
    #[pymodule]
    mod advisor {
        #[pymodule_export]
        use crate::advisor::{advise_function, advise_workload, calibrate_to, devices};
    }

    /// The classes of `noren.compiler`.
    #[pymodule]
    mod compiler {
        #[pymodule_export]
        use crate::compiler::graph::PyGraph;
        #[pymodule_export]
        use crate::compiler::keys::{PyCompiledSecret, PyCompiledServerKeys};
        #[pymodule_export]
        use crate::compiler::program::{PyProgram, PyRunning};
    }

    /// The classes of `noren.retrieval`.
    #[pymodule]
    mod retrieval {
        #[pymodule_export]
        use crate::retrieval::rows::{PyRetrievalDatabase, PyRetrievalPlan};
    }

    /// The classes of `noren.intersection`.
    #[pymodule]
    mod intersection {
        #[pymodule_export]
        use crate::retrieval::intersection::{PyIntersectionDatabase, PyIntersectionPlan};
    }

    /// The classes of `noren.owners`.
    #[pymodule]
    mod owners {
        #[pymodule_export]
        use crate::owners::{PyParty, PySession, PyTranscript};
    }

    /// The class of `noren.tables`.
    #[pymodule]
    mod tables {
        #[pymodule_export]
        use crate::compiler::query::{PyQuery, schema_of};
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        crate::key_classes::CLASSES.get_or_init(|| {
            use std::marker::PhantomData;

            use crate::ckks::keys::{PyEvaluationKeys, PyPublicKey, PyReceiverKey, PyReencryptionKey, PySecretKey};
            use crate::integers::keys::{
                PyIntegerEvaluationKeys, PyIntegerPublicKey, PyIntegerReceiverKey, PyIntegerReencryptionKey,
                PyIntegerSecretKey,
            };
            use crate::tfhe::keys::{PyTfheCircuitKeys, PyTfheLightKeys, PyTfheSecretKey, PyTfheServerKeys};
            [
                &PhantomData::<PySecretKey>,
                &PhantomData::<PyPublicKey>,
                &PhantomData::<PyEvaluationKeys>,
                &PhantomData::<PyReceiverKey>,
                &PhantomData::<PyReencryptionKey>,
                &PhantomData::<PyIntegerSecretKey>,
                &PhantomData::<PyIntegerPublicKey>,
                &PhantomData::<PyIntegerEvaluationKeys>,
                &PhantomData::<PyIntegerReceiverKey>,
                &PhantomData::<PyIntegerReencryptionKey>,
                &PhantomData::<PyTfheSecretKey>,
                &PhantomData::<PyTfheServerKeys>,
                &PhantomData::<PyTfheLightKeys>,
                &PhantomData::<PyTfheCircuitKeys>,
            ]
        });
        let hooks = pyo3::types::PyDict::new(py);
        hooks.set_item("after_in_child", pyo3::wrap_pyfunction!(crate::progress::after_fork_in_child, py)?)?;
        // Systems without fork have no such hooks.
        if let Ok(register) = py.import("os")?.getattr("register_at_fork") {
            register.call((), Some(&hooks))?;
        }
        // A module in one file is no package: imports find its submodules among the modules that are loaded already.
        let loaded = py.import("sys")?.getattr("modules")?;
        for thing in module.dict().values() {
            if let Ok(submodule) = thing.cast::<PyModule>() {
                loaded.set_item(submodule.name()?, submodule)?;
            }
        }
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// Runs the command-line tool and returns its exit code; the first argument is the name of the program.
    ///
    /// itself: the program and the first arguments that start the tool again, for verbs that run parts of their work in
    /// processes of their own.
    ///
    /// Programs in Python that the tool starts run in this interpreter, unless the environment names another in NOREN_PYTHON.
    #[pyfunction]
    #[pyo3(signature = (arguments, *, itself))]
    fn run_tool(py: Python<'_>, arguments: Vec<std::ffi::OsString>, itself: Vec<std::ffi::OsString>) -> PyResult<u8> {
        let interpreter = py.import("sys")?.getattr("executable")?;
        if interpreter.is_truthy()? {
            let environment = py.import("os")?.getattr("environ")?;
            environment.call_method1("setdefault", ("NOREN_PYTHON", interpreter))?;
        }
        Ok(py.detach(|| noren_cli::run_in(itself, arguments)))
    }
}
