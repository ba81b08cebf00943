//! Packing: LWE samples become coefficients of one GLWE sample.

use crate::host::torus::trace::{Trace, TraceScratch, divide};
use crate::torus::lwe::Lwe;
use crate::torus::polynomial::{embed_mask, rotate};

/// A GLWE sample `[k + 1, N]` whose phase has the phase of sample i of m at coefficient `i 2^t / m`, and nothing but noise at the
/// others below `2^t`, by the first t steps of the trace. m is a power of two; samples that are missing count as 0.
///
/// With all `t = log2 N` steps these are all coefficients. With fewer, those from `2^t` on hold anything: with one step less, which
/// leaves out the automorphism of exponent 3, the upper half, so that as many samples as the lower half has take half of the
/// automorphisms.
///
/// Two samples that hold something at multiples of `2M` alone are joined to one that holds both at multiples of M, as
/// `c + X^M c' + (c - X^M c')(X^d)` with `d = N/M + 1`, twice as large; in the end the trace removes what else embedding
/// brought. All is divided by `2^t` before. It costs m - 1 automorphisms, and `t - log2 m` more; none where both samples of a join
/// are missing. Source: Chen, Dai, Kim, Song, eprint 2020/015, algorithm 2.
///
/// # Panics
/// If there are no steps, or more than the trace has, the number of samples is not a power of two up to `2^t`, or a sample has another
/// dimension than that of the shape.
#[must_use]
pub fn pack(trace: &Trace, steps: usize, samples: &[Option<&Lwe>], scratch: &mut TraceScratch) -> Vec<u64> {
    let most = trace.steps();
    assert!((1..=most).contains(&steps), "{steps} steps of {most}");
    let count = samples.len();
    assert!(count.is_power_of_two() && count <= 1 << steps, "{count} samples: needs a power of two up to 2^{steps}");
    // The last steps join, the first ones clear: the order does not matter for what is left.
    let first = steps - count.trailing_zeros() as usize;
    let mut packing = Packing { trace, steps, samples, scratch };
    let Some(mut packed) = packing.joined(0, 1, first) else { return vec![0; trace.shape().words()] };
    for step in (0..first).rev() {
        trace.run(step..step + 1, &mut packed, packing.scratch);
    }
    packed
}

/// Samples that are packed.
struct Packing<'a> {
    trace: &'a Trace,
    steps: usize,
    samples: &'a [Option<&'a Lwe>],
    scratch: &'a mut TraceScratch,
}

impl Packing<'_> {
    /// Samples `first`, `first + stride`, `first + 2 stride`, ... in one; nothing where all are missing. The halves are joined by this
    /// step, the halves of those by the next one.
    fn joined(&mut self, first: usize, stride: usize, step: usize) -> Option<Vec<u64>> {
        if stride == self.samples.len() {
            return self.samples[first].map(|sample| self.embedded(sample));
        }
        let even = self.joined(first, 2 * stride, step + 1);
        let odd = self.joined(first + stride, 2 * stride, step + 1);
        match (even, odd) {
            (None, None) => None,
            (Some(mut even), None) => {
                self.trace.run(step..step + 1, &mut even, self.scratch);
                Some(even)
            }
            (even, Some(odd)) => {
                let even = even.unwrap_or_else(|| vec![0; odd.len()]);
                Some(self.join(step, even, &odd))
            }
        }
    }

    /// The sample at coefficient 0, divided by `2^t`.
    fn embedded(&self, sample: &Lwe) -> Vec<u64> {
        let shape = self.trace.shape();
        assert_eq!(sample.dimension(), shape.extracted(), "a sample of the shape");
        let mut words = vec![0; shape.words()];
        let (masks, body) = words.split_at_mut(shape.extracted());
        embed_mask(masks, sample.mask(), shape.degree);
        body[0] = sample.body();
        divide(&mut words, 1 << self.steps);
        words
    }

    /// `c + X^M c' + (c - X^M c')(X^d)`, `d = N/M + 1` for the exponent of the step.
    fn join(&mut self, step: usize, even: Vec<u64>, odd: &[u64]) -> Vec<u64> {
        let n = self.trace.shape().degree;
        let mut sum = vec![0; odd.len()];
        for (out, polynomial) in sum.chunks_exact_mut(n).zip(odd.chunks_exact(n)) {
            rotate(out, polynomial, 1 << step);
        }
        let mut difference = even;
        for (even, moved) in difference.iter_mut().zip(&mut sum) {
            (*even, *moved) = (even.wrapping_sub(*moved), even.wrapping_add(*moved));
        }
        self.trace.add_automorphism(step, &mut sum, &difference, self.scratch);
        sum
    }
}
