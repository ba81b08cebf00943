//! The table of a function as the matrix has it, and what the matrix cannot have.

use noren_rlwe::error::Result;

use crate::lookup::function::Function;
use crate::lookup::plan::LookupPlan;
use crate::schemes::bfv::{Encoder, Plaintext};

/// The table of a function. Where a number has no slot, it is that of the differences to the values at that number.
pub(super) struct Table<'a> {
    plan: &'a LookupPlan,
    function: &'a Function,
    /// `f(t - 1, y)` for all y, if x may be the number without a slot.
    last_x: Option<Vec<i64>>,
    /// `f(x, t - 1)` for all x, if y may be the number without a slot.
    last_y: Option<Vec<i64>>,
    offset: i64,
}

impl<'a> Table<'a> {
    pub(super) fn new(plan: &'a LookupPlan, function: &'a Function) -> Result<Self> {
        let (rest, [columns, rows]) = (plan.layout().rest(), function.domain());
        let t = plan.parameters().modulus().value();
        let (all_x, all_y): (Vec<u32>, Vec<u32>) = ((0..columns as u32).collect(), (0..rows as u32).collect());
        let last = t as u32 - 1;
        let last_x = rest[0].then(|| function.residues(&vec![last; rows], &all_y, t)).transpose()?;
        let last_y = rest[1].then(|| function.residues(&all_x, &vec![last; columns], t)).transpose()?;
        let offset = if rest == [true; 2] { last_y.iter().flatten().last().copied().unwrap_or(0) } else { 0 };
        Ok(Self { plan, function, last_x, last_y, offset })
    }

    /// The value of each slot of a factor of the matrix: 0 outside the domain.
    pub(super) fn factor(&self, factor: usize) -> Result<Vec<i64>> {
        let (layout, t) = (self.plan.layout(), self.plan.parameters().modulus().value());
        let [columns, rows] = self.function.domain();
        let (mut slots, mut all_x, mut all_y) = (Vec::new(), Vec::new(), Vec::new());
        for slot in 0..layout.degree() {
            if let Some([x, y]) = layout.entry(factor, slot).filter(|&[x, y]| x < columns && y < rows) {
                slots.push(slot);
                all_x.push(x as u32);
                all_y.push(y as u32);
            }
        }
        let mut values = vec![0; layout.degree()];
        let residues = self.function.residues(&all_x, &all_y, t)?;
        for (i, (slot, residue)) in slots.into_iter().zip(residues).enumerate() {
            let last_x = self.last_x.as_ref().map_or(0, |row| row[all_y[i] as usize]);
            let last_y = self.last_y.as_ref().map_or(0, |column| column[all_x[i] as usize]);
            values[slot] = (residue - last_x - last_y + self.offset).rem_euclid(t.cast_signed());
        }
        Ok(values)
    }

    /// The summand for numbers without a slot.
    pub(super) fn rest(&self, encoder: &Encoder) -> Result<Rest> {
        let (layout, t) = (self.plan.layout(), self.plan.parameters().modulus().value());
        let encode = |block: usize, values: &[i64]| {
            let indices = (0..layout.degree()).map(|slot| layout.index(block, slot));
            let value = |i| values.get(i).map_or(0, |value: &i64| (value - self.offset).rem_euclid(t.cast_signed()));
            encoder.encode(&indices.map(value).collect::<Vec<i64>>())
        };
        let [blocks, results] = layout.blocks();
        let all = |values: &Option<Vec<i64>>, blocks: usize| match values {
            Some(values) => (0..blocks).map(|block| encode(block, values)).collect::<Result<Vec<_>>>(),
            None => Ok(Vec::new()),
        };
        let (rows, columns) = (all(&self.last_x, results)?, all(&self.last_y, blocks)?);
        Ok(Rest { rows, columns, offset: self.offset })
    }
}

/// The summand for numbers without a slot, `t - 1`, of which all one-hot vectors are 0. The table is then that of the
/// difference to their values.
pub(super) struct Rest {
    /// Added to each block of the row: `f(t - 1, y) - f(t - 1, t - 1)`.
    pub(super) rows: Vec<Plaintext>,
    /// Times each block of the one-hot vector of x, before the sum: `f(x, t - 1) - f(t - 1, t - 1)`.
    pub(super) columns: Vec<Plaintext>,
    /// Added to the result: `f(t - 1, t - 1)`.
    pub(super) offset: i64,
}
