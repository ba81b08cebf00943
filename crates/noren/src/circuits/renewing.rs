//! An evaluator that renews vectors where levels run out: the placement of bootstraps.

use std::borrow::{Borrow, Cow};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use noren_rlwe::error::{Error, Result};

use crate::circuits::recorder::{Blank, Recorder};
use crate::schemes::extent::Extent;
use crate::schemes::slots::{Bounds, GiantStep, Scalar, SlotEvaluator, check_values};

/// New levels for the vectors of an evaluator: bootstraps, or their model.
pub trait Renewal<E: SlotEvaluator> {
    /// How many products can follow one another on a vector.
    fn left(&self, ev: &E, x: &E::Ciphertext) -> usize;

    /// How many products can follow one another on a vector that was renewed.
    fn most(&self) -> usize;

    /// The same vector with as many levels as there are.
    ///
    /// # Errors
    /// A vector that may be outside of what is renewed.
    fn renew(&self, ev: &E, x: &E::Ciphertext) -> Result<E::Ciphertext>;

    /// The vector that stands for another one: the same renewed, where that is remembered, or lowered to the level of such.
    ///
    /// # Errors
    /// A vector of another evaluator.
    fn instead(&self, _ev: &E, _x: &E::Ciphertext) -> Result<Option<E::Ciphertext>> {
        Ok(None)
    }

    /// The state that encodings for products with a vector depend on, beside its slots.
    fn encoding(&self, ev: &E, x: &E::Ciphertext) -> [u64; 3] {
        [ev.level(x) as u64, 0, 0]
    }

    /// [`SlotEvaluator::factor_bytes`] for products with a vector, which is renewed if it must be.
    fn factor_bytes(&self, ev: &E, x: &E::Ciphertext, period: usize) -> usize {
        ev.factor_bytes(x, period)
    }
}

/// An evaluator whose levels do not end.
///
/// The placement of bootstraps is its rule. A vector is renewed before a product that needs a level which the vector does not
/// have, and not before; a polynomial whose depth fits between two bootstraps asks for all its levels at once. A vector is renewed
/// once: whatever uses it later uses the renewed one, sums too, whose results would otherwise be as low as it was. The same rule
/// runs on a recorder, a noise model and ciphertexts, so that what is planned is what happens; products are therefore made one
/// after the other, each by all threads.
///
/// The vectors V of a program are [`Renewable`], or those of the evaluator, where the renewal remembers what it renewed.
///
/// # Examples
/// ```
/// use noren::circuits::power::power;
/// use noren::circuits::recorder::Recorder;
/// use noren::circuits::renewing::{Planned, Renewing};
///
/// // Three levels between two bootstraps.
/// let (recorder, planned) = (Recorder::new(), Planned::new(3));
/// let ev = Renewing::new(&recorder, &planned);
/// let y = power(&ev, &recorder.fresh(8).into(), 1 << 7)?;
/// assert_eq!((planned.count(), ev.levels_left(&y)), (2, 2));
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Clone)]
pub struct Renewing<P, R, V> {
    pub(crate) ev: P,
    pub(crate) renewal: R,
    pub(crate) vectors: PhantomData<fn() -> V>,
}

/// A vector of a program on a [`Renewing`] evaluator, which computes with vectors C.
pub trait Vector<C: Clone>: Clone + From<C> {
    /// The vector as it was made.
    fn own(&self) -> &C;

    /// The same renewed, where the vector itself knows.
    fn renewed(&self) -> Option<&C>;

    /// The same renewed, which is kept if that is possible.
    fn keep(&self, renewed: C) -> Cow<'_, C>;

    /// The vector with most levels that there is.
    fn into_best(self) -> C;
}

/// A vector, and the same renewed, once that was needed.
pub struct Renewable<C> {
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
    pub fn best(&self) -> &C {
        self.renewed.get().unwrap_or(&self.own)
    }
}

