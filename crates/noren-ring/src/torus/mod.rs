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
//! | [`bootstrap`] | [`Bootstrap`](bootstrap::Bootstrap): the whole way of a sample, one or many at a time |

pub mod blind_rotation;
pub mod bootstrap;
pub mod exact;
pub mod key_switch;
pub mod lwe;
pub mod polynomial;
pub mod product;
