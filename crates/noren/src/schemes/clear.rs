//! The cleartext twin of a scheme: the same circuits on plain numbers, the oracle of their tests.

use noren_rlwe::error::{Error, Result};

use crate::schemes::slots::{Bounds, GiantStep, SlotEvaluator};

/// Arithmetic on vectors in clear, with the level rules of an encrypted scheme.
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

/// A vector in clear that counts levels like a ciphertext.
#[derive(Debug, Clone, PartialEq)]
pub struct ClearVector {
    values: Vec<f64>,
    level: usize,
}

/// A plain operand in clear that remembers the level it was prepared for.
#[derive(Debug, Clone, PartialEq)]
pub struct ClearPlaintext {
    values: Vec<f64>,
    level: usize,
}

impl ClearVector {
    /// A vector with one slot per value, on which `level` multiplications can follow one another.
    ///
    /// # Errors
    /// A number of values that is not a power of two; a value that is not finite.
    pub fn new(values: Vec<f64>, level: usize) -> Result<Self> {
        if !values.len().is_power_of_two() {
            let needed = "a power of two".to_owned();
            return Err(Error::Length { what: "slots of a vector in clear", found: values.len(), needed });
        }
        check_finite(&values)?;
        Ok(Self { values, level })
    }

    /// The slots.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// How many multiplications can still follow one another.
    #[must_use]
    pub const fn level(&self) -> usize {
        self.level
    }
}

impl SlotEvaluator for ClearEvaluator {
    type Scalar = f64;
    type Ciphertext = ClearVector;
    type Plaintext = ClearPlaintext;
    type Factor = ClearPlaintext;
    type Estimate = ();

    fn slots(&self, x: &ClearVector) -> usize {
        x.values.len()
    }

    fn level(&self, x: &ClearVector) -> usize {
        x.level
    }

    fn encode_for(&self, values: &[f64], operand: &ClearVector) -> Result<ClearPlaintext> {
        if values.len() > operand.values.len() {
            return Err(Error::Length {
                what: "values",
                found: values.len(),
                needed: format!("at most {}", operand.values.len()),
            });
        }
        check_finite(values)?;
        let mut padded = vec![0.0; operand.values.len()];
        padded[..values.len()].copy_from_slice(values);
        Ok(ClearPlaintext { values: padded, level: operand.level })
    }

    fn encode_factor(&self, values: &[f64], operand: &ClearVector) -> Result<ClearPlaintext> {
        self.encode_for(values, operand)
    }

    fn add(&self, a: &ClearVector, b: &ClearVector) -> Result<ClearVector> {
        slot_by_slot(a, &b.values, a.level.min(b.level), |x, y| x + y)
    }

    fn sub(&self, a: &ClearVector, b: &ClearVector) -> Result<ClearVector> {
        slot_by_slot(a, &b.values, a.level.min(b.level), |x, y| x - y)
    }

    fn neg(&self, a: &ClearVector) -> Result<ClearVector> {
        Ok(ClearVector { values: a.values.iter().map(|x| -x).collect(), level: a.level })
    }

    fn add_scalar(&self, a: &ClearVector, c: f64) -> Result<ClearVector> {
        check_finite(&[c])?;
        Ok(ClearVector { values: a.values.iter().map(|x| x + c).collect(), level: a.level })
    }

    fn add_plain(&self, a: &ClearVector, p: &ClearPlaintext) -> Result<ClearVector> {
        check_level(a.level, p.level)?;
        slot_by_slot(a, &p.values, a.level, |x, y| x + y)
    }

    fn mul(&self, a: &ClearVector, b: &ClearVector) -> Result<ClearVector> {
        slot_by_slot(a, &b.values, one_below(a.level.min(b.level))?, |x, y| x * y)
    }

    fn square(&self, a: &ClearVector) -> Result<ClearVector> {
        self.mul(a, a)
    }

    fn mul_plain(&self, a: &ClearVector, p: &ClearPlaintext) -> Result<ClearVector> {
        check_level(a.level, p.level)?;
        slot_by_slot(a, &p.values, one_below(a.level)?, |x, y| x * y)
    }

