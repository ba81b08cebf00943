//! Kernels over four lanes of `f64` with fused multiply-add: for instruction sets that multiply numbers of 53 bits, but
//! not words of 64.
//!
//! A fused multiply-add gives both halves of a product of 106 bits exactly. All results are exact integers; see
//! `arithmetic.rs`.
//!
//! An instruction set is a file `lanes.rs`, the expansion of [`fma_kernels`], and a table. The functions of its lanes, on
//! vectors of `WIDTH = 4` words (`Integers`) or numbers (`Vector`), of which transforms take `SETS` times eight together:
//!
//! | function | result in each lane |
//! |---|---|
//! | `load`, `store`, `load_numbers`, `store_numbers`, `get`, `set` | words and numbers of memory, at any address |
//! | `stream`, `fence` | `store` past the caches at a multiple of the vector's bytes; orders such stores before later ones |
//! | `prefetch` | a hint: the line of the words into the nearest cache |
//! | `prefetch_far` | a hint: the row's lines into a cache for what is not needed at once |
//! | `to_bits`, `from_bits` | the bits of a number as a word, and back |
//! | `broadcast`, `splat` | one word, one number |
//! | `add_words`, `sub_words` | modulo 2^64 |
//! | `and`, `and_not`, `or`, `xor` | `a & b`, `!a & b`, `a \| b`, `a ^ b` |
//! | `above`, `equal` | all bits set where `a > b` as signed words, where `a == b`; else 0 |
//! | `shift_left`, `shift_right`, `shift_right_each` | zeros come in; counts below 64 |
//! | `add`, `sub`, `mul` | IEEE, rounded to nearest |
//! | `mul_add`, `mul_sub`, `neg_mul_add`, `neg_mul_sub` | `ab + c`, `ab - c`, `c - ab`, `-ab - c`, rounded once |
//! | `floor`, `nearest` | the floor; the nearest integer, of two the even one |
//! | `where_negative` | a where the sign bit of x is set, else b |
//! | `transpose` | rows and columns of 4 x 4 numbers exchanged |
//! | `arrange` | the words of a vector that the low two bits of each word of `order` name |
//! | `signed_16` | four numbers of 16 bits in two's complement, the first in the lowest bits, sign-extended |
//! | `unsigned_32`, `signed_32`, `signed_64` | words of memory as words; as signed numbers times a power of two, rounded once |
//! | `add_lower_32`, `add_64` | adds to words of memory, modulo `2^32` or `2^64` |

mod arithmetic;
mod conversion;
mod fft;
mod horner;
mod kernels;
mod ntt;
mod panels;
mod residues;
mod rows;
mod sums;
mod torus;

pub(super) use arithmetic::fma_arithmetic;
pub(super) use conversion::fma_conversion;
pub(super) use fft::fma_fft;
pub(super) use horner::fma_horner;
pub(super) use kernels::fma_kernels;
pub(super) use ntt::fma_ntt;
pub(super) use panels::fma_panels;
pub(super) use residues::fma_residues;
pub(super) use rows::fma_rows;
pub(super) use sums::fma_sums;
pub(super) use torus::fma_torus;
