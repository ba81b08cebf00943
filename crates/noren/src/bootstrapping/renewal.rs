//! Bootstraps that are counted, and not done twice.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use noren_rlwe::error::Result;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::bootstrapping::bootstrapper::Bootstrapper;
use crate::bootstrapping::plan::Plan;
use crate::schemes::ckks::{Ciphertext, Evaluator};

/// Results are kept up to so many bytes, 256 MiB: a dozen of the largest preset.
const KEPT_BYTES: usize = 256 << 20;

/// And not more than so many, as they are looked through one by one.
const KEPT: usize = 64;

/// A bootstrapper that remembers its last results: where a circuit uses a ciphertext several times, it is bootstrapped
/// once.
pub(super) struct Renewal {
    pub bootstrapper: Arc<Bootstrapper>,
    plan: Plan,
    count: AtomicU64,
    /// The latest last.
    kept: Mutex<VecDeque<([u8; 32], Ciphertext)>>,
    most: usize,
}

impl Renewal {
    /// # Errors
    /// As [`Plan::new`].
    pub fn new(bootstrapper: Arc<Bootstrapper>) -> Result<Self> {
        let parameters = bootstrapper.parameters();
        let plan = Plan::new(parameters)?;
        let result_bytes = 2 * (parameters.output_level() + 1) * parameters.degree() * size_of::<u64>();
        let most = (KEPT_BYTES / result_bytes).clamp(1, KEPT);
        Ok(Self { bootstrapper, plan, count: AtomicU64::new(0), kept: Mutex::default(), most })
    }

    /// The result of the bootstrapper, from memory where it is there.
    ///
    /// # Errors
    /// As [`Bootstrapper::bootstrap`].
    pub fn renew(&self, evaluator: &Evaluator, a: &Ciphertext) -> Result<Ciphertext> {
        let level = self.bootstrapper.parameters().input_level();
        if a.level() < level {
            // It refuses, with the reason.
            return self.bootstrapper.bootstrap(a);
        }
        // What lies above the lowest level changes nothing.
        let low = evaluator.drop_level(a, level)?;
        let name = *blake3::hash(&low.to_bytes(evaluator.context(), Form::Raw)).as_bytes();
        if let Some((_, found)) = self.kept().iter().find(|(kept, _)| *kept == name) {
            return Ok(found.clone());
        }
        let result = self.bootstrapper.bootstrap(a)?;
        self.count.fetch_add(1, Ordering::Relaxed);
        let mut kept = self.kept();
        if kept.len() >= self.most {
            kept.pop_front();
        }
        kept.push_back((name, result.clone()));
        Ok(result)
    }

    /// How many results were computed.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// `log2` of the probability that any of them is wrong.
    pub fn log2_failure(&self) -> f64 {
        self.plan.log2_failure(self.count())
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<([u8; 32], Ciphertext)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
