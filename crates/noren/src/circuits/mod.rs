//! Algorithms on slots, written once for every scheme that has them.
//!
//! | file | what it computes | levels |
//! |---|---|---|
//! | [`trace`] | sums over rotations, and copies by rotations | 0 |
//! | [`terms`] | sums and products of the values of a vector | as `trace` and `product` |
//! | [`matrix`] | matrix times vector, for every vector | 1 |
//! | [`linear`] | linear maps by their diagonals: what `matrix` chooses from | 1 |
//! | [`polynomial`] | a polynomial of every slot | `ceil(log2(degree + 1))` |
//! | [`power`] | a whole power of every slot | `ceil(log2(exponent))` |
//! | [`product`] | products over rotations | `ceil(log2(factors))` |
//! | [`approx`] | any smooth function, through a polynomial | as its polynomial |
//! | [`recorder`], [`lifetimes`] | no result: what a circuit needs and costs, and what it holds | |
//! | [`renewing`] | any of these, with bootstraps where levels run out | |

pub mod approx;
pub(crate) mod basis;
mod grid;
pub mod lifetimes;
pub mod linear;
pub mod matrix;
mod paterson_stockmeyer;
pub mod polynomial;
pub mod power;
pub mod product;
pub mod recorder;
pub mod renewing;
mod tape;
pub mod terms;
pub mod trace;
