//! Functions of two numbers, by a rule or by a table.

use std::fmt;
use std::sync::Arc;

use noren_rlwe::error::{Error, Result};

/// A function `f(x, y)` of `0 <= x < X` and `0 <= y < Y`.
///
/// # Examples
/// ```
/// use noren::circuits::lookup::Function;
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
    Table(Arc<[u32]>),
}

impl Function {
    /// A function by its rule, for numbers below `domain[0]` and `domain[1]`; `None` where it has no value.
    pub fn rule(domain: [usize; 2], f: impl Fn(u64, u64) -> Option<u64> + Send + Sync + 'static) -> Self {
        Self { domain, values: Values::Rule(Arc::new(f)) }
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
        if x >= self.domain[0] || y >= self.domain[1] {
            return None;
        }
        match &self.values {
            Values::Rule(f) => f(x as u64, y as u64),
            Values::Table(values) => Some(values[x * self.domain[1] + y].into()),
        }
    }

    /// The residue `f(x, y)` modulo t.
    ///
    /// # Errors
    /// [`Error::Undefined`] where there is no value, [`Error::NotInRange`] for a value that is not below t.
    pub(super) fn residue(&self, x: usize, y: usize, t: u64) -> Result<u64> {
        match self.value(x, y) {
            Some(value) if value < t => Ok(value),
            Some(value) => Err(Error::NotInRange { x, y, value, t }),
            None => Err(Error::Undefined { x, y }),
        }
    }

    /// The first of all points, x by x, at which there is no residue.
    ///
    /// # Errors
    /// As [`Function::residue`].
    pub(super) fn check(&self, t: u64) -> Result<()> {
        (0..self.domain[0]).try_for_each(|x| (0..self.domain[1]).try_for_each(|y| self.residue(x, y, t).map(|_| ())))
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = match self.values {
            Values::Rule(_) => "a rule",
            Values::Table(_) => "a table",
        };
        f.debug_struct("Function").field("domain", &self.domain).field("values", &values).finish()
    }
}
