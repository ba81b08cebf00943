//! Graphs of integers and truth values on columns of TFHE, whose elements are encrypted one by one.

use std::borrow::Cow;
use std::cell::LazyCell;

use noren_rlwe::error::{Error, Result};

use crate::backends::tfhe::algebra::{ColumnAlgebra, Positions, Table};
use crate::backends::tfhe::elements::travelling;
use crate::backends::tfhe::tables::{Index, TABLE_BITS};
use crate::backends::tfhe::widths::{Form, Types, form, sources, turned, whole_numbers};
use crate::graph::dag::Graph;
use crate::graph::operation::{self, Operation, Reduction, Unary};
use crate::graph::shape::{broadcast_positions, positions_without, size};
use crate::lowering::error::CompileError;
use crate::programs::columns::{self, Binary, Element};
use crate::radix::Comparison;

/// The advice for outputs that no input leads to.
const IN_CLEAR: &str = "return it without encryption";
/// The most terms of a sum whose circuit is made: more are added in groups, and so are their sums.
const MOST_TERMS: usize = 512;

/// An operand: numbers in clear, or a column.
#[derive(Clone)]
enum Operand<'a, C> {
    Constant(Cow<'a, [f64]>),
    Column(C),
}

/// The narrowest type that holds the range of a node: that of inputs and outputs.
///
/// # Errors
/// Real numbers.
pub(super) fn element_of(graph: &Graph, at: usize) -> Result<Element> {
    let node = graph.node(at);
    match node.element {
        operation::Element::Bool => Ok(Element::Bool),
        operation::Element::Integer => Ok(travelling(node.range)),
        operation::Element::Real => Err(refusal(graph, at, "integers: round and scale the numbers")),
    }
}

/// Refuses graphs with operations that columns do not have.
///
/// # Errors
/// [`CompileError::Unsupported`].
pub(super) fn check(graph: &Graph) -> Result<()> {
    let needed = graph.needed();
    (0..needed.len()).filter(|&at| needed[at]).try_for_each(|at| check_node(graph, at))?;
    match graph.outputs().iter().find(|&&at| is_constant(graph, at)) {
        Some(&at) => Err(refusal(graph, at, IN_CLEAR)),
        None => Ok(()),
    }
}

/// Whether a node holds numbers in clear.
pub(super) fn is_constant(graph: &Graph, mut at: usize) -> bool {
    while let Operation::Gather { of, .. } = graph.node(at).operation {
        at = of;
    }
    matches!(graph.node(at).operation, Operation::Constant { .. })
}

/// Whether columns have the operation of a node.
pub(super) fn evaluates(graph: &Graph, at: usize) -> bool {
    check_node(graph, at).is_ok() && graph.node(at).operation.operands().iter().all(|&of| check_type(graph, of).is_ok())
}

fn check_type(graph: &Graph, at: usize) -> Result<()> {
    match graph.node(at).operation {
        Operation::Constant { .. } => Ok(()),
        _ => element_of(graph, at).map(|_| ()),
    }
}

fn check_node(graph: &Graph, at: usize) -> Result<()> {
    check_type(graph, at)?;
    match &graph.node(at).operation {
        Operation::Table { .. } => match Index::of(graph, at).map_or(0, |index| index.bits(graph)) {
            0..=TABLE_BITS => Ok(()),
            bits => Err(refusal(graph, at, &format!("tables of integers of {TABLE_BITS} bits together, not {bits}"))),
        },
        Operation::Binary(kind, a, b)
            if kind.compares()
                && [a, b].iter().all(|&&of| matches!(graph.node(of).operation, Operation::Constant { .. })) =>
        {
            Err(refusal(graph, at, "compare constants before the function is compiled"))
        }
        Operation::Function { .. } => Err(refusal(graph, at, "a table of its values: values[x]")),
        _ => Ok(()),
    }
}

/// Whether an output depends on a table that is looked up with circuit keys.
pub(super) fn needs_circuit_keys(graph: &Graph, types: &Types) -> bool {
    let is_table = |at: usize| matches!(graph.node(at).operation, Operation::Table { .. });
    (0..graph.nodes().len()).any(|at| types.is_used(at) && is_table(at) && !types.is_direct(at))
}

