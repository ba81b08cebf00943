//! Polynomials over residue number systems: how are large numbers calculated with.
//!
//! The second floor of noren. It knows rings `R_Q = Z_Q[X]/Phi_m` with `Q` a product of primes, and the verbs on
//! their elements; it knows nothing of keys, noise or messages.
//!
//! | room | what it holds |
//! |---|---|
//! | [`ring`] | [`Ring`](ring::Ring): one ring, and its views on fewer primes |
//! | [`poly`] | [`Poly`](poly::Poly): an element, whose type says in which form it is |
//! | [`arithmetic`] | sums, products and transforms |
//! | [`automorphism`] | [`Automorphism`](automorphism::Automorphism): `X -> X^k` |
//! | [`words`] | elements from and to words: the door of encoders, samplers and files |
//! | [`centered`] | elements to the numbers they stand for |
//! | [`convert`] | [`BasisConverter`](convert::BasisConverter): the same number modulo other primes |
//! | [`divide`] | [`DivideRound`](divide::DivideRound): division by some of the primes (ModDown, rescale) |
//! | [`raise`] | the same number modulo more primes, from few (ModRaise) |
//! | [`gadget`] | [`Gadget`](gadget::Gadget): how a modulus is cut into digits |
//! | [`decompose`] | [`Decomposer`](decompose::Decomposer): the digits of an element (ModUp), and their inner product |
//! | [`mask`] | what hides the message of a fresh ciphertext |
//! | [`key`] | [`KeyPairs`](key::KeyPairs): the pairs of a switching key |
//! | [`operand`] | [`Operand`](operand::Operand): an element as it enters a switch |
//! | [`switch`] | [`KeySwitch`](switch::KeySwitch): digits, inner product and division, limb by limb |
//! | [`product`] | [`ScaledProduct`](product::ScaledProduct): products times t/Q, by an auxiliary modulus |
//! | [`product_switch`] | [`SwitchedProduct`](product_switch::SwitchedProduct): the same with a key switch |
//! | [`matrix`] | [`Matrix`](matrix::Matrix): sums of products with images of one element, moved and added |
//! | [`small`] | [`SmallPolynomials`](small::SmallPolynomials): many polynomials of small coefficients, in memory or in a file |
//! | [`images`] | [`Images`](images::Images): elements as the next room reads them |
//! | [`streamed`] | sums of products with factors that are transformed on the way |
//! | [`basis`] | [`RnsBasis`](basis::RnsBasis): the primes and their transforms |
//! | [`parallel`] | [`Parallel`](parallel::Parallel): how loops are shared out to threads |
//! | [`torus`] | words that wrap around, their polynomials, and bootstrapping as arithmetic on them |
//! | [`interrupt`] | [`Interrupt`](interrupt::Interrupt): ends long work, and hears of its progress |
//! | [`engine`] | [`Engine`](engine::Engine): the kernels, the threads and the memory that all verbs use |

#![forbid(unsafe_code)]

pub mod arithmetic;
pub mod automorphism;
pub mod basis;
pub mod centered;
pub mod convert;
pub mod decompose;
pub mod divide;
pub mod engine;
pub mod error;
pub mod gadget;
pub mod images;
pub mod interrupt;
pub mod key;
mod lots;
pub mod mask;
pub mod matrix;
pub mod operand;
pub mod parallel;
pub mod poly;
pub mod product;
pub mod product_switch;
pub mod raise;
pub mod ring;
pub mod small;
pub mod streamed;
pub mod switch;
pub mod torus;
pub mod words;

mod giants;
mod pool;
mod rows;
mod source;
mod steps;
mod storage;
mod sums;
#[cfg(feature = "parallel")]
mod threads;
