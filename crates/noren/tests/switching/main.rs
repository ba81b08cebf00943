//! Switching between CKKS and TFHE: both ways, and functions between them.

mod compiled;
mod full;
mod functions;
mod key_files;
mod refusals;
mod tables;
mod vectors;
mod ways;
mod world;
