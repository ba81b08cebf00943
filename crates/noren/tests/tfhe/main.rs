//! TFHE: gates, lookups, noise and refusals.

mod failures;
mod gates;
mod integers;
mod keys;
mod lookups;
mod parameters;
mod refusals;
mod wire;
mod world;
