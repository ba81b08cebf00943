//! Exact integers: BGV and BFV against arithmetic modulo t.

mod encoding;
mod operations;
mod refusals;
mod small;
