//! Bootstrapping: its matrices, its functions, its parameters, and the whole pipeline, on numbers and on ciphertexts.

mod encrypted;
mod exponentials;
mod failures;
mod matrices;
mod numbers;
mod pipeline;
mod plans;
mod series;
mod unlimited;
