//! How many bootstraps a node takes on columns.

use noren_rlwe::error::Result;

use crate::backends::tfhe::columns::holding;
use crate::graph::dag::Graph;
use crate::graph::node::Node;
use crate::graph::operation::{Binary, Element, Operation, Reduction, Unary};
use crate::graph::shape::size;
use crate::programs::columns;
use crate::radix::{self, Comparison, Move, Shape};

/// Bootstraps, and how many rounds of them follow one another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Rounds {
    pub(super) bootstraps: usize,
    pub(super) rounds: usize,
}

impl Rounds {
    /// These, and then others.
    const fn then(self, next: Self) -> Self {
        Self { bootstraps: self.bootstraps + next.bootstraps, rounds: self.rounds + next.rounds }
    }

    /// These, `count` times in a row.
    const fn in_a_row(self, count: usize) -> Self {
        Self { bootstraps: count * self.bootstraps, rounds: count * self.rounds }
    }

    /// These, `count` times side by side.
    const fn side_by_side(self, count: usize) -> Self {
        Self { bootstraps: count * self.bootstraps, ..self }
    }
}

/// The bootstraps of a node: those of its operations on integers that come from encryption, as
/// [`radix::Operation::cost`] counts them. Casts, and the circuit bootstraps of tables, are not counted.
///
/// # Errors
/// None of graphs that columns evaluate.
pub(super) fn bootstraps(graph: &Graph, at: usize) -> Result<Rounds> {
    let node = graph.node(at);
    let operands: Vec<&Node> = node.operation.operands().into_iter().map(|of| graph.node(of)).collect();
    let count = size(&node.shape).unwrap_or(0);
    let hull = operands.iter().fold(node.range, |hull, operand| hull.hull(operand.range));
    // Of what compares the operands alone count.
    let range = match &operands[..] {
        [first, rest @ ..] if node.element == Element::Bool => {
            rest.iter().fold(first.range, |hull, operand| hull.hull(operand.range))
        }
        _ => hull,
    };
    let (bits, signed) = match holding(range) {
        columns::Element::Signed(bits) => (bits as usize, true),
        columns::Element::Unsigned(bits) => (bits as usize, false),
        columns::Element::Bool | columns::Element::Digit => (2, false),
    };
    let shape = if count == 1 { Shape::Flat } else { Shape::Lean };
    let cost = |operation: radix::Operation| -> Result<Rounds> {
        let cost = operation.cost(bits, shape)?;
        Ok(Rounds { bootstraps: cost.bootstraps, rounds: cost.rounds })
    };
    let none = Rounds::default();
    let gate = Rounds { bootstraps: 1, rounds: 1 };
    let truths = operands.iter().all(|operand| operand.element == Element::Bool);
    let each = match &node.operation {
        Operation::Binary(kind, a, b) => match graph.number(*b).or_else(|| graph.number(*a)) {
            _ if truths => gate,
            Some(number) => known_cost(*kind, number, signed, &cost)?,
            None => cost(binary(*kind, signed))?,
        },
        Operation::Unary(Unary::Not, _) => none,
        Operation::Unary(Unary::Neg, _) => cost(radix::Operation::Neg)?,
        Operation::Unary(Unary::Abs, _) => cost(radix::Operation::Neg)?.then(cost(radix::Operation::Select)?),
        Operation::Unary(Unary::Sign, _) => {
            cost(binary(Binary::Less, signed))?.in_a_row(2).then(cost(radix::Operation::Sub)?)
        }
        Operation::Select(..) if node.element == Element::Bool => gate.in_a_row(2),
        Operation::Select(..) => cost(radix::Operation::Select)?,
        Operation::MatMul { columns, matrix, .. } => {
            let rows = matrix.len() / columns;
            let entry = matrix.iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
            let product = known_cost(Binary::Mul, entry, signed, &cost)?;
            product.side_by_side(rows).then(if rows > 1 { cost(radix::Operation::Sum(rows))? } else { none })
        }
        Operation::Reduce(kind, of, _) => {
            let terms = size(&graph.node(*of).shape).unwrap_or(0) / count.max(1);
            match kind {
                _ if terms < 2 => none,
                _ if truths && *kind != Reduction::Sum => gate.in_a_row(terms - 1),
                Reduction::Sum => cost(radix::Operation::Sum(terms))?,
                kind => cost(binary(kind.binary(), signed))?.in_a_row(terms - 1),
            }
        }
        Operation::Polynomial(_, coefficients) => {
            let products = cost(radix::Operation::Mul)?.in_a_row(coefficients.len().saturating_sub(2));
            let sums = coefficients.iter().filter(|&&c| c != 0.0).count();
            products.then(cost(radix::Operation::AddKnown(1))?.in_a_row(sums))
        }
        Operation::Input { .. }
        | Operation::Constant { .. }
        | Operation::Gather { .. }
        | Operation::Function { .. }
        | Operation::Sort(..)
        | Operation::ArgMax(..)
        | Operation::Table { .. } => none,
    };
    Ok(each.side_by_side(count))
}

