//! The types that nodes are computed in: no wider than their ranges, nor than the bits that anything asks of them.
//!
//! In a type of w bits sums, products and their like are modulo 2^w, and the low bits of their results follow from as many low bits
//! of their operands; comparisons, quotients and tables follow from the whole of theirs. So each node is asked for a number of low
//! bits, the most of those that use it ask for, and outputs for all of them. **The word of every column is its value modulo 2^w**:
//! where the type holds the range of the node that is the value itself, and the node is *whole*. What uses a node that is not
//! whole asks for w bits or fewer, and takes it in a type of w bits or fewer: no cast adds bits to it.

use crate::backends::tfhe::elements::{DIGIT_BITS, DIRECT_BITS, holding, travelling};
use crate::backends::tfhe::tables::Index;
use crate::graph::dag::Graph;
use crate::graph::inference::LARGEST_INTEGER;
use crate::graph::interval::Interval;
use crate::graph::node::Node;
use crate::graph::operation::{self, Binary, Operation, Reduction, Unary};
use crate::programs::columns::Element;

/// All bits.
const WHOLE: u32 = u32::MAX;

/// How an operation on two is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Form {
    /// On truth values, as a gate.
    Gate,
    /// By low bits, each of which follows from those of the operands that are not higher.
    Low,
    /// The bits of a node that are 1 in a number.
    Mask { of: usize, mask: u64 },
    /// A node, moved to lower places by a number of bits.
    Right { of: usize, by: u32 },
    /// A relation of a node with numbers in clear.
    Against { of: usize, kind: Binary, numbers: usize },
    /// From whole operands.
    Whole,
}

/// The types of all nodes of a graph.
#[derive(Debug)]
pub(super) struct Types(Vec<Typed>);

#[derive(Debug, Clone, Copy)]
struct Typed {
    result: Element,
    operands: Element,
    whole: bool,
    used: bool,
}

impl Types {
    /// Those of a graph that columns evaluate.
    pub(super) fn new(graph: &Graph) -> Self {
        let count = graph.nodes().len();
        let (mut asked, mut used) = (vec![0; count], vec![false; count]);
        for &output in graph.outputs() {
            (asked[output], used[output]) = (WHOLE, true);
        }
        let types = (0..count).rev().map(|at| {
            let typed = Typed { used: used[at], ..typed(graph, at, asked[at]) };
            if typed.used {
                for (of, bits) in asks(graph, at, typed) {
                    asked[of] = asked[of].max(bits);
                }
                sources(graph, at).into_iter().for_each(|of| used[of] = true);
            }
            typed
        });
        let mut types: Vec<Typed> = types.collect();
        types.reverse();
        Self(types)
    }

    /// The type of the elements of a node.
    pub(super) fn result(&self, at: usize) -> Element {
        self.0[at].result
    }

    /// Whether an output depends on it as functions are computed here: tables are looked up of the terms of an index.
    pub(super) fn is_used(&self, at: usize) -> bool {
        self.0[at].used
    }

    /// The type that it takes its operands in: that of its result, unless whole operands need more bits. Of a table one with the
    /// bits of all.
    pub(super) fn operands(&self, at: usize) -> Element {
        self.0[at].operands
    }

    /// Whether the table of a node is looked up by bootstraps of all digits together.
    pub(super) fn is_direct(&self, at: usize) -> bool {
        matches!(self.operands(at), Element::Unsigned(bits) if bits <= DIRECT_BITS)
    }

    /// Whether elements are the values of the node, and not only low bits of them.
    pub(super) fn is_whole(&self, at: usize) -> bool {
        self.0[at].whole
    }
}

/// The type of a node of which low bits are asked for.
fn narrowed(range: Interval, asked: u32) -> Element {
    let held = holding(range);
    match held.bits() {
        Some(bits) if asked < bits => Element::Unsigned(asked.next_multiple_of(DIGIT_BITS).max(DIGIT_BITS)),
        _ => held,
    }
}

fn is_truth(node: &Node) -> bool {
    node.element == operation::Element::Bool
}

