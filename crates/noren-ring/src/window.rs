//! The primes of a ring that elements are over, and the threads of the host: all that is known without a device.

use std::ops::Range;

use noren_math::cyclotomic::Cyclotomic;
use noren_math::kernels::rows::places::GROUP;
use noren_math::modulus::Modulus;

use crate::automorphism::Automorphism;
use crate::basis::RnsBasis;
use crate::engine::Engine;
use crate::engine::rows::stride;
use crate::error::Error;
use crate::parallel::Parallel;
use crate::poly::{Domain, Eval, Poly};

/// Memory is kept for this many polynomials over all primes: what eight rotations hold at once, with their results. Fresh
/// memory for these would take longer than to compute them.
const KEPT_POLYNOMIALS: usize = 24;

/// A window of the primes of one list, as a [`Ring`](crate::ring::Ring) or a [`Device`](crate::device::Device) knows it: the
/// cyclotomic index, the primes with their transforms, and the engine of the host. A clone is cheap.
///
/// All windows of a list share transforms and threads. A limb is named by its position in the whole list, so it keeps its
/// name through all windows.
#[derive(Debug, Clone)]
pub struct Window {
    index: Cyclotomic,
    basis: RnsBasis,
    engine: Engine,
}

impl Window {
    /// The ring of index `m` modulo the product of `moduli`; `threads` as in [`Engine::new`].
    ///
    /// # Errors
    /// As [`RnsBasis::new`] and [`Engine::new`].
    pub fn new(index: Cyclotomic, moduli: &[u64], threads: Option<usize>, parallel: Parallel) -> Result<Self, Error> {
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
        self.basis.moduli().len()
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
        self.basis.moduli().iter()
    }

    /// How many words of a row are worked on together, where `most`, a power of two, are wanted. An index that is not a
    /// power of two has whole rows alone: automorphisms do not map blocks to blocks, and rows need not be whole
    /// vectors.
    pub(crate) fn piece(&self, most: usize) -> usize {
        if self.index.is_power_of_two() { most.min(self.degree()) } else { self.degree() }
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

    /// The kernels, the threads and the memory of the host.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
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
    /// If the element lacks a limb of this ring, or is neither one of this ring nor of a [subring](Window::subring) whose words
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

    /// # Panics
    /// If the automorphism is one of another index.
    pub(crate) fn check_index(&self, automorphism: &Automorphism) {
        assert_eq!(*self.index(), automorphism.index, "the automorphism must be one of this ring");
    }
}
