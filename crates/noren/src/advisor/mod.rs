//! Which scheme, which parameters, at which price: a cost model of all schemes, and choices by it.
//!
//! [`advise`] takes a [`Workload`] and two [`Party`]s, and gives a list of schemes with parameters, each with a [`Price`] for
//! both parties. Prices are counts times costs: what a circuit asks of its evaluator is recorded by the circuit itself, the
//! [meter](RingMeter) counts what each operation does in units of [`Work`], and a [`Machine`] has the cost of each unit,
//! [measured](calibrate()) in a few seconds.

mod advice;
pub(crate) mod calibrate;
mod candidate;
mod circuit;
mod device;
mod digits;
mod exact;
mod fit;
mod limits;
mod machine;
mod peers;
mod price;
mod rank;
mod reals;
mod refusal;
mod ring;
mod script;
mod slots;
mod store;
pub(crate) mod system;
mod torus;
mod two_seeds;
mod work;
mod workload;

pub use advice::{Advice, Report, Row, advise};
pub use calibrate::calibrate;
pub use candidate::{Accuracy, Candidate, Plan, Rejection, Scheme};
pub use circuit::{Placement, PreparedCircuit, SlotCircuit};
pub use device::{Device, Kernels};
pub(crate) use digits::BOOTSTRAPS_OF_CHOICE;
pub use limits::Limits;
pub use machine::{Machine, TorusCosts, UnitCosts};
pub use peers::{PeerEstimate, Ratio};
pub use price::{Part, Party, Price};
pub use rank::Goal;
pub(crate) use reals::add_bootstraps;
pub use ring::RingMeter;
pub use slots::{SlotDraft, Slots};
pub use system::processor;
pub use torus::TorusDraft;
pub use work::{Caches, Residence, Unit, Work};
pub use workload::{Computation, Objective, Values, Workload};
