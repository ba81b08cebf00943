//! Sums of many terms, column by column: carry-save trees.

use crate::radix::carry::{BASE, MAX_LAST_SUM, MAX_SUM, propagate};
use crate::radix::circuit::{Circuit, MAX_NOISE, ROOM};
use crate::radix::value::Value;

/// The terms of each digit of a sum, the lowest first.
#[derive(Debug)]
pub(super) struct Columns(Vec<Vec<Value>>);

impl Columns {
    /// No terms, for a sum of `digits` digits.
    pub fn new(digits: usize) -> Self {
        Self(vec![Vec::new(); digits])
    }

    /// Adds a term to a digit, unless it lies beyond the sum.
    pub fn add(&mut self, column: usize, term: Value) {
        if term.known() != Some(0)
            && let Some(terms) = self.0.get_mut(column)
        {
            terms.push(term);
        }
    }

    /// The digits of the sum; what goes beyond them is dropped.
    pub fn sum(mut self, circuit: &mut Circuit) -> Vec<Value> {
        while (0..self.0.len()).any(|column| !self.fits(column)) {
            self = self.round(circuit);
        }
        let sums: Vec<Value> = self.0.iter().map(|terms| total(terms)).collect();
        propagate(circuit, &sums, &Value::constant(0))
    }

    /// Whether carries can be propagated through a column, with room for one and its noise.
    fn fits(&self, column: usize) -> bool {
        let most = if column + 1 == self.0.len() { MAX_LAST_SUM } else { MAX_SUM };
        let sum = total(&self.0[column]);
        sum.most() <= most && sum.noise() <= MAX_NOISE - 1.0
    }

    /// Splits as many terms at once as a table has room for, wherever a column has too many.
    fn round(self, circuit: &mut Circuit) -> Self {
        let mut next = Self::new(self.0.len());
        for (column, terms) in self.0.iter().enumerate() {
            if self.fits(column) {
                terms.iter().for_each(|term| next.add(column, term.clone()));
                continue;
            }
            for (index, (sum, bin)) in bins(terms).iter().enumerate() {
                // The remainder of the first waits for the carries that come.
                if index > 0 && sum.most() <= MAX_SUM {
                    bin.iter().for_each(|term| next.add(column, term.clone()));
                    continue;
                }
                next.add(column, circuit.lookup(sum, |x| x % BASE));
                next.add(column + 1, circuit.lookup(sum, |x| x / BASE));
            }
        }
        next
    }
}

fn total(terms: &[Value]) -> Value {
    terms.iter().fold(Value::constant(0), |sum, term| sum + term)
}

/// Terms for whose sum a table has room, the largest terms first, with their sum.
fn bins(terms: &[Value]) -> Vec<(Value, Vec<Value>)> {
    let mut terms = terms.to_vec();
    terms.sort_by_key(|term| std::cmp::Reverse(term.most()));
    let mut bins: Vec<(Value, Vec<Value>)> = Vec::new();
    for term in terms {
        let fits = |sum: &Value| sum.most() + term.most() < ROOM as u64 && sum.noise() + term.noise() <= MAX_NOISE;
        match bins.iter_mut().find(|(sum, _)| fits(sum)) {
            Some((sum, bin)) => {
                *sum = sum.clone() + &term;
                bin.push(term);
            }
            None => bins.push((Value::constant(0) + &term, vec![term])),
        }
    }
    bins
}
