//! Evaluators that Python holds, and which of them serves a ciphertext that no evaluator made.
//!
//! A ciphertext that an evaluator made keeps it. One that was encrypted, loaded or unpickled finds the evaluator that its
//! operators use, by this rule: of the evaluators that Python holds, those of its parameters and of its secret key serve it;
//! if some of them are of the same context, only these; and of several, one whose keys include those of all others. Otherwise
//! the operator raises an error that says what to do.
//!
//! Evaluators are known by weak references: when Python drops the last reference to an evaluator it serves no further
//! ciphertext. The lists are locked for moments only, and with the interpreter attached, so that no fork finds them locked.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use pyo3::prelude::*;

use crate::errors::MissingKeyError;

/// How an evaluator serves an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Match {
    /// Not: other parameters.
    Foreign,
    /// Not: equal parameters, and another secret key.
    OtherKey,
    /// In another context of equal parameters.
    Parameters,
    /// In the same context.
    Context,
}

/// An evaluator that Python holds, registered for ciphertexts that no evaluator made.
pub(crate) trait RegisteredEvaluator: Clone + Send + Sync + 'static {
    /// The operand of its operators.
    type Operand;

    /// The keys that one is made of, as Python names them.
    const KEYS: &'static str = "keys.evaluation";

    /// A method with two operands.
    const METHOD: &'static str = "ev.add(x, y)";

    /// All that were registered.
    fn registry() -> &'static Mutex<Vec<Weak<Self>>>;

    /// Whether it serves an operand.
    fn serves(&self, operand: &Self::Operand) -> Match;

    /// Whether it does all that the other does, in the same way.
    fn covers(&self, other: &Self) -> bool;
}

/// The entry in the registry, kept by the object that Python holds and by no copy of it, such as that of a ciphertext.
pub(crate) struct Registration<E> {
    _evaluator: Arc<E>,
}

impl<E: RegisteredEvaluator> Registration<E> {
    /// Registers an evaluator, which must not hold a registration itself.
    pub(crate) fn new(evaluator: E) -> Self {
        let evaluator = Arc::new(evaluator);
        let mut known = E::registry().lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|known| known.strong_count() > 0);
        known.push(Arc::downgrade(&evaluator));
        Self { _evaluator: evaluator }
    }
}

/// The evaluator that serves an operand which none made.
pub(crate) fn evaluator_of<E: RegisteredEvaluator>(operand: &E::Operand) -> PyResult<E> {
    let known: Vec<Arc<E>> = {
        let known = E::registry().lock().unwrap_or_else(PoisonError::into_inner);
        // The newest first.
        known.iter().rev().filter_map(Weak::upgrade).collect()
    };
    let matches: Vec<(Match, Arc<E>)> = known.into_iter().map(|known| (known.serves(operand), known)).collect();
    let of = |wanted| matches.iter().filter(move |(found, _)| *found == wanted).map(|(_, known)| known);
    let near: Vec<&Arc<E>> = of(Match::Context).collect();
    let serving = if near.is_empty() { of(Match::Parameters).collect() } else { near };
    let covers = |best: &Arc<E>, other: &Arc<E>| Arc::ptr_eq(best, other) || best.covers(other);
    if let Some(best) = serving.iter().find(|best| serving.iter().all(|other| covers(best, other))) {
        return Ok(E::clone(best));
    }
    let message = match (serving.len(), of(Match::OtherKey).count()) {
        (0, 0) => format!(
            "no evaluator is there for the operand: make one, `ev = context.evaluator({})`, and keep it",
            E::KEYS
        ),
        (0, _) => "the operand was encrypted with another key than those of the evaluators that are there. Was keygen called \
                   again after it was encrypted? Encrypt again with the new keys, or make an evaluator of the keys that it was \
                   encrypted with"
            .to_owned(),
        (several, _) => format!(
            "{several} evaluators with different keys are there for the operand: say which with ev.bind(x), or call a method \
             such as {}",
            E::METHOD
        ),
    };
    Err(MissingKeyError::new_err(message))
}
