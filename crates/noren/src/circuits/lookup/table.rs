//! The table of a function as the matrix has it, and what the matrix cannot have.

use noren_rlwe::error::Result;

use crate::circuits::lookup::function::Function;
use crate::circuits::lookup::plan::Plan;
use crate::schemes::bfv::{Encoder, Plaintext};

/// The table of a function. Where a number has no slot, it is that of the differences to the values at that number.
pub(super) struct Table<'a> {
    plan: &'a Plan,
    function: &'a Function,
    /// The numbers without a slot.
    last: [Option<usize>; 2],
    corner: u64,
}

impl<'a> Table<'a> {
    pub(super) fn new(plan: &'a Plan, function: &'a Function) -> Result<Self> {
        let (rest, t) = (plan.layout().rest(), plan.parameters().modulus().value());
        let last = rest.map(|rest| rest.then_some(t as usize - 1));
        let corner = match last {
            [Some(x), Some(y)] => function.residue(x, y, t)?,
            _ => 0,
        };
        Ok(Self { plan, function, last, corner })
    }

    /// The entry of the matrix for x and y: 0 outside the domain.
    pub(super) fn residue(&self, x: usize, y: usize) -> Result<u64> {
        let [columns, rows] = self.function.domain();
        if x >= columns || y >= rows {
            return Ok(0);
        }
        let (t, f) = (self.plan.parameters().modulus().value(), self.function);
        let value = f.residue(x, y, t)?;
        let [in_column, in_row] = self.last;
        let column = in_column.map_or(Ok(0), |last| f.residue(last, y, t))?;
        let row = in_row.map_or(Ok(0), |last| f.residue(x, last, t))?;
        Ok((value + 2 * t - column - row + self.corner) % t)
    }

    /// What is added for numbers without a slot.
    pub(super) fn rest(&self, encoder: &Encoder) -> Result<Rest> {
        let (layout, t) = (self.plan.layout(), self.plan.parameters().modulus().value());
        let encode = |block: usize, size: usize, value: &dyn Fn(usize) -> Result<u64>| {
            let indices = (0..layout.degree()).map(|slot| layout.index(block, slot));
            let value = |i: usize| if i < size { Ok((value(i)? + t - self.corner) % t) } else { Ok(0) };
            let values = indices.map(value).map(|value| value.map(u64::cast_signed));
            encoder.encode(&values.collect::<Result<Vec<i64>>>()?)
        };
        let ([blocks, results], [x_size, y_size]) = (layout.blocks(), layout.domain());
        let [last_x, last_y] = self.last;
        let rows = last_x.map_or(Ok(Vec::new()), |last| {
            let value = |y| self.function.residue(last, y, t);
            (0..results).map(|block| encode(block, y_size, &value)).collect::<Result<Vec<_>>>()
        })?;
        let columns = last_y.map_or(Ok(Vec::new()), |last| {
            let value = |x| self.function.residue(x, last, t);
            (0..blocks).map(|block| encode(block, x_size, &value)).collect::<Result<Vec<_>>>()
        })?;
        Ok(Rest { rows, columns, corner: self.corner.cast_signed() })
    }
}

/// What is added for numbers without a slot, `t - 1`, of which all one-hot vectors are 0. The table is then that of the
/// difference to their values.
pub(super) struct Rest {
    /// Added to each block of the row: `f(t - 1, y) - f(t - 1, t - 1)`.
    pub(super) rows: Vec<Plaintext>,
    /// Times each block of the one-hot vector of x, before the sum: `f(x, t - 1) - f(t - 1, t - 1)`.
    pub(super) columns: Vec<Plaintext>,
    /// Added to the result: `f(t - 1, t - 1)`.
    pub(super) corner: i64,
}
