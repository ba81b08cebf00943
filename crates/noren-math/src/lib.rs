//! Numbers, transforms and randomness: how are numbers multiplied fast.
//!
//! The lowest layer of noren. It knows primes below 2^50, rows of residues, transforms of rows, and
//! deterministic byte streams; it knows nothing of polynomials in many primes, keys or messages.
//!
//! | room | what it holds |
//! |---|---|
//! | [`modulus`] | [`Modulus`](modulus::Modulus): a prime below 2^50 with its reduction constants |
//! | [`reduction`] | [`Reduction`](reduction::Reduction): residues of secret numbers modulo any number below 2^60 |
//! | [`prime`] | primality, primes with a given residue, primitive roots |
//! | [`cyclotomic`] | [`Cyclotomic`](cyclotomic::Cyclotomic): which ring `Z[X]/Phi_m`, its automorphisms as permutations |
//! | [`embedding`] | [`Embedding`](embedding::Embedding): the canonical norm of polynomials |
//! | [`galois_ring`] | [`GaloisRing`](galois_ring::GaloisRing): what slots of plaintexts are |
//! | [`prime_power`] | [`PrimePower`](prime_power::PrimePower): integers modulo a power of a prime |
//! | [`slots`] | [`SlotTransform`](slots::SlotTransform): values of slots to polynomials and back |
//! | [`hypercube`] | [`Hypercube`](hypercube::Hypercube): the slots of plaintexts, and their dimensions |
//! | [`powerful`] | [`PowerfulBasis`](powerful::PowerfulBasis): the basis in which elements have small coefficients |
//! | [`roots`] | [`NttTable`](roots::ntt::NttTable), [`FftTable`](roots::fft::FftTable), [`TorusFft`](roots::torus::TorusFft): what transforms multiply by |
//! | [`ntt`] | [`Transform`](ntt::transform::Transform): the transform of one prime in one ring |
//! | [`interpolation`] | [`Interpolation`](interpolation::Interpolation): polynomials through values at 0, 1, 2, ..; [`through`](interpolation::through) few |
//! | [`random`] | [`Seed`](random::Seed) and [`Xof`](random::Xof): one deterministic byte stream per (seed, label) |
//! | [`sample`] | rows of uniform, ternary and Gaussian numbers |
//! | [`torus_sample`] | binary secrets, and uniform words and wide noise of the torus |
//! | [`torus`] | words of the torus, and their signed digits |
//! | [`torus_products`] | products of polynomials of these words |
//! | [`machine`] | memory of the system, whose lack is an error; mapped files; the floating-point mode |
//! | [`kernels`] | the row kernels, one table per instruction set; with [`machine`], the only `unsafe` of the project |

// Where there is only the portable table, nothing reads the layouts that are for vectors.
#![cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code, unused_imports))]

mod binary;
mod binary_slots;
pub mod cyclotomic;
pub mod embedding;
pub mod error;
mod factors;
mod fft;
mod fractions;
mod frobenius;
pub mod galois_ring;
mod gaussian;
pub mod hypercube;
pub mod interpolation;
pub mod kernels;
pub mod machine;
pub mod modulus;
pub mod ntt;
mod polynomials;
pub mod powerful;
mod primality;
pub mod prime;
pub mod prime_power;
pub mod random;
pub mod reduction;
pub mod roots;
pub mod sample;
mod scratch;
pub mod slots;
pub mod torus;
pub mod torus_products;
pub mod torus_sample;
