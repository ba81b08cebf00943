//! TFHE: gates, lookups, noise and refusals.

mod columns;
mod failures;
mod files;
mod gates;
mod integers;
mod keys;
mod large;
mod light;
mod lookups;
mod parameters;
mod refusals;
mod wire;
mod world;