/// Runs a graph that passes [`check`] on the columns of its inputs, in the order of the inputs.
///
/// # Errors
/// The errors of operations on columns.
pub(super) fn run<A: ColumnAlgebra>(
    graph: &Graph,
    types: &Types,
    ev: &A,
    inputs: &[A::Column],
) -> Result<Vec<A::Column>> {
    let positions = graph.inputs();
    let mut results: Vec<Option<Operand<'_, A::Column>>> = vec![None; graph.nodes().len()];
    let is_run = |&at: &usize| types.is_used(at);
    let mut left = vec![0; results.len()];
    (0..results.len()).filter(is_run).flat_map(|at| sources(graph, at)).for_each(|of| left[of] += 1);
    graph.outputs().iter().for_each(|&output| left[output] += 1);
    for at in (0..results.len()).filter(is_run) {
        ev.begin(at);
        let run = Run { graph, ev, at, count: size(&graph.node(at).shape).unwrap_or(0), types, results: &results };
        let result = match positions.binary_search(&at) {
            Ok(input) => Operand::Column(inputs[input].clone()),
            Err(_) => run.node()?,
        };
        results[at] = Some(match result {
            Operand::Column(column) => Operand::Column(ev.cast(&column, types.result(at))?),
            constant @ Operand::Constant(_) => constant,
        });
        for operand in sources(graph, at) {
            left[operand] -= 1;
            if left[operand] == 0 {
                results[operand] = None;
            }
        }
    }
    let output = |&at: &usize| match &results[at] {
        Some(Operand::Column(column)) => {
            ev.begin(at);
            ev.cast(column, element_of(graph, at)?)
        }
        _ => Err(refusal(graph, at, IN_CLEAR)),
    };
    graph.outputs().iter().map(output).collect()
}

/// The evaluation of one node.
struct Run<'r, 'g, A: ColumnAlgebra> {
    graph: &'g Graph,
    ev: &'r A,
    at: usize,
    /// Its elements.
    count: usize,
    types: &'r Types,
    results: &'r [Option<Operand<'g, A::Column>>],
}

