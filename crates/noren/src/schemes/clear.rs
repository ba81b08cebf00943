//! The cleartext twin of a scheme: the same circuits on plain numbers, the oracle of their tests.

use std::borrow::Borrow;

use noren_rlwe::error::{Error, Result};

use crate::schemes::error::SlotError;
use crate::schemes::integers::modulus::PlaintextModulus;
use crate::schemes::slots::{Bounds, GiantStep, Scalar, SlotEvaluator};

/// Arithmetic on vectors of real numbers in clear, with the level rules of an encrypted scheme.
///
/// Every operation is written as its definition says, slot by slot in `f64`, so that a circuit that agrees with the
/// twin agrees with the mathematics. The twin has no keys, so it never misses one.
///
/// # Examples
/// ```
/// use noren::schemes::clear::{ClearEvaluator, ClearVector};
/// use noren::schemes::slots::SlotEvaluator;
///
/// let x = ClearVector::new(vec![1.0, 2.0, 3.0, 4.0], 1)?;
/// let y = ClearEvaluator.mul(&x, &ClearEvaluator.rotate(&x, 1)?)?;
/// assert_eq!(y.values(), [2.0, 6.0, 12.0, 4.0]);
/// assert!(ClearEvaluator.square(&y).is_err(), "no level is left");
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct ClearEvaluator;

/// Arithmetic on vectors of integers modulo t in clear: as [`ClearEvaluator`].
///
/// # Examples
/// ```
/// use noren::bgv::PlaintextModulus;
/// use noren::schemes::clear::{ClearIntegers, ClearVector};
/// use noren::schemes::slots::SlotEvaluator;
///
/// let ev = ClearIntegers(PlaintextModulus::new(7)?);
/// let x = ClearVector::new(vec![3, 6], 1)?;
/// assert_eq!(ev.square(&x)?.values(), [2, 1]);
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ClearIntegers(pub PlaintextModulus);

/// The arithmetic of a twin in the clear: how two numbers are added and multiplied.
pub trait Arithmetic {
    /// The numbers.
    type Number: Scalar;

    /// A number that the caller hands in, at this position of a vector.
    ///
    /// # Errors
    /// [`SlotError::NotFinite`], or [`IntegerError::NotAResidue`](crate::schemes::integers::IntegerError::NotAResidue)
    /// for an integer out of range.
    fn admit(&self, index: usize, x: Self::Number) -> Result<Self::Number>;

    /// `x + y`.
    fn sum(&self, x: Self::Number, y: Self::Number) -> Self::Number;

    /// `x - y`.
    fn difference(&self, x: Self::Number, y: Self::Number) -> Self::Number;

    /// `x y`.
    fn product(&self, x: Self::Number, y: Self::Number) -> Self::Number;
}

impl Arithmetic for ClearEvaluator {
    type Number = f64;

    fn admit(&self, index: usize, value: f64) -> Result<f64> {
        if value.is_finite() { Ok(value) } else { Err(SlotError::NotFinite { index, value }.into()) }
    }

    fn sum(&self, x: f64, y: f64) -> f64 {
        x + y
    }

    fn difference(&self, x: f64, y: f64) -> f64 {
        x - y
    }

    fn product(&self, x: f64, y: f64) -> f64 {
        x * y
    }
}

/// Range: out `[0, t)`.
impl Arithmetic for ClearIntegers {
    type Number = i64;

    fn admit(&self, index: usize, x: i64) -> Result<i64> {
        Ok(self.0.residue(index, x)?.cast_signed())
    }

    fn sum(&self, x: i64, y: i64) -> i64 {
        self.0.reduce(i128::from(x) + i128::from(y)).cast_signed()
    }

    fn difference(&self, x: i64, y: i64) -> i64 {
        self.0.reduce(i128::from(x) - i128::from(y)).cast_signed()
    }

    fn product(&self, x: i64, y: i64) -> i64 {
        self.0.reduce(i128::from(x) * i128::from(y)).cast_signed()
    }
}

/// A vector in clear that counts levels like a ciphertext.
#[derive(Debug, Clone, PartialEq)]
pub struct ClearVector<T = f64> {
    values: Vec<T>,
    level: usize,
}

/// A plain operand in clear that remembers the level it was prepared for.
#[derive(Debug, Clone, PartialEq)]
pub struct ClearPlaintext<T = f64> {
    values: Vec<T>,
    level: usize,
}

