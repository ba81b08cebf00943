//! Shapes, element types and ranges of the results of operations.

use std::array;

use noren_rlwe::error::{Error, Result};

use crate::graph::error::GraphError;
use crate::graph::interval::{Interval, sums_of_columns};
use crate::graph::node::Node;
use crate::graph::operation::{Binary, Element, Operation, Reduction, Unary};
use crate::graph::shape::{broadcast, size, without};
use crate::graph::sparse::SparseMatrix;

/// The most elements of a node.
const MOST_ELEMENTS: usize = 1 << 24;

/// The most axes of a node.
const MOST_AXES: usize = 32;

/// The most coefficients of a polynomial.
const MOST_COEFFICIENTS: usize = 1 << 10;

/// Integers up to this absolute value are exact in `f64`: those of inputs, and all numbers in clear.
pub const LARGEST_INTEGER: f64 = (1u64 << 53) as f64;

/// Sums and products of integers are at most this, a little below 2^63.
const LARGEST_RESULT: f64 = ((1u64 << 63) - (1u64 << 40)) as f64;

/// Where ranges of drafts are cut off: what a square or a sum of these is, is finite.
const LARGEST_OF_DRAFTS: f64 = 1e150;

/// The relative error of the ends of ranges beyond 2^53: sums of up to [`MOST_ELEMENTS`] terms, each off by at most 2^-53.
const ROUNDING: f64 = 1.0 / (1u64 << 28) as f64;

/// Shape, element type and range of the result of an operation on earlier nodes.
///
/// # Errors
/// [`GraphError::Operands`] and [`GraphError::Range`].
pub fn infer(
    nodes: &[Node],
    operation: &Operation,
    place: &str,
    draft: bool,
) -> Result<(Vec<usize>, Element, Interval)> {
    let context = Context { operation, place };
    let mut result = context.infer(nodes)?;
    if result.1 != Element::Real {
        result.2 = context.wide(nodes, result.2)?;
    }
    if draft && result.1 == Element::Real && !result.2.is_proper() {
        let end =
            |end: f64, most: f64| if end.is_nan() { most } else { end.clamp(-LARGEST_OF_DRAFTS, LARGEST_OF_DRAFTS) };
        result.2 = Interval::new(end(result.2.low, -LARGEST_OF_DRAFTS), end(result.2.high, LARGEST_OF_DRAFTS));
    }
    let (shape, _, range) = &result;
    if size(shape).is_none_or(|size| size > MOST_ELEMENTS || size == 0) || shape.len() > MOST_AXES {
        let needed = format!("1 to {MOST_ELEMENTS} elements in at most {MOST_AXES} axes");
        return Err(context.operands(format!("a result of shape {shape:?}"), needed));
    }
    if !range.is_proper() {
        return Err(context.range(*range, "results that are finite: declare a narrower range of inputs"));
    }
    Ok(result)
}

/// An operation and its place, for messages.
struct Context<'a> {
    operation: &'a Operation,
    place: &'a str,
}

