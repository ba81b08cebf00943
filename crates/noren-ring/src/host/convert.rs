//! Conversions between bases, a few rows at a time.

use noren_math::kernels::{Kernels, MAX_TERMS, WeightedRows, WeightedSum};
use noren_math::modulus::Modulus;

use crate::basis::RnsBasis;
use crate::convert::BaseConversion;
use crate::engine::Engine;
use crate::engine::rows::{LimbRow, Rows};
use crate::poly::{Domain, Poly};

/// Coefficients that are handled at once where several rows are read side by side: 8 KiB of each.
pub(crate) const BLOCK: usize = 1 << 10;

/// The number of targets for which the sources are read once: as many as a kernel sums side by side. More would save less
/// than the rows that then wait to be transformed take from the caches.
pub(crate) const GROUP: usize = 4;

impl BaseConversion {
    /// For how many targets the sources should be read once, at most: few sources stay near, and then it is better to
    /// finish each row before the next one.
    pub(crate) fn group(&self) -> usize {
        if self.sources.len() < GROUP { 1 } else { GROUP }
    }

    /// The rows of the sources.
    pub(crate) fn source_rows<'a, D: Domain>(&self, a: &'a Poly<D>) -> Vec<&'a [u64]> {
        self.sources.iter().map(|&limb| a.limb(limb)).collect()
    }

    /// Takes the row of source `i` out of the evaluation form, ready for [`BaseConversion::convert`], in place.
    pub(crate) fn lift(&self, kernels: &Kernels, basis: &RnsBasis, i: usize, row: &mut [u64]) {
        basis.transform(self.sources[i]).inverse_scaled(kernels, row, &self.scales[i]);
    }

    /// How often the sources' product fits into the sum of the scaled sources: a row, or none for a conversion from a single
    /// source that multiplies by nothing.
    pub(crate) fn quotient(&self, engine: &Engine, scaled: &[&[u64]], secret: bool) -> Rows {
        let degree = scaled[0].len();
        let mut quotient = engine.unset_rows(usize::from(!self.is_single()), degree);
        quotient.mark(secret);
        let blocks = quotient.rows_mut().flat_map(|row| row.chunks_mut(BLOCK)).enumerate();
        engine.run(scaled.len() * degree, blocks, |(block, out)| {
            let scaled: Vec<&[u64]> = scaled.iter().map(|row| block_of(row, block)).collect();
            engine.kernels().quotients(out, &scaled, &self.inverses);
        });
        quotient
    }

    /// Writes the rows of some targets, each with its limb: weighted sums of `terms`, the scaled sources and their
    /// quotient.
    ///
    /// # Panics
    /// If a limb is not a target of the conversion.
    pub(crate) fn convert(&self, engine: &Engine, basis: &RnsBasis, terms: &[&[u64]], rows: &mut [LimbRow]) {
        engine.columns(terms[0].len(), rows, |range, rows| {
            let terms: Vec<&[u64]> = terms.iter().map(|term| &term[range.clone()]).collect();
            self.convert_range(engine.kernels(), basis, &terms, rows);
        });
    }

    /// [`BaseConversion::convert`] for a range of coefficients.
    fn convert_range(&self, kernels: &Kernels, basis: &RnsBasis, terms: &[&[u64]], rows: &mut [LimbRow]) {
        if self.is_single() {
            return self.convert_single(kernels, basis.modulus(self.sources[0]), basis, terms[0], rows);
        }
        let mut sums: Vec<WeightedSum> = rows
            .iter_mut()
            .map(|(target, out)| {
                let i = self.targets.binary_search(target).expect("the limb is a target of the conversion");
                WeightedSum { out, weights: &self.weights[i], modulus: basis.modulus(*target) }
            })
            .collect();
        if terms.len() <= MAX_TERMS {
            let (sources, counts) = terms.split_at(self.sources.len());
            let below = self.sources.iter().map(|&source| basis.modulus(source).value()).max().unwrap_or(1);
            kernels.weighted_sums(&mut sums, &WeightedRows { rows: sources, below, counts: counts.first().copied() });
        } else {
            sums.iter_mut().for_each(|sum| weighted_sum(kernels, sum.out, terms, sum.weights, sum.modulus));
        }
    }

    /// [`BaseConversion::convert`] from one source, the prime `from`, whose representative is found without a product.
    fn convert_single(
        &self,
        kernels: &Kernels,
        from: &Modulus,
        basis: &RnsBasis,
        source: &[u64],
        rows: &mut [LimbRow],
    ) {
        for (target, row) in rows {
            kernels.reduce_centred(row, source, from, basis.modulus(*target));
        }
    }
}

/// The words of a row that belong to a block.
pub(crate) fn block_of(row: &[u64], block: usize) -> &[u64] {
    &row[block * BLOCK..row.len().min((block + 1) * BLOCK)]
}

/// `out = sum_j rows_j * weights_j mod q` for any number of rows. Range: rows in `[0, 2^50)`, weights in `[0, q)`, out
/// `[0, q)`.
pub(crate) fn weighted_sum(kernels: &Kernels, out: &mut [u64], rows: &[&[u64]], weights: &[u64], q: &Modulus) {
    let first = rows.len().min(MAX_TERMS);
    kernels.weighted_sum(out, &rows[..first], &weights[..first], q);
    // Only a modulus of more than 64 primes comes here.
    for (rows, weights) in rows[first..].chunks(MAX_TERMS).zip(weights[first..].chunks(MAX_TERMS)) {
        let mut part = [0; BLOCK];
        for (block, out) in out.chunks_mut(BLOCK).enumerate() {
            let (part, mut terms): (_, [&[u64]; MAX_TERMS]) = (&mut part[..out.len()], [&[]; MAX_TERMS]);
            terms.iter_mut().zip(rows).for_each(|(term, row)| *term = block_of(row, block));
            kernels.weighted_sum(part, &terms[..rows.len()], weights, q);
            kernels.add_assign(out, part, q);
        }
    }
}
