//! Measuring: how long operations take, warm and with checked results, in records that other libraries print too.
//!
//! `noren compare` measures each of its steps by the verb `measure`, which the help does not list, in a process of its own.
//! `noren-lab`, the program in the repository that reproduces publications, has the same suites, and more by the same means:
//! what is public here is so for it alone, and may change with it.
//!
//! | room | what it holds |
//! |---|---|
//! | `command` | the verb, and [`Suite`]: the suites of a comparison |
//! | `suites` | a suite each: chain, client, product and inner-product, tfhe, weak-client |
//! | `run` | [`Run`]: options of all suites, and where they report |
//! | `timing` | [`Timing`]: medians of samples, and how they are taken |
//! | `judge` | [`Judge`]: right or wrong |
//! | `record` | [`Record`]: a measurement as a line of JSON, or of a table |
//! | `shape` | [`Shape`]: parameters of CKKS by sizes of primes |
//! | `apart` | other processes that print records |

mod apart;
mod command;
mod judge;
mod record;
mod run;
mod shape;
mod suites;
mod timing;

pub use crate::calibrate::machine as calibrated;
pub use crate::command::{THREADS, program};
pub use crate::console::Console;
pub use crate::failure::Failure;
pub use crate::machine::{peak_rss, reset_peak_rss, threads as hardware_threads};
pub use crate::progress::{bar, set_quiet};
pub use apart::{apart, records};
pub(crate) use command::{Arguments, VERB, run};
pub use command::{Budget, Suite};
pub use judge::{Judge, drop_result, seed, values};
pub use record::Record;
pub use run::{After, Run};
pub use shape::{Shape, choose};
pub use timing::{LEAST_SAMPLES, Timing, nanoseconds, time, with_result, with_scratch_file};
