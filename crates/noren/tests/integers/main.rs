//! Exact integers: BGV and BFV against arithmetic modulo t.

mod encoding;
mod full;
mod operations;
mod refusals;
mod requirements;
mod small;
mod wire;
