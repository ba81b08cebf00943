//! The verbs of a walk over a graph on columns: an evaluator computes with ciphertexts, a dry run counts bootstraps.

use noren_rlwe::error::Result;

use crate::programs::columns::{Binary, Column, ColumnEvaluator, ColumnLookup, Element, Unary};

/// The position of each element in what it is taken from: a function, as a dry run does not ask for it.
pub(super) type Positions<'a> = &'a dyn Fn() -> Vec<usize>;

/// Operations on columns, as those of [`ColumnEvaluator`]. Numbers in clear are taken modulo the size of their type.
pub(super) trait ColumnAlgebra {
    /// A column of elements.
    type Column: Clone;

    /// Begins a node: the operations that follow are its own.
    fn begin(&self, _node: usize) {}

    fn element(&self, column: &Self::Column) -> Element;

    fn count(&self, column: &Self::Column) -> usize;

    /// A column of `count` elements, each one of the numbers.
    fn trivial(&self, element: Element, numbers: &[f64], count: usize, at: Positions<'_>) -> Result<Self::Column>;

    /// `count` elements of a column.
    fn gather(&self, column: &Self::Column, count: usize, at: Positions<'_>) -> Self::Column;

    /// The elements at these positions, and 0 for a negative one.
    fn gather_or_zero(&self, column: &Self::Column, positions: &[i64]) -> Result<Self::Column>;

    fn cast(&self, column: &Self::Column, to: Element) -> Result<Self::Column>;

    fn unary(&self, kind: Unary, x: &Self::Column) -> Result<Self::Column>;

    fn binary(&self, kind: Binary, x: &Self::Column, y: &Self::Column) -> Result<Self::Column>;

    /// An operation of each element with one of the numbers.
    fn binary_known(&self, kind: Binary, x: &Self::Column, numbers: &[f64], at: Positions<'_>) -> Result<Self::Column>;

    fn select(&self, condition: &Self::Column, a: &Self::Column, b: &Self::Column) -> Result<Self::Column>;

    fn fold(&self, kind: Binary, terms: &[Self::Column]) -> Result<Self::Column>;

    /// The sum in the type of the terms, which are integers.
    fn sum(&self, terms: &[Self::Column]) -> Result<Self::Column>;

    /// The terms in such an order that each element, an integer, ascends from term to term, one after the other in one column.
    fn sort(&self, terms: &[Self::Column]) -> Result<Self::Column>;

    /// Of each element, an integer, the first term in which it is largest.
    fn argmax(&self, terms: &[Self::Column]) -> Result<Self::Column>;

    fn table(&self, table: &Table<'_>, operands: &[Self::Column]) -> Result<Self::Column>;
}

/// A table that is looked up.
pub(super) struct Table<'a> {
    pub(super) output: Element,
    /// Whether bootstraps of all digits of operands together look it up, without circuit bootstraps.
    pub(super) is_direct: bool,
    pub(super) values: &'a [f64],
    /// The value for elements of the operands.
    pub(super) value: &'a dyn Fn(&[i128]) -> i128,
}

/// The number of each element, modulo the size of a type.
fn spread(element: Element, numbers: &[f64], positions: Vec<usize>) -> Vec<i128> {
    positions.into_iter().map(|at| element.wrapped(numbers[at] as i128)).collect()
}

impl ColumnAlgebra for ColumnEvaluator {
    type Column = Column;

    fn element(&self, column: &Column) -> Element {
        column.element()
    }

    fn count(&self, column: &Column) -> usize {
        column.count()
    }

    fn trivial(&self, element: Element, numbers: &[f64], _: usize, at: Positions<'_>) -> Result<Column> {
        self.trivial(element, &spread(element, numbers, at()))
    }

    fn gather(&self, column: &Column, count: usize, at: Positions<'_>) -> Column {
        let positions = at();
        match count == column.count() && positions.iter().enumerate().all(|(i, &position)| i == position) {
            true => column.clone(),
            false => column.gather(&positions),
        }
    }

    fn gather_or_zero(&self, column: &Column, positions: &[i64]) -> Result<Column> {
        let last = column.count();
        let places: Vec<usize> = positions.iter().map(|&at| usize::try_from(at).unwrap_or(last)).collect();
        if !places.contains(&last) {
            return Ok(column.gather(&places));
        }
        let zero = self.trivial(column.element(), &[0])?;
        Ok(Column::concatenate([column, &zero].into_iter())?.gather(&places))
    }

    fn cast(&self, column: &Column, to: Element) -> Result<Column> {
        self.cast(column, to)
    }

    fn unary(&self, kind: Unary, x: &Column) -> Result<Column> {
        self.unary(kind, x)
    }

    fn binary(&self, kind: Binary, x: &Column, y: &Column) -> Result<Column> {
        self.binary(kind, x, y)
    }

    fn binary_known(&self, kind: Binary, x: &Column, numbers: &[f64], at: Positions<'_>) -> Result<Column> {
        self.binary_known(kind, x, &spread(x.element(), numbers, at()))
    }

    fn select(&self, condition: &Column, a: &Column, b: &Column) -> Result<Column> {
        self.select(condition, a, b)
    }

    fn fold(&self, kind: Binary, terms: &[Column]) -> Result<Column> {
        self.fold(kind, terms)
    }

    fn sum(&self, terms: &[Column]) -> Result<Column> {
        self.sum(terms)
    }

    fn sort(&self, terms: &[Column]) -> Result<Column> {
        Column::concatenate(self.sort(terms)?.iter())
    }

    fn argmax(&self, terms: &[Column]) -> Result<Column> {
        self.argmax(terms)
    }

    fn table(&self, table: &Table<'_>, operands: &[Column]) -> Result<Column> {
        let (context, output) = (self.digits().context(), table.output);
        let inputs: Vec<Element> = operands.iter().map(Column::element).collect();
        let lookup = match table.is_direct {
            true => ColumnLookup::direct(context, &inputs, output, table.value)?,
            false => ColumnLookup::new(context, &inputs, output, table.value)?,
        };
        self.lookup(&lookup, &operands.iter().collect::<Vec<_>>())
    }
}