impl Context<'_> {
    fn infer(&self, nodes: &[Node]) -> Result<(Vec<usize>, Element, Interval)> {
        match self.operation {
            Operation::Input { shape, element, range, .. } => {
                let whole = range.low.fract() == 0.0 && range.high.fract() == 0.0;
                if *element != Element::Real && !whole {
                    return Err(self.range(*range, "a range of integers"));
                }
                if *element == Element::Bool && !(range.low >= 0.0 && range.high <= 1.0) {
                    return Err(self.range(*range, "0 to 1 for truth values"));
                }
                Ok((shape.clone(), *element, *range))
            }
            Operation::Constant { shape, element, values } => {
                self.check_count("values", values.len(), shape)?;
                let range = Interval::of(values);
                if !values.iter().all(|x| x.is_finite()) {
                    return Err(self.range(range, "finite constants"));
                }
                if *element != Element::Real && values.iter().any(|x| x.fract() != 0.0) {
                    return Err(self.range(range, "integers"));
                }
                Ok((shape.clone(), *element, range))
            }
            Operation::Gather { of, shape, positions } => {
                let node = &nodes[*of];
                self.check_count("positions", positions.len(), shape)?;
                let count = size(&node.shape).unwrap_or(0) as i64;
                if let Some(outside) = positions.iter().find(|&&position| position < -1 || position >= count) {
                    return Err(self.operands(format!("position {outside}"), format!("-1 to {}", count - 1)));
                }
                let zero = positions.contains(&-1);
                let range = if zero { node.range.hull(Interval::point(0.0)) } else { node.range };
                Ok((shape.clone(), node.element, range))
            }
            Operation::Unary(kind, of) => self.unary(*kind, &nodes[*of]),
            Operation::Binary(kind, a, b) => self.binary(*kind, &nodes[*a], &nodes[*b], a == b),
            Operation::Select(condition, a, b) => {
                let [condition, a, b] = [condition, a, b].map(|&at| &nodes[at]);
                if condition.element != Element::Bool {
                    return Err(self.operands(describe(condition), "a condition of truth values".to_owned()));
                }
                let shape = broadcast(&a.shape, &b.shape).and_then(|shape| broadcast(&condition.shape, &shape));
                let found = || format!("{}, {} and {}", describe(condition), describe(a), describe(b));
                let shape = shape.ok_or_else(|| self.operands(found(), "shapes that broadcast".to_owned()))?;
                Ok((shape, a.element.max(b.element), a.range.hull(b.range)))
            }
            Operation::MatMul { of, columns, matrix } => self.matrix(&nodes[*of], *columns, matrix),
            Operation::Sparse { of, columns, matrix } => self.sparse(&nodes[*of], *columns, matrix),
            Operation::Reduce(kind, of, axes) => self.reduce(*kind, &nodes[*of], axes),
            Operation::Sort(of, axis) => {
                let node = &nodes[*of];
                self.extent(node, *axis)?;
                Ok((node.shape.clone(), node.element, node.range))
            }
            Operation::ArgMax(of, axis) => {
                let last = self.extent(&nodes[*of], *axis)? - 1;
                Ok((without(&nodes[*of].shape, &[*axis]), Element::Integer, Interval::new(0.0, last as f64)))
            }
            Operation::OrderStatistic { of, axis, terms } => {
                let node = self.real(&nodes[*of])?;
                let extent = self.extent(node, *axis)?;
                if terms.is_empty() || terms.iter().any(|&(rank, weight)| rank >= extent || !weight.is_finite()) {
                    let needed = format!("ranks from 0 to {}, with finite weights", extent - 1);
                    return Err(self.operands(format!("the terms {terms:?}"), needed));
                }
                let term = |&(_, weight): &(usize, f64)| node.range.times(Interval::point(weight));
                let range = terms.iter().map(term).reduce(Interval::plus).unwrap_or(Interval::point(0.0));
                Ok((without(&node.shape, &[*axis]), Element::Real, range))
            }
            Operation::Top { of, axis, count } => {
                let node = self.real(&nodes[*of])?;
                let extent = self.extent(node, *axis)?;
                if !(1..=extent).contains(count) {
                    return Err(self.operands(format!("the {count} largest"), format!("1 to {extent} of them")));
                }
                Ok((node.shape.clone(), Element::Bool, Interval::new(0.0, 1.0)))
            }
            Operation::Polynomial(of, coefficients) => {
                let node = &nodes[*of];
                self.check_number(node)?;
                if !(1..=MOST_COEFFICIENTS).contains(&coefficients.len()) || !coefficients.iter().all(|c| c.is_finite())
                {
                    let found = format!("{} coefficients", coefficients.len());
                    return Err(self.operands(found, format!("1 to {MOST_COEFFICIENTS}, all finite")));
                }
                let whole = coefficients.iter().all(|c| c.fract() == 0.0);
                let element = if whole { node.element.max(Element::Integer) } else { Element::Real };
                let mut range = polynomial_range(coefficients, node.range);
                if element != Element::Real {
                    if let Some(c) = coefficients.iter().find(|c| c.abs() > LARGEST_INTEGER) {
                        return Err(self.operands(format!("coefficient {c:e}"), "integers of at most 2^53".to_owned()));
                    }
                    // Integers that are not in it by rounding alone are.
                    let off = rounding(coefficients, node.range);
                    range = Interval::new((range.low - off).ceil(), (range.high + off).floor());
                }
                Ok((node.shape.clone(), element, range))
            }
            Operation::Within(of, range) => {
                let node = &nodes[*of];
                if node.element != Element::Real {
                    return Err(self.operands(describe(node), "real numbers".to_owned()));
                }
                if !range.is_proper() || range.low > node.range.high || range.high < node.range.low {
                    return Err(self.range(*range, "a part of the range of its operand"));
                }
                Ok((node.shape.clone(), node.element, node.range.clipped(*range)))
            }
            Operation::Function { name, of, error } => {
                let node = &nodes[*of];
                if !(*error >= 0.0 && error.is_finite()) {
                    return Err(
                        self.operands(format!("an error of {error}"), "a finite error of at least 0".to_owned())
                    );
                }
                let range = name.range(node.range).map_err(|needed| self.range(node.range, needed))?;
                Ok((node.shape.clone(), Element::Real, range))
            }
            Operation::Table { of, first, values, element } => {
                let node = &nodes[*of];
                let domain = Interval::new(*first as f64, *first as f64 + values.len() as f64 - 1.0);
                if node.element == Element::Real {
                    return Err(self.operands(describe(node), "integers".to_owned()));
                }
                if values.is_empty() || node.range.low < domain.low || node.range.high > domain.high {
                    let needed = format!("from {} to {}, for which the table has values", domain.low, domain.high);
                    return Err(self.range(node.range, &needed));
                }
                let whole = *element == Element::Real || values.iter().all(|x| x.fract() == 0.0);
                if !whole || !values.iter().all(|x| x.is_finite()) {
                    return Err(self.operands("a table".to_owned(), "values of its type, all finite".to_owned()));
                }
                let at = |x: f64| (x - domain.low) as usize;
                let range = Interval::of(&values[at(node.range.low)..=at(node.range.high)]);
                Ok((node.shape.clone(), *element, range))
            }
        }
    }

    /// The range of integers, with what floating point may have rounded where they or the operands pass 2^53: sums, products and
    /// moves of encrypted integers alone may.
    fn wide(&self, nodes: &[Node], range: Interval) -> Result<Interval> {
        let operands = self.operation.operands();
        let size = |of: usize| if nodes[of].element == Element::Real { 0.0 } else { nodes[of].range.magnitude() };
        if operands.iter().map(|&of| size(of)).fold(range.magnitude(), f64::max) <= LARGEST_INTEGER {
            return Ok(range);
        }
        // The sum of the absolute values of all terms.
        let terms = match self.operation {
            Operation::Gather { .. } | Operation::Select(..) | Operation::Unary(Unary::Neg, _) => Some(0.0),
            // Their ranges are widened where they are made.
            Operation::Polynomial(..) | Operation::Binary(Binary::Remainder, ..) => Some(0.0),
            Operation::Binary(Binary::Add | Binary::Sub, a, b) => Some(size(*a) + size(*b)),
            Operation::Binary(Binary::Mul, a, b) => Some(size(*a) * size(*b)),
            Operation::Reduce(Reduction::Sum | Reduction::Product, ..) => Some(range.magnitude()),
            Operation::MatMul { of, columns, matrix } => {
                let column = |k: usize| matrix[k..].iter().step_by(*columns).map(|x| x.abs()).sum::<f64>();
                Some(size(*of) * (0..*columns).map(column).fold(0.0, f64::max))
            }
            _ => None,
        };
        let is_encrypted = operands.iter().any(|&of| !matches!(nodes[of].operation, Operation::Constant { .. }));
        let Some(terms) = terms.filter(|_| is_encrypted) else {
            return Err(self.range(range, "integers of at most 2^53: declare a narrower range of inputs"));
        };
        let range = range.widened((ROUNDING * terms).ceil());
        if range.magnitude() > LARGEST_RESULT {
            return Err(self.range(range, "integers below 2^63: declare a narrower range of inputs"));
        }
        Ok(range)
    }

    fn unary(&self, kind: Unary, node: &Node) -> Result<(Vec<usize>, Element, Interval)> {
        let range = match kind {
            Unary::Not if node.element == Element::Bool => Interval::point(1.0).plus(node.range.negated()),
            Unary::Not => return Err(self.operands(describe(node), "truth values".to_owned())),
            Unary::Neg => node.range.negated(),
            Unary::Restated if node.element == Element::Real => node.range,
            Unary::Restated => return Err(self.operands(describe(node), "real numbers".to_owned())),
            Unary::Abs => node.range.abs(),
            // Real numbers that are close to 0 may have either sign, as comparisons of them have either result.
            Unary::Sign if node.element == Element::Real => Interval::new(-1.0, 1.0),
            Unary::Sign => Interval::new(Unary::Sign.of(node.range.low), Unary::Sign.of(node.range.high)),
        };
        let element = if kind == Unary::Not { Element::Bool } else { node.element.max(Element::Integer) };
        Ok((node.shape.clone(), element, range))
    }

    fn binary(&self, kind: Binary, a: &Node, b: &Node, same: bool) -> Result<(Vec<usize>, Element, Interval)> {
        let found = || format!("{} and {}", describe(a), describe(b));
        let shape =
            broadcast(&a.shape, &b.shape).ok_or_else(|| self.operands(found(), "shapes that broadcast".to_owned()))?;
        let element = a.element.max(b.element);
        let bitwise = matches!(kind, Binary::And | Binary::Or | Binary::Xor);
        let integers =
            bitwise || matches!(kind, Binary::FloorDivide | Binary::Remainder | Binary::ShiftLeft | Binary::ShiftRight);
        if integers && element == Element::Real {
            return Err(self.operands(found(), "integers".to_owned()));
        }
        if matches!(kind, Binary::FloorDivide | Binary::Remainder) && b.range.contains(0.0) {
            return Err(self.range(b.range, "a divisor that is never 0: declare its range, such as from 1 on"));
        }
        if kind == Binary::Remainder && b.range.low <= 0.0 {
            return Err(self.range(b.range, "a positive divisor"));
        }
        if matches!(kind, Binary::ShiftLeft | Binary::ShiftRight) && !(b.range.low >= 0.0 && b.range.high < 64.0) {
            return Err(self.range(b.range, "shifts by 0 to 63 bits"));
        }
        if kind.compares() {
            return Ok((shape, Element::Bool, Interval::new(0.0, 1.0)));
        }
        let keeps = bitwise || matches!(kind, Binary::Minimum | Binary::Maximum);
        let element = if keeps { element } else { element.max(Element::Integer) };
        let range = match kind {
            Binary::Mul if same => a.range.power(2),
            Binary::Sub if same => Interval::point(0.0),
            _ => a.range.binary(kind, b.range),
        };
        let range = if element == Element::Bool { range.clipped(Interval::new(0.0, 1.0)) } else { range };
        Ok((shape, element, range))
    }

    fn matrix(&self, node: &Node, columns: usize, matrix: &[f64]) -> Result<(Vec<usize>, Element, Interval)> {
        self.check_number(node)?;
        let Some((&rows, outer)) = node.shape.split_last() else {
            return Err(self.operands("a number".to_owned(), "an array of at least one axis".to_owned()));
        };
        if columns == 0 || rows.checked_mul(columns) != Some(matrix.len()) || !matrix.iter().all(|x| x.is_finite()) {
            let found = format!("{} and a matrix of {} entries in {columns} columns", describe(node), matrix.len());
            return Err(self.operands(found, format!("a matrix of {rows} rows, with finite entries")));
        }
        let whole = matrix.iter().all(|x| x.fract() == 0.0);
        let range = sums_of_columns(matrix, columns, |entry| node.range.times(Interval::point(entry)));
        let element = if whole { node.element.max(Element::Integer) } else { Element::Real };
        Ok((outer.iter().copied().chain([columns]).collect(), element, range))
    }

    fn sparse(&self, node: &Node, columns: usize, matrix: &SparseMatrix) -> Result<(Vec<usize>, Element, Interval)> {
        let (Some((&rows, outer)), Element::Real) = (node.shape.split_last(), node.element) else {
            return Err(self.operands(describe(node), "an array of real numbers of at least one axis".to_owned()));
        };
        let shape: Vec<usize> = outer.iter().copied().chain([columns]).collect();
        // Before anything is as long as the columns that are stated.
        if size(&shape).is_none_or(|size| size > MOST_ELEMENTS || size == 0) {
            return Err(self.operands(format!("{columns} columns"), format!("1 to {MOST_ELEMENTS} elements")));
        }
        if let Some(found) = matrix.fault(rows, columns) {
            return Err(self.operands(found, format!("blocks of a matrix of {rows} rows and {columns} columns")));
        }
        let range = matrix.sums_of_columns(columns, |entry| node.range.times(Interval::point(entry)));
        Ok((shape, Element::Real, range))
    }

    fn reduce(&self, kind: Reduction, node: &Node, axes: &[usize]) -> Result<(Vec<usize>, Element, Interval)> {
        let proper = axes.windows(2).all(|pair| pair[0] < pair[1]) && axes.iter().all(|&axis| axis < node.shape.len());
        if !proper || axes.is_empty() {
            return Err(self.operands(format!("axes {axes:?} of {}", describe(node)), "its axes, in order".to_owned()));
        }
        let count = axes.iter().map(|&axis| node.shape[axis]).product::<usize>();
        let shape = without(&node.shape, axes);
        Ok(match kind {
            Reduction::Sum => (shape, node.element.max(Element::Integer), node.range.repeated(count)),
            Reduction::Product => {
                let element = node.element.max(Element::Integer);
                let exponent = u32::try_from(count).unwrap_or(u32::MAX);
                let sizes = node.range.abs().power(exponent);
                let range = match count {
                    1 => node.range,
                    _ if node.range.low < 0.0 => Interval::new(-sizes.high, sizes.high),
                    _ => sizes,
                };
                (shape, element, range)
            }
            Reduction::Maximum | Reduction::Minimum => (shape, node.element, node.range),
        })
    }

    /// A node of real numbers.
    fn real<'b>(&self, node: &'b Node) -> Result<&'b Node> {
        if node.element == Element::Real {
            return Ok(node);
        }
        Err(self.operands(describe(node), "real numbers: of others sort gives the same".to_owned()))
    }

    /// How many numbers there are along an axis.
    fn extent(&self, node: &Node, axis: usize) -> Result<usize> {
        self.check_number(node)?;
        let extent = node.shape.get(axis).copied();
        extent.ok_or_else(|| self.operands(format!("axis {axis} of {}", describe(node)), "one of its axes".to_owned()))
    }

    fn check_number(&self, node: &Node) -> Result<()> {
        if node.element != Element::Bool {
            return Ok(());
        }
        Err(self.operands(describe(node), "numbers: select them by where".to_owned()))
    }

    fn check_count(&self, what: &str, found: usize, shape: &[usize]) -> Result<()> {
        if size(shape) == Some(found) {
            return Ok(());
        }
        Err(self.operands(format!("{found} {what} in shape {shape:?}"), format!("as many {what} as elements")))
    }

    fn operands(&self, found: String, needed: String) -> Error {
        let (place, operation) = (self.place.to_owned(), self.operation.name());
        GraphError::Operands { place, operation, found, needed }.into()
    }

    fn range(&self, range: Interval, needed: &str) -> Error {
        GraphError::Range {
            place: self.place.to_owned(),
            operation: self.operation.name(),
            low: range.low,
            high: range.high,
            needed: needed.to_owned(),
        }
        .into()
    }
}

