//! One ring, and its views on fewer primes.

use std::ops::Range;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::kernels::places::GROUP;
use noren_math::modulus::Modulus;
use noren_math::random::Seed;
use noren_math::sample;

use crate::basis::RnsBasis;
use crate::engine::Engine;
use crate::error::Error;
use crate::parallel::Parallel;
use crate::poly::{Coeff, Domain, Eval, Poly};
use crate::rows::stride;

/// Memory is kept for this many polynomials over all primes: what eight rotations hold at once, with their results. Fresh
/// memory for these would take longer than to compute them.
const KEPT_POLYNOMIALS: usize = 24;

/// The ring `Z_Q[X]/Phi_m` for a window of the primes of one list, and the verbs on its elements. A clone is cheap.
///
/// All windows of a list share transforms, threads and memory. A limb is named by its position in the whole list, so
/// it keeps its name through all windows. Where a verb speaks of one residue for each limb, they are in the order of
/// the window.
///
/// Operands of another window than the ring's are bugs, and panic, unless a verb says that it takes larger windows.
#[derive(Debug, Clone)]
pub struct Ring {
    index: Cyclotomic,
    basis: RnsBasis,
    engine: Engine,
}

impl Ring {
    /// The ring of index `m` modulo the product of `moduli`; `threads` as in [`Engine::new`].
    ///
    /// # Errors
    /// As [`RnsBasis::new`] and [`Engine::new`].
    pub fn new(index: Cyclotomic, moduli: &[u64], threads: Option<usize>) -> Result<Self, Error> {
        Self::with_parallel(index, moduli, threads, Parallel::default())
    }

    /// [`Ring::new`] with another way to share out loops.
    ///
    /// # Errors
    /// As [`Ring::new`].
    pub fn with_parallel(
        index: Cyclotomic,
        moduli: &[u64],
        threads: Option<usize>,
        parallel: Parallel,
    ) -> Result<Self, Error> {
        let basis = RnsBasis::new(&index, moduli)?;
        let kept = KEPT_POLYNOMIALS * moduli.len() * stride(index.degree()) * size_of::<u64>();
        Ok(Self { index, basis, engine: Engine::new(threads, parallel, kept)? })
    }

    /// The same ring modulo fewer or other primes, by their positions in the whole list.
    ///
    /// # Panics
    /// If the window is empty or reaches past the list.
    #[must_use]
    pub fn window(&self, window: Range<usize>) -> Self {
        Self { index: self.index, basis: self.basis.window(window), engine: self.engine.clone() }
    }

    /// The same ring modulo all primes of the list.
    #[must_use]
    pub fn whole(&self) -> Self {
        Self { index: self.index, basis: self.basis.whole(), engine: self.engine.clone() }
    }

    /// The ring of a smaller degree modulo the same primes, on the same engine: that of the polynomials in `X^g`, as polynomials
    /// in `X`, for g times the smaller degree. Its root is the g-th power of this ring's, so that in evaluation form each word
    /// of its elements stands for g words that follow each other in this ring.
    ///
    /// # Panics
    /// If the degree is larger, or not a power of two from 8 on.
    #[must_use]
    pub fn subring(&self, degree: usize) -> Self {
        assert!(degree <= self.degree(), "a ring of degree {} has no subring of degree {degree}", self.degree());
        let index = Cyclotomic::power_of_two(degree).unwrap_or_else(|error| panic!("{error}"));
        let moduli: Vec<u64> = self.whole().moduli().map(Modulus::value).collect();
        let basis = RnsBasis::new(&index, &moduli).expect("primes with roots of a larger order");
        Self { index, basis: basis.window(self.range()), engine: self.engine.clone() }
    }

