//! The classes of `noren.switching`.

pub(crate) mod keys;
pub(crate) mod parameters;
pub(crate) mod results;
pub(crate) mod switch;

mod variation;