/// The cost of an operation with one number for all elements.
fn known_cost(
    kind: Binary,
    number: f64,
    signed: bool,
    cost: &impl Fn(radix::Operation) -> Result<Rounds>,
) -> Result<Rounds> {
    let word = number.abs() as u64;
    match kind {
        Binary::Add | Binary::Sub => cost(radix::Operation::AddKnown(word)),
        Binary::Mul if word < 2 => Ok(Rounds::default()),
        Binary::Mul => cost(radix::Operation::MulKnown(word)),
        Binary::ShiftLeft => cost(radix::Operation::MoveKnown(Move::ShiftLeft, word as usize)),
        Binary::ShiftRight => cost(radix::Operation::MoveKnown(Move::ShiftRight, word as usize)),
        other => cost(binary(other, signed)),
    }
}

/// The operation on integers.
const fn binary(kind: Binary, signed: bool) -> radix::Operation {
    let comparison = match kind {
        Binary::LessEqual => Comparison::Le,
        Binary::Greater => Comparison::Gt,
        Binary::GreaterEqual => Comparison::Ge,
        Binary::Equal => Comparison::Eq,
        Binary::NotEqual => Comparison::Ne,
        _ => Comparison::Lt,
    };
    match kind {
        Binary::Add => radix::Operation::Add,
        Binary::Sub => radix::Operation::Sub,
        Binary::Mul => radix::Operation::Mul,
        Binary::FloorDivide | Binary::Remainder if signed => radix::Operation::DivRemSigned,
        Binary::FloorDivide | Binary::Remainder => radix::Operation::DivRem,
        Binary::And => radix::Operation::And,
        Binary::Or => radix::Operation::Or,
        Binary::Xor => radix::Operation::Xor,
        Binary::ShiftLeft => radix::Operation::Move(Move::ShiftLeft),
        Binary::ShiftRight if signed => radix::Operation::Move(Move::ShiftRightSigned),
        Binary::ShiftRight => radix::Operation::Move(Move::ShiftRight),
        Binary::Minimum => radix::Operation::Min,
        Binary::Maximum => radix::Operation::Max,
        _ if signed => radix::Operation::CompareSigned(comparison),
        _ => radix::Operation::Compare(comparison),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::interval::Interval;

    #[test]
    fn divisions_cost_more_than_sums_and_wide_integers_more_than_narrow_ones() {
        let cost = |kind: Binary, high: f64| {
            let mut graph = Graph::default();
            let mut input = |name: &str| {
                let range = Interval::new(1.0, high);
                let input = Operation::Input { name: name.into(), shape: vec![4], element: Element::Integer, range };
                graph.push(input, "").expect("an input")
            };
            let (x, y) = (input("x"), input("y"));
            let at = graph.push(Operation::Binary(kind, x, y), "").expect("an operation");
            bootstraps(&graph, at).expect("a count").bootstraps
        };
        let (sum, product, quotient) =
            (cost(Binary::Add, 100.0), cost(Binary::Mul, 15.0), cost(Binary::FloorDivide, 100.0));
        assert!(0 < sum && sum < product && product < quotient, "{sum} {product} {quotient}");
        assert!(cost(Binary::Less, 100.0) < cost(Binary::Less, 60_000.0));
    }
}
