//! The suite `rns-heaan`: operations of ciphertexts and bootstrapping as it was first done in RNS, at the published set.

mod bootstrap;
mod operations;
mod sets;

pub(super) use bootstrap::run;
pub(super) use sets::sets;
