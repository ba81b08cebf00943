//! An evaluator that renews vectors where levels run out: the placement of bootstraps.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use noren_rlwe::error::Result;

use crate::circuits::recorder::{Blank, Recorder};
use crate::schemes::extent::Extent;
use crate::schemes::slots::{Bounds, GiantStep, Scalar, SlotEvaluator};

/// New levels for the vectors of an evaluator: bootstraps, or their model.
pub(crate) trait Renewal<E: SlotEvaluator>: Sync {
    /// How many products can follow one another on a vector.
    fn left(&self, ev: &E, x: &E::Ciphertext) -> usize;

    /// How many products can follow one another on a vector that was renewed.
    fn most(&self) -> usize;

    /// The same vector with as many levels as there are.
    ///
    /// # Errors
    /// A vector that may be outside of what is renewed.
    fn renew(&self, ev: &E, x: &E::Ciphertext) -> Result<E::Ciphertext>;
}

/// An evaluator whose levels do not end.
///
/// The placement of bootstraps is its rule. A vector is renewed before a product that needs a level which the vector does not
/// have, and not before; a polynomial whose depth fits between two bootstraps asks for all its levels at once. A vector is renewed
/// once: whatever uses it later uses the renewed one, sums too, whose results would otherwise be as low as it was. The same rule
/// runs on a recorder, a noise model and ciphertexts, so that what is planned is what happens; products are therefore made one
/// after the other, each by all threads.
pub(crate) struct Renewing<'a, E, R> {
    ev: &'a E,
    renewal: &'a R,
}

/// A vector, and the same renewed, once that was needed.
pub(crate) struct Renewable<C> {
    own: C,
    renewed: Arc<OnceLock<C>>,
}

impl<C: Clone> Clone for Renewable<C> {
    fn clone(&self) -> Self {
        Self { own: self.own.clone(), renewed: self.renewed.clone() }
    }
}

impl<C> From<C> for Renewable<C> {
    fn from(own: C) -> Self {
        Self { own, renewed: Arc::default() }
    }
}

impl<C> Renewable<C> {
    /// The vector with most levels that there is.
    pub(crate) fn best(&self) -> &C {
        self.renewed.get().unwrap_or(&self.own)
    }
}

impl<'a, E: SlotEvaluator, R: Renewal<E>> Renewing<'a, E, R> {
    pub(crate) const fn new(ev: &'a E, renewal: &'a R) -> Self {
        Self { ev, renewal }
    }

    /// The vector with this many levels, or as many as there are.
    fn ready<'b>(&self, x: &'b Renewable<E::Ciphertext>, levels: usize) -> Result<&'b E::Ciphertext> {
        let best = x.best();
        if levels == 0 || self.renewal.left(self.ev, best) >= levels.min(self.renewal.most()) {
            return Ok(best);
        }
        let renewed = self.renewal.renew(self.ev, best)?;
        Ok(x.renewed.get_or_init(|| renewed))
    }

    /// All of them with a level, at the lowest level of any.
    fn level<'b>(&self, all: impl Iterator<Item = &'b Renewable<E::Ciphertext>>) -> Result<Vec<Cow<'b, E::Ciphertext>>>
    where
        E::Ciphertext: 'b,
    {
        let ready = all.map(|x| self.ready(x, 1)).collect::<Result<Vec<_>>>()?;
        let lowest = ready.iter().map(|x| self.ev.level(x)).min().unwrap_or(0);
        let lower = |x: &'b E::Ciphertext| match self.ev.level(x) == lowest {
            true => Ok(Cow::Borrowed(x)),
            false => self.ev.at_level(x, lowest).map(Cow::Owned),
        };
        ready.into_iter().map(lower).collect()
    }
}

