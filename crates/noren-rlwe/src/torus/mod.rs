//! Samples and keys over the torus: LWE, GLWE and GGSW, without their messages.
//!
//! | room | what it holds |
//! |---|---|
//! | [`noise`] | [`TorusNoise`](noise::TorusNoise): how errors are drawn |
//! | [`spec`] | [`TorusSpec`](spec::TorusSpec): parameters as they are asked for |
//! | [`parameters`] | [`TorusParameters`](parameters::TorusParameters): parameters, checked |
//! | [`security`] | how much noise a dimension needs |
//! | [`law`] | the variances of key switch, modulus switch and blind rotation, and failure probabilities |
//! | [`secret`] | [`TorusSecret`](secret::TorusSecret): the two secrets, samples under the long one |
//! | [`keygen`] | [`TorusKeyGenerator`](keygen::TorusKeyGenerator): all keys from one seed |
//! | [`keys`] | [`CompactKeys`](keys::CompactKeys) for transport, [`ServerKeys`](keys::ServerKeys) for bootstrapping |
//! | [`digits`] | [`Digits`](digits::Digits): how words are cut |
//! | [`light`] | keys of blind rotation that travel packed |
//! | [`circuit`] | keys that make GGSW samples of bits, their noise and bytes |
//! | [`scheme_switch`] | keys that switch between these samples and those of ring learning with errors |
//! | [`wire`] | bytes of all of these |
//! | [`expanded`] | server keys as they lie in memory, used where they are in a file |

pub mod circuit;
pub mod digits;
pub mod expanded;
mod glwe_rows;
pub mod keygen;
pub mod keys;
pub mod law;
pub mod light;
pub mod noise;
pub mod parameters;
pub mod scheme_switch;
pub mod secret;
pub mod security;
pub mod spec;
mod streams;
mod switch_law;
pub mod wire;