impl<'r, 'g, A: ColumnAlgebra> Run<'r, 'g, A> {
    fn node(&self) -> Result<Operand<'g, A::Column>> {
        let (node, wide) = (self.graph.node(self.at), self.types.operands(self.at));
        Ok(Operand::Column(match &node.operation {
            Operation::Constant { values, .. } => return Ok(Operand::Constant(values.into())),
            Operation::Gather { of, positions, .. } => match self.operand(*of)? {
                Operand::Constant(values) => {
                    let value = |&at: &i64| usize::try_from(at).map_or(0.0, |at| values[at]);
                    return Ok(Operand::Constant(positions.iter().map(value).collect()));
                }
                Operand::Column(column) => self.ev.gather_or_zero(column, positions)?,
            },
            Operation::Unary(kind, of) => self.unary(*kind, *of)?,
            Operation::Binary(kind, a, b) => self.binary(*kind, *a, *b)?,
            Operation::Select(condition, a, b) => {
                let condition = self.spread(*condition, Element::Bool)?;
                self.ev.select(&condition, &self.spread(*a, wide)?, &self.spread(*b, wide)?)?
            }
            Operation::MatMul { of, columns, matrix } => self.matrix(*of, *columns, matrix)?,
            Operation::Reduce(kind, of, axes) => self.reduced(*kind, *of, axes)?,
            Operation::Polynomial(of, coefficients) => self.polynomial(*of, coefficients)?,
            Operation::Table { of, first, values, .. } => {
                let index = Index::of(self.graph, self.at).ok_or_else(|| refusal(self.graph, *of, "an index"))?;
                let (output, last) = (self.types.result(self.at), values.len() - 1);
                // Integers outside of the range do not occur, and have any value.
                let value = |x: i128| values[usize::try_from(x - i128::from(*first)).unwrap_or(0).min(last)] as i128;
                let clamp = |x: i128| output.wrapped(x.clamp(node.range.low as i128, node.range.high as i128));
                let value = |parts: &[i128]| clamp(value(index.at(parts)));
                let table = Table { output, is_direct: self.types.is_direct(self.at), values, value: &value };
                let inputs = index.terms.iter().zip(index.elements(self.graph));
                let operands = inputs.map(|(&(of, _), input)| self.spread(of, input)).collect::<Result<Vec<_>>>()?;
                self.ev.table(&table, &operands)?
            }
            Operation::Sort(of, axis) => {
                let sorted = self.ev.sort(&self.along(*of, *axis)?)?;
                let (shape, each) = (&node.shape, self.count / node.shape[*axis]);
                // Term after term, each with its elements in their order.
                let place = || {
                    let others = positions_without(shape, &[*axis]);
                    let terms =
                        positions_without(shape, &(0..shape.len()).filter(|own| own != axis).collect::<Vec<_>>());
                    terms.iter().zip(others).map(|(term, other)| term * each + other).collect()
                };
                self.ev.gather(&sorted, self.count, &place)
            }
            Operation::ArgMax(of, axis) => self.ev.argmax(&self.along(*of, *axis)?)?,
            Operation::Input { .. }
            | Operation::Function { .. }
            | Operation::Within(..)
            | Operation::OrderStatistic { .. }
            | Operation::Top { .. }
            | Operation::Sparse { .. } => {
                return Err(refusal(self.graph, self.at, "an operation on integers"));
            }
        }))
    }

    fn operand(&self, at: usize) -> Result<&'r Operand<'g, A::Column>> {
        self.results[at].as_ref().ok_or_else(|| refusal(self.graph, at, "a node before its use"))
    }

    /// The positions of an operand that is broadcast to the shape of the node.
    fn positions(&self, of: usize) -> Vec<usize> {
        broadcast_positions(&self.graph.node(of).shape, &self.graph.node(self.at).shape)
    }

    /// An operand, broadcast to the shape of the node, as elements of a type.
    fn spread(&self, of: usize, element: Element) -> Result<A::Column> {
        self.picked(of, element, &|| self.positions(of))
    }

    /// As many elements of an operand as the node has, as those of a type.
    ///
    /// # Panics
    /// If bits are missing: of a node that is not whole no more are taken than it has.
    fn picked(&self, of: usize, element: Element, positions: Positions<'_>) -> Result<A::Column> {
        match self.operand(of)? {
            Operand::Constant(values) => self.ev.trivial(element, values, self.count, positions),
            Operand::Column(column) => {
                let held = self.ev.element(column);
                let enough = self.types.is_whole(of) || element.bits() <= held.bits();
                assert!(enough, "{element} of {held}, which lacks bits");
                match self.count < self.ev.count(column) {
                    true => self.ev.cast(&self.ev.gather(column, self.count, positions), element),
                    false => Ok(self.ev.gather(&self.ev.cast(column, element)?, self.count, positions)),
                }
            }
        }
    }

    /// An operation of each element with one number.
    fn with_number(&self, kind: Binary, x: &A::Column, number: f64) -> Result<A::Column> {
        self.ev.binary_known(kind, x, &[number], &|| vec![0; self.count])
    }

    fn unary(&self, kind: Unary, of: usize) -> Result<A::Column> {
        let wide = self.types.operands(self.at);
        let x = self.spread(of, wide)?;
        match kind {
            Unary::Restated => Ok(x),
            Unary::Not => self.ev.unary(columns::Unary::Not, &x),
            Unary::Neg => self.ev.unary(columns::Unary::Neg, &x),
            Unary::Abs if !wide.is_signed() => Ok(x),
            Unary::Abs => {
                let below = self.with_number(Binary::Compare(Comparison::Lt), &x, 0.0)?;
                self.ev.select(&below, &self.ev.unary(columns::Unary::Neg, &x)?, &x)
            }
            Unary::Sign => {
                let above = self.with_number(Binary::Compare(Comparison::Gt), &x, 0.0)?;
                let below = self.with_number(Binary::Compare(Comparison::Lt), &x, 0.0)?;
                let [above, below] = [above, below].map(|truth| self.ev.cast(&truth, wide));
                self.ev.binary(Binary::Sub, &above?, &below?)
            }
        }
    }

    fn binary(&self, kind: operation::Binary, a: usize, b: usize) -> Result<A::Column> {
        let wide = self.types.operands(self.at);
        match form(self.graph, self.at) {
            Form::Gate => {
                let gate = truth_gate(kind);
                let [x, y] = [(a, gate.not_a), (b, gate.not_b)].map(|(of, not)| {
                    let truths = self.spread(of, wide)?;
                    if not { self.ev.unary(columns::Unary::Not, &truths) } else { Ok(truths) }
                });
                self.ev.binary(gate.kind, &x?, &y?)
            }
            Form::Mask { of, mask } => self.with_number(Binary::And, &self.spread(of, wide)?, mask as f64),
            Form::Right { of, by } => self.with_number(Binary::ShiftRight, &self.spread(of, wide)?, f64::from(by)),
            Form::Against { of, kind, numbers } => {
                let whole = whole_numbers(self.graph, kind, self.graph.node(of).range, numbers);
                self.ev.binary_known(binary(kind), &self.spread(of, wide)?, &whole, &|| self.positions(numbers))
            }
            Form::Low | Form::Whole => {
                let known = |kind, of, numbers, values: &[f64]| {
                    self.ev.binary_known(binary(kind), &self.spread(of, wide)?, values, &|| self.positions(numbers))
                };
                match (self.operand(a)?, self.operand(b)?, turned(kind)) {
                    (_, Operand::Constant(values), _) => known(kind, a, b, values),
                    (Operand::Constant(values), _, Some(turned)) => known(turned, b, a, values),
                    _ => self.ev.binary(binary(kind), &self.spread(a, wide)?, &self.spread(b, wide)?),
                }
            }
        }
    }

    fn reduced(&self, kind: Reduction, of: usize, axes: &[usize]) -> Result<A::Column> {
        let columns = self.terms(of, axes, self.count)?;
        match kind {
            Reduction::Sum => self.sum(columns),
            kind => self.ev.fold(binary(kind.binary()), &columns),
        }
    }

    /// The elements along an axis: a column of each place on it.
    fn along(&self, of: usize, axis: usize) -> Result<Vec<A::Column>> {
        let shape = &self.graph.node(of).shape;
        self.terms(of, &[axis], size(shape).unwrap_or(0) / shape[axis])
    }

    /// The terms of each of `count` elements that an operand has without some axes: a column of the first of each, of the second
    /// of each, and so on.
    fn terms(&self, of: usize, axes: &[usize], count: usize) -> Result<Vec<A::Column>> {
        let operand = self.graph.node(of);
        // The positions of the terms of each element.
        let terms = LazyCell::new(|| {
            let mut terms: Vec<Vec<usize>> = vec![Vec::new(); count];
            for (position, to) in positions_without(&operand.shape, axes).into_iter().enumerate() {
                terms[to].push(position);
            }
            terms
        });
        let (wide, part) = (self.types.operands(self.at), Run { count, ..*self });
        let column = |term: usize| part.picked(of, wide, &|| terms.iter().map(|term_of| term_of[term]).collect());
        (0..size(&operand.shape).unwrap_or(0) / count.max(1)).map(column).collect()
    }

    /// The sum of columns, of many in groups.
    fn sum(&self, mut columns: Vec<A::Column>) -> Result<A::Column> {
        while columns.len() > MOST_TERMS {
            let size = columns.len().div_ceil(columns.len().div_ceil(MOST_TERMS));
            columns = columns.chunks(size).map(|group| self.ev.sum(group)).collect::<Result<_>>()?;
        }
        self.ev.sum(&columns)
    }

    /// Products of elements with numbers, added up.
    fn matrix(&self, of: usize, columns: usize, matrix: &[f64]) -> Result<A::Column> {
        let (rows, wide) = (matrix.len() / columns, self.types.operands(self.at));
        let entries = matrix.chunks(columns).enumerate();
        let terms = entries.filter(|(_, entries)| entries.iter().any(|&entry| entry != 0.0)).map(|(c, entries)| {
            let x = self.picked(of, wide, &|| (0..self.count).map(|at| at / columns * rows + c).collect())?;
            if entries.iter().all(|&entry| wide.wrapped(entry as i128) == 1) {
                return Ok(x);
            }
            self.ev.binary_known(Binary::Mul, &x, entries, &|| (0..self.count).map(|at| at % columns).collect())
        });
        let terms = terms.collect::<Result<Vec<_>>>()?;
        if terms.is_empty() {
            return self.ev.trivial(wide, &[0.0], self.count, &|| vec![0; self.count]);
        }
        self.sum(terms)
    }

    /// By Horner's scheme.
    fn polynomial(&self, of: usize, coefficients: &[f64]) -> Result<A::Column> {
        let wide = self.types.operands(self.at);
        let x = self.spread(of, wide)?;
        let (last, rest) = coefficients.split_last().unwrap_or((&0.0, &[]));
        let mut value: Option<A::Column> = None;
        for &c in rest.iter().rev() {
            let product = match &value {
                None if *last == 1.0 => x.clone(),
                None => self.with_number(Binary::Mul, &x, *last)?,
                Some(value) => self.ev.binary(Binary::Mul, value, &x)?,
            };
            value = Some(if c == 0.0 { product } else { self.with_number(Binary::Add, &product, c)? });
        }
        value.map_or_else(|| self.ev.trivial(wide, &[*last], self.count, &|| vec![0; self.count]), Ok)
    }
}

