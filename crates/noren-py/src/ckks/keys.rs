//! `SecretKey`, `PublicKey`, `EvaluationKeys`, and `Keys`, which holds one of each.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use noren::ckks::{Context, Encryptor, KeyRequest};
use noren::error::Result;
use noren::wire::{Form, Limits, Object};
use noren::{EvaluationKeys, PublicKey, SecretKey, Seed};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::detached;
use crate::ckks::classes::PyContext;
use crate::ckks::level::Level;
use crate::ckks::parameters::PyParameters;
use crate::key_classes::key_classes;
use crate::key_sets;
use crate::pickle::{Pickle, Shared, Threading, shared_context};
use crate::progress::Heard;
use crate::seeds::seed_of;
use crate::whole::whole;

key_classes! {
    scheme: ckks,
    parameters: PyParameters,
    contexts: {
        /// The context that it belongs to.
        context: PyContext = PyContext
    },
    module: "noren.ckks",
    keys: PyKeys,
    secret: PySecretKey,
    public: PyPublicKey,
    evaluation: PyEvaluationKeys,
    encryption: EncryptionKey, SharedKey,
    sets: {
        /// The rotations that there are keys for, by the shorter way round: {steps: the highest level that its key serves}.
        #[getter]
        fn rotations(&self) -> BTreeMap<isize, usize> {
            key_sets::rotations(&self.0.key).into_iter().map(|(steps, limbs)| (steps, limbs - 1)).collect()
        }

        /// Whether there is a key for ``Evaluator.conjugate``.
        #[getter]
        fn has_conjugation(&self) -> bool {
            key_sets::has_conjugation(&self.0.key)
        }

        /// The same keys for ciphertexts up to a level, which take less memory and time; lower ones stay as they are.
        ///
        /// Raises LevelError for a level that there is not.
        fn at_level(&self, py: Python<'_>, level: Level) -> PyResult<Self> {
            let level = level.get();
            let context = &self.0.context;
            let cut = detached(py, || {
                let left = context.parameters().max_level();
                if level > left {
                    return Err(noren::Error::LevelExhausted { needed: level, left });
                }
                self.0.key.at_limbs(context.rlwe(), level + 1)
            })?;
            Ok(Self::new(context, cut))
        }
    }
}

impl PyKeys {
    pub(crate) fn generate(
        py: Python<'_>,
        context: &Context,
        request: &KeyRequest,
        seed: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (seed, heard) = (seed_of(seed)?, Heard::new(progress));
        let hear = |done, of| heard.call(done, of);
        let keys = heard.watch(py, || context.generate_keys_with_progress(seed, request, Some(&hear)))?;
        Self::new(py, context, keys)
    }
}

impl PyEvaluationKeys {
    /// Makes the keys of a request for a secret that there is.
    pub(crate) fn generate(
        py: Python<'_>,
        context: &Context,
        secret: &PySecretKey,
        request: &KeyRequest,
        seed: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (seed, heard, secret) = (seed_of(seed)?, Heard::new(progress), &secret.0.key);
        let hear = |done, of| heard.call(done, of);
        let keys = heard.watch(py, || context.evaluation_keys(secret, seed, request, Some(&hear)))?;
        Ok(Self::new(context, keys))
    }
}

impl SharedKey {
    /// The context that the key belongs to.
    pub(crate) fn context(&self) -> &Context {
        match self {
            Self::Public(file) => &file.context,
            Self::Secret(file) => &file.context,
        }
    }

    pub(crate) fn encryptor(&self, context: &Context, seed: Seed) -> Result<Encryptor<'_>> {
        match self {
            Self::Public(file) => Encryptor::public(context, &file.key, seed),
            Self::Secret(file) => Encryptor::symmetric(context, &file.key, seed),
        }
    }
}
