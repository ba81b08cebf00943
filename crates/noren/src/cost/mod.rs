//! Costs of operations: counts of their work, the cost of each unit of it on a machine, and prices for a party.
//!
//! The [meter](RingMeter) counts what each operation does in units of [`Work`], a [`Machine`] has the cost of each unit,
//! [measured](crate::backends::calibrate()) in a few seconds, and a [`Price`] is what a [`Party`] pays for a circuit.

pub(crate) mod fit;
pub(crate) mod machine;
pub(crate) mod price;
pub(crate) mod ring;
pub(crate) mod slots;
mod store;
mod switching;
pub(crate) mod system;
pub(crate) mod work;

pub use machine::{Machine, TorusCosts, UnitCosts};
pub use price::{Left, Part, Party, Price};
pub use ring::RingMeter;
pub use slots::{SlotDraft, Slots};
pub use system::processor;
pub use work::{Caches, Residence, Unit, Work};
