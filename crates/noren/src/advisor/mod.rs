//! Which scheme, which parameters, at which price: a cost model of all schemes, and choices by it.
//!
//! [`advise`] takes a [`Workload`] and two parties, and gives a list of schemes with parameters, each with a price for both
//! parties. Prices are counts times costs: what a circuit asks of its evaluator is recorded by the circuit itself, and
//! [`noren::cost`](crate::cost) counts the work of each operation and knows its time on a machine.

mod advice;
mod candidate;
mod compiled;
mod device;
mod graph;
mod limits;
mod peers;
mod rank;
mod refusal;
mod script;
mod workload;

pub use crate::backends::Scheme;
pub use advice::{Advice, Report, Row, advise};
pub use candidate::{Accuracy, Candidate, Compiled, Rejection};
pub(crate) use compiled::Asked;
pub use device::{Device, Kernels};
pub use limits::Limits;
pub use peers::{PeerEstimate, Ratio};
pub use rank::Goal;
pub use workload::{Computation, Objective, Values, Workload};
