//! An element of a ring, whose type says in which form it is.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use crate::rows::Rows;

/// The form in which an element is held: [`Coeff`] or [`Eval`].
pub trait Domain: sealed::Sealed + Send + Sync + 'static {}

/// Coefficients, from the constant one up.
#[derive(Debug, Clone, Copy)]
pub struct Coeff;

/// Values at the primitive m-th roots of unity modulo each prime, in the order of
/// [`NttTable`](noren_math::ntt::table::NttTable). Only in this form elements are multiplied.
#[derive(Debug, Clone, Copy)]
pub struct Eval;

impl Domain for Coeff {}
impl Domain for Eval {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Coeff {}
    impl Sealed for super::Eval {}
}

/// An element of `Z_Q[X]/Phi_m`: shape `[limbs, degree]`, one row of residues in `[0, q)` for each prime q of Q.
///
/// Made and used by the verbs of [`Ring`](crate::ring::Ring).
#[derive(Clone)]
pub struct Poly<D: Domain> {
    pub(crate) rows: Rows,
    /// The position of the first limb's prime in the whole ring.
    pub(crate) start: usize,
    domain: PhantomData<D>,
}

impl<D: Domain> Poly<D> {
    pub(crate) fn new(rows: Rows, start: usize) -> Self {
        Self { rows, start, domain: PhantomData }
    }

    /// How many primes the modulus has.
    #[must_use]
    pub fn limbs(&self) -> usize {
        self.rows.limbs()
    }

    /// The degree of the ring.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.rows.degree()
    }

    /// The positions of the primes in the whole ring.
    #[must_use]
    pub fn window(&self) -> Range<usize> {
        self.start..self.start + self.rows.limbs()
    }

    /// Marks the words to be wiped when they are dropped. The mark stays with the element through every form, and goes
    /// over to every element that is calculated from it.
    #[must_use]
    pub fn into_secret(mut self) -> Self {
        self.rows.mark(true);
        self
    }

    /// [`Poly::into_secret`] for what is held for long: the words move to pages of their own, which the system is asked to keep in
    /// memory and out of core dumps ([`AlignedVec::guarded`](noren_math::kernels::aligned::AlignedVec::guarded)).
    #[must_use]
    pub fn into_guarded(mut self) -> Self {
        self.rows.guard();
        self
    }

    /// Takes the mark of [`Poly::into_secret`] away: for what was made with a secret and hides it, such as a key that is
    /// given to others.
    #[must_use]
    pub fn into_public(mut self) -> Self {
        self.rows.unmark();
        self
    }

    /// Whether the words are wiped when they are dropped.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.rows.is_secret()
    }

    /// The row of the prime at position `limb` of the whole ring.
    pub(crate) fn limb(&self, limb: usize) -> &[u64] {
        self.rows.row(limb - self.start)
    }

    /// The rows with the positions of their primes in the whole ring, to be written.
    pub(crate) fn limbs_mut(&mut self) -> impl Iterator<Item = (usize, &mut [u64])> {
        let start = self.start;
        self.rows.rows_mut().enumerate().map(move |(i, row)| (start + i, row))
    }

    /// The same words, read as the other form.
    pub(crate) fn into_domain<E: Domain>(self) -> Poly<E> {
        Poly::new(self.rows, self.start)
    }
}

impl<D: Domain> fmt::Debug for Poly<D> {
    /// Shows the shape only: the words may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poly").field("window", &self.window()).field("degree", &self.degree()).finish_non_exhaustive()
    }
}
