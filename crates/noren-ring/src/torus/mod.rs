//! The torus: words that wrap around, polynomials of them modulo `X^N + 1`, and bootstrapping as arithmetic on them.
//!
//! A word x of 64 bits stands for `x / 2^64` of the circle. This room knows how samples are calculated with; what they
//! encrypt, and under which secret, is known above.
//!
//! | room | what it holds |
//! |---|---|
//! | [`polynomial`] | products with monomials |
//! | [`exact`] | [`ExactProduct`](exact::ExactProduct): products of polynomials, exact, modulo three primes |
//! | [`product`] | [`TorusProduct`](product::TorusProduct): how products are made, by transforms in `f64` or exactly |
//! | [`lwe`] | [`Lwe`](lwe::Lwe): samples of words |
//! | [`key_switch`] | [`LweSwitch`](key_switch::LweSwitch): from long samples to short ones, and to the modulus 2N |
//! | [`blind_rotation`] | [`BlindRotation`](blind_rotation::BlindRotation): external products, CMUX, and chains of them |
//! | [`glwe_switch`] | [`GlweSwitch`](glwe_switch::GlweSwitch): key switches of GLWE samples, exact |
//! | [`trace`] | [`Trace`](trace::Trace): automorphisms that keep one coefficient |
//! | [`packing`] | samples of LWE packed into one of GLWE |
//! | [`unpacking`] | samples of the single coefficients of one of GLWE |
//! | [`circuit_bootstrap`] | [`CircuitBootstrap`](circuit_bootstrap::CircuitBootstrap): from LWE samples to GGSW samples of bits |
//! | [`cmux_tree`] | [`PackedTables`](cmux_tree::PackedTables): lookups by encrypted bits |
//! | [`bootstrap`] | [`Bootstrap`](bootstrap::Bootstrap): the whole way of a sample, one or many at a time |

pub mod blind_rotation;
pub mod bootstrap;
pub mod circuit_bootstrap;
pub mod cmux_tree;
pub mod exact;
pub mod glwe_switch;
pub mod key_switch;
pub mod lwe;
pub mod packing;
pub mod polynomial;
pub mod product;
pub mod trace;
pub mod unpacking;
