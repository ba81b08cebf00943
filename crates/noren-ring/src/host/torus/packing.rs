//! Packing: LWE samples become coefficients of one GLWE sample.

use crate::engine::Engine;
use crate::host::torus::trace::{Trace, TraceScratch, divided};
use crate::interrupt::Steps;
use crate::torus::lwe::Lwe;
use crate::torus::polynomial::alternate;

/// How many tasks there should be for a thread: the last ones are waited for.
const TASKS: usize = 4;

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
pub fn pack(trace: &Trace, steps: usize, samples: &[Option<&Lwe>], scratch: &mut PackingScratch) -> Vec<u64> {
    let packing = Packing::new(trace, steps, samples);
    packing.finished(packing.subtree((0, 1), scratch), scratch)
}

/// [`pack`] for each group of samples. Parts of their trees are shared out to threads, so that few groups have work for all of
/// them; the words are the same.
///
/// # Panics
/// As [`pack`].
pub fn pack_each(engine: &Engine, trace: &Trace, steps: usize, groups: &[Vec<Option<&Lwe>>]) -> Vec<Vec<u64>> {
    let threads = engine.threads();
    let tasks = if threads == 1 { 1 } else { (TASKS * threads).div_ceil(groups.len().max(1)).next_power_of_two() };
    let packings: Vec<Packing> = groups.iter().map(|samples| Packing::new(trace, steps, samples)).collect();
    let mut parts: Vec<Vec<Option<Vec<u64>>>> =
        packings.iter().map(|packing| vec![None; tasks.min(packing.samples.len())]).collect();
    let progress = Steps::new(parts.iter().map(Vec::len).sum());
    let words = packings.iter().map(|packing| packing.samples.len()).sum::<usize>() * trace.shape().words();
    let trees = packings.iter().zip(&mut parts).flat_map(|(packing, parts)| {
        let count = parts.len();
        parts.iter_mut().enumerate().map(move |(first, part)| (packing, (first, count), part))
    });
    let scratch = || PackingScratch::new(trace);
    engine.run_with(words, trees, scratch, |scratch, (packing, place, part): (_, _, &mut Option<Vec<u64>>)| {
        *part = Packing::subtree(packing, place, scratch);
        progress.advance(1);
    });
    let mut packed = vec![Vec::new(); groups.len()];
    let tasks = packings.iter().zip(parts).zip(&mut packed);
    engine.run_with(words, tasks, scratch, |scratch, ((packing, parts), packed): (_, &mut Vec<u64>)| {
        *packed = packing.finished(packing.joined_parts(parts, scratch), scratch);
    });
    packed
}

/// Memory for packing; what is found there does not matter.
#[derive(Debug)]
pub struct PackingScratch {
    trace: TraceScratch,
    difference: Vec<u64>,
    /// Samples that no branch of the tree holds at the moment.
    spare: Vec<Vec<u64>>,
}

impl PackingScratch {
    /// Memory for packing by the steps of this trace.
    #[must_use]
    pub fn new(trace: &Trace) -> Self {
        Self { trace: trace.scratch(), difference: vec![0; trace.shape().words()], spare: Vec::new() }
    }

    fn sample(&mut self) -> Vec<u64> {
        self.spare.pop().unwrap_or_else(|| vec![0; self.difference.len()])
    }
}

/// Samples that are packed. All that is between the first sample and the last step has `-X` in place of X, as key switches need
/// it.
struct Packing<'a> {
    trace: &'a Trace,
    steps: usize,
    samples: &'a [Option<&'a Lwe>],
    /// The step that joins the last two halves; those before it clear.
    first: usize,
}

