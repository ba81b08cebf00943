//! TFHE: gates, lookups, noise and refusals.

mod failures;
mod gates;
mod keys;
mod large;
mod lookups;
mod parameters;
mod refusals;
mod wire;
mod world;
