//! Keys, ciphertexts and their noise, against what the definitions say; one binary, so that it links once.

mod determinism;
mod encryption;
mod errors;
mod galois;
mod indices;
mod key_sets;
mod keyswitch;
mod multiply;
mod owners;
mod parameters;
mod product;
mod raise;
mod reencryption;
mod security;
mod shapes;
mod small;
mod streams;
