//! The wire format: what is written is read, byte for byte, and nothing else is.

mod contents;
mod damage;
mod files;
mod frame;
mod hostile;
mod interrupts;
mod owners;
mod round_trips;
mod samples;
#[path = "../scratch/mod.rs"]
mod scratch;
mod shapes;
