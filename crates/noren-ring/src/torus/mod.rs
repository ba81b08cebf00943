//! The torus: words that wrap around, polynomials of them modulo `X^N + 1`, and bootstrapping as arithmetic on them.
//!
//! A word x of 64 bits stands for `x / 2^64` of the circle. This room knows how samples are calculated with; what they
//! encrypt, and under which secret, is known above. LWE samples, and what an owner of a secret multiplies, are words of
//! the host; keys and all verbs of a server are a device's.
//!
//! | room | what it holds |
//! |---|---|
//! | [`server`] | [`TorusServer`](server::TorusServer): the verbs of a server on a device |
//! | [`device`] | [`TorusDevice`](device::TorusDevice): what can hold keys and bootstrap |
//! | [`keys`] | [`BootstrapKey`](keys::BootstrapKey), [`CircuitKey`](keys::CircuitKey), [`Controls`](keys::Controls): GGSW samples and key switches in the memory of a device, as handles |
//! | [`expanded`] | [`BootstrapLayout`](expanded::BootstrapLayout): the order of the numbers of keys in files and on the host |
//! | [`ring`] | [`TorusRing`](ring::TorusRing): polynomials of degree N, with the threads and products of the host |
//! | [`lwe`] | [`Lwe`](lwe::Lwe): samples of words |
//! | [`shape`] | [`GlweShape`](shape::GlweShape), [`RotationShape`](shape::RotationShape) |
//! | [`table`] | [`Table`](table::Table): lookup tables of programmable bootstrapping |
//! | [`control_table`] | [`ControlTable`](control_table::ControlTable): the table of circuit bootstrapping |
//! | [`packed_tables`] | [`PackedTables`](packed_tables::PackedTables): tables that bits choose from |
//! | [`trace`] | the automorphisms of a trace |
//! | [`polynomial`] | products with monomials, automorphisms |
//! | [`exact`] | [`ExactProduct`](exact::ExactProduct): products of polynomials, exact, modulo three primes |
//! | [`product`] | [`TorusProduct`](product::TorusProduct): how products are made, by transforms in `f64` or exactly |

pub mod control_table;
pub mod device;
pub mod exact;
pub mod expanded;
pub mod keys;
pub mod lwe;
pub mod packed_tables;
pub mod polynomial;
pub mod product;
pub mod ring;
pub mod server;
pub mod shape;
pub mod table;
pub mod trace;