    fn mul_scalar(&self, a: &ClearVector, c: f64) -> Result<ClearVector> {
        check_finite(&[c])?;
        let level = one_below(a.level)?;
        Ok(ClearVector { values: a.values.iter().map(|x| x * c).collect(), level })
    }

    fn weighted_sum(&self, terms: &[(&ClearVector, f64)], constant: f64) -> Result<ClearVector> {
        sum(terms.iter().map(|(x, c)| self.mul_scalar(x, *c))).and_then(|total| self.add_scalar(&total, constant))
    }

    fn dot(&self, pairs: &[(&ClearVector, &ClearVector)]) -> Result<ClearVector> {
        sum(pairs.iter().map(|(a, b)| self.mul(a, b)))
    }

    fn dot_plain(&self, pairs: &[(&ClearVector, &ClearPlaintext)]) -> Result<ClearVector> {
        if let Some((first, _)) = pairs.first() {
            pairs.iter().try_for_each(|(a, _)| check_level(first.level, a.level))?;
        }
        sum(pairs.iter().map(|(a, p)| self.mul_plain(a, p)))
    }

    fn rotate(&self, a: &ClearVector, steps: isize) -> Result<ClearVector> {
        let slots = a.values.len();
        let shift = steps.rem_euclid(slots.cast_signed()).cast_unsigned();
        let values = (0..slots).map(|j| a.values[(j + shift) % slots]).collect();
        Ok(ClearVector { values, level: a.level })
    }

    fn rotate_many(&self, a: &ClearVector, steps: &[isize]) -> Result<Vec<ClearVector>> {
        steps.iter().map(|&r| self.rotate(a, r)).collect()
    }

    fn sum_rotations(&self, a: &ClearVector, steps: &[isize]) -> Result<ClearVector> {
        steps.iter().try_fold(a.clone(), |total, &r| self.add(&total, &self.rotate(a, r)?))
    }

    fn sum_giant_steps(
        &self,
        a: &ClearVector,
        babies: &[isize],
        giants: &[GiantStep<ClearPlaintext>],
    ) -> Result<ClearVector> {
        let babies = self.rotate_many(a, babies)?;
        sum(giants.iter().map(|giant| {
            let pairs: Vec<_> = giant.terms.iter().map(|(baby, factor)| (&babies[*baby], factor)).collect();
            self.rotate(&self.dot_plain(&pairs)?, giant.rotation)
        }))
    }

    fn with_magnitude(&self, a: ClearVector, _bound: f64) -> ClearVector {
        a
    }

    fn at_level(&self, a: &ClearVector, level: usize) -> Result<ClearVector> {
        if level > a.level {
            return Err(Error::LevelExhausted { needed: level, left: a.level });
        }
        Ok(ClearVector { values: a.values.clone(), level })
    }

    fn bounds(&self, _a: &ClearVector) -> Option<Bounds> {
        None
    }

    fn split_error(&self, a: ClearVector) -> (ClearVector, ()) {
        (a, ())
    }

    fn with_errors(&self, a: ClearVector, _errors: &[(&(), f64)], _bias: f64) -> ClearVector {
        a
    }
}

fn slot_by_slot(a: &ClearVector, b: &[f64], level: usize, op: impl Fn(f64, f64) -> f64) -> Result<ClearVector> {
    if a.values.len() != b.len() {
        return Err(Error::Length {
            what: "slots of the second operand",
            found: b.len(),
            needed: a.values.len().to_string(),
        });
    }
    Ok(ClearVector { values: a.values.iter().zip(b).map(|(&x, &y)| op(x, y)).collect(), level })
}

fn sum(mut terms: impl Iterator<Item = Result<ClearVector>>) -> Result<ClearVector> {
    let Some(first) = terms.next() else {
        return Err(Error::Length { what: "terms of a sum", found: 0, needed: "at least 1".to_owned() });
    };
    terms.try_fold(first?, |total, term| ClearEvaluator.add(&total, &term?))
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

fn check_finite(values: &[f64]) -> Result<()> {
    match values.iter().enumerate().find(|(_, x)| !x.is_finite()) {
        Some((index, &value)) => Err(Error::NotFinite { index, value }),
        None => Ok(()),
    }
}