/// A gate of two truth values, one of which may be turned over.
struct TruthGate {
    not_a: bool,
    not_b: bool,
    kind: Binary,
}

/// The gate of an operation on truth values: in their order, false is below true.
const fn truth_gate(kind: operation::Binary) -> TruthGate {
    let (not_a, not_b, kind) = match kind {
        operation::Binary::Less => (true, false, Binary::And),
        operation::Binary::LessEqual => (true, false, Binary::Or),
        operation::Binary::Greater => (false, true, Binary::And),
        operation::Binary::GreaterEqual => (false, true, Binary::Or),
        kind => (false, false, binary(kind)),
    };
    TruthGate { not_a, not_b, kind }
}

/// The operation on columns.
const fn binary(kind: operation::Binary) -> Binary {
    match kind {
        operation::Binary::Add => Binary::Add,
        operation::Binary::Sub => Binary::Sub,
        operation::Binary::Mul => Binary::Mul,
        operation::Binary::FloorDivide => Binary::Div,
        operation::Binary::Remainder => Binary::Rem,
        operation::Binary::And => Binary::And,
        operation::Binary::Or => Binary::Or,
        operation::Binary::Xor => Binary::Xor,
        operation::Binary::ShiftLeft => Binary::ShiftLeft,
        operation::Binary::ShiftRight => Binary::ShiftRight,
        operation::Binary::Less => Binary::Compare(Comparison::Lt),
        operation::Binary::LessEqual => Binary::Compare(Comparison::Le),
        operation::Binary::Greater => Binary::Compare(Comparison::Gt),
        operation::Binary::GreaterEqual => Binary::Compare(Comparison::Ge),
        operation::Binary::Equal => Binary::Compare(Comparison::Eq),
        operation::Binary::NotEqual => Binary::Compare(Comparison::Ne),
        operation::Binary::Minimum => Binary::Min,
        operation::Binary::Maximum => Binary::Max,
    }
}

