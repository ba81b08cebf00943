//! Slots of plaintexts modulo 2 to polynomials, with a coefficient to a bit.

use crate::binary::{pack, pack_into, part, remainder, reverse, times_binomial, truncate, unpack, window, words};
use crate::kernels::kernels;

/// The encoding of [`SlotTransform`](crate::slots::SlotTransform) for slots in `GF(2^d)`: the same sum of fractions, by a tree
/// of carry-less products of packed polynomials.
///
/// It takes `O(n^2 / 64^2)` products of words, most of them at the root, and memory for `O(n log n)` bits.
#[derive(Debug, Clone)]
pub(crate) struct BinaryEncoding {
    index: usize,
    degree: usize,
    /// The exponents t of the slots.
    representatives: Vec<u32>,
    /// The traces of `eta^k` for k below `m + d`.
    traces: Vec<u64>,
    /// The numerators of the value 1 in each slot. Shape: `[slot, word]`.
    units: Vec<u64>,
    /// The groups of denominators, from those of one slot up: each level has the products of pairs of groups of the one below.
    levels: Vec<Vec<Group>>,
    /// Those of `Phi_m`.
    binomials: Vec<(usize, bool)>,
}

/// The product of the denominators of a group, and its degree.
#[derive(Debug, Clone)]
struct Group {
    degree: usize,
    product: Vec<u64>,
}

impl BinaryEncoding {
    /// The encoding for denominators of degree d, with the traces and the exponents of [`BinaryEncoding`].
    pub(crate) fn new(
        index: usize,
        denominators: &[Vec<u64>],
        representatives: &[u32],
        traces: &[u64],
        binomials: &[(usize, bool)],
    ) -> Self {
        let degree = denominators[0].len() - 1;
        // Windows are read up to a word past the last trace.
        let mut packed = pack(traces);
        packed.resize(words(traces.len()) + 2, 0);
        // sum_i 1/(1 - x_i z) has the numerator d F - z F'.
        let unit = |denominator: &Vec<u64>| {
            let numerator = denominator[..degree].iter().enumerate().map(|(i, &f)| f & (degree - i) as u64 & 1);
            pack(&numerator.collect::<Vec<_>>())
        };
        let leaf = |denominator: &Vec<u64>| Group { degree, product: pack(denominator) };
        let mut levels = vec![denominators.iter().map(leaf).collect::<Vec<_>>()];
        while let Some(level) = levels.last().filter(|level| level.len() > 1) {
            let next = level.chunks(2).map(Group::of).collect();
            levels.push(next);
        }
        Self {
            index,
            degree,
            representatives: representatives.to_vec(),
            traces: packed,
            units: denominators.iter().flat_map(unit).collect(),
            levels,
            binomials: binomials.to_vec(),
        }
    }

    /// The polynomial with these values in its slots. Shape of the values: `[slot, coefficient]`, each 0 or 1.
    pub(crate) fn encode(&self, values: &[u64]) -> Vec<u64> {
        let (d, width) = (self.degree, words(self.degree));
        let mut numerators = vec![0; self.representatives.len() * width];
        let (mut value, mut traces) = (vec![0; width], vec![0; width]);
        let leaves = self.levels[0].iter().zip(values.chunks_exact(d)).zip(numerators.chunks_exact_mut(width));
        let mut product = vec![0; width + d / 64 + 1];
        for (&t, ((leaf, coefficients), numerator)) in self.representatives.iter().zip(leaves) {
            pack_into(&mut value, coefficients);
            // The traces of the value times eta^(k t).
            let mut start = 0;
            traces.fill(0);
            for k in 0..d {
                let masked = |(i, value): (usize, &u64)| value & window(&self.traces, start + 64 * i);
                let sum = value.iter().enumerate().map(masked).fold(0, |sum, word| sum ^ word);
                traces[k / 64] |= u64::from(sum.count_ones() & 1) << (k % 64);
                start += t as usize;
                start -= if start < self.index { 0 } else { self.index };
            }
            product.fill(0);
            kernels().add_binary_product(&mut product, &leaf.product, &traces);
            numerator.copy_from_slice(&product[..width]);
            truncate(numerator, d);
        }
        self.sum(numerators)
    }

    /// [`BinaryEncoding::encode`] for values that are numbers. Shape of the values: `[slot]`, each 0 or 1.
    pub(crate) fn encode_numbers(&self, values: &[u64]) -> Vec<u64> {
        let mut numerators = self.units.clone();
        for (unit, value) in numerators.chunks_exact_mut(words(self.degree)).zip(values) {
            unit.iter_mut().for_each(|word| *word &= value.wrapping_neg());
        }
        self.sum(numerators)
    }

    /// The polynomial of a sum of fractions, as in [`SlotTransform`](crate::slots::SlotTransform).
    fn sum(&self, mut numerators: Vec<u64>) -> Vec<u64> {
        let (m, n) = (self.index, self.representatives.len() * self.degree);
        self.add(&mut numerators);
        let mut a = reverse(&numerators, n);
        // One word more takes the top bit of the product with X.
        a.resize(words(m) + 1, 0);
        for &(step, factor) in self.binomials.iter().filter(|&&(step, _)| step < m) {
            times_binomial(&mut a, m, step, !factor);
        }
        // X a modulo X^m - 1.
        let top = a[(m - 1) / 64] >> ((m - 1) % 64) & 1;
        let mut carry = top;
        for word in &mut a {
            (*word, carry) = (*word << 1 | carry, *word >> 63);
        }
        truncate(&mut a, m);
        unpack(&remainder(&self.binomials, &a, m, n), n)
    }

    /// The numerator of the sum of all fractions, in the first words.
    fn add(&self, numerators: &mut [u64]) {
        let mut product = vec![0; numerators.len() + 2];
        for level in &self.levels {
            let (mut read, mut write) = (0, 0);
            for pair in level.chunks(2) {
                let sizes = [0, 1].map(|half| pair.get(half).map_or(0, |group| words(group.degree)));
                let total = words(pair.iter().map(|group| group.degree).sum());
                let [first, second] = [read..read + sizes[0], read + sizes[0]..read + sizes[0] + sizes[1]];
                read = second.end;
                match pair {
                    [left, right] => {
                        let product = &mut product[..sizes[0] + sizes[1] + 1];
                        product.fill(0);
                        for (part, group) in [(first, right), (second, left)] {
                            let length = part.len() + group.product.len();
                            kernels().add_binary_product(&mut product[..length], &numerators[part], &group.product);
                        }
                        numerators[write..write + total].copy_from_slice(&product[..total]);
                    }
                    _ => numerators.copy_within(first, write),
                }
                write += total;
            }
        }
    }
}

impl Group {
    /// The group of one or two groups.
    fn of(parts: &[Self]) -> Self {
        let degree = parts.iter().map(|group| group.degree).sum();
        let product = match parts {
            [left, right] => {
                let mut product = vec![0; left.product.len() + right.product.len()];
                kernels().add_binary_product(&mut product, &left.product, &right.product);
                part(&product, 0, degree + 1)
            }
            _ => parts[0].product.clone(),
        };
        Self { degree, product }
    }
}
