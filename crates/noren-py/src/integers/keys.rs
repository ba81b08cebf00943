//! Keys of exact integers, which serve BGV and BFV.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use noren::error::Result;
use noren::schemes::integers::{Encryptor, Scheme};
use noren::wire::{Form, Limits, Object};
use noren::{EvaluationKeys, PublicKey, SecretKey, Seed};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::detached;
use crate::integers::classes::PyIntegerContext;
use crate::integers::either::Either;
use crate::integers::parameters::PyIntegerParameters;
use crate::key_classes::key_classes;
use crate::key_sets;
use crate::pickle::{Pickle, Shared, Threading, shared_context};
use crate::whole::whole;

key_classes! {
    scheme: bgv,
    parameters: PyIntegerParameters,
    contexts: {
        /// The context that it belongs to, for BFV.
        bfv_context: PyIntegerContext = |context| PyIntegerContext(Either::Bfv(context)),
        /// The context that it belongs to, for BGV.
        bgv_context: PyIntegerContext = |context| PyIntegerContext(Either::Bgv(context))
    },
    module: "noren.bgv",
    keys: PyIntegerKeys,
    secret: PyIntegerSecretKey,
    public: PyIntegerPublicKey,
    evaluation: PyIntegerEvaluationKeys,
    encryption: IntegerEncryptionKey, SharedIntegerKey,
    sets: {
        /// The rotations that there are keys for, by the shorter way round: {steps: the most limbs that its key serves}.
        #[getter]
        fn rotations(&self) -> BTreeMap<isize, usize> {
            key_sets::rotations(&self.0.key)
        }

        /// Whether there is a key for ``Evaluator.swap_rows``.
        #[getter]
        fn has_swap(&self) -> bool {
            key_sets::has_conjugation(&self.0.key)
        }

        /// The same keys for ciphertexts of at most ``limbs`` limbs, which take less memory and time; shorter ones stay as they
        /// are.
        ///
        /// Raises Error for limbs that there are not.
        fn at_limbs(&self, py: Python<'_>, #[pyo3(from_py_with = whole)] limbs: usize) -> PyResult<Self> {
            let context = &self.0.context;
            Ok(Self::new(context, detached(py, || self.0.key.at_limbs(context.rlwe(), limbs))?))
        }
    }
}

impl SharedIntegerKey {
    pub(crate) fn encryptor<S: Scheme>(&self, context: &noren::bgv::Context, seed: Seed) -> Result<Encryptor<'_, S>> {
        match self {
            Self::Public(file) => Encryptor::public(context, &file.key, seed),
            Self::Secret(file) => Encryptor::symmetric(context, &file.key, seed),
        }
    }
}
