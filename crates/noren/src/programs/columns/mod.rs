//! Columns of integers and truth values, encrypted with TFHE one by one, with names and a shape.
//!
//! | room | what it holds |
//! |---|---|
//! | `element` | [`Element`]: what the elements of a column are |
//! | `column` | [`Column`]: encrypted elements of one kind |
//! | `evaluate` | [`ColumnEvaluator`]: operations element by element |
//! | `lookup` | [`ColumnLookup`]: functions of elements |
//! | `operation` | [`Binary`], [`Unary`]: what is done with elements |
//! | `order` | sorting, the place of the smallest, absolute values, quotients with remainders |
//! | `table` | [`Layout`], [`Columns`]: several columns with their names and their shape |

pub(crate) mod column;
pub(crate) mod element;
pub(crate) mod evaluate;
pub(crate) mod lookup;
pub(crate) mod operation;
pub(crate) mod order;
mod parts;
pub(crate) mod table;
mod wire;

pub use column::{Column, Samples};
pub use element::Element;
pub use evaluate::ColumnEvaluator;
pub use lookup::ColumnLookup;
pub use operation::{Binary, Unary};
pub use table::{ColumnLayout, Columns, Layout};
