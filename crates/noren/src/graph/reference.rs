//! The function in clear, as its definition says: the oracle of the compiler.

use noren_rlwe::error::{Error, Result};

use crate::graph::dag::Graph;
use crate::graph::operation::Operation;
use crate::graph::shape::{broadcast_positions, positions_without, size};

impl Graph {
    /// The outputs for these inputs in clear, each in row-major order.
    ///
    /// # Errors
    /// Another number of inputs, or of elements of an input.
    pub fn evaluate(&self, inputs: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
        let values = self.evaluate_all(inputs)?;
        Ok(self.outputs().iter().map(|&output| values[output].clone()).collect())
    }

    /// The results of all nodes that an output depends on; nothing for the others.
    pub(crate) fn evaluate_all(&self, inputs: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
        let positions = self.inputs();
        check("inputs", inputs.len(), positions.len())?;
        let mut values: Vec<Vec<f64>> = Vec::with_capacity(self.nodes().len());
        let needed = self.needed();
        for (at, node) in self.nodes().iter().enumerate() {
            let input = positions.iter().position(|&position| position == at);
            if let Some(input) = input {
                check("elements of an input", inputs[input].len(), size(&node.shape).unwrap_or(0))?;
            }
            let result = match input {
                _ if !needed[at] => Vec::new(),
                Some(input) => inputs[input].clone(),
                None => self.result(at, |operand| &values[operand]),
            };
            values.push(result);
        }
        Ok(values)
    }

    /// The result of a node that is computed from constants alone.
    pub(super) fn in_clear(&self, at: usize) -> Option<Vec<f64>> {
        let values = |operand: usize| match &self.node(operand).operation {
            Operation::Constant { values, .. } => Some(values.as_slice()),
            _ => None,
        };
        let operands = self.node(at).operation.operands();
        let all = !operands.is_empty() && operands.into_iter().all(|operand| values(operand).is_some());
        let result = all.then(|| self.result(at, |operand| values(operand).unwrap_or_default()))?;
        result.iter().all(|x| x.is_finite()).then_some(result)
    }

    /// The result of one node from those of its operands.
    pub(super) fn result<'a>(&self, at: usize, values: impl Fn(usize) -> &'a [f64]) -> Vec<f64> {
        let node = self.node(at);
        let spread = |operand: usize| -> Vec<f64> {
            let (positions, values) = (broadcast_positions(&self.node(operand).shape, &node.shape), values(operand));
            positions.into_iter().map(|position| values[position]).collect()
        };
        let each = |of: usize, f: &dyn Fn(f64) -> f64| values(of).iter().map(|&x| f(x)).collect();
        match &node.operation {
            Operation::Input { .. } => Vec::new(),
            Operation::Constant { values, .. } => values.clone(),
            Operation::Gather { of, positions, .. } => {
                positions.iter().map(|&at| usize::try_from(at).map_or(0.0, |at| values(*of)[at])).collect()
            }
            Operation::Unary(kind, of) => each(*of, &|x| kind.of(x)),
            Operation::Binary(kind, a, b) => {
                spread(*a).into_iter().zip(spread(*b)).map(|(a, b)| kind.of(a, b)).collect()
            }
            Operation::Select(condition, a, b) => {
                let pairs = spread(*a).into_iter().zip(spread(*b));
                spread(*condition).into_iter().zip(pairs).map(|(c, (a, b))| if c != 0.0 { a } else { b }).collect()
            }
            Operation::MatMul { of, columns, matrix } => {
                let rows = matrix.len() / columns;
                let product = |row: &[f64]| -> Vec<f64> {
                    let sum = |k: usize| row.iter().enumerate().map(|(c, x)| x * matrix[c * columns + k]).sum();
                    (0..*columns).map(sum).collect()
                };
                values(*of).chunks(rows).flat_map(product).collect()
            }
            Operation::Sparse { of, columns, matrix } => {
                let rows = self.node(*of).shape.last().copied().unwrap_or(1);
                matrix.product(values(*of), rows, *columns)
            }
            Operation::Reduce(kind, of, axes) => {
                let mut result: Vec<Option<f64>> = vec![None; size(&node.shape).unwrap_or(0)];
                for (to, &x) in positions_without(&self.node(*of).shape, axes).into_iter().zip(values(*of)) {
                    let to = &mut result[to];
                    *to = Some(to.map_or(x, |total| kind.binary().of(total, x)));
                }
                result.into_iter().map(|total| total.unwrap_or(0.0)).collect()
            }
            Operation::Sort(of, axis) => {
                let mut result = values(*of).to_vec();
                for line in lines(&node.shape, *axis) {
                    let sorted = ascending(&line, &result);
                    line.iter().zip(sorted).for_each(|(&at, x)| result[at] = x);
                }
                result
            }
            Operation::ArgMax(of, axis) => {
                let place = |line: Vec<usize>| {
                    let x = |place: usize| values(*of)[line[place]];
                    (1..line.len()).fold(0, |best, place| if x(place) > x(best) { place } else { best }) as f64
                };
                lines(&self.node(*of).shape, *axis).map(place).collect()
            }
            Operation::OrderStatistic { of, axis, terms } => {
                let sum = |line: Vec<usize>| {
                    let ascending = ascending(&line, values(*of));
                    terms.iter().map(|&(rank, weight)| weight * ascending[rank]).sum()
                };
                lines(&self.node(*of).shape, *axis).map(sum).collect()
            }
            Operation::Top { of, axis, count } => {
                let mut result = vec![0.0; values(*of).len()];
                for line in lines(&node.shape, *axis) {
                    let least = ascending(&line, values(*of))[line.len() - count];
                    line.into_iter().filter(|&at| values(*of)[at] >= least).for_each(|at| result[at] = 1.0);
                }
                result
            }
            Operation::Polynomial(of, coefficients) => {
                each(*of, &|x| coefficients.iter().rev().fold(0.0, |value, c| value * x + c))
            }
            Operation::Function { name, of, .. } => each(*of, &|x| name.of(x)),
            Operation::Within(of, _) => values(*of).to_vec(),
            Operation::Table { of, first, values: table, .. } => {
                each(*of, &|x| table.get((x - *first as f64) as usize).copied().unwrap_or(f64::NAN))
            }
        }
    }
}

/// The positions of the elements along an axis, for each index of the other axes in their order.
fn lines(shape: &[usize], axis: usize) -> impl Iterator<Item = Vec<usize>> + '_ {
    let (extent, step) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    let starts = (0..size(shape).unwrap_or(0)).filter(move |at| at / step % extent == 0);
    starts.map(move |start| (0..extent).map(|place| start + place * step).collect())
}

/// The elements at some positions in ascending order.
fn ascending(line: &[usize], values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = line.iter().map(|&at| values[at]).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn check(what: &'static str, found: usize, needed: usize) -> Result<()> {
    if found == needed { Ok(()) } else { Err(Error::Length { what, found, needed: needed.to_string() }) }
}