impl<T: Scalar> ClearVector<T> {
    /// A vector with one slot per value, on which `level` multiplications can follow one another.
    ///
    /// # Errors
    /// A number of values that is not a power of two; a value that is not finite.
    pub fn new(values: Vec<T>, level: usize) -> Result<Self> {
        if !values.len().is_power_of_two() {
            let needed = "a power of two".to_owned();
            return Err(Error::Length { what: "slots of a vector in clear", found: values.len(), needed });
        }
        T::check(&values)?;
        Ok(Self { values, level })
    }

    /// The slots.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// How many multiplications can still follow one another.
    #[must_use]
    pub const fn level(&self) -> usize {
        self.level
    }
}

impl<A: Arithmetic> SlotEvaluator for A {
    type Scalar = A::Number;
    type Ciphertext = ClearVector<A::Number>;
    type Plaintext = ClearPlaintext<A::Number>;
    type Factor = ClearPlaintext<A::Number>;
    type Estimate = ();

    fn slots(&self, x: &ClearVector<A::Number>) -> usize {
        x.values.len()
    }

    /// As the numbers are: nothing is hidden here.
    fn period(&self, x: &ClearVector<A::Number>) -> usize {
        let halves = std::iter::successors(Some(x.values.len() / 2), |half| Some(half / 2));
        let repeats = |&half: &usize| half > 0 && x.values[..half] == x.values[half..2 * half];
        x.values.len() >> halves.take_while(repeats).count()
    }

    fn level(&self, x: &ClearVector<A::Number>) -> usize {
        x.level
    }

    fn encode_for(&self, values: &[A::Number], operand: &ClearVector<A::Number>) -> Result<ClearPlaintext<A::Number>> {
        if values.len() > operand.values.len() {
            return Err(Error::Length {
                what: "values",
                found: values.len(),
                needed: format!("at most {}", operand.values.len()),
            });
        }
        let mut padded = vec![A::Number::ZERO; operand.values.len()];
        for (index, (value, out)) in values.iter().zip(&mut padded).enumerate() {
            *out = self.admit(index, *value)?;
        }
        Ok(ClearPlaintext { values: padded, level: operand.level })
    }

    fn encode_factor(
        &self,
        values: &[A::Number],
        operand: &ClearVector<A::Number>,
    ) -> Result<ClearPlaintext<A::Number>> {
        self.encode_for(values, operand)
    }

    fn add(&self, a: &ClearVector<A::Number>, b: &ClearVector<A::Number>) -> Result<ClearVector<A::Number>> {
        slot_by_slot(a, &b.values, a.level.min(b.level), |x, y| self.sum(x, y))
    }

    fn sub(&self, a: &ClearVector<A::Number>, b: &ClearVector<A::Number>) -> Result<ClearVector<A::Number>> {
        slot_by_slot(a, &b.values, a.level.min(b.level), |x, y| self.difference(x, y))
    }

    fn neg(&self, a: &ClearVector<A::Number>) -> Result<ClearVector<A::Number>> {
        let negative = |&x: &A::Number| self.difference(A::Number::ZERO, x);
        Ok(ClearVector { values: a.values.iter().map(negative).collect(), level: a.level })
    }

    fn add_scalar(&self, a: &ClearVector<A::Number>, c: A::Number) -> Result<ClearVector<A::Number>> {
        A::Number::check(&[c])?;
        Ok(ClearVector { values: a.values.iter().map(|&x| self.sum(x, c)).collect(), level: a.level })
    }

    fn add_plain(&self, a: &ClearVector<A::Number>, p: &ClearPlaintext<A::Number>) -> Result<ClearVector<A::Number>> {
        check_level(a.level, p.level)?;
        slot_by_slot(a, &p.values, a.level, |x, y| self.sum(x, y))
    }

    fn mul(&self, a: &ClearVector<A::Number>, b: &ClearVector<A::Number>) -> Result<ClearVector<A::Number>> {
        slot_by_slot(a, &b.values, one_below(a.level.min(b.level))?, |x, y| self.product(x, y))
    }

    fn square(&self, a: &ClearVector<A::Number>) -> Result<ClearVector<A::Number>> {
        self.mul(a, a)
    }

    fn mul_plain(&self, a: &ClearVector<A::Number>, p: &ClearPlaintext<A::Number>) -> Result<ClearVector<A::Number>> {
        check_level(a.level, p.level)?;
        slot_by_slot(a, &p.values, one_below(a.level)?, |x, y| self.product(x, y))
    }

    fn mul_scalar(&self, a: &ClearVector<A::Number>, c: A::Number) -> Result<ClearVector<A::Number>> {
        A::Number::check(&[c])?;
        let level = one_below(a.level)?;
        Ok(ClearVector { values: a.values.iter().map(|&x| self.product(x, c)).collect(), level })
    }

