//! Functions of Python, asked for all their values.

use std::ops::RangeInclusive;

use noren::programs::columns::{ColumnLookup, Element};
use noren::tfhe::Parameters;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::tfhe::numbers::ExactNumbers;

/// The values of a function at all points.
pub(crate) struct Function {
    inputs: Vec<RangeInclusive<i128>>,
    /// Those of the first coordinate side by side.
    values: Vec<i128>,
}

impl Function {
    /// Asks a function, or a table, for its values.
    pub(crate) fn tabulate(
        py: Python<'_>,
        parameters: &Parameters,
        f: &Bound<'_, PyAny>,
        inputs: &[Element],
        output: Element,
        undefined: Option<i64>,
    ) -> PyResult<Self> {
        let inputs = ColumnLookup::domain(parameters, inputs).map_err(raise)?;
        let ranges: Vec<(i128, usize)> = inputs.iter().map(|range| (*range.start(), size(range))).collect();
        let allowed = output.range(parameters);
        let values = py
            .import("noren._tabulate")?
            .call_method1("tabulate", (f, ranges, (*allowed.start(), *allowed.end()), undefined))?;
        Ok(Self { inputs, values: ExactNumbers::of(&values)?.entries })
    }

    /// The value at a point.
    pub(crate) fn at(&self, point: &[i128]) -> i128 {
        let axes = self.inputs.iter().zip(point).rev();
        let index = axes.fold(0, |index, (range, x)| index * size(range) + (x - range.start()) as usize);
        self.values[index]
    }
}

/// How many values an operand has.
fn size(range: &RangeInclusive<i128>) -> usize {
    (range.end() - range.start() + 1) as usize
}
