//! Switching between CKKS and TFHE: both ways, and functions between them.

mod functions;
mod ways;
mod world;
