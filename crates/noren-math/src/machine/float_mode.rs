//! The floating-point mode of the calling thread.

use control::{FLAGS, STANDARD, read, write};

/// The standard floating-point mode, for as long as this lives.
///
/// A process can hold libraries whose loading makes threads take subnormal numbers for zero. Kernels
/// compare residues as the bits of such numbers, and their roundings must be the same everywhere, so
/// every call puts the mode right first, and back after.
pub(crate) struct StandardMode {
    /// The mode to restore, if it was changed.
    found: Option<control::Mode>,
}

impl StandardMode {
    #[inline]
    pub(crate) fn enter() -> Self {
        let found = read();
        if found & !FLAGS == STANDARD {
            return Self { found: None };
        }
        write(STANDARD);
        Self { found: Some(found) }
    }
}

impl Drop for StandardMode {
    #[inline]
    fn drop(&mut self) {
        if let Some(found) = self.found {
            write(found);
        }
    }
}

/// The register MXCSR.
#[cfg(target_arch = "x86_64")]
mod control {
    pub(super) type Mode = u32;

    /// Round to nearest, no exception traps, subnormal numbers as they are: what every thread starts with.
    pub(super) const STANDARD: Mode = 0x1f80;
    /// The six bits that say which exceptions have happened, and change nothing.
    pub(super) const FLAGS: Mode = 0x3f;
    /// Subnormal numbers are taken for zero, as operands and as results.
    #[cfg(test)]
    pub(super) const ZEROING: Mode = 0x8040;

    #[inline]
    pub(super) fn read() -> Mode {
        let mut mode = 0;
        // SAFETY: every CPU of x86-64 has the instruction; it writes the four bytes of `mode`.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mode, options(nostack, preserves_flags)) };
        mode
    }

    #[cold]
    pub(super) fn write(mode: Mode) {
        // SAFETY: `mode` is the standard one or was read before, so no reserved bit is set; the instruction
        // reads the four bytes of `mode`. The compiler assumes the standard mode everywhere, so only code
        // that was called in another mode sees another one again.
        unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack, preserves_flags)) };
    }
}

/// The register FPCR.
#[cfg(target_arch = "aarch64")]
mod control {
    pub(super) type Mode = u64;

    /// Round to nearest, no exception traps, subnormal numbers as they are: what every thread starts with.
    pub(super) const STANDARD: Mode = 0;
    /// None: exceptions that have happened stand in another register.
    pub(super) const FLAGS: Mode = 0;
    /// Subnormal numbers are taken for zero.
    #[cfg(test)]
    pub(super) const ZEROING: Mode = 1 << 24;

    #[inline]
    pub(super) fn read() -> Mode {
        let mode;
        // SAFETY: every CPU of AArch64 with floating-point numbers, which the target has, lets programs read the register.
        unsafe { std::arch::asm!("mrs {}, fpcr", out(reg) mode, options(nostack, preserves_flags)) };
        mode
    }

    #[cold]
    pub(super) fn write(mode: Mode) {
        // SAFETY: `mode` is the standard one or was read before, so no reserved bit is set. The compiler assumes the
        // standard mode everywhere, so only code that was called in another mode sees another one again.
        unsafe { std::arch::asm!("msr fpcr, {}", in(reg) mode, options(nostack, preserves_flags)) };
    }
}

/// No register that programs change is known.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod control {
    pub(super) type Mode = u8;
    pub(super) const STANDARD: Mode = 0;
    pub(super) const FLAGS: Mode = 0;
    #[cfg(test)]
    pub(super) const ZEROING: Mode = 0;

    pub(super) fn read() -> Mode {
        STANDARD
    }

    pub(super) fn write(_: Mode) {}
}

#[cfg(test)]
mod tests {
    use super::control::ZEROING;
    use super::*;
    use crate::cyclotomic::Cyclotomic;
    use crate::kernels::available;
    use crate::modulus::Modulus;
    use crate::prime::primes_below;
    use crate::roots::ntt::NttTable;

    #[test]
    fn kernels_do_not_depend_on_the_callers_mode() {
        let n = 256;
        let prime = primes_below(1 << 48, 2 * n as u64).next().expect("there are many");
        let q = Modulus::new(prime).expect("a prime below 2^50");
        let table = NttTable::new(q, &Cyclotomic::power_of_two(n).expect("a degree")).expect("q = 1 mod 2n");
        let a: Vec<u64> = (0..n as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % prime).collect();
        for kernels in available() {
            let results = |mode| {
                let (mut sum, mut row) = (vec![0; n], a.clone());
                write(mode);
                kernels.add(&mut sum, &a, &a, &q);
                kernels.ntt_forward(&mut row, &table);
                let after = read() & !FLAGS;
                write(STANDARD);
                assert_eq!(after, mode, "{}: the mode is put back", kernels.name());
                (sum, row)
            };
            assert_eq!(results(STANDARD | ZEROING), results(STANDARD), "{}", kernels.name());
        }
    }
}
