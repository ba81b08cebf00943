//! Order of elements and their distance from 0: sorting, the place of the smallest, absolute values, quotients with remainders.

use noren_ring::interrupt::Steps;
use noren_rlwe::error::Result;

use crate::programs::columns::column::Column;
use crate::programs::columns::element::Element;
use crate::programs::columns::evaluate::{ColumnEvaluator, refusal};
use crate::programs::columns::operation::{Binary, Unary};
use crate::radix::sort::exchanges;
use crate::radix::{Comparison, Integer};

impl ColumnEvaluator {
    /// The columns in such an order that each element ascends from column to column, by the network of
    /// [`exchanges`]: all exchanges of a layer are one batch.
    ///
    /// # Errors
    /// As [`ColumnEvaluator::sum`].
    pub fn sort(&self, terms: &[Column]) -> Result<Vec<Column>> {
        let element = self.check_terms(terms)?;
        if element == Element::Bool {
            return self.sort_truths(terms);
        }
        let integers = terms.iter().map(|term| self.integers_of(term)).collect::<Result<Vec<_>>>()?;
        let integers: Vec<&[Integer]> = integers.iter().map(Vec::as_slice).collect();
        let evaluator = self.integers(element)?;
        let sorted = if element.is_signed() { evaluator.sort_signed(&integers)? } else { evaluator.sort(&integers)? };
        sorted.into_iter().map(|integers| self.column(element, integers)).collect()
    }

    /// The columns of truth values in ascending order: false before true.
    fn sort_truths(&self, terms: &[Column]) -> Result<Vec<Column>> {
        let mut terms = terms.to_vec();
        let each = terms[0].count();
        let layers = exchanges(terms.len());
        let progress = Steps::new(layers.iter().map(Vec::len).sum());
        for layer in layers.iter().filter(|layer| !layer.is_empty()) {
            let left = Column::concatenate(layer.iter().map(|&(i, _)| &terms[i]))?;
            let right = Column::concatenate(layer.iter().map(|&(_, j)| &terms[j]))?;
            let low = self.binary(Binary::And, &left, &right)?;
            let high = self.binary(Binary::Or, &left, &right)?;
            for (at, &(i, j)) in layer.iter().enumerate() {
                let elements = at * each..(at + 1) * each;
                (terms[i], terms[j]) = (low.part(&elements), high.part(&elements));
            }
            progress.advance(layer.len());
        }
        Ok(terms)
    }

    /// Of each element the first column in which it is smallest; see [`ColumnEvaluator::argmax`].
    ///
    /// # Errors
    /// As [`ColumnEvaluator::sum`].
    pub fn argmin(&self, terms: &[Column]) -> Result<Column> {
        // The complement turns the order of either kind of integers over.
        let turned = terms.iter().map(|term| self.unary(Unary::Not, term)).collect::<Result<Vec<_>>>()?;
        self.argmax(&turned)
    }

    /// The absolute value of each element; the least integer of a type stays as it is, as its absolute value is too large.
    ///
    /// # Errors
    /// As [`ColumnEvaluator::unary`].
    pub fn abs(&self, a: &Column) -> Result<Column> {
        match a.element() {
            Element::Bool | Element::Unsigned(_) => Ok(a.clone()),
            Element::Digit => Err(refusal("abs", Element::Digit)),
            Element::Signed(_) => {
                let negative = self.binary_known(Binary::Compare(Comparison::Lt), a, &vec![0; a.count()])?;
                self.select(&negative, &self.unary(Unary::Neg, a)?, a)
            }
        }
    }

    /// Quotients, rounded down, and remainders, which are computed together; see [`ColumnEvaluator::binary`].
    ///
    /// # Errors
    /// As [`ColumnEvaluator::binary`].
    pub fn div_rem(&self, a: &Column, b: &Column) -> Result<(Column, Column)> {
        self.check_alike(a, b)?;
        let element = a.element();
        if element.bits().is_none() {
            return Err(refusal(Binary::Div, element));
        }
        let evaluator = self.integers(element)?;
        let [quotients, remainders] = self.each_part(&[a, b], |columns| {
            let (x, y) = (self.integers_of(columns[0])?, self.integers_of(columns[1])?);
            let (quotients, remainders) =
                if element.is_signed() { evaluator.div_rem_signed(&x, &y)? } else { evaluator.div_rem(&x, &y)? };
            Ok([self.column(element, quotients)?, self.column(element, remainders)?])
        })?;
        Ok((quotients, remainders))
    }

    /// Refuses a column of other parameters or of another secret key than those of the evaluator.
    ///
    /// # Errors
    /// As [`Owner::check`](noren_rlwe::owner::Owner::check).
    pub fn check(&self, a: &Column) -> Result<()> {
        self.digits().owner().check(a.owner(), "the column")
    }
}
