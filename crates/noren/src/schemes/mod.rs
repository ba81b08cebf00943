//! The schemes, and what circuits ask of them.
//!
//! | room | what it holds |
//! |---|---|
//! | [`slots`] | [`SlotEvaluator`](slots::SlotEvaluator): the contract between schemes and circuits |
//! | [`range`] | [`Range`](range::Range): where the numbers of a vector lie, as far as is known in clear |
//! | [`error`] | errors that schemes and circuits share |
//! | [`costs`] | [`RotationCosts`](costs::RotationCosts): what circuits know of a scheme's speed |
//! | [`ckks`] | approximate numbers |
//! | [`bgv`] | exact integers: products of small phases |
//! | [`bfv`] | exact integers: products that are scaled |
//! | [`integers`] | what the two schemes for exact integers have in common |
//! | [`tfhe`] | bits and small integers: a lookup in every bootstrap |
//! | [`owners`] | the identities of secret keys in files that do not state them |
//! | [`summary`] | ciphertexts in numbers, as their sections tell them without a key |
//! | [`clear`] | the same operations on numbers in clear: the oracle of circuit tests |

pub mod bfv;
pub mod bgv;
pub mod ckks;
pub mod clear;
pub mod costs;
pub mod error;
pub mod extent;
pub(crate) mod failures;
pub mod integers;
pub mod owners;
pub mod range;
pub(crate) mod side_by_side;
pub mod slots;
pub mod summary;
pub mod tfhe;