/// Shape and type in words.
fn describe(node: &Node) -> String {
    let element = match node.element {
        Element::Bool => "truth values",
        Element::Integer => "integers",
        Element::Real => "real numbers",
    };
    format!("{element} of shape {:?}", node.shape)
}

/// Parts into which an interval is cut to bound a polynomial.
const PARTS: usize = 64;

/// Parts whose middles a polynomial is shifted to in one pass.
const TOGETHER: usize = 8;

/// The most coefficients of polynomials that are shifted to the middles of parts, in time that is their square.
const MOST_SHIFTED: usize = 1 << 8;

/// Where a polynomial lies on an interval: of a parabola its ends and its vertex, of others the hull over 64 parts. In each it is
/// Taylor's series about the middle with intervals; of more than 256 coefficients, that series' first two terms, the second with
/// the interval of the derivative.
pub fn polynomial_range(coefficients: &[f64], of: Interval) -> Interval {
    if let &[c, b, a] = coefficients {
        let value = |x: f64| (a * x + b) * x + c;
        let vertex = if a == 0.0 { of.low } else { (-b / (2.0 * a)).clamp(of.low, of.high) };
        return Interval::of(&[of.low, vertex, of.high].map(value));
    }
    let width = (of.high - of.low) / PARTS as f64;
    let middle = |k: usize| of.low + width * (k as f64 + 0.5);
    let groups = if coefficients.len() > MOST_SHIFTED { 0 } else { PARTS / TOGETHER };
    let series: Vec<_> =
        (0..groups).map(|group| shifted(coefficients, array::from_fn(|k| middle(group * TOGETHER + k)))).collect();
    let part = |k: usize| {
        let Some(series) = series.get(k / TOGETHER) else {
            let offset = Interval::new(-width / 2.0, width / 2.0);
            let value = coefficients.iter().rev().fold(0.0, |sum, c| sum * middle(k) + c);
            let within = Interval::point(middle(k)).plus(offset);
            let derivative = coefficients.iter().enumerate().skip(1).rev();
            let slope = derivative
                .fold(Interval::point(0.0), |sum, (e, c)| sum.times(within).plus(Interval::point(e as f64 * c)));
            return Interval::point(value).plus(slope.times(offset));
        };
        let mut power = 1.0;
        series.iter().enumerate().fold(Interval::point(0.0), |sum, (e, terms)| {
            let low = match e {
                0 => 1.0,
                e if e % 2 == 0 => 0.0,
                _ => -power,
            };
            let term = Interval::new(low, power).times(Interval::point(terms[k % TOGETHER]));
            power *= width / 2.0;
            sum.plus(term)
        })
    };
    (1..PARTS).fold(part(0), |hull, k| hull.hull(part(k)))
}

