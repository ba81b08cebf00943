//! How a sum over equally spaced slots is taken: in which steps, and with which keys.

use std::collections::BTreeSet;

use noren_rlwe::error::{Error, Result};

use crate::schemes::costs::RotationCosts;
use crate::schemes::slots::SlotEvaluator;

/// The steps of a sum `y[j] = sum_{i < count} x[j + i stride]`, indices modulo the slots.
///
/// The sum grows by doubling along the bits of `count`: `S_{2c} = S_c + rot(S_c, c stride)` and, at a one bit,
/// `S_{c+1} = x + rot(S_c, stride)`. Doublings in a row may be joined: c of them are one step of `2^c - 1` rotations that
/// share a decomposition and a division, `S_{2^c s} = sum_{t < 2^c} rot(S_s, t s stride)`. So M doublings take any number
/// h of steps from 1 to M, with more keys the fewer there are:
///
/// | steps of 7 doublings | 7 | 6 | 5 | 4 | 3 | 2 | 1 |
/// |---|---|---|---|---|---|---|---|
/// | keys | 7 | 8 | 9 | 10 | 13 | 22 | 127 |
///
/// # Examples
/// ```
/// use noren::circuits::trace::Unrolling;
/// use noren::schemes::clear::{ClearEvaluator, ClearVector};
///
/// let plan = Unrolling::unrolled(8, 1, 2)?;
/// assert_eq!(plan.rotations(), [1, 2, 4, 6]);
/// let x = ClearVector::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 0)?;
/// assert_eq!(plan.apply(&ClearEvaluator, &x)?.values(), [36.0; 8]);
/// # Ok::<(), noren::error::Error>(())
/// ```
/// Source: Ishimaki and Yamana, "Faster homomorphic trace-type function evaluation", IEEE Access 9, 2021, where the
/// first chunks are the shorter ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unrolling {
    steps: Vec<SumStep>,
}

/// How a sum of some terms becomes one of more terms.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SumStep {
    /// `S + sum rot(S, r)`: the terms times a power of two.
    Multiply(Vec<isize>),
    /// `x + rot(S, r)`: one term more.
    Append(isize),
}

/// Usual costs, in units of a rotation. Measured for CKKS at n = 2^15 with up to 10 limbs and 10 special primes, the work
/// that rotations share is 2 to 5 of them; a low figure asks for few keys.
const USUAL: RotationCosts =
    RotationCosts { shared: 3.0, end: 1.0, cached: 1.0, streamed: 1.0, key_bytes: 1, cache_bytes: u64::MAX };

/// The most doublings of one step: no ring has more than 2^16 slots, and a step of m doublings has `2^m - 1` rotations.
const MOST_DOUBLINGS: usize = 16;

impl Unrolling {
    /// The sum with `steps` steps for the doublings, of as equal sizes as can be, the smaller ones first.
    ///
    /// For a power of two, `2^M`, there may be 1 to M steps (0 for M = 0). Otherwise each one bit of `count` but the
    /// first ends a run of doublings, and adds a rotation by `stride`: there are as many steps as runs at least, and the
    /// longest pieces of runs are divided first. A step takes at most 16 doublings.
    ///
    /// # Errors
    /// A number of steps that there cannot be; no terms; `count * stride` beyond the range of `isize`.
    pub fn unrolled(count: usize, stride: isize, steps: usize) -> Result<Self> {
        let runs = runs(count)?;
        let (least, most) = steps_of(&runs);
        if !(least..=most).contains(&steps) {
            return Err(Error::parameter("steps", steps, format!("{least} to {most}, for a sum of {count} terms")));
        }
        if isize::try_from(count).ok().and_then(|count| count.checked_mul(stride)).is_none() {
            let needed = format!("such that {count} terms lie within 2^63 slots");
            return Err(Error::parameter("stride", stride, needed));
        }
        let mut pieces: Vec<usize> = runs.iter().map(|run| run.div_ceil(MOST_DOUBLINGS)).collect();
        for _ in least..steps {
            let longest = |&run: &usize| runs[run].div_ceil(pieces[run]);
            if let Some(run) = (0..runs.len()).rev().max_by_key(longest) {
                pieces[run] += 1;
            }
        }
        let mut sum = Self { steps: Vec::new() };
        let mut reached = stride; // c * stride, where c is the number of terms so far
        let mut bits = most;
        for (length, pieces) in runs.into_iter().zip(pieces) {
            for size in chunks(length, pieces) {
                sum.steps.push(SumStep::Multiply((1..1 << size).map(|t| t * reached).collect()));
                reached <<= size;
            }
            bits -= length;
            if count >> bits & 1 == 1 {
                sum.steps.push(SumStep::Append(stride));
                reached += stride;
            }
        }
        Ok(sum)
    }

    /// The sum that costs least among those whose keys take at most `key_memory` bytes; of equal ones that with the fewest
    /// keys.
    ///
    /// # Errors
    /// A limit below the keys of one doubling at a time, which are the fewest: the error names both; no terms.
    pub fn fastest(count: usize, stride: isize, costs: &RotationCosts, key_memory: u64) -> Result<Self> {
        let (least, most) = steps_of(&runs(count)?);
        let sums = (least..=most).rev().map(|steps| Self::unrolled(count, stride, steps));
        let sums = sums.collect::<Result<Vec<_>>>()?;
        let smallest = sums.iter().map(|sum| sum.key_bytes(costs)).min().unwrap_or(0);
        let affordable = sums.into_iter().filter(|sum| sum.key_bytes(costs) <= key_memory);
        affordable.min_by(|a, b| a.cost(costs).total_cmp(&b.cost(costs))).ok_or_else(|| {
            Error::parameter(
                "key_memory",
                format!("{key_memory} bytes"),
                format!("at least {smallest} bytes, for the keys of one doubling at a time"),
            )
        })
    }

