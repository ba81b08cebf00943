//! TFHE: gates, lookups, noise and refusals.

mod failures;
mod files;
mod gates;
mod keys;
mod lookups;
mod parameters;
mod refusals;
mod wire;
mod world;
