//! Memory, mapped files and the floating-point mode of the machine.
//!
//! With the kernels, the only `unsafe` code of noren.

pub mod aligned;
mod allocator;
#[cfg(all(
    any(target_os = "linux", target_os = "android", target_vendor = "apple"),
    target_endian = "little",
    target_pointer_width = "64"
))]
mod bus_error;
pub(crate) mod float_mode;
pub mod mapped;
pub mod memory;
mod pages;
