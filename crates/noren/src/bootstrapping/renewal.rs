//! Bootstraps that are counted, and not done twice.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use noren_rlwe::error::Result;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::bootstrapping::bootstrapper::Bootstrapper;
use crate::bootstrapping::plan::BootstrapPlan;
use crate::circuits::renewing::Renewal;
use crate::schemes::ckks::{Ciphertext, Evaluator, factor};
use crate::schemes::failures::FailureBudget;

/// The bytes of results that are kept, 256 MiB: a dozen of the largest preset.
const KEPT_BYTES: usize = 256 << 20;

/// The number of results that are kept, as they are looked through one by one.
const KEPT: usize = 64;

/// A bootstrapper that remembers its last results: where a circuit uses a ciphertext several times, it is bootstrapped
/// once.
pub struct Bootstraps {
    pub(super) bootstrapper: Arc<Bootstrapper>,
    log2_failure: f64,
    failures: FailureBudget,
    /// The latest last.
    kept: Mutex<VecDeque<Kept>>,
    most: usize,
}

/// A result that is kept.
struct Kept {
    /// The name of the errors of what was bootstrapped: what has another one is something else.
    tag: u64,
    /// The digest of what was bootstrapped.
    digest: [u8; 32],
    result: Ciphertext,
}

impl Bootstraps {
    /// With a budget of `2^log2_allowed` for the probability that any bootstrap fails.
    ///
    /// # Errors
    /// As [`BootstrapPlan::new`].
    pub(super) fn new(bootstrapper: Arc<Bootstrapper>, log2_allowed: f64) -> Result<Self> {
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

    /// How many results were computed.
    pub(super) fn count(&self) -> u64 {
        self.failures.bootstraps()
    }

    /// `log2` of the probability that any of them is wrong.
    pub(super) fn log2_failure(&self) -> f64 {
        self.failures.log2_failure()
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The digest of a ciphertext that has the level of bootstraps, or more: those above it stay as they are.
    fn digest(&self, evaluator: &Evaluator, a: &Ciphertext) -> Result<[u8; 32]> {
        let low = evaluator.drop_level(a, self.bootstrapper.parameters().input_level())?;
        Ok(*blake3::hash(&low.to_bytes(evaluator.context(), Form::Raw)).as_bytes())
    }
}

impl Renewal<Evaluator> for Bootstraps {
    fn left(&self, _: &Evaluator, x: &Ciphertext) -> usize {
        let input = self.bootstrapper.parameters().input_level();
        x.level().min(self.bootstrapper.output_level()).saturating_sub(input)
    }

    fn most(&self) -> usize {
        self.bootstrapper.levels_left()
    }

    /// # Errors
    /// As [`Bootstrapper::bootstrap`], and [`FailureBudgetExceeded`](crate::schemes::error::FailureBudgetExceeded).
    fn renew(&self, evaluator: &Evaluator, x: &Ciphertext) -> Result<Ciphertext> {
        if x.level() < self.bootstrapper.parameters().input_level() {
            // It refuses, with the reason.
            return self.bootstrapper.bootstrap(x);
        }
        let digest = self.digest(evaluator, x)?;
        self.failures.spend(1, self.log2_failure)?;
        let result = self.bootstrapper.bootstrap(x)?;
        let mut kept = self.kept();
        if kept.len() >= self.most {
            kept.pop_front();
        }
        kept.push_back(Kept { tag: x.estimate().tag(), digest, result: result.clone() });
        Ok(result)
    }

    fn instead(&self, evaluator: &Evaluator, x: &Ciphertext) -> Result<Option<Ciphertext>> {
        let output = self.bootstrapper.output_level();
        if x.level() > output {
            return evaluator.at_level(x, output).map(Some);
        }
        let (tag, input) = (x.estimate().tag(), self.bootstrapper.parameters().input_level());
        if !(input..output).contains(&x.level()) || self.kept().iter().all(|kept| kept.tag != tag) {
            return Ok(None);
        }
        let digest = self.digest(evaluator, x)?;
        Ok(self.kept().iter().find(|kept| kept.digest == digest).map(|kept| kept.result.clone()))
    }

    fn encoding(&self, _: &Evaluator, x: &Ciphertext) -> [u64; 3] {
        let (high, low) = x.scale().parts();
        [x.level() as u64, high.to_bits(), low.to_bits()]
    }

    fn factor_bytes(&self, evaluator: &Evaluator, x: &Ciphertext, period: usize) -> usize {
        let level = if self.left(evaluator, x) == 0 { self.bootstrapper.output_level() } else { x.level() };
        factor::bytes(x.parameters(), level, period)
    }
}