/// The types of a node of which low bits are asked for.
fn typed(graph: &Graph, at: usize, asked: u32) -> Typed {
    let node = graph.node(at);
    let result = match (is_truth(node), amount(graph, at)) {
        (true, _) => Element::Bool,
        (_, None) => narrowed(node.range, asked),
        (_, Some(amount)) => {
            let bits = holding(Interval::point(amount)).bits().unwrap_or(WHOLE);
            narrowed(node.range.hull(Interval::point(amount)), asked.max(bits))
        }
    };
    let operands: Vec<&Node> = node.operation.operands().into_iter().map(|of| graph.node(of)).collect();
    let hull = operands.iter().fold(node.range, |hull, operand| hull.hull(operand.range));
    let operands = match &node.operation {
        Operation::Unary(Unary::Abs, of) => {
            let range = graph.node(*of).range;
            holding(range.hull(range.abs()))
        }
        Operation::Unary(Unary::Sign, of) => holding(graph.node(*of).range.hull(Interval::new(-1.0, 1.0))),
        Operation::Binary(kind, a, b) => match form(graph, at) {
            Form::Gate => Element::Bool,
            Form::Low | Form::Mask { .. } => result,
            Form::Right { of, by } => {
                let range = graph.node(of).range.hull(node.range).hull(Interval::point(f64::from(by)));
                narrowed(range, result.bits().map_or(WHOLE, |bits| bits + by))
            }
            Form::Against { of, kind, numbers } => {
                let range = graph.node(of).range;
                holding(range.hull(Interval::of(&whole_numbers(graph, kind, range, numbers))))
            }
            Form::Whole => {
                let [left, right] = [a, b].map(|of| graph.node(*of).range);
                let hull = if is_truth(node) { left.hull(right) } else { hull };
                // Amounts are modulo the bits of the type, a power of two: it has more than the largest.
                let shifts = matches!(kind, Binary::ShiftLeft | Binary::ShiftRight);
                let sign = if hull.low < 0.0 { 1.0 } else { 0.0 };
                match shifts {
                    true => travelling(hull.hull(Interval::new(0.0, libm::exp2(right.high) - sign))),
                    false => holding(hull),
                }
            }
        },
        Operation::Reduce(kind, ..) if *kind != Reduction::Sum && operands.iter().all(|of| is_truth(of)) => {
            Element::Bool
        }
        Operation::Reduce(Reduction::Maximum | Reduction::Minimum, ..) => holding(hull),
        Operation::Sort(of, _) | Operation::ArgMax(of, _) => holding(graph.node(*of).range),
        Operation::Table { .. } => {
            let of_index = |index: Index| match index.elements(graph)[..] {
                [element] => element,
                _ => Element::Unsigned(index.bits(graph)),
            };
            Index::of(graph, at).map_or(result, of_index)
        }
        _ => result,
    };
    Typed { result, operands, used: true, whole: is_truth(node) || holding(node.range).bits() <= result.bits() }
}

/// By how many bits a node moves its operand to higher places, if by a number: what it is computed in holds that.
fn amount(graph: &Graph, at: usize) -> Option<f64> {
    match graph.node(at).operation {
        Operation::Binary(Binary::ShiftLeft, _, by) => graph.number(by),
        _ => None,
    }
}

/// The nodes that a node is computed from.
pub(super) fn sources(graph: &Graph, at: usize) -> Vec<usize> {
    match Index::of(graph, at) {
        Some(index) => index.terms.into_iter().map(|(of, _)| of).collect(),
        None => graph.node(at).operation.operands(),
    }
}

/// How many low bits a node asks for of each operand.
fn asks(graph: &Graph, at: usize, typed: Typed) -> Vec<(usize, u32)> {
    let node = graph.node(at);
    let low = typed.result.bits().unwrap_or(WHOLE);
    match &node.operation {
        Operation::Select(condition, a, b) => vec![(*condition, WHOLE), (*a, low), (*b, low)],
        Operation::Binary(kind, a, b) => match form(graph, at) {
            // Bits above those of a number that is not negative are 0, whatever the others are.
            Form::Low if *kind == Binary::And => {
                vec![(*a, low.min(bits_of_constant(graph, *b))), (*b, low.min(bits_of_constant(graph, *a)))]
            }
            Form::Low => vec![(*a, low), (*b, low)],
            Form::Mask { of, mask } => vec![(of, low.min(u64::BITS - mask.leading_zeros()))],
            Form::Right { of, by } => vec![(of, low.saturating_add(by))],
            Form::Gate | Form::Against { .. } | Form::Whole => vec![(*a, WHOLE), (*b, WHOLE)],
        },
        Operation::Gather { of, .. }
        | Operation::Unary(Unary::Neg, of)
        | Operation::MatMul { of, .. }
        | Operation::Reduce(Reduction::Sum | Reduction::Product, of, _)
        | Operation::Polynomial(of, _) => vec![(*of, low)],
        Operation::Table { .. } => sources(graph, at).into_iter().map(|of| (of, WHOLE)).collect(),
        operation => operation.operands().into_iter().map(|of| (of, WHOLE)).collect(),
    }
}

