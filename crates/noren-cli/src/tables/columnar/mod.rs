//! Tables as files of Apache Parquet, and of Apache Arrow (IPC files, which are Feather of version 2): columns of numbers with
//! names. The tool has them where it is built with the feature `parquet`.

#[cfg(not(feature = "parquet"))]
mod absent;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
mod present;

#[cfg(not(feature = "parquet"))]
pub(super) use absent::{read, to_bytes};
#[cfg(feature = "parquet")]
pub(super) use present::{read, to_bytes};
