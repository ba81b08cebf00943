//! What is asked of a table.

use crate::tables::codes::Codes;
use crate::tables::column::Schema;

/// A question: what is measured, of which rows, and in which groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The columns, where those that are compared with one another have one range.
    pub schema: Schema,
    /// What is measured of each group, with its name in the answer.
    pub measures: Vec<(String, Measure)>,
    /// The rows that are asked for.
    pub condition: Condition,
    /// The columns whose values make the groups; none for a single group of all rows.
    pub groups: Vec<usize>,
}

/// A measure of the rows of a group. Columns are named by their places.
#[derive(Debug, Clone, PartialEq)]
pub enum Measure {
    /// How many rows there are.
    Count,
    /// The sum of a column.
    Sum(usize),
    /// The mean of a column.
    Mean(usize),
    /// The variance of a column.
    Variance {
        /// The column.
        column: usize,
        /// What is taken from the number of rows in the divisor: 0 of a population, 1 of a sample.
        freedom: u8,
        /// Whether its square root is asked for.
        root: bool,
    },
    /// The value below which this share of a column lies, between two values in proportion.
    Quantile(usize, f64),
    /// The smallest value of a column.
    Minimum(usize),
    /// The largest value of a column.
    Maximum(usize),
    /// How many values of a column lie from one edge to the next, the last one included.
    Histogram(usize, Vec<f64>),
}

/// A condition on a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// A value of a column is among these.
    Among(usize, Codes),
    /// The value of a column is that of another one, with the same range.
    Equal(usize, usize),
    /// It is above that.
    Above(usize, usize),
    /// All hold; of none, every row does.
    All(Vec<Condition>),
    /// One holds at least.
    Any(Vec<Condition>),
    /// A condition does not hold.
    Not(Box<Condition>),
}

impl Condition {
    /// That both hold. Two conditions on one column are one.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::merged(self.parts(true), other.parts(true), Codes::intersection, Self::All)
    }

    /// That one holds at least. Two conditions on one column are one.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self::merged(self.parts(false), other.parts(false), Codes::union, Self::Any)
    }

    /// That it does not hold; `count` says how many values a column has.
    #[must_use]
    pub fn negated(self, count: impl Fn(usize) -> u64) -> Self {
        match self {
            Self::Among(column, codes) => Self::Among(column, codes.complement(count(column))),
            Self::Not(condition) => *condition,
            other => Self::Not(Box::new(other)),
        }
    }

    /// The conditions that all must hold, or of which one must.
    fn parts(self, all: bool) -> Vec<Self> {
        match self {
            Self::All(parts) if all => parts,
            Self::Any(parts) if !all => parts,
            other => vec![other],
        }
    }

    fn merged(
        mut parts: Vec<Self>,
        others: Vec<Self>,
        both: impl Fn(&Codes, &Codes) -> Codes,
        whole: impl Fn(Vec<Self>) -> Self,
    ) -> Self {
        for other in others {
            let Self::Among(column, codes) = &other else {
                parts.push(other);
                continue;
            };
            let same = parts.iter_mut().find_map(|part| match part {
                Self::Among(of, found) if of == column => Some(found),
                _ => None,
            });
            match same {
                Some(found) => *found = both(found, codes),
                None => parts.push(other),
            }
        }
        match parts.len() {
            1 => parts.remove(0),
            _ => whole(parts),
        }
    }

    /// Calls a function with each column that is looked at.
    pub(super) fn columns(&self, visit: &mut impl FnMut(usize)) {
        match self {
            Self::Among(column, _) => visit(*column),
            Self::Equal(first, second) | Self::Above(first, second) => {
                [first, second].into_iter().for_each(|&at| visit(at))
            }
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.columns(visit)),
            Self::Not(part) => part.columns(visit),
        }
    }
}

impl Measure {
    /// The column that is measured.
    pub(super) const fn column(&self) -> Option<usize> {
        match *self {
            Self::Count => None,
            Self::Sum(column)
            | Self::Mean(column)
            | Self::Variance { column, .. }
            | Self::Quantile(column, _)
            | Self::Minimum(column)
            | Self::Maximum(column)
            | Self::Histogram(column, _) => Some(column),
        }
    }
}
