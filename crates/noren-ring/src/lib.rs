//! Polynomials over residue number systems: how are large numbers calculated with.
//!
//! The second layer of noren. It knows rings `R_Q = Z_Q[X]/Phi_m` with `Q` a product of primes, and the verbs on
//! their elements; it knows nothing of keys, noise or messages.
//!
//! | room | what it holds |
//! |---|---|
//! | [`ring`] | [`Ring`](ring::Ring): one ring on a device, its views on fewer primes, and the verbs on its elements |
//! | [`poly`] | [`Poly`](poly::Poly): an element, whose type says in which form it is |
//! | [`device`] | [`Device`](device::Device): what can hold elements and compute on them |
//! | [`memory`] | [`Limbs`](memory::Limbs): rows of residues in the memory of a device, as a handle |
//! | [`handle`] | [`KeyHandle`](handle::KeyHandle): keys in the memory of a device |
//! | [`host`] | [`Host`](host::Host): the device of the CPU |
//! | [`window`] | [`Window`](window::Window): the primes of a ring that an element is over, and the threads of the host |
//! | [`basis`] | [`RnsBasis`](basis::RnsBasis): the primes and their transforms |
//! | [`engine`] | [`Engine`](engine::Engine): the kernels, the threads and the memory of this machine, for the host and for rows that are uploaded |
//! | [`parallel`] | [`Parallel`](parallel::Parallel): how loops are shared out to threads |
//! | [`interrupt`] | [`Interrupt`](interrupt::Interrupt): ends long work, and hears of its progress |
//! | [`torus`] | words that wrap around, their polynomials, and bootstrapping as arithmetic on them |
//!
//! The numbers that a verb needs are prepared once, without a device:
//!
//! | room | what it holds |
//! |---|---|
//! | [`automorphism`] | [`Automorphism`](automorphism::Automorphism): `X -> X^k` |
//! | [`divide`] | [`DivideRound`](divide::DivideRound): division by some of the primes (ModDown, rescale) |
//! | [`gadget`] | [`Gadget`](gadget::Gadget): how a modulus is cut into digits |
//! | [`decompose`] | [`Decomposer`](decompose::Decomposer): how elements are taken apart into digits (ModUp) |
//! | [`key`] | [`KeyPairs`](key::KeyPairs): the pairs of a switching key |
//! | [`key_layout`] | [`KeyLayout`](key_layout::KeyLayout): the order of their words in files and on the host |
//! | [`operand`] | [`Operand`](operand::Operand): an element as it enters a switch |
//! | [`switch`] | [`KeySwitch`](switch::KeySwitch): digits, inner product and division |
//! | [`product`] | [`ScaledProduct`](product::ScaledProduct): products times t/Q, by an auxiliary modulus |
//! | [`product_switch`] | [`SwitchedProduct`](product_switch::SwitchedProduct): the same with a key switch |
//! | [`matrix`] | [`Matrix`](matrix::Matrix): sums of products with images of one element, moved and added |
//! | [`small`] | [`SmallPolynomials`](small::SmallPolynomials): many polynomials of small coefficients, in memory or in a file |
//! | [`images`] | [`Images`](images::Images): elements whose sums of products have streamed factors |

#![forbid(unsafe_code)]

pub mod automorphism;
pub mod basis;
mod convert;
pub mod decompose;
pub mod device;
pub mod divide;
pub mod engine;
pub mod error;
pub mod gadget;
pub mod handle;
pub mod host;
pub mod images;
pub mod interrupt;
pub mod key;
pub mod key_layout;
pub mod matrix;
pub mod memory;
pub mod operand;
pub mod parallel;
pub mod poly;
pub mod product;
pub mod product_switch;
pub mod ring;
pub mod small;
pub mod switch;
pub mod torus;
pub mod window;

mod storage;
