//! Transforms of torus words.

use std::convert::Infallible;
use std::hint::black_box;

use noren_cli::measure::{Failure, Record, Run, time};
use noren_math::kernels::Kernels;
use noren_math::machine::aligned::AlignedVec;
use noren_math::roots::torus::TorusFft;

use crate::kernels::rows::row;

/// The degrees that are measured.
const LOG_N: std::ops::RangeInclusive<u32> = 9..=13;
/// The bits of a word.
const BITS: f64 = 64.0;
/// Words of 63 bits times 3 are rounded by `2^-53` of them, a few times in each layer.
const NEAR: u64 = 1 << 20;

/// Checks and measures both directions of one degree, if it is one of those that TFHE uses.
pub(super) fn measure(run: &Run<'_>, log_n: u32, table: &'static Kernels) -> Result<(), Failure> {
    if !LOG_N.contains(&log_n) {
        return Ok(());
    }
    let n = 1usize << log_n;
    let fft = TorusFft::new(n);
    let (words, mut out) = (row(n, u64::MAX), AlignedVec::<u64>::zeroed(n));
    let (mut spectrum, mut fixed) = (AlignedVec::zeroed(n), AlignedVec::zeroed(n));
    let right = multiplies(&fft, table, &words);
    let report = |op: &'static str, call: &mut dyn FnMut()| {
        let timing = right.then(|| {
            let Ok(timing) = time(run.seconds, 1.0, || {
                call();
                Ok::<_, Infallible>(())
            });
            timing
        });
        run.report(&Record::of_kernel(op, n, BITS, table.name(), timing))
    };
    report("torus_forward", &mut || table.torus_forward(&mut spectrum, black_box(&words[..]), 2.0 / n as f64, &fft))?;
    fixed.copy_from_slice(&spectrum);
    report("torus_inverse_add", &mut || {
        // The inverse uses the spectrum up.
        spectrum.copy_from_slice(&fixed);
        table.torus_inverse_add(black_box(&mut out[..]), &mut spectrum, &fft);
    })
}

/// Whether the product with `3 X^(N/2 + 1)` is right within the roundings of a word.
fn multiplies(fft: &TorusFft, table: &Kernels, a: &[u64]) -> bool {
    let (n, place) = (a.len(), a.len() / 2 + 1);
    let mut monomial = vec![0u64; n];
    monomial[place] = 3;
    let (mut x, mut y, mut z) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    table.torus_forward(&mut x, &monomial, 1.0, fft);
    table.torus_forward(&mut y, a, 2.0 / n as f64, fft);
    fft.mul_add_assign(&mut z, &x, &y);
    let mut out = vec![0u64; n];
    table.torus_inverse_add(&mut out, &mut z, fft);
    (0..n).all(|j| {
        let moved = if j < place { a[n + j - place].wrapping_neg() } else { a[j - place] };
        out[j].wrapping_sub(moved.wrapping_mul(3)).cast_signed().unsigned_abs() < NEAR
    })
}

#[cfg(test)]
mod tests {
    use noren_math::kernels::available;

    use super::*;

    #[test]
    fn transforms_that_are_measured_multiply() {
        for table in available() {
            for log_n in LOG_N {
                let n = 1 << log_n;
                assert!(multiplies(&TorusFft::new(n), table, &row(n, u64::MAX)), "{} 2^{log_n}", table.name());
            }
        }
    }
}
