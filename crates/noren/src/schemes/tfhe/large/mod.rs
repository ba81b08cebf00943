//! Functions of many digits, by one bootstrap or by circuit bootstrapping: whichever is cheaper.
//!
//! | room | what it holds |
//! |---|---|
//! | [`digits`] | the digits of circuit bootstrapping for a set of parameters |
//! | [`lookup`] | [`LargeLookup`](lookup::LargeLookup): the function as tables, with its cost, noise and failures |
//! | [`evaluate`] | `Evaluator::{lookup_large, lookup_large_each}` |

pub mod digits;
pub mod evaluate;
pub mod lookup;
