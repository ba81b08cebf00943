//! How many bootstraps a node takes on columns.

use noren_rlwe::error::{Error, Result};

use crate::backends::tfhe::elements::DIGIT_BITS;
use crate::backends::tfhe::widths::{Form, Types, form, turned};
use crate::graph::dag::Graph;
use crate::graph::operation::{Binary, Operation, Reduction, Unary};
use crate::graph::shape::size;
use crate::programs::columns::Element;
use crate::radix::{self, Comparison, Move, Shape};
use crate::schemes::tfhe::Encoding;

/// The most terms of a sum whose circuit is made: more are added in groups, and so are their sums.
pub(super) const MOST_TERMS: usize = 512;

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

    /// One result from `terms` terms by pairs, each pair with these.
    fn of_pairs(self, terms: usize) -> Self {
        let (mut left, mut all) = (terms, Self::default());
        while left > 1 {
            all = all.then(self.side_by_side(left / 2));
            left = left.div_ceil(2);
        }
        all
    }

    /// These, `count` times side by side.
    const fn side_by_side(self, count: usize) -> Self {
        Self { bootstraps: count * self.bootstraps, ..self }
    }
}

/// The bootstraps of a node: those of its operations on integers that come from encryption, as
/// [`radix::Operation::cost`] counts them. Casts are not counted.
///
/// # Errors
/// None of graphs that columns evaluate.
pub(super) fn bootstraps(graph: &Graph, types: &Types, encoding: Encoding, at: usize) -> Result<Rounds> {
    let node = graph.node(at);
    let count = size(&node.shape).unwrap_or(0);
    let element = types.operands(at);
    let (bits, signed) = (element.bits().unwrap_or(DIGIT_BITS) as usize, element.is_signed());
    let shape = if count == 1 { Shape::Flat } else { Shape::Lean };
    let cost = |operation: radix::Operation| -> Result<Rounds> {
        let cost = operation.cost(bits, shape)?;
        Ok(Rounds { bootstraps: cost.bootstraps, rounds: cost.rounds })
    };
    let sum = |terms: usize| {
        let (mut left, mut all) = (terms, Rounds::default());
        while left > MOST_TERMS {
            let groups = left.div_ceil(MOST_TERMS);
            all = all.then(cost(radix::Operation::Sum(left.div_ceil(groups)))?.side_by_side(groups));
            left = groups;
        }
        Ok::<_, Error>(if left > 1 { all.then(cost(radix::Operation::Sum(left))?) } else { all })
    };
    let none = Rounds::default();
    let gate = Rounds { bootstraps: 1, rounds: 1 };
    let each = match &node.operation {
        Operation::Binary(kind, a, b) => match form(graph, at) {
            Form::Gate => gate,
            Form::Mask { mask, .. } => cost(radix::Operation::AndKnown(element.word(i128::from(mask))))?,
            Form::Right { by, .. } => {
                let way = if signed { Move::ShiftRightSigned } else { Move::ShiftRight };
                cost(radix::Operation::MoveKnown(way, by as usize))?
            }
            Form::Against { kind, .. } => cost(binary(kind, signed))?,
            Form::Low | Form::Whole => match (graph.number(*b), graph.number(*a), turned(*kind)) {
                (Some(number), ..) | (None, Some(number), Some(_)) => known_cost(*kind, number, element, &cost)?,
                _ => cost(binary(*kind, signed))?,
            },
        },
        Operation::Unary(Unary::Not, _) => none,
        Operation::Unary(Unary::Neg, _) => cost(radix::Operation::Neg)?,
        Operation::Unary(Unary::Abs, _) if !signed => none,
        Operation::Unary(Unary::Abs, _) => {
            let parts = [binary(Binary::Less, signed), radix::Operation::Neg, radix::Operation::Select];
            parts.into_iter().try_fold(none, |sum, part| Ok::<_, Error>(sum.then(cost(part)?)))?
        }
        Operation::Unary(Unary::Sign, _) => {
            cost(binary(Binary::Less, signed))?.in_a_row(2).then(cost(radix::Operation::Sub)?)
        }
        Operation::Select(..) if element == Element::Bool => match encoding {
            // A multiplexer is a sum of two gates.
            Encoding::Bits => gate.side_by_side(2),
            Encoding::Integers { .. } => gate.in_a_row(3),
        },
        Operation::Select(..) => cost(radix::Operation::Select)?,
        Operation::MatMul { columns, matrix, .. } => {
            let rows = matrix.len() / columns;
            let entry =
                matrix.iter().fold(0.0, |most: f64, entry| if entry.abs() > most.abs() { *entry } else { most });
            let product = known_cost(Binary::Mul, entry, element, &cost)?;
            product.side_by_side(rows).then(sum(rows)?)
        }
        Operation::Reduce(kind, of, _) => {
            let terms = size(&graph.node(*of).shape).unwrap_or(0) / count.max(1);
            match kind {
                _ if terms < 2 => none,
                Reduction::Sum => sum(terms)?,
                _ if element == Element::Bool => gate.of_pairs(terms),
                kind => cost(binary(kind.binary(), signed))?.of_pairs(terms),
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
        | Operation::ArgMax(..) => none,
        Operation::Table { .. } if types.is_direct(at) => {
            // What is left of a ciphertext beside the value has as many outputs at once.
            let shared = (encoding.size() >> bits).max(1) as usize;
            let digits = types.result(at).bits().map_or(1, |bits| bits as usize / DIGIT_BITS as usize);
            Rounds { bootstraps: digits.div_ceil(shared), rounds: 1 }
        }
        // Circuit bootstraps of digits, which fail no more often than others.
        Operation::Table { .. } => Rounds { bootstraps: bits / DIGIT_BITS as usize, rounds: 1 },
    };
    Ok(each.side_by_side(count))
}

/// The cost of an operation with one number for all elements.
fn known_cost(
    kind: Binary,
    number: f64,
    element: Element,
    cost: &impl Fn(radix::Operation) -> Result<Rounds>,
) -> Result<Rounds> {
    let number = number as i128;
    match kind {
        Binary::Add => cost(radix::Operation::AddKnown(element.word(number))),
        Binary::Sub => cost(radix::Operation::AddKnown(element.word(-number))),
        Binary::Mul => cost(radix::Operation::MulKnown(element.word(number))),
        Binary::And => cost(radix::Operation::AndKnown(element.word(number))),
        Binary::ShiftLeft => cost(radix::Operation::MoveKnown(Move::ShiftLeft, number as usize)),
        other => cost(binary(other, element.is_signed())),
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
    use crate::graph::operation::Element;

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
            graph.finish(vec![at]).expect("an output");
            let integers = Encoding::Integers { message_bits: 2, carry_bits: 2 };
            bootstraps(&graph, &Types::new(&graph), integers, at).expect("a count").bootstraps
        };
        let (sum, product, quotient) =
            (cost(Binary::Add, 100.0), cost(Binary::Mul, 15.0), cost(Binary::FloorDivide, 100.0));
        assert!(0 < sum && sum < product && product < quotient, "{sum} {product} {quotient}");
        assert!(cost(Binary::Less, 100.0) < cost(Binary::Less, 60_000.0));
    }
}
