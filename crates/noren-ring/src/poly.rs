//! An element of a ring, whose type says in which form it is.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use crate::memory::Limbs;

/// The form in which an element is held: [`Coeff`] or [`Eval`].
pub trait Domain: Clone + sealed::Sealed + Send + Sync + 'static {}

/// Coefficients, from the constant one up.
#[derive(Debug, Clone, Copy)]
pub struct Coeff;

/// Values at the primitive m-th roots of unity modulo each prime, in the order of
/// [`NttTable`](noren_math::roots::ntt::NttTable). Only in this form elements are multiplied.
#[derive(Debug, Clone, Copy)]
pub struct Eval;

impl Domain for Coeff {}
impl Domain for Eval {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Coeff {}
    impl Sealed for super::Eval {}
}

/// An element of `Z_Q[X]/Phi_m`: shape `[limbs, degree]`, one row of residues in `[0, q)` for each prime q of Q, in the memory
/// of a [device](crate::device::Device).
///
/// Made and used by the verbs of [`Ring`](crate::ring::Ring).
#[derive(Clone)]
pub struct Poly<D: Domain> {
    limbs: Limbs,
    domain: PhantomData<D>,
}

impl<D: Domain> Poly<D> {
    /// The element with these rows, for devices: residues in `[0, q)` of the form D.
    #[must_use]
    pub fn from_limbs(limbs: Limbs) -> Self {
        Self { limbs, domain: PhantomData }
    }

    /// How many primes the modulus has.
    #[must_use]
    pub fn limbs(&self) -> usize {
        self.limbs.window().len()
    }

    /// The degree of the ring.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.limbs.degree()
    }

    /// The positions of the primes in the whole ring.
    #[must_use]
    pub fn window(&self) -> Range<usize> {
        self.limbs.window()
    }

    /// Marks the words to be wiped when they are dropped. The mark stays with the element through every form, and goes
    /// over to every element that is calculated from it.
    #[must_use]
    pub fn into_secret(mut self) -> Self {
        self.limbs.mark(true);
        self
    }

    /// [`Poly::into_secret`] for what is held for long: the words move to pages of their own, which the system is asked to keep in
    /// memory and out of core dumps ([`AlignedVec::guarded`](noren_math::machine::aligned::AlignedVec::guarded)).
    #[must_use]
    pub fn into_guarded(mut self) -> Self {
        self.limbs.guard();
        self
    }

    /// Takes the mark of [`Poly::into_secret`] away: for what was made with a secret and hides it, such as a key that is
    /// given to others.
    #[must_use]
    pub fn into_public(mut self) -> Self {
        self.limbs.unmark();
        self
    }

    /// Whether the words are wiped when they are dropped.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.limbs.is_secret()
    }

    /// The rows, for devices.
    #[must_use]
    #[inline]
    pub fn as_limbs(&self) -> &Limbs {
        &self.limbs
    }

    /// The rows to be changed, for devices.
    #[inline]
    pub fn as_limbs_mut(&mut self) -> &mut Limbs {
        &mut self.limbs
    }

    /// The rows themselves, for devices.
    #[must_use]
    pub fn into_limbs(self) -> Limbs {
        self.limbs
    }

    /// The same words, read as the other form.
    pub(crate) fn into_domain<E: Domain>(self) -> Poly<E> {
        Poly::from_limbs(self.limbs)
    }
}

impl<D: Domain> fmt::Debug for Poly<D> {
    /// Shows the shape only: the words may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poly").field("window", &self.window()).field("degree", &self.degree()).finish_non_exhaustive()
    }
}
