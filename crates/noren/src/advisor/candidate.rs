//! Candidates: a scheme with parameters that does a workload, and its price.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::backends::backend;
use crate::backends::scheme::Scheme;
use crate::cost::price::Price;
use crate::graph::dag::Graph;
use crate::graph::evaluated::Evaluated;

/// The accuracy of results.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Accuracy {
    /// Within this distance, with the probability of bounds of CKKS.
    Within(f64),
    /// Exact, but for a probability of `2^` this that any result is wrong.
    ExactButFor(f64),
    /// Exact, as long as the predicted noise budget is positive; what has none is refused.
    Exact,
}

/// A plan of a backend for a graph, with the number of its runs.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The function, of as many instances as one run has.
    pub function: Arc<Graph>,
    /// The graph that the backend evaluates, with the images of its outputs.
    pub evaluated: Evaluated,
    /// The plan.
    pub plan: Arc<dyn backend::Plan>,
    /// How often it runs.
    pub runs: usize,
    /// The absolute error that results may have.
    pub precision: f64,
}

/// A way to do a workload.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The scheme.
    pub scheme: Scheme,
    /// The library, `noren`: others have a [`PeerEstimate`](crate::advisor::PeerEstimate).
    pub library: String,
    /// The parameters in words.
    pub parameters: String,
    /// The program that runs.
    pub compiled: Compiled,
    /// The price of all instances.
    pub price: Price,
    /// The accuracy of results.
    pub accuracy: Accuracy,
    /// How far below 1 the absolute values of inputs stay that the accuracy is of; 0 for all values.
    pub excluded: f64,
    /// The reasons for it and against it.
    pub reasons: Vec<String>,
}

/// A scheme that does not do the workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rejection {
    /// The scheme.
    pub scheme: Scheme,
    /// Why, and what would be possible.
    pub reason: String,
}

/// The candidates of a scheme, or why there is none.
pub type Outcome = std::result::Result<Vec<Candidate>, Rejection>;

impl Scheme {
    /// A rejection with this reason.
    pub(super) fn rejects<T>(self, reason: impl fmt::Display) -> std::result::Result<T, Rejection> {
        Err(Rejection { scheme: self, reason: reason.to_string() })
    }
}
