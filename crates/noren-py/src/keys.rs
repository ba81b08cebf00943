//! `SecretKey`, `PublicKey`, `EvaluationKeys`, and `Keys`, which holds one of each.

use std::path::PathBuf;
use std::sync::Arc;

use noren::ckks::{Context, Encryptor, KeyRequest};
use noren::error::Result;
use noren::wire::{Form, Limits, Object};
use noren::{EvaluationKeys, PublicKey, SecretKey, Seed};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::detached;
use crate::context::{PyContext, seed_of};
use crate::key_classes::key_classes;
use crate::parameters::PyParameters;
use crate::pickle::{Pickle, Shared, Threading, shared_context};
use crate::progress::Heard;

key_classes! {
    scheme: ckks,
    parameters: PyParameters,
    contexts: {
        /// The context that it belongs to.
        context: PyContext
    },
    module: "noren.ckks",
    keys: PyKeys "Keys",
    secret: PySecretKey "SecretKey",
    public: PyPublicKey "PublicKey",
    evaluation: PyEvaluationKeys "EvaluationKeys",
    encryption: EncryptionKey, SharedKey
}

impl PyKeys {
    pub(crate) fn generate(
        py: Python<'_>,
        context: &Context,
        request: &KeyRequest,
        seed: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (seed, heard) = (seed_of(seed)?, Heard::new(py, progress));
        let hear = |done, of| heard.call(done, of);
        let keys = heard.watch_calls(py, || context.generate_keys_with_progress(seed, request, Some(&hear)))?;
        Self::new(py, context, keys)
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
