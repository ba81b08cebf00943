//! Row kernels: the arithmetic on whole rows of residues, one table per instruction set.
//!
//! [`Kernels`] lists the verbs. The rooms `rows`, `transforms`, `torus` and `random` hold, for what a verb works on, its safe
//! call and its meaning in plain Rust, which make up the table `portable`; the other tables give the same results, bit for
//! bit, faster. A new instruction set is a folder with its table and a line in `TABLES`: the table says `..portable::TABLE`
//! for verbs that it lacks, and the macros `vector_*` of these rooms and `fma_*` write verbs over its vectors, given their
//! arithmetic. All `unsafe` code of noren is here and in [`machine`](crate::machine).

use std::sync::OnceLock;

use crate::error::Error;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod call;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod fma;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
pub(crate) mod random;
pub mod rows;
mod table;
pub mod torus;
mod transforms;

pub use rows::{KeyRows, MAX_TERMS, MovedProducts, Panel, WeightedRows, WeightedSum};
pub use table::Kernels;

/// All tables, each faster than those before it.
static TABLES: &[Kernels] = &[
    portable::TABLE,
    #[cfg(target_arch = "x86_64")]
    avx2::TABLE,
    #[cfg(target_arch = "x86_64")]
    avx512::TABLE,
    #[cfg(target_arch = "aarch64")]
    neon::TABLE,
];

/// The environment variable that forces a table by its name.
const VARIABLE: &str = "NOREN_ISA";

/// The table in use: the fastest that this CPU supports, or the one that the environment variable
/// `NOREN_ISA` names. It is chosen once per process.
///
/// # Panics
/// If `NOREN_ISA` names no table that this CPU supports; [`select`] finds out without a panic.
#[must_use]
pub fn kernels() -> &'static Kernels {
    static CHOSEN: OnceLock<&'static Kernels> = OnceLock::new();
    CHOSEN.get_or_init(|| select().unwrap_or_else(|error| panic!("{error}")))
}

/// The table that [`kernels`] chooses, or why it cannot choose.
///
/// # Errors
/// [`Error::Isa`] if `NOREN_ISA` names no table that this CPU supports.
pub fn select() -> Result<&'static Kernels, Error> {
    match std::env::var_os(VARIABLE) {
        Some(name) => by_name(&name.to_string_lossy()),
        None => Ok(available().last().expect("the portable table runs everywhere")),
    }
}

/// The table called `name`, one of `portable`, `avx2`, `avx512` and `neon`.
///
/// # Errors
/// [`Error::Isa`] if there is no such table, or this CPU does not support it.
pub fn by_name(name: &str) -> Result<&'static Kernels, Error> {
    available().find(|table| table.name() == name).ok_or_else(|| Error::Isa {
        found: name.to_owned(),
        available: available().map(Kernels::name).collect::<Vec<_>>().join(", "),
    })
}

/// Whether the table in use is the fastest that this CPU supports: tests of what calls no kernel run with that one alone.
#[must_use]
pub fn is_fastest() -> bool {
    available().last().is_some_and(|fastest| std::ptr::eq(fastest, kernels()))
}

/// The tables that this CPU supports: `portable` first, the fastest last.
pub fn available() -> impl Iterator<Item = &'static Kernels> {
    TABLES.iter().filter(|table| table.is_supported())
}
