//! Keys of exact integers, which serve BGV and BFV.

use std::path::PathBuf;
use std::sync::Arc;

use noren::error::Result;
use noren::schemes::integers::{Encryptor, Scheme};
use noren::wire::{Form, Limits, Object};
use noren::{EvaluationKeys, PublicKey, SecretKey, Seed};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::detached;
use crate::integers::parameters::PyIntegerParameters;
use crate::integers::schemes::{PyBfvContext, PyBgvContext};
use crate::key_classes::key_classes;
use crate::pickle::{Pickle, Shared, Threading, shared_context};

key_classes! {
    scheme: bgv,
    parameters: PyIntegerParameters,
    contexts: {
        /// The context that it belongs to, for BFV.
        bfv_context: PyBfvContext,
        /// The context that it belongs to, for BGV.
        bgv_context: PyBgvContext
    },
    module: "noren._noren",
    keys: PyIntegerKeys "IntegerKeys",
    secret: PyIntegerSecretKey "IntegerSecretKey",
    public: PyIntegerPublicKey "IntegerPublicKey",
    evaluation: PyIntegerEvaluationKeys "IntegerEvaluationKeys",
    encryption: IntegerEncryptionKey, SharedIntegerKey
}

impl SharedIntegerKey {
    pub(crate) fn encryptor<S: Scheme>(&self, context: &noren::bgv::Context, seed: Seed) -> Result<Encryptor<'_, S>> {
        match self {
            Self::Public(file) => Encryptor::public(context, &file.key, seed),
            Self::Secret(file) => Encryptor::symmetric(context, &file.key, seed),
        }
    }
}
