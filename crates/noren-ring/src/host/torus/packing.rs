//! Packing: LWE samples become coefficients of one GLWE sample.

use crate::host::torus::trace::{Trace, TraceScratch, divide};
use crate::torus::lwe::Lwe;
use crate::torus::polynomial::{embed_mask, rotate};

/// A GLWE sample `[k + 1, N]` whose phase has the phase of sample i of m at coefficient `i N/m`, and nothing but noise
/// elsewhere. m is a power of two.
///
/// Two samples that hold something at multiples of `2M` alone are joined to one that holds both at multiples of M, as
/// `c + X^M c' + (c - X^M c')(X^d)` with `d = N/M + 1`, twice as large; in the end the trace removes what else embedding
/// brought. All is divided by N before. It costs m - 1 automorphisms, and `log2 N/m` more. Source: Chen, Dai, Kim, Song,
/// eprint 2020/015, algorithm 2.
///
/// # Panics
/// If the number of samples is not a power of two up to N, or a sample has another dimension than that of the shape.
#[must_use]
pub fn pack(trace: &Trace, samples: &[&Lwe], scratch: &mut TraceScratch) -> Vec<u64> {
    let (shape, count) = (trace.shape(), samples.len());
    let n = shape.degree;
    assert!(count.is_power_of_two() && count <= n, "{count} samples: needs a power of two up to {n}");
    let embed = |sample: &&Lwe| {
        assert_eq!(sample.dimension(), shape.extracted(), "a sample of the shape");
        let mut words = vec![0; shape.words()];
        let (masks, body) = words.split_at_mut(shape.extracted());
        embed_mask(masks, sample.mask(), n);
        body[0] = sample.body();
        divide(&mut words, n);
        words
    };
    let mut packed: Vec<Vec<u64>> = samples.iter().map(embed).collect();
    // The last steps of the trace join, the first ones clear: the order does not matter for what is left.
    let mut step = trace.steps();
    while packed.len() > 1 {
        step -= 1;
        let (even, odd) = packed.split_at(packed.len() / 2);
        packed = even.iter().zip(odd).map(|(even, odd)| join(trace, step, even, odd, scratch)).collect();
    }
    let mut packed = packed.remove(0);
    for step in (0..step).rev() {
        trace.run(step..step + 1, &mut packed, scratch);
    }
    packed
}

/// `c + X^M c' + (c - X^M c')(X^d)`, `d = N/M + 1` for the exponent of the step.
fn join(trace: &Trace, step: usize, even: &[u64], odd: &[u64], scratch: &mut TraceScratch) -> Vec<u64> {
    let n = trace.shape().degree;
    let mut moved = vec![0; odd.len()];
    for (out, polynomial) in moved.chunks_exact_mut(n).zip(odd.chunks_exact(n)) {
        rotate(out, polynomial, 1 << step);
    }
    let difference: Vec<u64> = even.iter().zip(&moved).map(|(x, y)| x.wrapping_sub(*y)).collect();
    let mut sum: Vec<u64> = even.iter().zip(&moved).map(|(x, y)| x.wrapping_add(*y)).collect();
    trace.add_automorphism(step, &mut sum, &difference, scratch);
    sum
}
