//! Functions of two numbers, by a rule or by a table.

use std::fmt;
use std::sync::Arc;

use noren_ring::interrupt;
use noren_rlwe::error::{Error, Result};

use crate::lookup::error::LookupError;

/// A function `f(x, y)` of `0 <= x < X` and `0 <= y < Y`.
///
/// # Examples
/// ```
/// use noren::lookup::Function;
///
/// let quotient = Function::rule([100, 100], |x, y| x.checked_div(y));
/// assert_eq!(quotient.value(17, 5), Some(3));
/// assert_eq!(quotient.value(17, 0), None);
/// let table = Function::table([2, 3], vec![1, 2, 3, 4, 5, 6])?;
/// assert_eq!(table.value(1, 0), Some(4));
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Clone)]
pub struct Function {
    domain: [usize; 2],
    values: Values,
}

#[derive(Clone)]
enum Values {
    Rule(Arc<dyn Fn(u64, u64) -> Option<u64> + Send + Sync>),
    Batch(Arc<Batch>),
    Table(Arc<[u32]>),
}

/// A rule for many points at once.
type Batch = dyn Fn(&[u32], &[u32], &mut [Option<u64>]) + Send + Sync;

impl Function {
    /// A function by its rule, for numbers below `domain[0]` and `domain[1]`; `None` where it has no value.
    pub fn rule(domain: [usize; 2], f: impl Fn(u64, u64) -> Option<u64> + Send + Sync + 'static) -> Self {
        Self { domain, values: Values::Rule(Arc::new(f)) }
    }

    /// A function by a rule that is asked for many points at once, as array programs like it: `f(x, y, values)` writes the
    /// value at `(x[i], y[i])` to `values[i]`, which is `None` at first. It may be called from several threads.
    ///
    /// # Examples
    /// ```
    /// use noren::lookup::Function;
    ///
    /// let quotient = Function::batch([100, 100], |x, y, values| {
    ///     let points = x.iter().zip(y);
    ///     values.iter_mut().zip(points).for_each(|(value, (x, y))| *value = x.checked_div(*y).map(u64::from));
    /// });
    /// assert_eq!(quotient.value(17, 5), Some(3));
    /// assert_eq!(quotient.value(17, 0), None);
    /// ```
    pub fn batch(domain: [usize; 2], f: impl Fn(&[u32], &[u32], &mut [Option<u64>]) + Send + Sync + 'static) -> Self {
        Self { domain, values: Values::Batch(Arc::new(f)) }
    }

    /// A function by the table of its values, `f(0, 0), f(0, 1), ..`: those of one x lie together.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are `domain[0]` times `domain[1]` values.
    pub fn table(domain: [usize; 2], values: Vec<u32>) -> Result<Self> {
        let [rows, columns] = domain;
        if rows.checked_mul(columns) != Some(values.len()) {
            let needed = format!("{rows} times {columns}");
            return Err(Error::Length { what: "values of a table", found: values.len(), needed });
        }
        Ok(Self { domain, values: Values::Table(values.into()) })
    }

    /// How many numbers x and y there are.
    #[must_use]
    pub fn domain(&self) -> [usize; 2] {
        self.domain
    }

    /// `f(x, y)`; `None` where it has no value, and outside the domain.
    #[must_use]
    pub fn value(&self, x: usize, y: usize) -> Option<u64> {
        let inside = x < self.domain[0] && y < self.domain[1];
        if inside { self.values(&[x as u32], &[y as u32])[0] } else { None }
    }

    /// The values at points of the domain; `None` where there is none.
    pub(super) fn values(&self, x: &[u32], y: &[u32]) -> Vec<Option<u64>> {
        interrupt::check();
        let points = x.iter().zip(y);
        match &self.values {
            Values::Rule(f) => points.map(|(&x, &y)| f(x.into(), y.into())).collect(),
            Values::Table(values) => {
                points.map(|(&x, &y)| Some(values[x as usize * self.domain[1] + y as usize].into())).collect()
            }
            Values::Batch(f) => {
                let mut values = vec![None; x.len()];
                f(x, y, &mut values);
                values
            }
        }
    }

    /// The values of one x, for all y in order.
    pub(super) fn row(&self, x: usize) -> Vec<Option<u64>> {
        let all: Vec<u32> = (0..self.domain[1] as u32).collect();
        self.values(&vec![x as u32; all.len()], &all)
    }

    /// The residues modulo t at points of the domain.
    ///
    /// # Errors
    /// [`LookupError::Undefined`] where there is no value, [`LookupError::NotInRange`] for a value that is not below t:
    /// the first point.
    pub(super) fn residues(&self, x: &[u32], y: &[u32], t: u64) -> Result<Vec<i64>> {
        let residue = |(i, value): (usize, Option<u64>)| {
            let (x, y) = (x[i] as usize, y[i] as usize);
            match value {
                Some(value) if value < t => Ok(value.cast_signed()),
                Some(value) => Err(LookupError::NotInRange { x, y, value, t }.into()),
                None => Err(LookupError::Undefined { x, y }.into()),
            }
        };
        self.values(x, y).into_iter().enumerate().map(residue).collect()
    }

    /// The first of all points, x by x, at which there is no residue.
    ///
    /// # Errors
    /// As [`Function::residues`].
    pub(super) fn check(&self, t: u64) -> Result<()> {
        let all: Vec<u32> = (0..self.domain[1] as u32).collect();
        (0..self.domain[0] as u32).try_for_each(|x| self.residues(&vec![x; all.len()], &all, t).map(|_| ()))
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = match self.values {
            Values::Rule(_) => "a rule",
            Values::Batch(_) => "a rule for many points at once",
            Values::Table(_) => "a table",
        };
        f.debug_struct("Function").field("domain", &self.domain).field("values", &values).finish()
    }
}

#[cfg(test)]
mod tests {
    use noren_rlwe::error::cause;

    use super::*;

    #[test]
    fn all_kinds_of_functions_have_the_same_residues_and_name_the_same_point() -> Result<()> {
        let (domain, f) = ([7, 5], |x: u64, y: u64| 11 * x + y);
        let kinds = [
            Function::rule(domain, move |x, y| Some(f(x, y))),
            Function::table(domain, (0..35).map(|i| f(i / 5, i % 5) as u32).collect())?,
            Function::batch(domain, move |x, y, values| {
                let points = x.iter().zip(y);
                values.iter_mut().zip(points).for_each(|(value, (&x, &y))| *value = Some(f(x.into(), y.into())));
            }),
        ];
        for function in kinds {
            assert_eq!(function.residues(&[6, 0, 3], &[4, 2, 0], 71)?, [70, 2, 33], "{function:?}");
            assert_eq!(function.row(1), [11, 12, 13, 14, 15].map(Some), "{function:?}");
            assert_eq!([function.value(7, 0), function.value(0, 5)], [None; 2], "{function:?}");
            assert!(function.check(71).is_ok(), "{function:?}");
            let refused = function.check(68);
            assert!(
                matches!(cause(&refused), Some(LookupError::NotInRange { x: 6, y: 2, value: 68, t: 68 })),
                "{refused:?}"
            );
        }
        let holes = Function::batch(domain, |x, y, values| {
            let points = x.iter().zip(y);
            values.iter_mut().zip(points).for_each(|(value, (&x, &y))| *value = (x != 4 || y != 3).then_some(1));
        });
        assert!(matches!(cause(&holes.check(71)), Some(LookupError::Undefined { x: 4, y: 3 })));
        Ok(())
    }
}
