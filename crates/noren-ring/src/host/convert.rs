//! Conversions between bases, a few rows at a time.

use std::ops::Range;

use noren_math::kernels::{Kernels, MAX_TERMS, WeightedRows, WeightedSum};
use noren_math::modulus::Modulus;

use crate::basis::RnsBasis;
use crate::convert::{BaseConversion, Conversion};
use crate::engine::Engine;
use crate::engine::rows::{LimbRow, Rows};
use crate::poly::{Coeff, Domain, Poly};
use crate::window::Window;

/// Coefficients that are handled at once where several rows are read side by side: 8 KiB of each.
pub(crate) const BLOCK: usize = 1 << 10;

/// The number of targets for which the sources are read once: as many as a kernel sums side by side. More would save less
/// than the rows that then wait to be transformed take from the caches.
pub(crate) const GROUP: usize = 4;

/// Takes numbers from the primes of some limbs to those of others.
///
/// With `Q` the product of the sources q_i and `y_i = x (Q/q_i)^-1 mod q_i`, the sum of `y_i Q/q_i` is `x + e Q`; the
/// exact conversion subtracts `v Q` with `v = round(sum y_i/q_i)`. Source: Halevi, Polyakov, Shoup, section 2, eprint
/// 2018/117.
#[derive(Debug)]
pub struct BasisConverter {
    whole: Window,
    targets: Range<usize>,
    conversion: BaseConversion,
}

impl BasisConverter {
    /// Prepares the conversion from the limbs `sources` to the limbs `targets` of the whole list.
    ///
    /// # Panics
    /// If `sources` is empty or repeats a limb, or a limb is not in the list.
    #[must_use]
    pub fn new(ring: &Window, sources: &[usize], targets: Range<usize>, conversion: Conversion) -> Self {
        let whole = ring.whole();
        let conversion = BaseConversion::new(whole.basis(), sources, targets.clone(), conversion);
        Self { whole, targets, conversion }
    }

    /// The numbers whose residues modulo the sources are those of `a`, modulo the targets. A limb that is a source too
    /// is copied.
    ///
    /// # Panics
    /// If `a` lacks a source.
    #[must_use]
    pub fn apply(&self, a: &Poly<Coeff>) -> Poly<Coeff> {
        let (basis, engine) = (self.whole.basis(), self.whole.engine());
        let (sources, degree) = (self.conversion.sources(), self.whole.degree());
        let mut scaled = engine.unset_rows(sources.len(), degree);
        scaled.mark(a.is_secret());
        engine.pointwise(degree, scaled.rows_mut().enumerate(), |i, range, row| {
            let q = basis.modulus(sources[i]);
            engine.kernels().mul_scalar(row, &a.limb(sources[i])[range], self.conversion.scales[i].factor(), q);
        });
        let mut terms: Vec<&[u64]> = scaled.rows().collect();
        let quotient = self.conversion.quotient(engine, &terms, a.is_secret());
        terms.extend(quotient.rows());
        let ring = self.whole.window(self.targets.clone());
        let mut out = ring.unset(a.is_secret());
        let (copied, mut made): (Vec<LimbRow>, Vec<LimbRow>) =
            out.limbs_mut().partition(|(limb, _)| sources.contains(limb));
        copied.into_iter().for_each(|(limb, row)| row.copy_from_slice(a.limb(limb)));
        let words = made.len() * degree;
        let group = engine.group(made.len(), self.conversion.group());
        engine.walk(
            words,
            made.chunks_mut(group),
            || (),
            |engine, (), rows| self.conversion.convert(engine, basis, &terms, rows),
        );
        out
    }
}

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

    /// How often the sources' product fits into the sum of the scaled sources: one more row for an exact conversion, unless
    /// it is from a single source and multiplies by nothing; no row for any other.
    pub(crate) fn quotient(&self, engine: &Engine, scaled: &[&[u64]], secret: bool) -> Rows {
        let degree = scaled[0].len();
        let counted = self.exact && !self.is_single();
        let mut quotient = engine.unset_rows(usize::from(counted), degree);
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
            let q = basis.modulus(*target);
            if self.exact { kernels.reduce_centred(row, source, from, q) } else { kernels.reduce(row, source, q) }
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
