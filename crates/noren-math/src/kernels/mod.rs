//! Row kernels: the arithmetic on whole rows of residues, one table per instruction set.
//!
//! [`Kernels`] lists the verbs. `portable.rs` says what each of them means; the other tables give
//! the same results, bit for bit, faster. A new instruction set is a folder with its table and a line in `TABLES`: the
//! table says `..portable::TABLE` for verbs that it lacks, and the macros `vector_*` and `fma_*` write verbs over its
//! vectors, given their arithmetic. All `unsafe` code of noren is here and in [`machine`](crate::machine).

use std::sync::OnceLock;

use crate::error::Error;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod chacha;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod fma;
mod gaussian;
mod multiples;
#[cfg(target_arch = "aarch64")]
mod neon;
mod normal;
mod operands;
mod panels;
pub mod places;
mod portable;
mod portable_binary;
mod portable_fft;
mod portable_horner;
mod portable_ntt;
mod portable_panels;
mod portable_torus;
mod portable_windows;
mod table;
pub mod torus;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vector_fft;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vector_horner;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vector_rows;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vector_torus;
#[cfg(target_arch = "x86_64")]
mod vector_torus_blocks;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vector_torus_halves;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vector_torus_layers;
#[cfg(target_arch = "x86_64")]
mod vector_windows;
mod verbs;
mod wide_reduction;

pub use operands::{KeyRows, MAX_TERMS, MovedProducts, WeightedRows, WeightedSum};
pub use panels::Panel;
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