impl<C: Clone> Vector<C> for Renewable<C> {
    fn own(&self) -> &C {
        &self.own
    }

    fn renewed(&self) -> Option<&C> {
        self.renewed.get()
    }

    fn keep(&self, renewed: C) -> Cow<'_, C> {
        Cow::Borrowed(self.renewed.get_or_init(|| renewed))
    }

    fn into_best(self) -> C {
        self.renewed.get().cloned().unwrap_or(self.own)
    }
}

impl<C: Clone> Vector<C> for C {
    fn own(&self) -> &C {
        self
    }

    fn renewed(&self) -> Option<&C> {
        None
    }

    fn keep(&self, renewed: C) -> Cow<'_, C> {
        Cow::Owned(renewed)
    }

    fn into_best(self) -> C {
        self
    }
}

/// Numbers that are encoded for the vectors that they are used with, and kept for the next use there.
pub struct Encoded<S, T> {
    values: Vec<S>,
    slots: usize,
    /// The last encoding, and what it was made for.
    last: Mutex<Option<([u64; 3], Arc<T>)>>,
}

impl<S: Scalar, T> Encoded<S, T> {
    fn new(values: &[S], slots: usize) -> Result<Self> {
        S::check(values)?;
        check_values(values.len(), slots)?;
        Ok(Self { values: values.to_vec(), slots, last: Mutex::default() })
    }

    /// For vectors of so many slots.
    fn check(&self, slots: usize) -> Result<()> {
        if self.slots == slots {
            return Ok(());
        }
        let (what, needed) = ("slots of the second operand", slots.to_string());
        Err(Error::Length { what, found: self.slots, needed })
    }

    /// The last encoding, if it is for this, or a new one.
    fn at(&self, wanted: [u64; 3], encode: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = last().as_ref().filter(|(made, _)| *made == wanted) {
            return Ok(known.clone());
        }
        // Without the lock: a thread that waits for loops of the encoding may take work meanwhile that encodes the same numbers.
        let thing = Arc::new(encode()?);
        *last() = Some((wanted, thing.clone()));
        Ok(thing)
    }
}

impl<E: SlotEvaluator, P: Deref<Target = E>, R> Renewing<P, R, Renewable<E::Ciphertext>> {
    /// The evaluator of programs on [`Renewable`] vectors.
    pub const fn new(ev: P, renewal: R) -> Self {
        Self { ev, renewal, vectors: PhantomData }
    }
}

