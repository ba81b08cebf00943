//! Fewer limbs, and one factor.

use std::borrow::Cow;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::linear;

use crate::schemes::integers::encryption::{Ciphertext, check_limbs};
use crate::schemes::integers::evaluator::Evaluator;
use crate::schemes::integers::modulus::PlaintextModulus;
use crate::schemes::integers::scheme::{Scheme, depth};

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
        let laws = self.context.parameters().laws();
        let suffice = |&limbs: &usize| {
            let noise = a.noise.with(&laws.rounding(limbs));
            laws.budget(&noise) >= 0.0 && depth::<S>(laws, &noise, limbs) >= level
        };
        let limbs = (1..a.limbs()).find(suffice).unwrap_or(a.limbs());
        Ok(self.lowered(a, limbs)?.into_owned())
    }

    /// The ciphertext at `limbs` limbs, copied only where it has more.
    pub(super) fn lowered<'a>(&self, a: &'a Ciphertext<S>, limbs: usize) -> Result<Cow<'a, Ciphertext<S>>> {
        if a.limbs() == limbs {
            return Ok(Cow::Borrowed(a));
        }
        let inner = linear::mod_switch(self.context.rlwe(), a.inner.clone(), limbs)?;
        let noise = a.noise.with(&self.context.parameters().laws().rounding(limbs));
        Ok(Cow::Owned(self.result(inner, a.factor, noise, a.content())))
    }

    /// The ciphertext without the limbs that its noise does not need.
    pub(super) fn settled(&self, a: Ciphertext<S>) -> Result<Ciphertext<S>> {
        let laws = self.context.parameters().laws();
        let kept = S::limbs_to_keep(laws, &a.noise, a.limbs());
        if kept == a.limbs() { Ok(a) } else { Ok(self.lowered(&a, kept)?.into_owned()) }
    }

    /// Both at the fewer of their limbs.
    pub(super) fn level_pair<'a>(
        &self,
        a: &'a Ciphertext<S>,
        b: &'a Ciphertext<S>,
    ) -> Result<[Cow<'a, Ciphertext<S>>; 2]> {
        self.check(a)?;
        self.check(b)?;
        let limbs = a.limbs().min(b.limbs());
        Ok([self.lowered(a, limbs)?, self.lowered(b, limbs)?])
    }

    /// Both at the fewer of their limbs and with one factor, ready to be added.
    ///
    /// An operand that drops limbs takes the factor of the other one before: the division makes up for what the
    /// multiplication adds to its noise. Where no limbs are dropped, both are multiplied by small numbers.
    pub(super) fn aligned<'a>(
        &self,
        a: &'a Ciphertext<S>,
        b: &'a Ciphertext<S>,
    ) -> Result<[Cow<'a, Ciphertext<S>>; 2]> {
        self.check(a)?;
        self.check(b)?;
        if a.factor == b.factor {
            return self.level_pair(a, b);
        }
        let modulus = self.context.parameters().modulus();
        let ratio = |to: u64, from: u64| modulus.center(modulus.mul(to, modulus.inv(from)));
        let limbs = a.limbs().min(b.limbs());
        if a.limbs() > limbs {
            let a = self.multiple(a, ratio(b.factor, a.factor))?;
            return Ok([Cow::Owned(self.lowered(&a, limbs)?.into_owned()), Cow::Borrowed(b)]);
        }
        if b.limbs() > limbs {
            let b = self.multiple(b, ratio(a.factor, b.factor))?;
            return Ok([Cow::Borrowed(a), Cow::Owned(self.lowered(&b, limbs)?.into_owned())]);
        }
        let lead = a.noise.log2_std() - b.noise.log2_std();
        let [x, y] = balanced(modulus, modulus.mul(a.factor, modulus.inv(b.factor)), lead);
        Ok([Cow::Owned(self.multiple(a, x)?), Cow::Owned(self.multiple(b, y)?)])
    }

    /// `w a`, read as the same message with another factor: `w f`. w is a unit modulo t.
    fn multiple(&self, a: &Ciphertext<S>, w: i64) -> Result<Ciphertext<S>> {
        let modulus = self.context.parameters().modulus();
        let scaled = self.mul_scalar(a, w)?;
        Ok(scaled.with_factor(modulus.mul(a.factor, modulus.reduce(w.into()))))
    }
}

/// `[x, y]` with `y = r x mod t`, x a unit modulo t and r one, so that the larger of `2^lead |x|` and `|y|` is small: about
/// `sqrt(2^lead t)`.
///
/// The remainders of Euclid's algorithm for t and r are such multiples of r.
fn balanced(modulus: PlaintextModulus, r: u64, lead: f64) -> [i64; 2] {
    let t = modulus.value().cast_signed();
    let cost = |[x, y]: [i64; 2]| (libm::exp2(lead) * x.abs() as f64).max(y.abs() as f64);
    let (mut rest, mut multiple) = ([t, r.cast_signed()], [0i64, 1]);
    let mut best = [1, modulus.center(r)];
    while rest[1] != 0 {
        let pair = [multiple[1], rest[1]];
        if modulus.is_unit(multiple[1].unsigned_abs()) && cost(pair) < cost(best) {
            best = pair;
        }
        let quotient = rest[0] / rest[1];
        rest = [rest[1], rest[0] - quotient * rest[1]];
        multiple = [multiple[1], multiple[0] - quotient * multiple[1]];
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balanced_pairs_have_the_ratio_and_are_small() {
        for t in [17, 256, 65537, 1 << 40, (1 << 45) + 59] {
            let modulus = PlaintextModulus::new(t).expect("supported");
            for r in [1, 3, 5, 7, 11, 13, t / 2 + u64::from(t % 4 == 2) * 2, t - 2, t - 1] {
                if !modulus.is_unit(r) {
                    continue;
                }
                for lead in [0.0, 5.0, -5.0] {
                    let [x, y] = balanced(modulus, r, lead);
                    assert_eq!(modulus.mul(r, modulus.reduce(x.into())), modulus.reduce(y.into()), "{r} modulo {t}");
                    assert!(modulus.is_unit(x.unsigned_abs()));
                }
                let [x, y] = balanced(modulus, r, 0.0);
                // Of a prime every multiple is a unit, and the remainders pass the root of t.
                let bound = if t % 2 == 0 { t as f64 } else { 2.0 * (t as f64).sqrt() };
                assert!(x.abs().max(y.abs()) as f64 <= bound, "{r} modulo {t}: {x} {y}");
            }
        }
    }
}