    /// The steps of [`sum`](crate::circuits::trace::sum): the fastest for usual costs, two doublings at a time with three
    /// keys. It depends on the number of terms alone, so that keys can be asked for before there are parameters.
    ///
    /// # Panics
    /// `count` is zero, or `count * stride` beyond the range of `isize`.
    #[must_use]
    pub fn usual(count: usize, stride: isize) -> Self {
        assert!(count > 0, "a sum needs at least one term");
        Self::fastest(count, stride, &USUAL, u64::MAX).expect("any number of keys is allowed")
    }

    /// The trace to the subfield of degree `n / 2^doublings`, on ciphertexts that use all `n/2` slots: the sum over the
    /// automorphisms `X -> X^k` with `k = 1 mod 2n / 2^doublings`.
    ///
    /// Coefficients with an index divisible by `2^doublings` are multiplied by `2^doublings`, the others vanish. These
    /// k are the powers of `5^(slots / 2^doublings)`, so it is a sum of slots that lie `slots / 2^doublings` apart.
    /// A ciphertext with fewer slots lies in a smaller ring, and the same holds there.
    ///
    /// # Errors
    /// As [`unrolled`](Self::unrolled); more terms than slots.
    pub fn field_trace(slots: usize, doublings: u32, steps: usize) -> Result<Self> {
        match 1_usize.checked_shl(doublings).filter(|&count| slots.is_multiple_of(count)) {
            Some(count) => Self::unrolled(count, (slots / count).cast_signed(), steps),
            None => Err(Error::parameter(
                "doublings",
                doublings,
                format!("such that 2^doublings divides {slots}, the number of slots"),
            )),
        }
    }

    /// The number of steps that [`unrolled`](Self::unrolled) makes this sum of.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, SumStep::Multiply(_))).count()
    }

    /// The rotations for which [`apply`](Self::apply) needs keys, each once, in ascending order.
    #[must_use]
    pub fn rotations(&self) -> Vec<isize> {
        let all: BTreeSet<isize> = self.steps.iter().flat_map(SumStep::rotations).copied().collect();
        all.into_iter().collect()
    }

    /// The bytes of the keys.
    #[must_use]
    pub fn key_bytes(&self, costs: &RotationCosts) -> u64 {
        costs.bytes_of(self.rotations().len())
    }

    /// The cost of [`apply`](Self::apply), in nanoseconds.
    #[must_use]
    pub fn cost(&self, costs: &RotationCosts) -> f64 {
        let rotations = self.steps.iter().map(|step| step.rotations().len()).sum();
        costs.total(self.rows().count(), self.steps.len(), rotations, self.rotations().len())
    }

    /// The steps that take a sum each, together where they follow one another.
    fn rows(&self) -> impl Iterator<Item = &[SumStep]> {
        self.steps.chunk_by(|a, b| matches!((a, b), (SumStep::Multiply(_), SumStep::Multiply(_))))
    }

    /// The sum; no level.
    ///
    /// # Errors
    /// Keys of [`rotations`](Self::rotations) are missing: the error names them all.
    pub fn apply<E: SlotEvaluator>(&self, ev: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        ev.check_rotations(x, &self.rotations())?;
        self.rows().try_fold(x.clone(), |sum, row| match row {
            [SumStep::Append(stride)] => ev.add(x, &ev.rotate(&sum, *stride)?),
            row => ev.sum_rotations_in_turn(&sum, &row.iter().map(SumStep::rotations).collect::<Vec<_>>()),
        })
    }
}

impl SumStep {
    fn rotations(&self) -> &[isize] {
        match self {
            Self::Multiply(rotations) => rotations,
            Self::Append(stride) => std::slice::from_ref(stride),
        }
    }
}

/// The doublings that follow one another without another term between, along the bits of `count` from the second highest
/// down.
fn runs(count: usize) -> Result<Vec<usize>> {
    let Some(highest) = count.checked_ilog2() else {
        return Err(Error::Length { what: "terms of a sum", found: 0, needed: "at least 1".to_owned() });
    };
    let mut runs = Vec::new();
    let mut length = 0;
    for bit in (0..highest).rev() {
        length += 1;
        if count >> bit & 1 == 1 || bit == 0 {
            runs.push(length);
            length = 0;
        }
    }
    Ok(runs)
}

/// The fewest and the most steps that doublings in runs of these lengths take.
fn steps_of(runs: &[usize]) -> (usize, usize) {
    (runs.iter().map(|run| run.div_ceil(MOST_DOUBLINGS)).sum(), runs.iter().sum())
}

/// The sizes of `pieces` pieces of a run, the smaller ones first.
fn chunks(length: usize, pieces: usize) -> impl Iterator<Item = usize> {
    let larger = length % pieces;
    (0..pieces).map(move |piece| length / pieces + usize::from(piece >= pieces - larger))
}