    /// The positions of the primes in the whole list.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.basis.range()
    }

    /// How many primes the modulus has.
    #[must_use]
    pub fn limbs(&self) -> usize {
        self.basis.tables().len()
    }

    /// The degree `n = phi(m)`.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.index.degree()
    }

    /// Which cyclotomic ring this is.
    #[must_use]
    pub fn index(&self) -> &Cyclotomic {
        &self.index
    }

    /// The primes of the modulus, in order.
    pub fn moduli(&self) -> impl ExactSizeIterator<Item = &Modulus> {
        self.basis.tables().iter().map(|table| table.modulus())
    }

    /// `log2 Q` in bits, the same on every machine.
    #[must_use]
    pub fn log2_modulus(&self) -> f64 {
        self.moduli().map(|q| libm::log2(q.value() as f64)).sum()
    }

    /// The primes with their transforms.
    #[must_use]
    pub fn basis(&self) -> &RnsBasis {
        &self.basis
    }

    /// What the verbs run on.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Zero.
    #[must_use]
    pub fn zero<D: Domain>(&self) -> Poly<D> {
        Poly::new(self.engine.zero_rows(self.limbs(), self.degree()), self.range().start)
    }

    /// A uniform element, read from `seed`.
    ///
    /// The limb of prime q comes from the stream `"{label}/{q}"` by [`sample::uniform`], so it is the same whatever the
    /// window and the number of threads.
    #[must_use]
    pub fn uniform(&self, seed: &Seed, label: &str) -> Poly<Eval> {
        self.build(false, |limb, row| {
            let q = self.basis.modulus(limb);
            sample::uniform(&mut seed.xof(&format!("{label}/{}", q.value())), q, row);
        })
    }

    /// The constant with these residues, one for each limb. Range: in `[0, q)`.
    ///
    /// # Panics
    /// If there is not one residue for each limb, or one is out of range.
    #[must_use]
    pub fn constant(&self, residues: &[u64]) -> Poly<Eval> {
        self.check_residues(residues);
        let start = self.range().start;
        self.build_pointwise(false, |limb, _, row| row.fill(residues[limb - start]))
    }

    /// `X^k`; the exponent counts modulo m.
    #[must_use]
    pub fn monomial(&self, k: usize) -> Poly<Eval> {
        // Phi_m = X^n + 1, so X^n = -1.
        let exponent = k % self.index.index() as usize;
        let (position, negated) =
            if exponent < self.degree() { (exponent, false) } else { (exponent - self.degree(), true) };
        let coefficients: Poly<Coeff> = self.build(false, |limb, row| {
            row.fill(0);
            row[position] = if negated { self.basis.modulus(limb).value() - 1 } else { 1 };
        });
        self.ntt(coefficients)
    }

    /// Keeps only the limbs of this ring. No word moves, and the memory of the others is held until the result is
    /// dropped: [`Ring::restrict`] makes a copy without it.
    ///
    /// # Panics
    /// If a limb of this ring is missing.
    #[must_use]
    pub fn truncate<D: Domain>(&self, mut a: Poly<D>) -> Poly<D> {
        self.check_covers(&a);
        a.rows.keep(self.range().start - a.start, self.limbs());
        a.start = self.range().start;
        a
    }

    /// A copy of the limbs of this ring.
    ///
    /// # Panics
    /// If a limb of this ring is missing.
    #[must_use]
    pub fn restrict<D: Domain>(&self, a: &Poly<D>) -> Poly<D> {
        self.check_covers(a);
        Poly::new(a.rows.copy(self.range().start - a.start, self.limbs()), self.range().start)
    }

    /// A new element, of which `write` writes each limb.
    pub(crate) fn build<D: Domain>(&self, secret: bool, write: impl Fn(usize, &mut [u64]) + Send + Sync) -> Poly<D> {
        let mut poly = self.unset(secret);
        self.update(&mut poly, write);
        poly
    }

    /// A new element, of which `write` writes ranges of limbs: words that do not depend on each other.
    pub(crate) fn build_pointwise<D: Domain>(
        &self,
        secret: bool,
        write: impl Fn(usize, Range<usize>, &mut [u64]) + Send + Sync,
    ) -> Poly<D> {
        let mut poly = self.unset(secret);
        self.update_pointwise(&mut poly, write);
        poly
    }

    /// An element that holds anything: for results that are written before they are read.
    pub(crate) fn unset<D: Domain>(&self, secret: bool) -> Poly<D> {
        let mut rows = self.engine.unset_rows(self.limbs(), self.degree());
        rows.mark(secret);
        Poly::new(rows, self.range().start)
    }

    /// Changes each limb of this ring's window.
    pub(crate) fn update<D: Domain>(&self, a: &mut Poly<D>, change: impl Fn(usize, &mut [u64]) + Send + Sync) {
        let range = self.range();
        let rows = a.limbs_mut().filter(|(limb, _)| range.contains(limb));
        self.engine.rows(self.limbs() * self.degree(), rows, |(limb, row)| change(limb, row));
    }

    /// Changes ranges of the limbs of this ring's window: words that do not depend on each other.
    pub(crate) fn update_pointwise<D: Domain>(
        &self,
        a: &mut Poly<D>,
        change: impl Fn(usize, Range<usize>, &mut [u64]) + Send + Sync,
    ) {
        let range = self.range();
        let rows = a.limbs_mut().filter(|(limb, _)| range.contains(limb));
        self.engine.pointwise(self.degree(), rows, change);
    }

    /// # Panics
    /// If the element is not over exactly this ring.
    pub(crate) fn check<D: Domain>(&self, a: &Poly<D>) {
        assert!(
            a.window() == self.range() && a.degree() == self.degree(),
            "an element over limbs {:?} of degree {} is not of the ring over limbs {:?} of degree {}",
            a.window(),
            a.degree(),
            self.range(),
            self.degree()
        );
    }

    /// # Panics
    /// If the element lacks a limb of this ring.
    pub(crate) fn check_covers<D: Domain>(&self, a: &Poly<D>) {
        let (found, needed) = (a.window(), self.range());
        assert!(
            found.start <= needed.start && needed.end <= found.end && a.degree() == self.degree(),
            "an element over limbs {found:?} of degree {} does not cover the ring over limbs {needed:?} of degree {}",
            a.degree(),
            self.degree()
        );
    }

    /// # Panics
    /// If the element lacks a limb of this ring, or is neither one of this ring nor of a [subring](Ring::subring) whose words
    /// stand for groups of them.
    pub(crate) fn check_factor(&self, a: &Poly<Eval>) {
        let (found, needed, stretch) = (a.window(), self.range(), self.degree() / a.degree());
        assert!(
            found.start <= needed.start
                && needed.end <= found.end
                && stretch * a.degree() == self.degree()
                && (stretch == 1 || stretch.is_multiple_of(GROUP)),
            "an element over limbs {found:?} of degree {} is no factor over limbs {needed:?} of degree {}",
            a.degree(),
            self.degree()
        );
    }

    /// # Panics
    /// If there is not one residue for each limb, or one is out of range.
    pub(crate) fn check_residues(&self, residues: &[u64]) {
        assert_eq!(residues.len(), self.limbs(), "there must be one residue for each limb");
        for (&residue, q) in residues.iter().zip(self.moduli()) {
            assert!(residue < q.value(), "{residue} is not a residue modulo {}", q.value());
        }
    }
}
