//! Unpacking: the coefficients of one GLWE sample become samples of their own.

use crate::host::torus::trace::{Trace, TraceScratch, divide};
use crate::torus::polynomial::rotate;

/// For the first `2^i` coefficients of a sample, or fewer, the samples `[count, k + 1, N]` whose phases have them, one each, at
/// coefficient 0, and nothing but noise elsewhere. The sample is the first one of `samples`, its other coefficients are nothing
/// but noise, and what is in the others does not matter. i is the number of steps of the trace.
///
/// All is divided by `2^i` before. A sample that holds coefficients r, `r + 2^t`, `r + 2 2^t`, ... at multiples of `2^t` becomes
/// two, `c + c(X^d)` and `X^-(2^t) (c - c(X^d))` with `d = N/2^t + 1`, which hold every second one, twice as large: one
/// automorphism for two samples, `2^i - 1` in all. Source: Angel, Chen, Laine and Setty, "PIR with compressed queries and
/// amortized query processing", 2018, algorithm 1.
///
/// # Panics
/// If there are no samples or more than `2^i`, or a length is wrong.
pub fn unpack(trace: &Trace, samples: &mut [u64], scratch: &mut TraceScratch) {
    let (shape, steps) = (trace.shape(), trace.steps());
    let (n, words) = (shape.degree, shape.words());
    let count = samples.len() / words;
    assert!(samples.len() == count * words && (1..=1 << steps).contains(&count), "{count} samples of 1 to 2^{steps}");
    divide(&mut samples[..words], 1 << steps);
    let (mut moved, mut difference) = (vec![0; words], vec![0; words]);
    for step in 0..steps {
        let held = 1 << step;
        let (low, high) = samples.split_at_mut(words * held.min(count));
        let mut high = high.chunks_exact_mut(words);
        for even in low.chunks_exact_mut(words) {
            moved.fill(0);
            trace.add_automorphism(step, &mut moved, even, scratch);
            if let Some(odd) = high.next() {
                difference.iter_mut().zip(&*even).zip(&moved).for_each(|((d, x), y)| *d = x.wrapping_sub(*y));
                for (odd, polynomial) in odd.chunks_exact_mut(n).zip(difference.chunks_exact(n)) {
                    rotate(odd, polynomial, 2 * n - held);
                }
            }
            even.iter_mut().zip(&moved).for_each(|(x, y)| *x = x.wrapping_add(*y));
        }
    }
}