/// How an operation on two is computed: that of this node.
///
/// # Panics
/// If it is another operation.
pub(super) fn form(graph: &Graph, at: usize) -> Form {
    let Operation::Binary(kind, a, b) = graph.node(at).operation else { panic!("an operation on two") };
    let number = |of: usize| graph.number(of).filter(|x| x.fract() == 0.0 && (0.0..=LARGEST_INTEGER).contains(x));
    let power = |x: &f64| *x >= 1.0 && (*x as u64).is_power_of_two();
    if is_truth(graph.node(a)) && is_truth(graph.node(b)) && is_truth(graph.node(at)) {
        return Form::Gate;
    }
    if kind.compares() {
        let is_constant = |of: usize| matches!(graph.node(of).operation, Operation::Constant { .. });
        return match (is_constant(b), is_constant(a), turned(kind)) {
            (true, ..) => Form::Against { of: a, kind, numbers: b },
            (_, true, Some(kind)) => Form::Against { of: b, kind, numbers: a },
            _ => Form::Whole,
        };
    }
    match (kind, number(a), number(b)) {
        (Binary::Remainder, _, Some(x)) if power(&x) => Form::Mask { of: a, mask: x as u64 - 1 },
        (Binary::And, _, Some(x)) => Form::Mask { of: a, mask: x as u64 },
        (Binary::And, Some(x), None) => Form::Mask { of: b, mask: x as u64 },
        (Binary::FloorDivide, _, Some(x)) if power(&x) => Form::Right { of: a, by: (x as u64).ilog2() },
        (Binary::ShiftRight, _, Some(x)) => Form::Right { of: a, by: x as u32 },
        (Binary::ShiftLeft, _, Some(_))
        | (Binary::Add | Binary::Sub | Binary::Mul | Binary::And | Binary::Or | Binary::Xor, ..) => Form::Low,
        _ => Form::Whole,
    }
}

/// Numbers in clear, which may have fractions, as the integers for which a relation with integers in a range is the same. Those
/// beyond the range are alike, and unequal to all in it; so is what has a fraction.
pub(super) fn whole_numbers(graph: &Graph, kind: Binary, range: Interval, numbers: usize) -> Vec<f64> {
    let Operation::Constant { values, .. } = &graph.node(numbers).operation else { return Vec::new() };
    let around = range.widened(1.0);
    let whole = |&c: &f64| match kind {
        Binary::Less | Binary::GreaterEqual => c.ceil(),
        Binary::Greater | Binary::LessEqual => c.floor(),
        _ if c.fract() == 0.0 => c,
        _ => around.high,
    };
    values.iter().map(|c| whole(c).clamp(around.low, around.high)).collect()
}

/// The operation with its operands exchanged, if there is one.
pub(super) const fn turned(kind: Binary) -> Option<Binary> {
    match kind {
        Binary::Less => Some(Binary::Greater),
        Binary::LessEqual => Some(Binary::GreaterEqual),
        Binary::Greater => Some(Binary::Less),
        Binary::GreaterEqual => Some(Binary::LessEqual),
        Binary::Sub | Binary::FloorDivide | Binary::Remainder | Binary::ShiftLeft | Binary::ShiftRight => None,
        symmetric => Some(symmetric),
    }
}

/// The bits of the numbers of a constant, if none is negative; all otherwise.
fn bits_of_constant(graph: &Graph, at: usize) -> u32 {
    let node = graph.node(at);
    match node.operation {
        Operation::Constant { .. } if node.range.low >= 0.0 => u64::BITS - (node.range.high as u64).leading_zeros(),
        _ => WHOLE,
    }
}
