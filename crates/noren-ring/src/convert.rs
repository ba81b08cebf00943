//! The same number modulo other primes.

use std::ops::Range;

use noren_math::kernels::{Kernels, MAX_TERMS};
use noren_math::modulus::{Modulus, ShoupFactor};

use crate::basis::RnsBasis;
use crate::engine::Engine;
use crate::poly::{Coeff, Domain, Poly};
use crate::ring::Ring;
use crate::rows::Rows;

/// Coefficients that are handled at once where several rows are read side by side: 8 KiB of each.
pub(crate) const BLOCK: usize = 1 << 10;

/// Coefficients that a conversion handles at once: 32 KiB of each source, so that those of a digit stay in the second
/// cache while the rows of several targets are made of them.
const NEAR_BLOCK: usize = 1 << 12;

/// For so many targets, at most, the sources are read once. More would save less than the rows that then wait to be
/// transformed take from the caches.
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
        engine.run(sources.len() * degree, scaled.rows_mut().enumerate(), |(i, row)| {
            let q = basis.modulus(sources[i]);
            engine.kernels().mul_scalar(row, a.limb(sources[i]), self.plan.scales[i], q);
        });
        let ring = self.whole.window(self.targets.clone());
        let mut terms: Vec<&[u64]> = scaled.rows().collect();
        let quotient = self.plan.quotient(engine, &terms, a.is_secret());
        terms.extend(quotient.rows());
        ring.build(a.is_secret(), |limb, row| {
            if sources.contains(&limb) {
                row.copy_from_slice(a.limb(limb));
            } else {
                self.plan.convert(engine.kernels(), basis, &terms, &mut [(limb, row)]);
            }
        })
    }
}

/// The numbers of a conversion, for the verbs that convert on their way.
///
/// Such a verb scales each source row with [`Plan::scale`], takes the [`Plan::quotient`] of all, and then makes each
/// target's row with [`Plan::convert`] just before it uses it. That reads the sources once for each target; to convert
/// a block of coefficients to all targets at once would read them from a nearer cache, but the targets, which are more,
/// would leave the cache before they are used.
#[derive(Debug)]
pub(crate) struct Plan {
    sources: Vec<usize>,
    /// The targets that are not sources, in ascending order.
    targets: Vec<usize>,
    /// `(Q/q_i)^-1 mod q_i`.
    scales: Vec<ShoupFactor>,
    /// `1/q_i`.
    inverses: Vec<f64>,
    /// For each target p: `Q/q_i mod p` for each source, and `-Q mod p` for the quotient of exact conversions.
    weights: Vec<Vec<u64>>,
    exact: bool,
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
        assert!(!sources.is_empty(), "a conversion needs a source");
        assert!((1..sources.len()).all(|i| !sources[..i].contains(&sources[i])), "sources {sources:?} repeat a limb");
        let targets: Vec<usize> = targets.filter(|limb| !sources.contains(limb)).collect();
        let cofactor = |i: usize, q: &Modulus| {
            basis.product_mod(sources.iter().enumerate().filter(|&(j, _)| j != i).map(|(_, &limb)| limb), q)
        };
        let scale = |i: usize| {
            let q = basis.modulus(sources[i]);
            q.shoup(q.inv(cofactor(i, q)))
        };
        let exact = conversion == Conversion::Exact;
        let target_weights = |&target: &usize| {
            let p = basis.modulus(target);
            let product = basis.product_mod(sources.iter().copied(), p);
            (0..sources.len()).map(|i| cofactor(i, p)).chain(exact.then(|| p.neg(product))).collect()
        };
        Self {
            scales: (0..sources.len()).map(scale).collect(),
            inverses: sources.iter().map(|&i| 1.0 / basis.modulus(i).value() as f64).collect(),
            weights: targets.iter().map(target_weights).collect(),
            sources: sources.to_vec(),
            targets,
            exact,
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

    /// Makes the residues of source `i`, in coefficient form, ready for [`Plan::convert`], in place.
    pub(crate) fn scale(&self, kernels: &Kernels, basis: &RnsBasis, i: usize, row: &mut [u64]) {
        kernels.mul_scalar_assign(row, self.scales[i], basis.modulus(self.sources[i]));
    }

    /// How often the sources' product fits into the sum of the scaled sources: one more row for an exact conversion, no
    /// row for an approximate one.
    pub(crate) fn quotient(&self, engine: &Engine, scaled: &[&[u64]], secret: bool) -> Rows {
        let degree = scaled[0].len();
        let mut quotient = engine.unset_rows(usize::from(self.exact), degree);
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
    pub(crate) fn convert(
        &self,
        kernels: &Kernels,
        basis: &RnsBasis,
        terms: &[&[u64]],
        rows: &mut [(usize, &mut [u64])],
    ) {
        let degree = terms[0].len();
        for block in 0..degree.div_ceil(NEAR_BLOCK) {
            let range = block * NEAR_BLOCK..degree.min((block + 1) * NEAR_BLOCK);
            for (target, row) in &mut *rows {
                let i = self.targets.binary_search(target).expect("the limb is a target of the plan");
                weighted_sum(
                    kernels,
                    &mut row[range.clone()],
                    terms,
                    range.start,
                    &self.weights[i],
                    basis.modulus(*target),
                );
            }
        }
    }
}

/// The words of a row that belong to a block.
pub(crate) fn block_of(row: &[u64], block: usize) -> &[u64] {
    &row[block * BLOCK..row.len().min((block + 1) * BLOCK)]
}

/// `out = sum_j rows_j * weights_j mod q` for any number of rows, of which the words from `start` on are read.
/// Range: rows in `[0, 2^50)`, weights in `[0, q)`, out `[0, q)`.
pub(crate) fn weighted_sum(
    kernels: &Kernels,
    out: &mut [u64],
    rows: &[&[u64]],
    start: usize,
    weights: &[u64],
    q: &Modulus,
) {
    let mut terms: [&[u64]; MAX_TERMS] = [&[]; MAX_TERMS];
    let first = rows.len().min(MAX_TERMS);
    kernels.weighted_sum(out, narrowed(&mut terms, &rows[..first], start, out.len()), &weights[..first], q);
    // Only a modulus of more than 64 primes comes here.
    for (rows, weights) in rows[first..].chunks(MAX_TERMS).zip(weights[first..].chunks(MAX_TERMS)) {
        let mut part = [0; BLOCK];
        for (block, out) in out.chunks_mut(BLOCK).enumerate() {
            let part = &mut part[..out.len()];
            let terms = narrowed(&mut terms, rows, start + block * BLOCK, out.len());
            kernels.weighted_sum(part, terms, weights, q);
            kernels.add_assign(out, part, q);
        }
    }
}

/// The words `start..start + length` of each row.
fn narrowed<'a, 'b>(
    terms: &'b mut [&'a [u64]; MAX_TERMS],
    rows: &[&'a [u64]],
    start: usize,
    length: usize,
) -> &'b [&'a [u64]] {
    let terms = &mut terms[..rows.len()];
    terms.iter_mut().zip(rows).for_each(|(term, row)| *term = &row[start..][..length]);
    terms
}
