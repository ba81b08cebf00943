//! Circuit bootstrapping: keys that make GGSW samples of the bits of a ciphertext.
//!
//! | room | what it holds |
//! |---|---|
//! | [`spec`] | [`CircuitSpec`](spec::CircuitSpec): the digits that are asked for |
//! | [`parameters`] | [`CircuitParameters`](parameters::CircuitParameters): the digits, checked |
//! | [`law`] | [`CircuitLaw`](law::CircuitLaw): the variances of the parts |
//! | [`keygen`] | all keys from a secret and a seed |
//! | [`keys`] | [`CompactCircuitKeys`](keys::CompactCircuitKeys) for transport, [`CircuitKeys`](keys::CircuitKeys) for use |
//! | [`wire`] | bytes of the keys |

pub mod keygen;
pub mod keys;
pub mod law;
pub mod parameters;
pub mod spec;
pub mod wire;
