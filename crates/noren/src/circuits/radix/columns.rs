//! Sums of many terms, column by column: carry-save trees.

use crate::circuits::radix::carry::{BASE, MAX_SUM, propagate};
use crate::circuits::radix::circuit::{Circuit, MAX_NOISE, ROOM};
use crate::circuits::radix::value::Value;

/// The terms of each digit of a sum, the lowest first.
#[derive(Debug)]
pub(super) struct Columns(Vec<Vec<Value>>);

impl Columns {
    /// No terms, for a sum of so many digits.
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
        while self.0.iter().any(|terms| !fits(terms)) {
            self = self.round(circuit);
        }
        let sums: Vec<Value> = self.0.iter().map(|terms| total(terms)).collect();
        propagate(circuit, &sums, &Value::constant(0))
    }

    /// Splits as many terms at once as a table has room for, wherever a column has too many.
    fn round(self, circuit: &mut Circuit) -> Self {
        let mut next = Self::new(self.0.len());
        for (column, mut terms) in self.0.into_iter().enumerate() {
            if fits(&terms) {
                next.0[column].append(&mut terms);
                continue;
            }
            for bin in bins(terms) {
                // A bin that is left over waits for the carries that come.
                if bin.most() < BASE {
                    next.add(column, bin);
                    continue;
                }
                next.add(column, circuit.lookup(&bin, |x| x % BASE));
                if column + 1 < next.0.len() {
                    next.add(column + 1, circuit.lookup(&bin, |x| x / BASE));
                }
            }
        }
        next
    }
}

/// Whether carries can be propagated from a column with these terms, with room for the noise of a carry.
fn fits(terms: &[Value]) -> bool {
    let sum = total(terms);
    sum.most() <= MAX_SUM && sum.noise() <= MAX_NOISE - 1.0
}

fn total(terms: &[Value]) -> Value {
    terms.iter().fold(Value::constant(0), |sum, term| sum + term)
}

/// Sums of the terms for which a table has room, the largest terms first.
fn bins(mut terms: Vec<Value>) -> Vec<Value> {
    terms.sort_by_key(|term| std::cmp::Reverse(term.most()));
    let mut bins: Vec<Value> = Vec::new();
    for term in terms {
        let room = |bin: &Value| bin.most() + term.most() < ROOM as u64 && bin.noise() + term.noise() <= MAX_NOISE;
        match bins.iter_mut().find(|bin| room(bin)) {
            Some(bin) => *bin = bin.clone() + &term,
            None => bins.push(term),
        }
    }
    bins
}
