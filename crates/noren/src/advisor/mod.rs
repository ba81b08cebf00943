//! Which scheme, which parameters, at which price: a cost model of all schemes, and choices by it.

pub mod calibrate;
mod fit;
pub mod machine;
pub mod ring;
pub mod system;
pub mod work;
