//! How large a modulus a ring of a given degree carries, by dated tables.
//!
//! | room | what it holds |
//! |---|---|
//! | [`level`] | [`Security`]: the levels |
//! | [`secret`] | [`SecretDistribution`]: how secrets are drawn |
//! | [`tables`] | the tables, and the largest modulus by them |
//! | [`mod@check`] | refuses a modulus that is too large |

pub mod check;
pub mod level;
pub mod secret;
pub mod tables;

pub use check::check;
pub use level::Security;
pub use secret::SecretDistribution;
pub use tables::{Secrets, TABLES, Table, estimate, max_log_qp};
