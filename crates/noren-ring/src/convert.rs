//! The same number modulo other primes.

use std::ops::Range;

use noren_math::kernels::{Kernels, MAX_TERMS};
use noren_math::modulus::{Modulus, ShoupFactor};

use crate::basis::RnsBasis;
use crate::poly::{Coeff, Poly};
use crate::ring::Ring;

/// Coefficients that are converted at once to all targets, so that the sources are read from a near cache each time.
pub(crate) const BLOCK: usize = 1 << 10;

/// Which of the numbers that are congruent modulo the sources' product a conversion gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// `x + e Q` with x in `[0, Q)` and an unknown e in `[0, sources)`: no quotient is estimated.
    Approximate,
    /// The centred representative, in `(-Q/2, Q/2)`.
    ///
    /// How often Q fits is estimated in `f64`, with an error below `2^-50` for up to 16 sources; so x may come out as
    /// `x ± Q` if `|x|/Q` is that near to 1/2.
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
        let mut out = Poly::new(engine.unset_rows(ring.limbs(), degree), self.targets.start);
        out.rows.mark(a.is_secret());
        let (own, others): (Vec<_>, Vec<_>) = out.limbs_mut().partition(|(limb, _)| sources.contains(limb));
        engine.run(own.len() * degree, own.into_iter(), |(limb, row)| row.copy_from_slice(a.limb(limb)));
        let count = others.len();
        let mut columns = columns(others.into_iter().map(|(_, row)| row));
        engine.run(count * degree, columns.chunks_mut(count.max(1)).enumerate(), |(block, targets)| {
            self.plan.convert(engine.kernels(), basis, |i| block_of(scaled.row(i), block), targets);
        });
        out
    }
}

/// The numbers of a conversion, for the verbs that convert on their way.
///
/// Such a verb scales each source row with [`Plan::scale`], and then calls [`Plan::convert`] for each block of
/// coefficients.
#[derive(Debug)]
pub(crate) struct Plan {
    sources: Vec<usize>,
    /// The targets that are not sources, in ascending order.
    targets: Vec<usize>,
    /// `(Q/q_i)^-1 mod q_i`.
    scales: Vec<ShoupFactor>,
    /// `1/q_i`; empty for approximate conversions.
    inverses: Vec<f64>,
    /// For each target p: `Q/q_i mod p` for each source, and `-Q mod p` for the quotient of exact conversions.
    weights: Vec<Vec<u64>>,
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
            inverses: sources.iter().filter(|_| exact).map(|&i| 1.0 / basis.modulus(i).value() as f64).collect(),
            weights: targets.iter().map(target_weights).collect(),
            sources: sources.to_vec(),
            targets,
        }
    }

    /// The sources, in the order that was given.
    pub(crate) fn sources(&self) -> &[usize] {
        &self.sources
    }

    /// Makes the residues of source `i`, in coefficient form, ready for [`Plan::convert`], in place.
    pub(crate) fn scale(&self, kernels: &Kernels, basis: &RnsBasis, i: usize, row: &mut [u64]) {
        kernels.mul_scalar_assign(row, self.scales[i], basis.modulus(self.sources[i]));
    }

    /// Converts one block of coefficients: `source(i)` is the block of scaled source `i`, `out` are the blocks of the
    /// first targets in ascending order.
    pub(crate) fn convert<'a>(
        &self,
        kernels: &Kernels,
        basis: &RnsBasis,
        source: impl Fn(usize) -> &'a [u64],
        out: &mut [&mut [u64]],
    ) {
        assert!(out.len() <= self.targets.len(), "{} targets are not in the plan", out.len());
        let Some(width) = out.first().map(|block| block.len()) else { return };
        let mut quotient = [0; BLOCK];
        let mut terms: Vec<&[u64]> = Vec::with_capacity(self.sources.len() + 1);
        for i in 0..self.sources.len() {
            terms.push(source(i));
        }
        if !self.inverses.is_empty() {
            kernels.quotients(&mut quotient[..width], &terms, &self.inverses);
            terms.push(&quotient[..width]);
        }
        for ((&target, weights), block) in self.targets.iter().zip(&self.weights).zip(out) {
            weighted_sum(kernels, block, &terms, weights, basis.modulus(target));
        }
    }
}

/// Cuts rows into blocks of [`BLOCK`] words, and lists them block by block: all rows of the first block come first.
pub(crate) fn columns<'a>(rows: impl Iterator<Item = &'a mut [u64]>) -> Vec<&'a mut [u64]> {
    let mut cut: Vec<_> = rows.map(|row| row.chunks_mut(BLOCK)).collect();
    let blocks = cut.first().map_or(0, ExactSizeIterator::len);
    let mut columns = Vec::with_capacity(blocks * cut.len());
    for _ in 0..blocks {
        columns.extend(cut.iter_mut().filter_map(Iterator::next));
    }
    columns
}

/// The words of a row that belong to a block.
pub(crate) fn block_of(row: &[u64], block: usize) -> &[u64] {
    &row[block * BLOCK..row.len().min((block + 1) * BLOCK)]
}

/// `out = sum_j rows_j * weights_j mod q` for any number of rows of at most [`BLOCK`] words. Range: rows in
/// `[0, 2^50)`, weights in `[0, q)`, out `[0, q)`.
pub(crate) fn weighted_sum(kernels: &Kernels, out: &mut [u64], rows: &[&[u64]], weights: &[u64], q: &Modulus) {
    let first = rows.len().min(MAX_TERMS);
    kernels.weighted_sum(out, &rows[..first], &weights[..first], q);
    // Only a modulus of more than 64 primes comes here.
    for (rows, weights) in rows[first..].chunks(MAX_TERMS).zip(weights[first..].chunks(MAX_TERMS)) {
        let mut part = [0; BLOCK];
        let part = &mut part[..out.len()];
        kernels.weighted_sum(part, rows, weights, q);
        kernels.add_assign(out, part, q);
    }
}
