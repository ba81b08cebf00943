//! Bootstrapping: its matrices, its functions, its parameters, and the whole pipeline, on numbers and on ciphertexts.

mod bounds;
mod encrypted;
mod evaluator;
mod exponentials;
mod failures;
mod full;
mod interrupts;
mod iterations;
mod key_files;
mod matrices;
mod numbers;
mod pipeline;
mod plans;
#[cfg(feature = "papers")]
mod rns_heaan;
#[path = "../../../noren-rlwe/tests/scratch/mod.rs"]
mod scratch;
mod series;
mod slots;
mod summary;
mod times;