    fn weighted_sum(
        &self,
        terms: &[(&ClearVector<A::Number>, A::Number)],
        constant: A::Number,
    ) -> Result<ClearVector<A::Number>> {
        sum(self, terms.iter().map(|(x, c)| self.mul_scalar(x, *c))).and_then(|total| self.add_scalar(&total, constant))
    }

    fn dot(&self, pairs: &[(&ClearVector<A::Number>, &ClearVector<A::Number>)]) -> Result<ClearVector<A::Number>> {
        sum(self, pairs.iter().map(|(a, b)| self.mul(a, b)))
    }

    fn dot_plain(
        &self,
        pairs: &[(&ClearVector<A::Number>, &ClearPlaintext<A::Number>)],
    ) -> Result<ClearVector<A::Number>> {
        if let Some((first, _)) = pairs.first() {
            pairs.iter().try_for_each(|(a, _)| check_level(first.level, a.level))?;
        }
        sum(self, pairs.iter().map(|(a, p)| self.mul_plain(a, p)))
    }

    fn rotate(&self, a: &ClearVector<A::Number>, steps: isize) -> Result<ClearVector<A::Number>> {
        let slots = a.values.len();
        let shift = steps.rem_euclid(slots.cast_signed()).cast_unsigned();
        let values = (0..slots).map(|j| a.values[(j + shift) % slots]).collect();
        Ok(ClearVector { values, level: a.level })
    }

    fn rotate_many(&self, a: &ClearVector<A::Number>, steps: &[isize]) -> Result<Vec<ClearVector<A::Number>>> {
        steps.iter().map(|&r| self.rotate(a, r)).collect()
    }

    fn sum_rotations(&self, a: &ClearVector<A::Number>, steps: &[isize]) -> Result<ClearVector<A::Number>> {
        steps.iter().try_fold(a.clone(), |total, &r| self.add(&total, &self.rotate(a, r)?))
    }

    fn sum_giant_steps<F: Borrow<ClearPlaintext<A::Number>>>(
        &self,
        a: &ClearVector<A::Number>,
        babies: &[isize],
        giants: &[GiantStep<F>],
    ) -> Result<ClearVector<A::Number>> {
        let babies = self.rotate_many(a, babies)?;
        sum(
            self,
            giants.iter().map(|giant| {
                let pairs: Vec<_> =
                    giant.terms.iter().map(|(baby, factor)| (&babies[*baby], factor.borrow())).collect();
                self.rotate(&self.dot_plain(&pairs)?, giant.rotation)
            }),
        )
    }

    fn with_magnitude(&self, a: ClearVector<A::Number>, _bound: f64) -> ClearVector<A::Number> {
        a
    }

    fn at_level(&self, a: &ClearVector<A::Number>, level: usize) -> Result<ClearVector<A::Number>> {
        if level > a.level {
            return Err(Error::LevelExhausted { needed: level, left: a.level });
        }
        Ok(ClearVector { values: a.values.clone(), level })
    }

    fn bounds(&self, _a: &ClearVector<A::Number>) -> Option<Bounds> {
        None
    }

    fn split_error(&self, a: ClearVector<A::Number>) -> (ClearVector<A::Number>, ()) {
        (a, ())
    }

    fn with_errors(&self, a: ClearVector<A::Number>, _errors: &[(&(), f64)], _bias: f64) -> ClearVector<A::Number> {
        a
    }
}

fn slot_by_slot<T: Scalar>(
    a: &ClearVector<T>,
    b: &[T],
    level: usize,
    op: impl Fn(T, T) -> T,
) -> Result<ClearVector<T>> {
    if a.values.len() != b.len() {
        return Err(Error::Length {
            what: "slots of the second operand",
            found: b.len(),
            needed: a.values.len().to_string(),
        });
    }
    Ok(ClearVector { values: a.values.iter().zip(b).map(|(&x, &y)| op(x, y)).collect(), level })
}

fn sum<A: Arithmetic>(
    twin: &A,
    mut terms: impl Iterator<Item = Result<ClearVector<A::Number>>>,
) -> Result<ClearVector<A::Number>> {
    let Some(first) = terms.next() else {
        return Err(Error::Length { what: "terms of a sum", found: 0, needed: "at least 1".to_owned() });
    };
    terms.try_fold(first?, |total, term| twin.add(&total, &term?))
}

fn one_below(level: usize) -> Result<usize> {
    level.checked_sub(1).ok_or(Error::LevelExhausted { needed: 1, left: 0 })
}

fn check_level(ciphertext: usize, plaintext: usize) -> Result<()> {
    if ciphertext == plaintext {
        return Ok(());
    }
    Err(Error::LevelMismatch { left: ciphertext, right: plaintext })
}
