//! The same number modulo other primes.

use std::ops::Range;

use noren_math::kernels::{Kernels, MAX_TERMS, WeightedSum};
use noren_math::modulus::Modulus;
use noren_math::ntt::table::InverseScale;

use crate::basis::RnsBasis;
use crate::engine::Engine;
use crate::poly::{Coeff, Domain, Poly};
use crate::ring::Ring;
use crate::rows::{LimbRow, Rows};

/// Coefficients that are handled at once where several rows are read side by side: 8 KiB of each.
pub(crate) const BLOCK: usize = 1 << 10;

/// For so many targets, at most, the sources are read once: as many as a kernel sums side by side. More would save less
/// than the rows that then wait to be transformed take from the caches.
pub(crate) const GROUP: usize = 4;

/// Which of the numbers that are congruent modulo the sources' product a conversion gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// `x + e Q` with x in `[0, Q)` and an unknown e in `[0, sources)`: no quotient is estimated.
    Approximate,
    /// The centred representative, in `(-Q/2, Q/2)`.
    ///
    /// How often Q fits is estimated in `f64`. For l sources the additions err by at most `2^-53` of partial sums below
    /// 1.5, .. l + 0.5 and the products by `2^-52`, together by less than `(l+3)^2 2^-54`: `2^-45` for 16 sources. Only
    /// if `|x|/Q` is that near to 1/2, x may come out as `x ± Q`; with a single source never.
    Exact,
}

/// Takes numbers from the primes of some limbs to those of others.
///
/// With `Q` the product of the sources q_i and `y_i = x (Q/q_i)^-1 mod q_i`, the sum of `y_i Q/q_i` is `x + e Q`; the
/// exact conversion subtracts `v Q` with `v = round(sum y_i/q_i)`. Source: Halevi, Polyakov, Shoup, section 2, eprint
/// 2018/117.
#[derive(Debug)]
pub struct BasisConverter {
    whole: Ring,
    targets: Range<usize>,
    plan: Plan,
}

impl BasisConverter {
    /// Prepares the conversion from the limbs `sources` to the limbs `targets` of the whole list.
    ///
    /// # Panics
    /// If `sources` is empty or repeats a limb, or a limb is not in the list.
    #[must_use]
    pub fn new(ring: &Ring, sources: &[usize], targets: Range<usize>, conversion: Conversion) -> Self {
        let whole = ring.whole();
        let plan = Plan::new(whole.basis(), sources, targets.clone(), conversion);
        Self { whole, targets, plan }
    }

    /// The numbers whose residues modulo the sources are those of `a`, modulo the targets. A limb that is a source too
    /// is copied.
    ///
    /// # Panics
    /// If `a` lacks a source.
    #[must_use]
    pub fn apply(&self, a: &Poly<Coeff>) -> Poly<Coeff> {
        let (basis, engine) = (self.whole.basis(), self.whole.engine());
        let (sources, degree) = (self.plan.sources(), self.whole.degree());
        let mut scaled = engine.unset_rows(sources.len(), degree);
        scaled.mark(a.is_secret());
        engine.pointwise(degree, scaled.rows_mut().enumerate(), |i, range, row| {
            let q = basis.modulus(sources[i]);
            engine.kernels().mul_scalar(row, &a.limb(sources[i])[range], self.plan.scales[i].factor(), q);
        });
        let mut terms: Vec<&[u64]> = scaled.rows().collect();
        let quotient = self.plan.quotient(engine, &terms, a.is_secret());
        terms.extend(quotient.rows());
        let ring = self.whole.window(self.targets.clone());
        let mut out = ring.unset(a.is_secret());
        let (copied, mut made): (Vec<LimbRow>, Vec<LimbRow>) =
            out.limbs_mut().partition(|(limb, _)| sources.contains(limb));
        copied.into_iter().for_each(|(limb, row)| row.copy_from_slice(a.limb(limb)));
        let words = made.len() * degree;
        let group = engine.group(made.len(), self.plan.group());
        engine.walk(
            words,
            made.chunks_mut(group),
            || (),
            |engine, (), rows| self.plan.convert(engine, basis, &terms, rows),
        );
        out
    }
}

/// The numbers of a conversion, for the verbs that convert on their way.
///
/// Such a verb scales each source row with [`Plan::lift`], takes the [`Plan::quotient`] of all, and then makes the rows of
/// a few targets with [`Plan::convert`] just before it uses them. That reads the sources once for each group of targets;
/// to convert a block of coefficients to all targets at once would read them from a nearer cache, but the targets, which
/// are more, would leave the cache before they are used.
#[derive(Debug)]
pub(crate) struct Plan {
    sources: Vec<usize>,
    /// The targets that are not sources, in ascending order.
    targets: Vec<usize>,
    /// `(Q/q_i)^-1 mod q_i`.
    scales: Vec<InverseScale>,
    /// `1/q_i`.
    inverses: Vec<f64>,
    /// For each target p: `Q/q_i mod p` for each source, and `-Q mod p` for the quotient of exact conversions.
    weights: Vec<Vec<u64>>,
    exact: bool,
    /// Whether scales and weights hold further factors.
    scaled: bool,
}