/// A bound on the rounding errors of a polynomial, and of its range, in an interval: each of the sums and products of Horner's
/// scheme is off by at most 2^-53 of the sum of the absolute terms, and the middles of parts by as much.
pub fn rounding(coefficients: &[f64], of: Interval) -> f64 {
    let terms = coefficients.iter().rev().fold(0.0, |terms, c| terms * of.magnitude() + c.abs());
    4.0 * f64::EPSILON * coefficients.len() as f64 * terms
}

/// The coefficients of `p(x + by)`, for several `by` at once: each sum waits for the one before it, but not for those beside it.
fn shifted(coefficients: &[f64], by: [f64; TOGETHER]) -> Vec<[f64; TOGETHER]> {
    let mut result: Vec<_> = coefficients.iter().map(|&c| [c; TOGETHER]).collect();
    for start in 0..result.len() {
        for k in (start..result.len() - 1).rev() {
            let above = result[k + 1];
            for (lane, term) in result[k].iter_mut().enumerate() {
                *term += by[lane] * above[lane];
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_lie_in_their_range_which_is_not_much_wider() {
        for count in [2, 3, 17, MOST_SHIFTED, MOST_SHIFTED + 1, 5000] {
            let coefficients: Vec<f64> =
                (0..count).map(|k| ((k * k) % 7) as f64 / (k + 1) as f64 - 0.3 / (k + 1) as f64).collect();
            let of = Interval::new(-0.9, 0.8);
            let range = polynomial_range(&coefficients, of);
            let value = |x: f64| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c);
            let values: Vec<f64> =
                (0..=1000).map(|k| value(of.low + (of.high - of.low) * f64::from(k) / 1000.0)).collect();
            let found = Interval::of(&values);
            assert!(
                range.low <= found.low + 1e-12 && found.high <= range.high + 1e-12,
                "{count}: {range:?}, {found:?}"
            );
            let width = found.high - found.low;
            assert!(range.high - range.low <= 1.5 * width, "{count}: {range:?}, {found:?}");
        }
    }
}