impl<E, B, P, R, V> Renewing<P, R, V>
where
    E: SlotEvaluator,
    B: Renewal<E>,
    P: Deref<Target = E>,
    R: Deref<Target = B>,
    V: Vector<E::Ciphertext>,
{
    /// The bootstrapper.
    pub fn renewal(&self) -> &B {
        &self.renewal
    }

    /// The vector with at least `levels` levels for the program, or as many as a renewed one has.
    ///
    /// # Errors
    /// Whatever renewing refuses.
    pub fn ready<'a>(&self, x: &'a V, levels: usize) -> Result<Cow<'a, E::Ciphertext>> {
        let best = self.best(x)?;
        if levels == 0 || self.renewal.left(&self.ev, &best) >= levels.min(self.renewal.most()) {
            return Ok(best);
        }
        Ok(x.keep(self.renewal.renew(&self.ev, &best)?))
    }

    /// How many products can follow one another on a vector before it is renewed.
    pub fn levels_left(&self, x: &V) -> usize {
        self.best(x).map_or(0, |best| self.renewal.left(&self.ev, &best))
    }

    /// The vector with most levels that there is.
    fn best<'a>(&self, x: &'a V) -> Result<Cow<'a, E::Ciphertext>> {
        if let Some(renewed) = x.renewed() {
            return Ok(Cow::Borrowed(renewed));
        }
        Ok(self.renewal.instead(&self.ev, x.own())?.map_or(Cow::Borrowed(x.own()), Cow::Owned))
    }

    /// The same, of which something is stated.
    fn stated(&self, x: V, state: impl FnOnce(E::Ciphertext) -> E::Ciphertext) -> V {
        state(self.best_owned(x)).into()
    }

    /// The vector that something is stated of.
    fn best_owned(&self, x: V) -> E::Ciphertext {
        match self.best(&x) {
            Ok(Cow::Owned(instead)) => instead,
            _ => x.into_best(),
        }
    }

    /// All of them with a level, at the lowest level of any.
    fn level<'a>(&self, all: impl Iterator<Item = &'a V>) -> Result<Vec<Cow<'a, E::Ciphertext>>>
    where
        V: 'a,
    {
        let ready = all.map(|x| self.ready(x, 1)).collect::<Result<Vec<_>>>()?;
        let lowest = ready.iter().map(|x| self.ev.level(x)).min().unwrap_or(0);
        let lower = |x: Cow<'a, E::Ciphertext>| match self.ev.level(&x) == lowest {
            true => Ok(x),
            false => self.ev.at_level(&x, lowest).map(Cow::Owned),
        };
        ready.into_iter().map(lower).collect()
    }

    /// Numbers encoded for products with a vector.
    fn encoded<T>(
        &self,
        numbers: &Encoded<E::Scalar, T>,
        x: &E::Ciphertext,
        encode: impl FnOnce(&E, &[E::Scalar], &E::Ciphertext) -> Result<T>,
    ) -> Result<Arc<T>> {
        numbers.check(self.ev.slots(x))?;
        numbers.at(self.renewal.encoding(&self.ev, x), || encode(&self.ev, &numbers.values, x))
    }
}

