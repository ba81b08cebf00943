//! Switching between CKKS and TFHE: numbers of slots get exact comparisons and lookups, and come back with levels.
//!
//! On the way down slots become coefficients, whose polynomials are switched to a secret in a subring; there they fall apart
//! into samples of TFHE. On the way up results of bootstraps are packed, and coefficients become slots as a bootstrap of CKKS
//! ends: the sines of their phases. `docs/switching.md` explains both.
//!
//! | room | what it holds |
//! |---|---|
//! | `parameters` | [`Parameters`]: those of both schemes, which suit each other |
//! | `context` | [`Context`]: both schemes with their transforms; keys between their secrets |
//! | `key_file` | [`KeyFile`]: keys with the parameters of both schemes, one file that needs no other |
//! | `switch` | [`SchemeSwitch`]: down to samples, and up to slots |
//! | `samples` | [`Samples`]: values between the schemes |
//! | `readout` | [`Readout`]: how phases are read as numbers |
//! | `functions` | signs, comparisons, any function; [`Decision`] |
//! | `resolution` | [`Steps`]: how near to 0 signs are known |
//! | `signs` | signs of samples |
//! | `extremes` | [`Extreme`]: the smallest and the largest of several slots |
//! | `ranks` | ranks of several slots, and the largest of them |
//! | `law` | [`SwitchingLaw`]: the noise of both ways |
//! | `layout` | which coefficient holds which value |
//! | `variation` | [`Variation`]: what is known of a function between the numbers where it is asked |
//! | `tables` | functions as tables of bootstraps |

pub(crate) mod context;
pub(crate) mod extremes;
pub(crate) mod functions;
pub(crate) mod key_file;
pub(crate) mod law;
pub(crate) mod parameters;
pub(crate) mod readout;
pub(crate) mod resolution;
pub(crate) mod samples;
pub(crate) mod switch;
pub(crate) mod variation;

mod layout;
mod ranks;
mod signs;
mod tables;

pub use context::Context;
pub use extremes::Extreme;
pub use functions::Decision;
pub use key_file::KeyFile;
pub use law::SwitchingLaw;
pub use noren_rlwe::torus::scheme_switch::keys::{CompactSwitchKeys, SwitchKeys};
pub use noren_rlwe::torus::scheme_switch::law::SwitchLaw;
pub use noren_rlwe::torus::scheme_switch::parameters::SwitchParameters;
pub use noren_rlwe::torus::scheme_switch::spec::SwitchSpec;
pub use parameters::Parameters;
pub use readout::Readout;
pub use resolution::Steps;
pub use samples::Samples;
pub use switch::SchemeSwitch;
pub use variation::Variation;
