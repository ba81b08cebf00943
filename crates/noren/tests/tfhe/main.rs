//! TFHE: gates, lookups, noise and refusals.

mod gates;
mod lookups;
mod parameters;
mod world;
