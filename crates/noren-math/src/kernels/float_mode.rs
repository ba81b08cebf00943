//! The floating-point mode of the calling thread.

/// Round to nearest, no exception traps, subnormal numbers as they are: what every thread starts with.
#[cfg(target_arch = "x86_64")]
const STANDARD: u32 = 0x1f80;
/// The six bits that say which exceptions have happened, and change nothing.
#[cfg(target_arch = "x86_64")]
const FLAGS: u32 = 0x3f;

/// The standard floating-point mode, for as long as this lives.
///
/// A process can hold libraries whose loading makes threads take subnormal numbers for zero. Kernels
/// compare residues as the bits of such numbers, and their roundings must be the same everywhere, so
/// every call puts the mode right first, and back after.
pub(super) struct StandardMode {
    /// The mode to restore, if it was changed.
    #[cfg(target_arch = "x86_64")]
    found: Option<u32>,
}

impl StandardMode {
    #[inline]
    pub(super) fn enter() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let found = read();
            if found & !FLAGS == STANDARD {
                return Self { found: None };
            }
            write(STANDARD);
            Self { found: Some(found) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        Self {}
    }
}

impl Drop for StandardMode {
    #[inline]
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        if let Some(found) = self.found {
            write(found);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn read() -> u32 {
    let mut mode = 0u32;
    // SAFETY: every CPU of x86-64 has the instruction; it writes the four bytes of `mode`.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mode, options(nostack, preserves_flags)) };
    mode
}

#[cfg(target_arch = "x86_64")]
#[cold]
fn write(mode: u32) {
    // SAFETY: `mode` is the standard one or was read before, so no reserved bit is set; the instruction
    // reads the four bytes of `mode`. The compiler assumes the standard mode everywhere, so only code
    // that was called in another mode sees another one again.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack, preserves_flags)) };
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::cyclotomic::Cyclotomic;
    use crate::kernels::available;
    use crate::modulus::Modulus;
    use crate::ntt::table::NttTable;
    use crate::prime::primes_below;

    /// Subnormal numbers are taken for zero, as operands and as results.
    const ZEROING: u32 = 0x8040;

    #[test]
    fn kernels_do_not_depend_on_the_callers_mode() {
        let n = 256;
        let prime = primes_below(1 << 48, 2 * n as u64).next().expect("there are many");
        let q = Modulus::new(prime).expect("a prime below 2^50");
        let table = NttTable::new(q, &Cyclotomic::power_of_two(n).expect("a degree")).expect("q = 1 mod 2n");
        let a: Vec<u64> = (0..n as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % prime).collect();
        for kernels in available() {
            let results = |mode: u32| {
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