impl<'a> Packing<'a> {
    fn new(trace: &'a Trace, steps: usize, samples: &'a [Option<&'a Lwe>]) -> Self {
        let (most, count) = (trace.steps(), samples.len());
        assert!((1..=most).contains(&steps), "{steps} steps of {most}");
        let fits = count.is_power_of_two() && count <= 1 << steps;
        assert!(fits, "{count} samples: needs a power of two up to 2^{steps}");
        let is_of_shape = |sample: &&Lwe| sample.dimension() == trace.shape().extracted();
        assert!(samples.iter().flatten().all(is_of_shape), "samples of the shape");
        // The last steps join, the first ones clear: the order does not matter for what is left.
        Self { trace, steps, samples, first: steps - count.trailing_zeros() as usize }
    }

    /// Samples `first`, `first + stride`, `first + 2 stride`, ... in one; nothing where all are missing.
    fn subtree(&self, (first, stride): (usize, usize), scratch: &mut PackingScratch) -> Option<Vec<u64>> {
        self.joined((first, stride), self.samples.len(), scratch, &mut |i, scratch| {
            let sample = self.samples[i]?;
            let mut words = scratch.sample();
            self.embed(&mut words, sample);
            Some(words)
        })
    }

    /// All samples in one, from the subtrees of as many first samples as there are parts.
    fn joined_parts(&self, mut parts: Vec<Option<Vec<u64>>>, scratch: &mut PackingScratch) -> Option<Vec<u64>> {
        self.joined((0, 1), parts.len(), scratch, &mut |i, _| parts[i].take())
    }

    /// The joined sample, cleared by the steps that are left.
    fn finished(&self, joined: Option<Vec<u64>>, scratch: &mut PackingScratch) -> Vec<u64> {
        let Some(mut packed) = joined else { return vec![0; self.trace.shape().words()] };
        for step in (0..self.first).rev() {
            self.double(step, &mut packed, scratch);
        }
        alternate(&mut packed);
        packed
    }

    /// Leaves `first`, `first + stride`, `first + 2 stride`, ... of `count` in one. The step that joins halves has the number of those
    /// that the stride was doubled by before.
    fn joined(
        &self,
        (first, stride): (usize, usize),
        count: usize,
        scratch: &mut PackingScratch,
        leaf: &mut dyn FnMut(usize, &mut PackingScratch) -> Option<Vec<u64>>,
    ) -> Option<Vec<u64>> {
        if stride == count {
            return leaf(first, scratch);
        }
        let even = self.joined((first, 2 * stride), count, scratch, leaf);
        let odd = self.joined((first + stride, 2 * stride), count, scratch, leaf);
        let step = self.first + stride.trailing_zeros() as usize;
        match (even, odd) {
            (None, None) => None,
            (Some(mut even), None) => {
                self.double(step, &mut even, scratch);
                Some(even)
            }
            (even, Some(odd)) => {
                let even = even.unwrap_or_else(|| vec![0; odd.len()]);
                Some(self.join(step, even, odd, scratch))
            }
        }
    }

    /// The sample at coefficient 0, divided by `2^t`.
    fn embed(&self, out: &mut [u64], sample: &Lwe) {
        let shape = self.trace.shape();
        let (masks, body) = out.split_at_mut(shape.extracted());
        let divide = |word: u64| divided(word, self.steps as u32);
        for (out, mask) in masks.chunks_exact_mut(shape.degree).zip(sample.mask().chunks_exact(shape.degree)) {
            // The mask as a polynomial in 1/X: coefficient j is coefficient N - j, negated, and for odd j negated again.
            for (out, a) in out.as_chunks_mut::<2>().0.iter_mut().zip(mask.as_chunks::<2>().0.iter().rev()) {
                out[1] = divide(a[1].wrapping_neg()).wrapping_neg();
            }
            for (out, a) in out[2..].as_chunks_mut::<2>().0.iter_mut().zip(mask.as_chunks::<2>().0.iter().rev()) {
                out[0] = divide(a[0].wrapping_neg());
            }
            out[0] = divide(mask[0]);
        }
        body.fill(0);
        body[0] = divide(sample.body());
    }

    /// `c + X^M c' + (c - X^M c')(X^d)`, `d = N/M + 1` for the exponent of the step.
    fn join(&self, step: usize, mut even: Vec<u64>, odd: Vec<u64>, scratch: &mut PackingScratch) -> Vec<u64> {
        let n = self.trace.shape().degree;
        let differences = scratch.difference.chunks_exact_mut(n);
        for ((sum, difference), odd) in even.chunks_exact_mut(n).zip(differences).zip(odd.chunks_exact(n)) {
            // With `-X` for X, `X^M` is itself but for M = 1.
            turned_sums(sum, difference, odd, (1 << step, step == 0));
        }
        self.trace.add_alternate(step, &mut even, &scratch.difference, &mut scratch.trace);
        scratch.spare.push(odd);
        even
    }

    /// `c + c(X^d)`.
    fn double(&self, step: usize, sample: &mut [u64], scratch: &mut PackingScratch) {
        scratch.difference.copy_from_slice(sample);
        self.trace.add_alternate(step, sample, &scratch.difference, &mut scratch.trace);
    }
}

/// `a + X^shift b` in place of a, and the difference; with `-X^shift` if it is negative.
fn turned_sums(a: &mut [u64], difference: &mut [u64], b: &[u64], (shift, negative): (usize, bool)) {
    let (low, high) = b.split_at(b.len() - shift);
    let (wrapped, kept) = a.split_at_mut(shift);
    let (wrapped_difference, kept_difference) = difference.split_at_mut(shift);
    sums(wrapped, wrapped_difference, high, !negative);
    sums(kept, kept_difference, low, negative);
}

/// `a + b` in place of a, and `a - b`, or the other way round.
fn sums(a: &mut [u64], difference: &mut [u64], b: &[u64], negative: bool) {
    let terms = a.iter_mut().zip(difference).zip(b);
    if negative {
        terms.for_each(|((a, d), b)| (*a, *d) = (a.wrapping_sub(*b), a.wrapping_add(*b)));
    } else {
        terms.for_each(|((a, d), b)| (*a, *d) = (a.wrapping_add(*b), a.wrapping_sub(*b)));
    }
}
