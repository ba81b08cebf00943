//! Programs on encrypted tables: statistics, and models that others have trained.
//!
//! A client makes a [`ProgramPlan`] of the parameters and keys that its [programs](Program) need, arranges its table in
//! ciphertexts ([`TableLayout`]), and sends the [`EncryptedTable`] with its evaluation keys to a server. The server runs a
//! program on it and sends a table back, which says itself how it is to be read. A [`DecisionProgram`] compares entries, by
//! scheme switching. Tables of whole numbers, exact, are [`IntegerTable`]s, and those of [`columns`], whose elements are
//! encrypted one by one.

pub(crate) mod bounds;
pub mod columns;
mod entries;
pub(crate) mod error;
pub(crate) mod evaluator;
pub(crate) mod integers;
pub(crate) mod layout;
mod masks;
pub(crate) mod model;
pub(crate) mod pairs;
mod products;
pub(crate) mod program;
pub(crate) mod reals;
mod record;
mod scores;
pub(crate) mod shape;
mod statistics;
pub(crate) mod table;
pub(crate) mod wire;

pub use bounds::Bounds;
pub use error::ProgramError;
pub use evaluator::TableEvaluator;
pub use integers::{IntegerLayout, IntegerTable};
pub use layout::{Guarantee, TableLayout};
pub use model::{
    BasisName, Bias, Column, DEFAULT_ERROR, LinearModel, LogisticModel, PairsModel, PolynomialModel, SpreadModel,
    Weights,
};
pub use pairs::{PairLayout, Unit};
pub use program::Program;
pub use reals::decisions::{DecidedTable, DecisionProgram};
pub use reals::plan::ProgramPlan;
pub use shape::Shape;
pub use table::{EncryptedTable, Layout, Matrix};
