//! Functions of Python, asked for all their values.

use noren::programs::columns::Element;
use noren::tfhe::Parameters;
use pyo3::prelude::*;

use crate::errors::EncodingError;
use crate::tfhe::numbers::ExactNumbers;

/// The most bits of all operands together.
const MAX_BITS: u32 = 16;

/// The values of a function at all points.
pub(crate) struct Function {
    inputs: Vec<Axis>,
    /// Those of the first coordinate side by side.
    values: Vec<i128>,
}

/// The values of an operand, from the least up.
struct Axis {
    least: i128,
    size: usize,
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
        let axis = |input: &Element| match input {
            // A function of one digit is one of its carries too.
            Element::Digit if inputs.len() == 1 => Axis { least: 0, size: parameters.encoding().size() as usize },
            _ => {
                let range = input.range(parameters);
                Axis {
                    least: *range.start(),
                    size: (range.end() - range.start() + 1).min(i128::from(u32::MAX)) as usize,
                }
            }
        };
        let axes: Vec<Axis> = inputs.iter().map(axis).collect();
        let size = axes.iter().fold(1, |size: usize, axis| size.saturating_mul(axis.size));
        if size > 1 << MAX_BITS {
            let kinds: Vec<String> = inputs.iter().map(ToString::to_string).collect();
            let message = format!("functions of at most {MAX_BITS} bits are looked up, found {}", kinds.join(" and "));
            return Err(EncodingError::new_err(message));
        }
        let ranges: Vec<(i128, usize)> = axes.iter().map(|axis| (axis.least, axis.size)).collect();
        let allowed = output.range(parameters);
        let values = py
            .import("noren._tabulate")?
            .call_method1("tabulate", (f, ranges, (*allowed.start(), *allowed.end()), undefined))?;
        Ok(Self { inputs: axes, values: ExactNumbers::of(&values)?.entries })
    }

    /// The value at a point.
    pub(crate) fn at(&self, point: &[i128]) -> i128 {
        let axes = self.inputs.iter().zip(point).rev();
        let index = axes.fold(0, |index, (axis, x)| index * axis.size + (x - axis.least) as usize);
        self.values[index]
    }
}
