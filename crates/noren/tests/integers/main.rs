//! Exact integers: BGV and BFV against arithmetic modulo t.

mod cyclotomic;
mod encoding;
mod full;
mod lookup_keys;
mod operations;
mod refusals;
mod requirements;
mod small;
mod tables;
mod wire;
