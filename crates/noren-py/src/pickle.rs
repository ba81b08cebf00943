//! Contexts of objects that arrive by pickle, and what a pickle holds.

use std::sync::{Mutex, PoisonError};

use noren::wire::FileContext;
use noren::{bgv, ckks};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::detached;

/// What pickle keeps of an object: how to make it again, from its parameters and bytes.
pub(crate) type Pickle<'py, P> = (Bound<'py, PyAny>, (P, Bound<'py, PyBytes>));

/// How many contexts of a scheme are kept for objects that arrive by pickle.
const KEPT_CONTEXTS: usize = 4;

/// A context that unpickled objects share: making one for every ciphertext would take longer than computing with it.
pub(crate) trait Shared: FileContext<Parameters: Clone + PartialEq + Sync> + Clone + Send + 'static {
    /// Those that are kept.
    fn kept() -> &'static Mutex<Vec<Self>>;
}

impl Shared for ckks::Context {
    fn kept() -> &'static Mutex<Vec<Self>> {
        static CONTEXTS: Mutex<Vec<ckks::Context>> = Mutex::new(Vec::new());
        &CONTEXTS
    }
}

impl Shared for bgv::Context {
    fn kept() -> &'static Mutex<Vec<Self>> {
        static CONTEXTS: Mutex<Vec<bgv::Context>> = Mutex::new(Vec::new());
        &CONTEXTS
    }
}

/// The context of parameters that arrive by pickle.
pub(crate) fn shared_context<C: Shared>(py: Python<'_>, parameters: &C::Parameters) -> PyResult<C> {
    // Without the interpreter, so that waiting for the lock keeps no other thread from running.
    detached(py, || {
        let mut contexts = C::kept().lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = contexts.iter().find(|context| context.parameters() == parameters) {
            return Ok(found.clone());
        }
        let context = C::of(parameters.clone())?;
        if contexts.len() == KEPT_CONTEXTS {
            contexts.remove(0);
        }
        contexts.push(context.clone());
        Ok(context)
    })
}
