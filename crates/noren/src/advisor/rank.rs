//! Order among candidates: by what is to be short.

use crate::advisor::candidate::Candidate;
use crate::advisor::price::Price;
use crate::advisor::workload::{Objective, Workload};

/// What candidates are ordered by.
#[derive(Debug, Clone, Copy)]
pub struct Goal(Objective);

impl Goal {
    /// The goal that is to be short.
    #[must_use]
    pub const fn new(objective: Objective) -> Self {
        Self(objective)
    }

    /// The goal of a workload.
    #[must_use]
    pub const fn of(workload: &Workload) -> Self {
        Self(workload.objective)
    }

    /// The seconds that count.
    #[must_use]
    pub fn seconds(&self, price: &Price) -> f64 {
        match self.0 {
            Objective::Server => price.server_seconds,
            Objective::Latency => price.encrypt_seconds + price.server_seconds + price.decrypt_seconds,
            Objective::Once => price.client_seconds() + price.prepare_seconds + price.server_seconds,
        }
    }
}

/// The candidate that takes the shortest.
pub(super) fn cheapest(candidates: Vec<Candidate>, goal: &Goal) -> Option<Candidate> {
    candidates.into_iter().min_by(|a, b| goal.seconds(&a.price).total_cmp(&goal.seconds(&b.price)))
}
