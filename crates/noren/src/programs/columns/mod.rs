//! Columns of integers and truth values, encrypted with TFHE one by one, with names and a shape.
//!
//! | room | what it holds |
//! |---|---|
//! | [`element`] | [`Element`]: what the elements of a column are |
//! | [`mod@column`] | [`Column`]: encrypted elements of one kind |
//! | [`evaluate`] | [`ColumnEvaluator`]: operations element by element |
//! | [`lookup`] | [`ColumnLookup`]: functions of elements |
//! | [`operation`] | [`Binary`], [`Unary`]: what is done with elements |
//! | [`order`] | sorting, the place of the smallest, absolute values, quotients with remainders |
//! | [`table`] | [`Layout`], [`Columns`]: several columns with their names and their shape |

pub mod column;
pub mod element;
pub mod evaluate;
pub mod lookup;
pub mod operation;
pub mod order;
mod parts;
pub mod table;
mod wire;

pub use column::{Column, Samples};
pub use element::Element;
pub use evaluate::ColumnEvaluator;
pub use lookup::ColumnLookup;
pub use operation::{Binary, Unary};
pub use table::{Columns, Layout};
