//! Fewer limbs, and one factor.

use std::borrow::Cow;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::linear;

use crate::schemes::integers::encryption::{Ciphertext, check_limbs};
use crate::schemes::integers::evaluator::Evaluator;
use crate::schemes::integers::growth::Alignment;
use crate::schemes::integers::scheme::Scheme;

impl<S: Scheme> Evaluator<S> {
    /// The same message modulo the first `limbs` primes: message and noise are divided by the others, and a rounding of
    /// standard deviation `t/Q sqrt((|s|^2 + 1)/12)` is added.
    ///
    /// # Errors
    /// [`Error::Parameters`] for no limbs or more than there are.
    pub fn mod_switch(&self, a: &Ciphertext<S>, limbs: usize) -> Result<Ciphertext<S>> {
        self.check(a)?;
        check_limbs(limbs, a.limbs())?;
        Ok(self.lowered(a, limbs)?.into_owned())
    }

    /// The same message with as few limbs as its noise needs: what every product does.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`].
    pub fn mod_switch_to_noise(&self, a: &Ciphertext<S>) -> Result<Ciphertext<S>> {
        self.check(a)?;
        self.settled(a.clone())
    }

    /// The same message with as few limbs as leave `level` multiplications.
    ///
    /// # Errors
    /// [`Error::LevelExhausted`] if fewer than `level` are left.
    pub fn at_level(&self, a: &Ciphertext<S>, level: usize) -> Result<Ciphertext<S>> {
        self.check(a)?;
        let left = a.level();
        if level > left {
            return Err(Error::LevelExhausted { needed: level, left });
        }
        Ok(self.lowered(a, self.growth().limbs_of_level(&a.state(), level))?.into_owned())
    }

    /// The ciphertext at `limbs` limbs, copied only where it has more.
    pub(super) fn lowered<'a>(&self, a: &'a Ciphertext<S>, limbs: usize) -> Result<Cow<'a, Ciphertext<S>>> {
        if a.limbs() == limbs {
            return Ok(Cow::Borrowed(a));
        }
        let inner = linear::mod_switch(self.context.rlwe(), a.inner.clone(), limbs)?;
        Ok(Cow::Owned(self.result(inner, self.growth().lowered(a.state(), limbs), a.content())))
    }

    /// The ciphertext without the limbs that its noise does not need.
    pub(super) fn settled(&self, a: Ciphertext<S>) -> Result<Ciphertext<S>> {
        let kept = self.growth().limbs_to_keep(&a.state());
        if kept == a.limbs() { Ok(a) } else { Ok(self.lowered(&a, kept)?.into_owned()) }
    }

    /// Both at the fewer of their limbs and with one factor, ready to be added.
    pub(super) fn aligned<'a>(
        &self,
        a: &'a Ciphertext<S>,
        b: &'a Ciphertext<S>,
    ) -> Result<[Cow<'a, Ciphertext<S>>; 2]> {
        self.check(a)?;
        self.check(b)?;
        let [to_a, to_b] = self.growth().alignment(&a.state(), &b.state());
        Ok([self.aligned_to(a, to_a)?, self.aligned_to(b, to_b)?])
    }

    fn aligned_to<'a>(&self, a: &'a Ciphertext<S>, to: Alignment) -> Result<Cow<'a, Ciphertext<S>>> {
        let Alignment { multiplier, limbs } = to;
        if multiplier == 1 {
            return self.lowered(a, limbs);
        }
        let factor = self.growth().multiplied_factor(a.factor, multiplier);
        let multiple = self.mul_scalar(a, multiplier)?.with_factor(factor);
        Ok(Cow::Owned(self.lowered(&multiple, limbs)?.into_owned()))
    }
}