fn refusal(graph: &Graph, at: usize, needed: &str) -> Error {
    CompileError::unsupported(graph, at, needed).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::tfhe::tests::check_run;
    use crate::graph::interval::Interval;
    use crate::graph::operation::{Binary, Element};

    fn input(graph: &mut Graph, count: usize, low: f64, high: f64) -> usize {
        let (name, range) = (format!("x{}", graph.nodes().len()), Interval::new(low, high));
        let input = Operation::Input { name, shape: vec![count], element: Element::Integer, range };
        graph.push(input, "").expect("an input")
    }

    fn constant(graph: &mut Graph, values: &[f64]) -> usize {
        let element =
            if values.iter().all(|x| x.fract() == 0.0 && x.abs() < 1e15) { Element::Integer } else { Element::Real };
        let shape = if values.len() == 1 { vec![] } else { vec![values.len()] };
        graph.push(Operation::Constant { shape, element, values: values.to_vec() }, "").expect("a constant")
    }

    #[test]
    fn integers_are_compared_with_fractions_and_with_numbers_beyond_their_type() {
        let kinds =
            [Binary::Less, Binary::LessEqual, Binary::Greater, Binary::GreaterEqual, Binary::Equal, Binary::NotEqual];
        for values in [vec![2.5], vec![3.0], vec![-1e30], vec![1e30], vec![2.5, -0.5, 4.0, 1e20]] {
            let mut graph = Graph::default();
            let x = input(&mut graph, 4, 1.0, 4.0);
            let c = constant(&mut graph, &values);
            let mut outputs = Vec::new();
            for kind in kinds {
                for (a, b) in [(x, c), (c, x)] {
                    outputs.push(graph.push(Operation::Binary(kind, a, b), "").expect("a comparison"));
                }
            }
            graph.finish(outputs).expect("outputs");
            check_run(graph, &[vec![2.0, 1.0, 3.0, 4.0]]);
        }
    }

    #[test]
    fn constants_with_fractions_are_not_compared_with_each_other() {
        let mut graph = Graph::default();
        let x = input(&mut graph, 2, 0.0, 1.0);
        let (a, b) = (constant(&mut graph, &[0.5, 1.5]), constant(&mut graph, &[0.25]));
        let truth = graph.push(Operation::Binary(Binary::Less, a, b), "").expect("a comparison");
        let sum = graph.push(Operation::Binary(Binary::Add, x, truth), "").expect("a sum");
        graph.finish(vec![sum]).expect("an output");
        let message = check(&graph).expect_err("constants").to_string();
        assert!(message.contains("compare constants before"), "{message}");
    }

    #[test]
    fn encrypted_amounts_shift_beyond_the_bits_of_what_is_shifted() {
        for (kind, low, high, most, x, amounts) in [
            (Binary::ShiftRight, 0.0, 255.0, 63.0, [255.0, 255.0, 200.0], [8.0, 63.0, 3.0]),
            (Binary::ShiftRight, -128.0, 127.0, 12.0, [-128.0, 127.0, -1.0], [9.0, 12.0, 1.0]),
            (Binary::ShiftLeft, 0.0, 3.0, 10.0, [3.0, 1.0, 2.0], [10.0, 8.0, 0.0]),
            (Binary::ShiftLeft, 0.0, 0.0, 20.0, [0.0, 0.0, 0.0], [20.0, 8.0, 0.0]),
        ] {
            let mut graph = Graph::default();
            let (left, right) = (input(&mut graph, 3, low, high), input(&mut graph, 3, 0.0, most));
            let amount = constant(&mut graph, &amounts);
            let outputs = [right, amount].map(|b| graph.push(Operation::Binary(kind, left, b), "").expect("a shift"));
            graph.finish(outputs.to_vec()).expect("outputs");
            check_run(graph, &[x.to_vec(), amounts.to_vec()]);
        }
    }

    #[test]
    fn powers_of_large_integers_are_exact() {
        for (c, exponent) in [(100_000_003.0, 2), (1_000_003.0, 3), (1_700_000_000.0, 3)] {
            let mut graph = Graph::default();
            let x = input(&mut graph, 4, c - 3.0, c + 3.0);
            let c_node = constant(&mut graph, &[c]);
            let difference = graph.push(Operation::Binary(Binary::Sub, x, c_node), "").expect("a difference");
            let coefficients = (0..=exponent).map(|k| f64::from(u8::from(k == exponent))).collect();
            let power = graph.push(Operation::Polynomial(difference, coefficients), "").expect("a power");
            let most = constant(&mut graph, &[8.0]);
            let least = graph.push(Operation::Binary(Binary::Minimum, power, most), "").expect("a minimum");
            graph.finish(vec![power, least]).expect("outputs");
            check_run(graph, &[vec![c - 3.0, c, c + 2.0, c + 3.0]]);
        }
    }
}
