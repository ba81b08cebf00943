//! Bootstrapping in clear: its matrices, its functions, its parameters, and the whole pipeline on numbers.

mod exponentials;
mod failures;
mod matrices;
mod numbers;
mod pipeline;
mod plans;
mod series;
