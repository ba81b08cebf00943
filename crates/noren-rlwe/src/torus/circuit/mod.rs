//! Circuit bootstrapping: keys that make GGSW samples of the bits of a ciphertext.
//!
//! | room | what it holds |
//! |---|---|
//! | [`parameters`] | [`CircuitSpec`](parameters::CircuitSpec), checked into [`CircuitParameters`](parameters::CircuitParameters) |
//! | [`law`] | [`CircuitLaw`](law::CircuitLaw): the variances of the parts |
//! | [`keygen`] | all keys from a secret and a seed |
//! | [`keys`] | [`CompactCircuitKeys`](keys::CompactCircuitKeys) for transport, [`CircuitKeys`](keys::CircuitKeys) for use |
//! | [`wire`] | bytes of the keys |

pub mod keygen;
pub mod keys;
pub mod law;
pub mod parameters;
pub mod wire;
