//! Bootstraps that are counted, and not done twice.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use noren_rlwe::error::Result;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::bootstrapping::bootstrapper::Bootstrapper;
use crate::bootstrapping::plan::BootstrapPlan;
use crate::schemes::ckks::{Ciphertext, Evaluator};
use crate::schemes::failures::FailureBudget;

/// The bytes of results that are kept, 256 MiB: a dozen of the largest preset.
const KEPT_BYTES: usize = 256 << 20;

/// The number of results that are kept, as they are looked through one by one.
const KEPT: usize = 64;

/// A bootstrapper that remembers its last results: where a circuit uses a ciphertext several times, it is bootstrapped
/// once.
pub(super) struct Renewal {
    pub bootstrapper: Arc<Bootstrapper>,
    log2_failure: f64,
    failures: FailureBudget,
    /// The latest last.
    kept: Mutex<VecDeque<([u8; 32], Ciphertext)>>,
    most: usize,
}

impl Renewal {
    /// With a budget of `2^log2_allowed` for the probability that any bootstrap fails.
    ///
    /// # Errors
    /// As [`BootstrapPlan::new`].
    pub fn new(bootstrapper: Arc<Bootstrapper>, log2_allowed: f64) -> Result<Self> {
        let parameters = bootstrapper.parameters();
        let log2_failure = BootstrapPlan::new(parameters)?.log2_failure(1);
        let result_bytes = 2 * (parameters.output_level() + 1) * parameters.degree() * size_of::<u64>();
        let most = (KEPT_BYTES / result_bytes).clamp(1, KEPT);
        Ok(Self {
            bootstrapper,
            log2_failure,
            failures: FailureBudget::new(log2_allowed),
            kept: Mutex::default(),
            most,
        })
    }

    /// The result of the bootstrapper, from memory where it is there.
    ///
    /// # Errors
    /// As [`Bootstrapper::bootstrap`], and [`FailureBudgetExceeded`](crate::schemes::error::FailureBudgetExceeded).
    pub fn renew(&self, evaluator: &Evaluator, a: &Ciphertext) -> Result<Ciphertext> {
        let level = self.bootstrapper.parameters().input_level();
        if a.level() < level {
            // It refuses, with the reason.
            return self.bootstrapper.bootstrap(a);
        }
        // Ciphertexts above the lowest level stay as they are.
        let low = evaluator.drop_level(a, level)?;
        let name = *blake3::hash(&low.to_bytes(evaluator.context(), Form::Raw)).as_bytes();
        if let Some((_, found)) = self.kept().iter().find(|(kept, _)| *kept == name) {
            return Ok(found.clone());
        }
        self.failures.spend(1, self.log2_failure)?;
        let result = self.bootstrapper.bootstrap(a)?;
        let mut kept = self.kept();
        if kept.len() >= self.most {
            kept.pop_front();
        }
        kept.push_back((name, result.clone()));
        Ok(result)
    }

    /// How many results were computed.
    pub fn count(&self) -> u64 {
        self.failures.bootstraps()
    }

    /// `log2` of the probability that any of them is wrong.
    pub fn log2_failure(&self) -> f64 {
        self.failures.log2_failure()
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<([u8; 32], Ciphertext)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
