//! `noren-lab`: benchmarks that reproduce publications, or serve those who work on noren.
//!
//! They are measured, checked and reported as those of `noren compare` are, which this program has too.
//!
//! | room | what it holds |
//! |---|---|
//! | `command` | arguments, threads, exit codes |
//! | `bench` | the verb, and all suites |
//! | `beside` | other libraries in the same run |
//! | `shapes` | parameters of CKKS that suites measure |
//! | `turns` | operations that are compared take turns |
//! | `sharing` | the option `--parallel` |
//! | `kernels`, `fused` | arithmetic of rows |
//! | `ckks`, `trace`, `matvec`, `cyclotomic` | operations of ciphertexts |
//! | `bootstrap`, `rns_heaan`, `switching`, `lookup` | what is built of them |
//! | `parallel` | ways to share out loops, against threads and levels |
//! | `advise` | workloads beside the times that `noren advise` predicts |

#![forbid(unsafe_code)]

mod advise;
mod bench;
mod beside;
mod bootstrap;
mod ckks;
mod command;
mod cyclotomic;
mod fused;
mod kernels;
mod lookup;
mod matvec;
mod parallel;
mod rns_heaan;
mod shapes;
mod sharing;
mod switching;
mod trace;
mod turns;

use std::process::ExitCode;

use noren::memory::Allocator;

/// Memory that cannot be had is a refusal too.
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> ExitCode {
    ExitCode::from(command::run(std::env::args_os()))
}
