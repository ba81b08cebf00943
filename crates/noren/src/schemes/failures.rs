//! Failure budgets: how many bootstraps a computation took, and with which probability any of them failed.

use std::sync::{Mutex, PoisonError};

use noren_rlwe::error::Result;

use crate::schemes::error::FailureBudgetExceeded;

/// Counts bootstraps and adds up bounds on their failure probabilities (the union bound); refuses those beyond a budget.
#[derive(Debug)]
pub(crate) struct FailureBudget {
    /// `log2` of the largest probability for all bootstraps together.
    allowed: f64,
    spent: Mutex<Spent>,
}

/// Bootstraps, and `log2` of a bound on the probability that any of them fails.
#[derive(Debug, Clone, Copy)]
struct Spent {
    bootstraps: u64,
    log2_failure: f64,
}

impl FailureBudget {
    /// A budget of which nothing is spent; 0 for one that refuses nothing.
    pub(crate) const fn new(log2_allowed: f64) -> Self {
        // A NaN allows nothing.
        let allowed = if log2_allowed.is_nan() { f64::NEG_INFINITY } else { log2_allowed };
        Self { allowed, spent: Mutex::new(Spent { bootstraps: 0, log2_failure: f64::NEG_INFINITY }) }
    }

    /// Counts bootstraps that are about to run, each of which fails with probability `2^log2_failure` at most.
    ///
    /// # Errors
    /// [`FailureBudgetExceeded`], and nothing is counted, if the budget does not suffice.
    pub(crate) fn spend(&self, bootstraps: usize, log2_failure: f64) -> Result<()> {
        if bootstraps == 0 {
            return Ok(());
        }
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let next = Spent {
            bootstraps: spent.bootstraps + bootstraps as u64,
            log2_failure: log2_sum(spent.log2_failure, log2_failure + libm::log2(bootstraps as f64)).min(0.0),
        };
        if next.log2_failure > self.allowed || next.log2_failure.is_nan() {
            let Spent { bootstraps, log2_failure: found } = next;
            return Err(FailureBudgetExceeded { bootstraps, found, allowed: self.allowed }.into());
        }
        *spent = next;
        Ok(())
    }

    /// The bootstraps that were counted.
    pub(crate) fn bootstraps(&self) -> u64 {
        self.spent().bootstraps
    }

    /// `log2` of a bound on the probability that any of them failed; minus infinity for none.
    pub(crate) fn log2_failure(&self) -> f64 {
        self.spent().log2_failure
    }

    fn spent(&self) -> Spent {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `log2(2^a + 2^b)`, also where the powers are below the range of `f64`.
pub(crate) fn log2_sum(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY {
        return high;
    }
    high + libm::log1p(libm::exp2(low - high)) * std::f64::consts::LOG2_E
}

#[cfg(test)]
mod tests {
    use noren_rlwe::error::cause;

    use super::*;

    #[test]
    fn probabilities_add_up_to_the_budget_and_not_beyond() -> Result<()> {
        let budget = FailureBudget::new(-60.0);
        assert_eq!((budget.bootstraps(), budget.log2_failure()), (0, f64::NEG_INFINITY));
        budget.spend(3, -64.0)?;
        budget.spend(0, 0.0)?;
        budget.spend(1 << 40, -2000.0)?;
        budget.spend(5, -64.0)?;
        assert_eq!(budget.bootstraps(), 8 + (1 << 40));
        assert!((budget.log2_failure() + 61.0).abs() < 1e-12, "{}", budget.log2_failure());
        // Refused bootstraps are not counted.
        let refused = budget.spend(9, -64.0);
        assert!(
            matches!(cause(&refused), Some(FailureBudgetExceeded { bootstraps, .. }) if *bootstraps == 17 + (1 << 40))
        );
        assert_eq!(budget.bootstraps(), 8 + (1 << 40));
        assert!(budget.spend(1, f64::NAN).is_err());
        let unlimited = FailureBudget::new(0.0);
        unlimited.spend(usize::MAX, -1.0)?;
        assert_eq!(unlimited.log2_failure(), 0.0);
        Ok(())
    }

    #[test]
    fn sums_of_powers_of_two_are_those_of_exact_arithmetic() {
        for (a, b, sum) in [(-3.0, -3.0, -2.0), (-1.0, -1.0, 0.0), (-5000.0, -5000.0, -4999.0), (-70.0, -1e5, -70.0)] {
            assert!((log2_sum(a, b) - sum).abs() < 1e-12);
            assert_eq!(log2_sum(a, b), log2_sum(b, a));
        }
    }
}