impl<E, B, P, R, V> SlotEvaluator for Renewing<P, R, V>
where
    E: SlotEvaluator,
    B: Renewal<E>,
    P: Deref<Target = E>,
    R: Deref<Target = B>,
    V: Vector<E::Ciphertext>,
{
    type Scalar = E::Scalar;
    type Ciphertext = V;
    type Plaintext = Encoded<E::Scalar, E::Plaintext>;
    type Factor = Encoded<E::Scalar, E::Factor>;
    type Estimate = E::Estimate;

    fn slots(&self, x: &V) -> usize {
        self.ev.slots(x.own())
    }

    fn period(&self, x: &V) -> usize {
        self.ev.period(x.own())
    }

    /// Without end: the largest number there is, for every vector. See [`Renewing::levels_left`].
    fn level(&self, _: &V) -> usize {
        usize::MAX
    }

    /// Checked here, and encoded where it is used.
    fn encode_for(&self, values: &[E::Scalar], operand: &V) -> Result<Self::Plaintext> {
        Encoded::new(values, self.slots(operand))
    }

    /// Encoded at once where the operand is not renewed first.
    fn encode_factor(&self, values: &[E::Scalar], operand: &V) -> Result<Self::Factor> {
        let (factor, operand) = (Encoded::new(values, self.slots(operand))?, self.best(operand)?);
        if self.renewal.left(&self.ev, &operand) > 0 {
            self.encoded(&factor, &operand, E::encode_factor)?;
        }
        Ok(factor)
    }

    fn factor_bytes(&self, operand: &V, period: usize) -> usize {
        let encoded = self.best(operand).map_or(0, |x| self.renewal.factor_bytes(&self.ev, &x, period));
        encoded.saturating_add(size_of::<E::Scalar>().saturating_mul(self.slots(operand)))
    }

    fn add(&self, a: &V, b: &V) -> Result<V> {
        self.ev.add(&*self.best(a)?, &*self.best(b)?).map(Into::into)
    }

    fn sub(&self, a: &V, b: &V) -> Result<V> {
        self.ev.sub(&*self.best(a)?, &*self.best(b)?).map(Into::into)
    }

    fn neg(&self, a: &V) -> Result<V> {
        self.ev.neg(&*self.best(a)?).map(Into::into)
    }

    fn add_scalar(&self, a: &V, c: E::Scalar) -> Result<V> {
        self.ev.add_scalar(&*self.best(a)?, c).map(Into::into)
    }

    fn add_plain(&self, a: &V, p: &Self::Plaintext) -> Result<V> {
        let a = self.best(a)?;
        p.check(self.ev.slots(&a))?;
        self.ev.add_plain(&a, &self.ev.encode_addend(&p.values, &a)?).map(Into::into)
    }

    fn mul(&self, a: &V, b: &V) -> Result<V> {
        self.ev.mul(&*self.ready(a, 1)?, &*self.ready(b, 1)?).map(Into::into)
    }

    fn square(&self, a: &V) -> Result<V> {
        self.ev.square(&*self.ready(a, 1)?).map(Into::into)
    }

    fn mul_plain(&self, a: &V, p: &Self::Plaintext) -> Result<V> {
        self.dot_plain(&[(a, p)])
    }

    fn mul_scalar(&self, a: &V, c: E::Scalar) -> Result<V> {
        self.ev.mul_scalar(&*self.ready(a, 1)?, c).map(Into::into)
    }

    fn weighted_sum(&self, terms: &[(&V, E::Scalar)], constant: E::Scalar) -> Result<V> {
        let ready = terms.iter().map(|&(x, c)| Ok((self.ready(x, 1)?, c))).collect::<Result<Vec<_>>>()?;
        let terms: Vec<_> = ready.iter().map(|(x, c)| (&**x, *c)).collect();
        self.ev.weighted_sum(&terms, constant).map(Into::into)
    }

    fn dot(&self, pairs: &[(&V, &V)]) -> Result<V> {
        let ready =
            pairs.iter().map(|(a, b)| Ok((self.ready(a, 1)?, self.ready(b, 1)?))).collect::<Result<Vec<_>>>()?;
        let pairs: Vec<_> = ready.iter().map(|(a, b)| (&**a, &**b)).collect();
        self.ev.dot(&pairs).map(Into::into)
    }

    /// Operands of different levels go to the lowest of them.
    fn dot_plain(&self, pairs: &[(&V, &Self::Plaintext)]) -> Result<V> {
        let ready = self.level(pairs.iter().map(|(a, _)| *a))?;
        let plains = ready.iter().zip(pairs).map(|(a, (_, p))| self.encoded(p, a, E::encode_for));
        let plains = plains.collect::<Result<Vec<_>>>()?;
        let pairs: Vec<_> = ready.iter().zip(&plains).map(|(a, p)| (&**a, &**p)).collect();
        self.ev.dot_plain(&pairs).map(Into::into)
    }

    fn rotate(&self, a: &V, steps: isize) -> Result<V> {
        self.ev.rotate(&*self.best(a)?, steps).map(Into::into)
    }

    fn rotate_many(&self, a: &V, steps: &[isize]) -> Result<Vec<V>> {
        Ok(self.ev.rotate_many(&*self.best(a)?, steps)?.into_iter().map(Into::into).collect())
    }

    fn sum_rotations(&self, a: &V, steps: &[isize]) -> Result<V> {
        self.ev.sum_rotations(&*self.best(a)?, steps).map(Into::into)
    }

    fn sum_rotations_in_turn(&self, a: &V, sums: &[&[isize]]) -> Result<V> {
        self.ev.sum_rotations_in_turn(&*self.best(a)?, sums).map(Into::into)
    }

    fn sum_giant_steps<F: Borrow<Self::Factor>>(&self, a: &V, babies: &[isize], giants: &[GiantStep<F>]) -> Result<V> {
        let a = self.ready(a, 1)?;
        let encode = |factor: &F| self.encoded(factor.borrow(), &a, E::encode_factor);
        let giant = |giant: &GiantStep<F>| {
            let terms = giant.terms.iter().map(|(baby, factor)| Ok((*baby, encode(factor)?)));
            Ok(GiantStep { rotation: giant.rotation, terms: terms.collect::<Result<_>>()? })
        };
        let giants: Vec<GiantStep<Arc<E::Factor>>> = giants.iter().map(giant).collect::<Result<_>>()?;
        self.ev.sum_giant_steps(&a, babies, &giants).map(Into::into)
    }

    fn check_rotations(&self, a: &V, steps: &[isize]) -> Result<()> {
        self.ev.check_rotations(&*self.best(a)?, steps)
    }

    fn with_magnitude(&self, a: V, bound: f64) -> V {
        self.stated(a, |a| self.ev.with_magnitude(a, bound))
    }

    fn with_range(&self, a: V, interval: [f64; 2]) -> V {
        self.stated(a, |a| self.ev.with_range(a, interval))
    }

    fn with_period(&self, a: V, period: usize) -> V {
        self.stated(a, |a| self.ev.with_period(a, period))
    }

    fn extent(&self, x: &V) -> Extent {
        self.ev.extent(x.own())
    }

    fn with_length(&self, a: V, length: Option<usize>) -> Result<V> {
        Ok(self.ev.with_length(self.best_owned(a), length)?.into())
    }

    /// The vector as it is: its levels have no end.
    fn at_level(&self, a: &V, _: usize) -> Result<V> {
        Ok(a.clone())
    }

    /// Renewed if the circuit fits between two bootstraps, and the vector has fewer levels left; a deeper circuit is renewed on
    /// its way, and its vector now if it has none left.
    fn with_levels(&self, a: &V, levels: usize) -> Result<V> {
        let now = if levels <= self.renewal.most() { levels } else { 1 };
        Ok(match self.ready(a, now)? {
            Cow::Owned(ready) => ready.into(),
            Cow::Borrowed(_) => a.clone(),
        })
    }

    fn renewed_for_product(&self, a: V) -> Result<V> {
        let ready = match self.ready(&a, 1)? {
            Cow::Owned(ready) => Some(ready),
            Cow::Borrowed(_) => None,
        };
        Ok(ready.map_or(a, Into::into))
    }

    fn renewed(&self, a: V) -> Result<V> {
        let ready = match self.ready(&a, usize::MAX)? {
            Cow::Owned(ready) => Some(ready),
            Cow::Borrowed(_) => None,
        };
        Ok(ready.map_or(a, Into::into))
    }

    fn bounds(&self, a: &V) -> Option<Bounds> {
        self.best(a).ok().and_then(|a| self.ev.bounds(&a))
    }

    fn split_error(&self, a: V) -> (V, E::Estimate) {
        let (exact, error) = self.ev.split_error(a.into_best());
        (exact.into(), error)
    }

    fn with_errors(&self, a: V, errors: &[(&E::Estimate, f64)], bias: f64) -> V {
        self.stated(a, |a| self.ev.with_errors(a, errors, bias))
    }
}

/// Renewal of blanks, each counted: bootstraps as they are planned.
///
/// A recorder with it counts depths from the inputs or the last bootstrap, so that none is above [`Renewal::most`].
pub struct Planned {
    levels: usize,
    count: AtomicUsize,
}

impl Planned {
    /// With this many levels after each bootstrap, and for inputs.
    #[must_use]
    pub const fn new(levels: usize) -> Self {
        Self { levels, count: AtomicUsize::new(0) }
    }

    /// How many bootstraps there were.
    pub fn count(&self) -> usize {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_encoded_while_the_same_ones_are_encoded() {
        let encoded = Encoded::<f64, i32>::new(&[0.5], 1).expect("one number");
        // As a thread does that takes other work while it waits for loops.
        let result = encoded.at([3, 0, 0], || Ok(*encoded.at([3, 0, 0], || Ok(1))? + 1)).expect("a number");
        assert_eq!((*result, *encoded.at([3, 0, 0], || Ok(7)).expect("known")), (2, 2));
    }
}