impl Plan {
    /// Prepares the conversion to those of the limbs `targets` that are not sources.
    ///
    /// # Panics
    /// If `sources` is empty or repeats a limb, or a limb is not in the list.
    pub(crate) fn new(
        basis: &RnsBasis,
        sources: &[usize],
        targets: impl Iterator<Item = usize>,
        conversion: Conversion,
    ) -> Self {
        Self::with_factors(basis, sources, targets, conversion, None)
    }

    /// [`Plan::new`] of an exact conversion that multiplies on its way, at no cost: what is converted is the number with the
    /// residues `x_i f_i` modulo the sources, and each target gets that number times `f`, where `f_i` and `f` are what
    /// `factor` says for the limb. Range: factors in `[0, q)`.
    ///
    /// # Panics
    /// As [`Plan::new`].
    pub(crate) fn scaled(
        basis: &RnsBasis,
        sources: &[usize],
        targets: impl Iterator<Item = usize>,
        factor: impl Fn(usize) -> u64,
    ) -> Self {
        Self::with_factors(basis, sources, targets, Conversion::Exact, Some(&factor))
    }

    fn with_factors(
        basis: &RnsBasis,
        sources: &[usize],
        targets: impl Iterator<Item = usize>,
        conversion: Conversion,
        factor: Option<&dyn Fn(usize) -> u64>,
    ) -> Self {
        assert!(!sources.is_empty(), "a conversion needs a source");
        assert!((1..sources.len()).all(|i| !sources[..i].contains(&sources[i])), "sources {sources:?} repeat a limb");
        let targets: Vec<usize> = targets.filter(|limb| !sources.contains(limb)).collect();
        let cofactor = |i: usize, q: &Modulus| {
            basis.product_mod(sources.iter().enumerate().filter(|&(j, _)| j != i).map(|(_, &limb)| limb), q)
        };
        let scale = |i: usize| {
            let q = basis.modulus(sources[i]);
            let inverse = q.inv(cofactor(i, q));
            basis.table(sources[i]).inverse_scale(factor.map_or(inverse, |factor| q.mul(inverse, factor(sources[i]))))
        };
        let exact = conversion == Conversion::Exact;
        let target_weights = |&target: &usize| {
            let p = basis.modulus(target);
            let product = basis.product_mod(sources.iter().copied(), p);
            let weights = (0..sources.len()).map(|i| cofactor(i, p)).chain(exact.then(|| p.neg(product)));
            match factor {
                Some(factor) => weights.map(|weight| p.mul(weight, factor(target))).collect(),
                None => weights.collect(),
            }
        };
        Self {
            scales: (0..sources.len()).map(scale).collect(),
            inverses: sources.iter().map(|&i| 1.0 / basis.modulus(i).value() as f64).collect(),
            weights: targets.iter().map(target_weights).collect(),
            sources: sources.to_vec(),
            targets,
            exact,
            scaled: factor.is_some(),
        }
    }

    /// The sources, in the order that was given.
    pub(crate) fn sources(&self) -> &[usize] {
        &self.sources
    }

    /// For how many targets the sources should be read once, at most: few sources stay near, and then it is better to
    /// finish each row before the next one.
    pub(crate) fn group(&self) -> usize {
        if self.sources.len() < GROUP { 1 } else { GROUP }
    }

    /// The rows of the sources.
    pub(crate) fn source_rows<'a, D: Domain>(&self, a: &'a Poly<D>) -> Vec<&'a [u64]> {
        self.sources.iter().map(|&limb| a.limb(limb)).collect()
    }

    /// Takes the row of source `i` out of the evaluation form, ready for [`Plan::convert`], in place.
    pub(crate) fn lift(&self, kernels: &Kernels, basis: &RnsBasis, i: usize, row: &mut [u64]) {
        kernels.ntt_inverse_scaled(row, basis.table(self.sources[i]), &self.scales[i]);
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
    /// If a limb is not a target of the plan.
    pub(crate) fn convert(&self, engine: &Engine, basis: &RnsBasis, terms: &[&[u64]], rows: &mut [LimbRow]) {
        engine.columns(terms[0].len(), rows, |range, rows| {
            let terms: Vec<&[u64]> = terms.iter().map(|term| &term[range.clone()]).collect();
            self.convert_range(engine.kernels(), basis, &terms, rows);
        });
    }

    /// [`Plan::convert`] for a range of coefficients.
    fn convert_range(&self, kernels: &Kernels, basis: &RnsBasis, terms: &[&[u64]], rows: &mut [LimbRow]) {
        if self.is_single() {
            return self.convert_single(kernels, basis.modulus(self.sources[0]), basis, terms[0], rows);
        }
        let mut sums: Vec<WeightedSum> = rows
            .iter_mut()
            .map(|(target, out)| {
                let i = self.targets.binary_search(target).expect("the limb is a target of the plan");
                WeightedSum { out, weights: &self.weights[i], modulus: basis.modulus(*target) }
            })
            .collect();
        if terms.len() <= MAX_TERMS {
            let (sources, counts) = terms.split_at(self.sources.len());
            kernels.weighted_sums(&mut sums, sources, counts.first().copied());
        } else {
            sums.iter_mut().for_each(|sum| weighted_sum(kernels, sum.out, terms, sum.weights, sum.modulus));
        }
    }

    /// Whether the representative is found without a product.
    fn is_single(&self) -> bool {
        self.sources.len() == 1 && !self.scaled
    }

    /// [`Plan::convert`] from one source, the prime `from`, whose representative is found without a product.
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
