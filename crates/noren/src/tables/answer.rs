//! The answer to a question: numbers of groups.

use std::collections::HashMap;

use serde::Serialize;

use crate::tables::circuit::{Circuit, Sum, starts};
use crate::tables::column::{Schema, Values};
use crate::tables::question::{Measure, Question};

/// A cell of an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f64),
    /// A text.
    Text(String),
    /// Nothing, such as the mean of no rows.
    Missing,
}

/// The answer to a question: a row for each group, in the order of its values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// The names of the columns of groups, and of what was measured.
    pub names: Vec<String>,
    /// How many of them are columns of groups, the first.
    pub keys: usize,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// The sums over the rows of a group.
struct Sums<'a> {
    of: HashMap<Sum, i128>,
    schema: &'a Schema,
    limb_bits: [usize; 2],
}

impl Answer {
    /// The answer that follows from the sums of all groups.
    pub(super) fn new(question: &Question, circuit: &Circuit, sums: &[i128]) -> Self {
        let schema = &question.schema;
        let column = |&at: &usize| schema.columns[at].name.clone();
        let mut names: Vec<String> = question.groups.iter().map(column).collect();
        for (name, measure) in &question.measures {
            match measure {
                Measure::Histogram(_, edges) => {
                    let bin = |k: usize| {
                        let end = if k + 2 == edges.len() { ']' } else { ')' };
                        format!("{name} [{}, {}{end}", edges[k], edges[k + 1])
                    };
                    names.extend((0..edges.len() - 1).map(bin));
                }
                _ => names.push(name.clone()),
            }
        }
        let row = |(codes, sums): (&Vec<u64>, &[i128])| {
            let of = circuit.sums.iter().copied().zip(sums.iter().copied()).collect();
            let sums = Sums { of, schema, limb_bits: circuit.limb_bits };
            let mut cells: Vec<Cell> =
                question.groups.iter().zip(codes).map(|(&at, &code)| cell(&schema.columns[at].values, code)).collect();
            question.measures.iter().for_each(|(_, measure)| sums.measured(measure, &mut cells));
            cells
        };
        let rows = circuit.groups.iter().zip(sums.chunks(circuit.sums.len())).map(row).collect();
        Self { names, keys: question.groups.len(), rows }
    }
}

/// The value that a code stands for.
fn cell(values: &Values, code: u64) -> Cell {
    match values {
        Values::Integers { low, .. } => Cell::Whole(low + code.cast_signed()),
        Values::Steps { .. } => Cell::Real(values.number(code as f64)),
        Values::Categories(texts) => Cell::Text(texts[code as usize].clone()),
    }
}

impl Sums<'_> {
    fn get(&self, sum: Sum) -> i128 {
        self.of.get(&sum).copied().unwrap_or(0)
    }

    fn count(&self) -> i128 {
        self.get(Sum::Count)
    }

    /// The sum of the codes of a column.
    fn codes(&self, column: usize) -> i128 {
        let limbs = self.schema.columns[column].values.bits().div_ceil(self.limb_bits[0]);
        (0..limbs).map(|limb| self.get(Sum::Limb { column, limb }) << (limb * self.limb_bits[0])).sum()
    }

    /// The sum of their squares.
    fn squares(&self, column: usize) -> i128 {
        let [_, bits] = self.limb_bits;
        let count = self.schema.columns[column].values.bits().div_ceil(bits);
        let product = |first: usize, second: usize| {
            let times = if first == second { 0 } else { 1 };
            self.get(Sum::Product { column, limbs: [first, second] }) << ((first + second) * bits + times)
        };
        (0..count).flat_map(|first| (first..count).map(move |second| product(first, second))).sum()
    }

    /// The code of the row of this rank, from 0, in the order of a column.
    fn ranked(&self, column: usize, rank: i128) -> u64 {
        let mut below = 0;
        let count = self.schema.columns[column].values.count();
        let reaches = |code: &u64| {
            below += self.get(Sum::Code { column, code: *code });
            below > rank
        };
        (0..count).find(reaches).unwrap_or(count - 1)
    }

    fn measured(&self, measure: &Measure, cells: &mut Vec<Cell>) {
        let count = self.count();
        let values = measure.column().map(|column| &self.schema.columns[column].values);
        let (Some(values), Some(column)) = (values, measure.column()) else {
            return cells.push(Cell::Whole(count as i64));
        };
        let (low, step) = values.grid();
        cells.push(match measure {
            Measure::Histogram(_, edges) => {
                let code_from = |code: u64| self.get(Sum::From { column, code });
                let starts: Vec<i128> = starts(values, edges).into_iter().map(code_from).collect();
                return cells.extend(starts.windows(2).map(|pair| Cell::Whole((pair[0] - pair[1]) as i64)));
            }
            Measure::Sum(_) => match values {
                Values::Integers { low, .. } => Cell::Whole((self.codes(column) + count * i128::from(*low)) as i64),
                _ => Cell::Real(count as f64 * low + self.codes(column) as f64 * step),
            },
            _ if count == 0 => Cell::Missing,
            Measure::Mean(_) => Cell::Real(low + self.codes(column) as f64 / count as f64 * step),
            Measure::Variance { freedom, root, .. } => {
                let divisor = count - i128::from(*freedom);
                if divisor == 0 {
                    return cells.push(Cell::Missing);
                }
                // Exact as far as whole numbers go: `n sum x^2 - (sum x)^2`.
                let sum = self.codes(column);
                let spread = count * self.squares(column) - sum * sum;
                let variance = spread as f64 / (count as f64 * divisor as f64) * step * step;
                Cell::Real(if *root { variance.sqrt() } else { variance })
            }
            Measure::Minimum(_) => cell(values, self.ranked(column, 0)),
            Measure::Maximum(_) => cell(values, self.ranked(column, count - 1)),
            Measure::Quantile(_, share) => {
                let place = share * (count - 1) as f64;
                let [a, b] = [place.floor(), place.ceil()].map(|rank| self.ranked(column, rank as i128) as f64);
                Cell::Real(values.number(a + (b - a) * place.fract()))
            }
            Measure::Count => Cell::Whole(count as i64),
        });
    }
}
