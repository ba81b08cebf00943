//! Bootstrapping on the host.
//!
//! Blocks of samples share one reading of a key, and are shared out to threads; external products go through transforms in
//! `f64`, or exactly.
//!
//! | room | what it holds |
//! |---|---|
//! | [`key_switch`] | [`LweSwitch`](key_switch::LweSwitch): from long samples to short ones, and to the modulus 2N |
//! | [`blind_rotation`] | [`BlindRotation`](blind_rotation::BlindRotation): external products, CMUX, and chains of them |
//! | [`bootstrap`] | [`Bootstrap`](bootstrap::Bootstrap): the whole way of a sample, one or many at a time |
//! | [`glwe_switch`] | [`GlweSwitch`](glwe_switch::GlweSwitch): key switches of GLWE samples, exact |
//! | [`trace`] | [`Trace`](trace::Trace): automorphisms that keep one coefficient |
//! | [`packing`] | samples of LWE packed into one of GLWE |
//! | [`unpacking`] | samples of the single coefficients of one of GLWE |
//! | [`circuit_bootstrap`] | [`CircuitBootstrap`](circuit_bootstrap::CircuitBootstrap): from LWE samples to GGSW samples of bits |
//! | [`cmux_tree`] | lookups by encrypted bits |

pub mod blind_rotation;
pub mod bootstrap;
pub mod circuit_bootstrap;
pub mod cmux_tree;
pub mod glwe_switch;
pub mod key_switch;
pub mod packing;
pub mod trace;
pub mod unpacking;

mod device;
