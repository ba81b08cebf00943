//! Sums, and products with numbers.

use std::borrow::Cow;

use noren_ring::ring::Ring;
use noren_rlwe::ciphertext as rlwe;
use noren_rlwe::error::Result;
use noren_rlwe::linear;

use crate::schemes::integers::encryption::{Ciphertext, scaled};
use crate::schemes::integers::evaluator::{Evaluator, first};
use crate::schemes::integers::growth::sum_of_aligned;
use crate::schemes::integers::plaintext::Plaintext;
use crate::schemes::integers::scheme::Scheme;

impl<S: Scheme> Evaluator<S> {
    /// `a + b`.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`](noren_rlwe::error::Error::ParameterMismatch).
    pub fn add(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>> {
        let content = a.content().sum(b.content())?;
        let [a, b] = self.aligned(a, b)?;
        let state = sum_of_aligned(a.state(), &b.state());
        let mut inner = a.inner.clone();
        linear::add_assign(self.context.rlwe(), &mut inner, &b.inner)?;
        Ok(self.result(inner, state, content))
    }

    /// `a - b`.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub fn sub(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>> {
        let content = a.content().sum(b.content())?;
        let [a, b] = self.aligned(a, b)?;
        let state = sum_of_aligned(a.state(), &b.state());
        let mut inner = a.inner.clone();
        linear::sub_assign(self.context.rlwe(), &mut inner, &b.inner)?;
        Ok(self.result(inner, state, content))
    }

    /// `-a`.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub fn neg(&self, a: &Ciphertext<S>) -> Result<Ciphertext<S>> {
        self.check(a)?;
        let mut inner = a.inner.clone();
        linear::neg_assign(self.context.rlwe(), &mut inner);
        Ok(self.result(inner, a.state(), a.content()))
    }

    /// `a + p`.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub fn add_plain(&self, a: &Ciphertext<S>, p: &Plaintext) -> Result<Ciphertext<S>> {
        self.join_plain(a, p, linear::add_plain_assign)
    }

    /// `a - p`.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub fn sub_plain(&self, a: &Ciphertext<S>, p: &Plaintext) -> Result<Ciphertext<S>> {
        self.join_plain(a, p, linear::sub_plain_assign)
    }

    /// `a + c` in every slot, for any integer c. As a polynomial the constant has one coefficient.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub fn add_scalar(&self, a: &Ciphertext<S>, c: i64) -> Result<Ciphertext<S>> {
        self.add_residue(a, self.context.parameters().modulus().reduce(c.into()))
    }

    /// `a - c` in every slot, for any integer c.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub fn sub_scalar(&self, a: &Ciphertext<S>, c: i64) -> Result<Ciphertext<S>> {
        let modulus = self.context.parameters().modulus();
        self.add_residue(a, modulus.neg(modulus.reduce(c.into())))
    }

    /// `c a`, for any integer c. The noise is multiplied by the absolute value of c modulo t, taken in `(-t/2, t/2]`.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub fn mul_scalar(&self, a: &Ciphertext<S>, c: i64) -> Result<Ciphertext<S>> {
        self.check(a)?;
        let modulus = self.context.parameters().modulus();
        let c = modulus.center(modulus.reduce(c.into()));
        let inner = multiple(&self.ring(a.limbs()), &a.inner, c);
        Ok(self.result(inner, self.growth().multiple(a.state(), c), a.content()))
    }

    /// `constant + sum c_k x_k`.
    ///
    /// # Errors
    /// As [`Evaluator::mul_scalar`], and [`Error::Length`](noren_rlwe::error::Error::Length) for an empty sum.
    pub fn weighted_sum(&self, terms: &[(&Ciphertext<S>, i64)], constant: i64) -> Result<Ciphertext<S>> {
        let &(operand, weight) = first("terms of a weighted sum", terms)?;
        let start = self.mul_scalar(operand, weight)?;
        let sum = terms[1..].iter().try_fold(start, |sum, &(x, c)| self.add(&sum, &self.mul_scalar(x, c)?))?;
        self.add_scalar(&sum, constant)
    }

    fn add_residue(&self, a: &Ciphertext<S>, c: u64) -> Result<Ciphertext<S>> {
        self.check(a)?;
        let (parameters, modulus) = (self.context.parameters(), self.context.parameters().modulus());
        // As `scaled` does for polynomials: (Q f c + u)/t is u/t modulo Q.
        let rest = modulus.mul(modulus.mul(parameters.q_mod_t(a.limbs()), a.factor), c);
        let ring = self.ring(a.limbs());
        let rest = ring.integer_residues(modulus.center(modulus.neg(rest)).into());
        let quotient =
            |(q, rest): (&noren_math::modulus::Modulus, &u64)| q.mul(*rest, q.inv(q.reduce(modulus.value())));
        let residues: Vec<_> = ring.moduli().zip(&rest).map(quotient).collect();
        let mut inner = a.inner.clone();
        ring.add_constant_assign(&mut inner.parts_mut()[0], &residues);
        Ok(self.result(inner, self.growth().with_addend(a.state()), a.content()))
    }

    fn join_plain(
        &self,
        a: &Ciphertext<S>,
        p: &Plaintext,
        op: impl Fn(&noren_rlwe::context::Context, &mut rlwe::Ciphertext, &rlwe::Plaintext) -> Result<()>,
    ) -> Result<Ciphertext<S>> {
        self.check(a)?;
        self.check_plain(p)?;
        let content = a.content().sum(p.content())?;
        let made = || Cow::Owned(rlwe::Plaintext { poly: scaled(&self.context, &p.coefficients, a.factor, a.limbs()) });
        let addend = p.addend(a.factor, a.limbs()).map_or_else(made, Cow::Borrowed);
        let mut inner = a.inner.clone();
        op(self.context.rlwe(), &mut inner, &addend)?;
        Ok(self.result(inner, self.growth().with_addend(a.state()), content))
    }
}

/// An integer times every part.
fn multiple(ring: &Ring, a: &rlwe::Ciphertext, w: i64) -> rlwe::Ciphertext {
    rlwe::Ciphertext::new(a.parts().iter().map(|part| ring.mul_integer(part, w)).collect(), a.key_id())
}
