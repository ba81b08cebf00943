//! Order of elements and their distance from 0: sorting, the place of the smallest, absolute values, quotients with remainders.

use noren_rlwe::error::Result;

use crate::circuits::radix::Comparison;
use crate::programs::columns::column::Column;
use crate::programs::columns::element::Element;
use crate::programs::columns::evaluate::{ColumnEvaluator, refusal};
use crate::programs::columns::operation::{Binary, Unary};

/// The exchanges of a sorting network for so many terms: Batcher's merge exchange. Those of a layer have no term in common; each
/// brings the smaller of terms `i < j` to `i`.
///
/// Source: Knuth, "The Art of Computer Programming", volume 3, section 5.2.2, algorithm M.
#[must_use]
pub fn exchanges(terms: usize) -> Vec<Vec<(usize, usize)>> {
    let mut layers = Vec::new();
    if terms < 2 {
        return layers;
    }
    let top = terms.next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            layers.push((0..terms - d).filter(|i| i & p == r).map(|i| (i, i + d)).collect());
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
    layers
}

impl ColumnEvaluator {
    /// The columns in such an order that each element ascends from column to column, by the network of [`exchanges`]: all of a
    /// layer are one batch of a comparison, and one of choices.
    ///
    /// # Errors
    /// As [`ColumnEvaluator::sum`].
    pub fn sort(&self, terms: &[Column]) -> Result<Vec<Column>> {
        self.check_terms(terms)?;
        let mut terms = terms.to_vec();
        let each = terms[0].count();
        for layer in exchanges(terms.len()).iter().filter(|layer| !layer.is_empty()) {
            let left = Column::concatenate(layer.iter().map(|&(i, _)| &terms[i]))?;
            let right = Column::concatenate(layer.iter().map(|&(_, j)| &terms[j]))?;
            let (low, high) = self.exchange(&left, &right)?;
            for (at, &(i, j)) in layer.iter().enumerate() {
                let places: Vec<usize> = (at * each..(at + 1) * each).collect();
                (terms[i], terms[j]) = (low.gather(&places), high.gather(&places));
            }
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
        let (evaluator, x, y) = (self.integers(element)?, self.integers_of(a)?, self.integers_of(b)?);
        let (quotients, remainders) =
            if element.is_signed() { evaluator.div_rem_signed(&x, &y)? } else { evaluator.div_rem(&x, &y)? };
        Ok((self.column(element, quotients)?, self.column(element, remainders)?))
    }

    /// Refuses a column of other parameters or of another secret key than those of the evaluator.
    ///
    /// # Errors
    /// As [`Owner::check`](noren_rlwe::owner::Owner::check).
    pub fn check(&self, a: &Column) -> Result<()> {
        self.digits().owner().check(a.owner(), "the column")
    }

    /// The smaller and the larger of both elements.
    fn exchange(&self, a: &Column, b: &Column) -> Result<(Column, Column)> {
        if a.element() == Element::Bool {
            return Ok((self.binary(Binary::And, a, b)?, self.binary(Binary::Or, a, b)?));
        }
        let swap = self.binary(Binary::Compare(Comparison::Lt), b, a)?;
        let flags = Column::concatenate([&swap, &swap].into_iter())?;
        let firsts = Column::concatenate([b, a].into_iter())?;
        let seconds = Column::concatenate([a, b].into_iter())?;
        let both = self.select(&flags, &firsts, &seconds)?;
        let count = a.count();
        let half = |first: usize| both.gather(&(first..first + count).collect::<Vec<_>>());
        Ok((half(0), half(count)))
    }
}

#[cfg(test)]
mod tests {
    use super::exchanges;

    #[test]
    fn networks_sort_all_sequences_of_truth_values() {
        // A network that sorts these sorts everything: the 0-1 principle (Knuth, theorem 5.3.4 Z).
        for terms in 0..10 {
            let layers = exchanges(terms);
            for layer in &layers {
                let mut met: Vec<usize> = layer.iter().flat_map(|&(i, j)| [i, j]).collect();
                met.sort_unstable();
                met.dedup();
                assert_eq!(met.len(), 2 * layer.len(), "no term is exchanged twice in a layer of {terms}");
            }
            for bits in 0..1u32 << terms {
                let mut values: Vec<bool> = (0..terms).map(|i| bits >> i & 1 == 1).collect();
                for &(i, j) in layers.iter().flatten() {
                    (values[i], values[j]) = (values[i] & values[j], values[i] | values[j]);
                }
                assert!(values.is_sorted(), "{terms} terms, {bits:b}");
            }
        }
    }
}