impl<E: SlotEvaluator + Sync, R: Renewal<E>> SlotEvaluator for Renewing<'_, E, R> {
    type Scalar = E::Scalar;
    type Ciphertext = Renewable<E::Ciphertext>;
    /// Numbers, which are encoded where they are used.
    type Plaintext = Vec<E::Scalar>;
    type Factor = Vec<E::Scalar>;
    type Estimate = E::Estimate;

    fn slots(&self, x: &Self::Ciphertext) -> usize {
        self.ev.slots(&x.own)
    }

    fn period(&self, x: &Self::Ciphertext) -> usize {
        self.ev.period(&x.own)
    }

    /// Without end.
    fn level(&self, _: &Self::Ciphertext) -> usize {
        usize::MAX
    }

    fn encode_for(&self, values: &[E::Scalar], _: &Self::Ciphertext) -> Result<Vec<E::Scalar>> {
        E::Scalar::check(values)?;
        Ok(values.to_vec())
    }

    fn encode_factor(&self, values: &[E::Scalar], operand: &Self::Ciphertext) -> Result<Vec<E::Scalar>> {
        self.encode_for(values, operand)
    }

    fn factor_bytes(&self, operand: &Self::Ciphertext, _: usize) -> usize {
        size_of::<E::Scalar>().saturating_mul(self.slots(operand))
    }

    fn add(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext> {
        self.ev.add(a.best(), b.best()).map(Into::into)
    }

    fn sub(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext> {
        self.ev.sub(a.best(), b.best()).map(Into::into)
    }

    fn neg(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext> {
        self.ev.neg(a.best()).map(Into::into)
    }

    fn add_scalar(&self, a: &Self::Ciphertext, c: E::Scalar) -> Result<Self::Ciphertext> {
        self.ev.add_scalar(a.best(), c).map(Into::into)
    }

    fn add_plain(&self, a: &Self::Ciphertext, p: &Vec<E::Scalar>) -> Result<Self::Ciphertext> {
        let a = a.best();
        self.ev.add_plain(a, &self.ev.encode_addend(p, a)?).map(Into::into)
    }

    fn mul(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext> {
        self.ev.mul(self.ready(a, 1)?, self.ready(b, 1)?).map(Into::into)
    }

    fn square(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext> {
        self.ev.square(self.ready(a, 1)?).map(Into::into)
    }

    fn mul_plain(&self, a: &Self::Ciphertext, p: &Vec<E::Scalar>) -> Result<Self::Ciphertext> {
        self.dot_plain(&[(a, p)])
    }

    fn mul_scalar(&self, a: &Self::Ciphertext, c: E::Scalar) -> Result<Self::Ciphertext> {
        self.ev.mul_scalar(self.ready(a, 1)?, c).map(Into::into)
    }

    fn weighted_sum(&self, terms: &[(&Self::Ciphertext, E::Scalar)], constant: E::Scalar) -> Result<Self::Ciphertext> {
        let ready = terms.iter().map(|&(x, c)| Ok((self.ready(x, 1)?, c))).collect::<Result<Vec<_>>>()?;
        self.ev.weighted_sum(&ready, constant).map(Into::into)
    }

    fn dot(&self, pairs: &[(&Self::Ciphertext, &Self::Ciphertext)]) -> Result<Self::Ciphertext> {
        let ready = pairs.iter().map(|(a, b)| Ok((self.ready(a, 1)?, self.ready(b, 1)?)));
        self.ev.dot(&ready.collect::<Result<Vec<_>>>()?).map(Into::into)
    }

    fn dot_plain(&self, pairs: &[(&Self::Ciphertext, &Vec<E::Scalar>)]) -> Result<Self::Ciphertext> {
        let ready = self.level(pairs.iter().map(|(a, _)| *a))?;
        let plains = ready.iter().zip(pairs).map(|(a, (_, p))| self.ev.encode_for(p, a)).collect::<Result<Vec<_>>>()?;
        let pairs: Vec<_> = ready.iter().zip(&plains).map(|(a, p)| (&**a, p)).collect();
        self.ev.dot_plain(&pairs).map(Into::into)
    }

    fn rotate(&self, a: &Self::Ciphertext, steps: isize) -> Result<Self::Ciphertext> {
        self.ev.rotate(a.best(), steps).map(Into::into)
    }

    fn rotate_many(&self, a: &Self::Ciphertext, steps: &[isize]) -> Result<Vec<Self::Ciphertext>> {
        Ok(self.ev.rotate_many(a.best(), steps)?.into_iter().map(Into::into).collect())
    }

    fn sum_rotations(&self, a: &Self::Ciphertext, steps: &[isize]) -> Result<Self::Ciphertext> {
        self.ev.sum_rotations(a.best(), steps).map(Into::into)
    }

    fn sum_rotations_in_turn(&self, a: &Self::Ciphertext, sums: &[&[isize]]) -> Result<Self::Ciphertext> {
        self.ev.sum_rotations_in_turn(a.best(), sums).map(Into::into)
    }

    fn sum_giant_steps(
        &self,
        a: &Self::Ciphertext,
        babies: &[isize],
        giants: &[GiantStep<Vec<E::Scalar>>],
    ) -> Result<Self::Ciphertext> {
        let a = self.ready(a, 1)?;
        let giant = |giant: &GiantStep<Vec<E::Scalar>>| {
            let terms = giant.terms.iter().map(|(baby, factor)| Ok((*baby, self.ev.encode_factor(factor, a)?)));
            Ok(GiantStep { rotation: giant.rotation, terms: terms.collect::<Result<_>>()? })
        };
        let giants = giants.iter().map(giant).collect::<Result<Vec<_>>>()?;
        self.ev.sum_giant_steps(a, babies, &giants).map(Into::into)
    }

    fn check_rotations(&self, a: &Self::Ciphertext, steps: &[isize]) -> Result<()> {
        self.ev.check_rotations(a.best(), steps)
    }

    fn with_magnitude(&self, a: Self::Ciphertext, bound: f64) -> Self::Ciphertext {
        self.ev.with_magnitude(a.best().clone(), bound).into()
    }

    fn with_range(&self, a: Self::Ciphertext, interval: [f64; 2]) -> Self::Ciphertext {
        self.ev.with_range(a.best().clone(), interval).into()
    }

    fn with_period(&self, a: Self::Ciphertext, period: usize) -> Self::Ciphertext {
        self.ev.with_period(a.best().clone(), period).into()
    }

    fn extent(&self, x: &Self::Ciphertext) -> Extent {
        self.ev.extent(x.best())
    }

    fn with_length(&self, a: Self::Ciphertext, length: Option<usize>) -> Result<Self::Ciphertext> {
        Ok(self.ev.with_length(a.best().clone(), length)?.into())
    }

    /// The vector as it is: its levels have no end.
    fn at_level(&self, a: &Self::Ciphertext, _: usize) -> Result<Self::Ciphertext> {
        Ok(a.clone())
    }

    /// Renewed if the circuit fits between two bootstraps, and the vector has fewer levels left; a deeper circuit is renewed on
    /// its way.
    fn with_levels(&self, a: &Self::Ciphertext, levels: usize) -> Result<Self::Ciphertext> {
        if levels <= self.renewal.most() {
            self.ready(a, levels)?;
        }
        Ok(a.clone())
    }

    fn renewed_for_product(&self, a: Self::Ciphertext) -> Result<Self::Ciphertext> {
        self.ready(&a, 1)?;
        Ok(a)
    }

    fn bounds(&self, a: &Self::Ciphertext) -> Option<Bounds> {
        self.ev.bounds(a.best())
    }

    fn split_error(&self, a: Self::Ciphertext) -> (Self::Ciphertext, E::Estimate) {
        let (exact, error) = self.ev.split_error(a.best().clone());
        (exact.into(), error)
    }

    fn with_errors(&self, a: Self::Ciphertext, errors: &[(&E::Estimate, f64)], bias: f64) -> Self::Ciphertext {
        self.ev.with_errors(a.best().clone(), errors, bias).into()
    }
}

/// Renewal of blanks, each counted: bootstraps as they are planned.
///
/// A recorder with it counts depths from the inputs or the last bootstrap, so that none is above [`Renewal::most`].
pub(crate) struct Planned {
    levels: usize,
    count: AtomicUsize,
}

impl Planned {
    /// With this many levels after each bootstrap, and for inputs.
    pub(crate) const fn new(levels: usize) -> Self {
        Self { levels, count: AtomicUsize::new(0) }
    }

    /// How many bootstraps there were.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

impl Renewal<Recorder> for Planned {
    fn left(&self, ev: &Recorder, x: &Blank) -> usize {
        (self.levels + ev.level(x)).saturating_sub(ev.level(&ev.fresh(1)))
    }

    fn most(&self) -> usize {
        self.levels
    }

    fn renew(&self, ev: &Recorder, x: &Blank) -> Result<Blank> {
        self.count.fetch_add(1, Ordering::Relaxed);
        Ok(ev.fresh_repeated(ev.slots(x), ev.period(x)))
    }
}
