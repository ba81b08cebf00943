//! Graphs of integers and truth values on columns of TFHE, whose elements are encrypted one by one.

use noren_rlwe::error::{Error, Result};

use crate::graph::dag::Graph;
use crate::graph::interval::Interval;
use crate::graph::operation::{self, Operation, Reduction, Unary};
use crate::graph::shape::{broadcast_positions, indices, position_of, size, without};
use crate::lowering::error::CompileError;
use crate::programs::columns::{self, Binary, Column, ColumnEvaluator, ColumnLookup, Element};
use crate::radix::Comparison;

/// The most bits of an integer that a table is looked up for.
const TABLE_BITS: u32 = 8;

/// An operand: numbers in clear, or a column.
#[derive(Clone)]
enum Operand {
    Constant(Vec<f64>),
    Column(Column),
}

/// The narrowest type that holds an interval.
///
/// # Errors
/// Integers that 64 bits do not hold.
pub(super) fn element_of(graph: &Graph, at: usize) -> Result<Element> {
    let node = graph.node(at);
    match node.element {
        operation::Element::Bool => Ok(Element::Bool),
        operation::Element::Integer => Ok(holding(node.range)),
        operation::Element::Real => Err(refusal(graph, at, "integers: round and scale the numbers")),
    }
}

/// Refuses graphs with operations that columns do not have.
///
/// # Errors
/// [`CompileError::Unsupported`].
pub(super) fn check(graph: &Graph) -> Result<()> {
    let needed = graph.needed();
    (0..needed.len()).filter(|&at| needed[at]).try_for_each(|at| check_node(graph, at))
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
        Operation::Table { of, .. } if element_of(graph, *of)?.bits().unwrap_or(1) > TABLE_BITS => {
            Err(refusal(graph, at, "tables of integers of 8 bits, such as those from 0 to 255"))
        }
        Operation::Binary(kind, a, b)
            if kind.compares()
                && [a, b].iter().all(|&&of| matches!(graph.node(of).operation, Operation::Constant { .. })) =>
        {
            Err(refusal(graph, at, "compare constants before the function is compiled"))
        }
        Operation::Function { .. } => Err(refusal(graph, at, "a table of its values: values[x]")),
        Operation::Sort(..) | Operation::ArgMax(..) => Err(refusal(graph, at, "")),
        _ => Ok(()),
    }
}

/// Whether an output depends on a table, which is looked up with circuit keys.
pub(super) fn needs_circuit_keys(graph: &Graph) -> bool {
    let nodes = graph.nodes().iter().zip(graph.needed());
    nodes.into_iter().any(|(node, needed)| needed && matches!(node.operation, Operation::Table { .. }))
}

/// Runs a graph on the columns of its inputs, in the order of the inputs.
///
/// # Errors
/// As [`check`], and what the evaluator refuses.
pub(super) fn run(graph: &Graph, ev: &ColumnEvaluator, inputs: &[Column]) -> Result<Vec<Column>> {
    check(graph)?;
    let needed = graph.needed();
    let positions = graph.inputs();
    let mut results: Vec<Option<Operand>> = vec![None; graph.nodes().len()];
    let mut left: Vec<usize> = graph.consumers().iter().map(Vec::len).collect();
    graph.outputs().iter().for_each(|&output| left[output] += 1);
    for at in (0..results.len()).filter(|&at| needed[at]) {
        let run = Run { graph, ev, at, results: &results };
        let input = positions.iter().position(|&position| position == at);
        results[at] = Some(match input {
            Some(input) => Operand::Column(inputs[input].clone()),
            None => run.node()?,
        });
        for operand in graph.node(at).operation.operands() {
            left[operand] -= 1;
            if left[operand] == 0 {
                results[operand] = None;
            }
        }
    }
    let output = |&at: &usize| match &results[at] {
        Some(Operand::Column(column)) => ev.cast(column, element_of(graph, at)?),
        _ => Err(refusal(graph, at, "return it without encryption")),
    };
    graph.outputs().iter().map(output).collect()
}

/// The evaluation of one node.
struct Run<'a> {
    graph: &'a Graph,
    ev: &'a ColumnEvaluator,
    at: usize,
    results: &'a [Option<Operand>],
}

impl Run<'_> {
    fn node(&self) -> Result<Operand> {
        let node = self.graph.node(self.at);
        Ok(Operand::Column(match &node.operation {
            Operation::Constant { values, .. } => return Ok(Operand::Constant(values.clone())),
            Operation::Gather { of, positions, .. } => match self.operand(*of)? {
                Operand::Constant(values) => {
                    let value = |&at: &i64| usize::try_from(at).map_or(0.0, |at| values[at]);
                    return Ok(Operand::Constant(positions.iter().map(value).collect()));
                }
                Operand::Column(column) => self.gathered(&column, positions)?,
            },
            Operation::Unary(kind, of) => self.unary(*kind, *of)?,
            Operation::Binary(kind, a, b) => self.binary(*kind, *a, *b)?,
            Operation::Select(condition, a, b) => {
                let wide = element_of(self.graph, self.at)?;
                let condition = self.spread(*condition, Element::Bool)?;
                self.ev.select(&condition, &self.spread(*a, wide)?, &self.spread(*b, wide)?)?
            }
            Operation::MatMul { of, columns, matrix } => self.matrix(*of, *columns, matrix)?,
            Operation::Reduce(kind, of, axes) => self.reduced(*kind, *of, axes)?,
            Operation::Polynomial(of, coefficients) => self.polynomial(*of, coefficients)?,
            Operation::Table { of, first, values, .. } => {
                let (input, output) = (element_of(self.graph, *of)?, element_of(self.graph, self.at)?);
                let last = values.len() - 1;
                // Integers outside of the range do not occur, and have any value.
                let value = |x: i128| values[usize::try_from(x - i128::from(*first)).unwrap_or(0).min(last)] as i128;
                let clamp = |x: i128| {
                    let range = node.range;
                    x.clamp(range.low as i128, range.high as i128)
                };
                let context = self.ev.digits().context();
                if input == Element::Bool {
                    let wide = self.spread(*of, Element::Unsigned(TABLE_BITS))?;
                    let inputs = [Element::Unsigned(TABLE_BITS)];
                    let lookup = ColumnLookup::new(context, &inputs, output, |x| clamp(value(x[0])))?;
                    return Ok(Operand::Column(self.ev.lookup(&lookup, &[&wide])?));
                }
                let lookup = ColumnLookup::new(context, &[input], output, |x| clamp(value(x[0])))?;
                self.ev.lookup(&lookup, &[&self.spread(*of, input)?])?
            }
            Operation::Input { .. } | Operation::Function { .. } | Operation::Sort(..) | Operation::ArgMax(..) => {
                return Err(refusal(self.graph, self.at, "an operation on integers"));
            }
        }))
    }

    fn operand(&self, at: usize) -> Result<Operand> {
        self.results[at].clone().ok_or_else(|| refusal(self.graph, at, "a node before its use"))
    }

    /// An operand, broadcast to the shape of the node, as elements of a type.
    fn spread(&self, of: usize, element: Element) -> Result<Column> {
        let positions = broadcast_positions(&self.graph.node(of).shape, &self.graph.node(self.at).shape);
        self.picked(of, element, &positions)
    }

    /// Elements of an operand as those of a type.
    fn picked(&self, of: usize, element: Element, positions: &[usize]) -> Result<Column> {
        match self.operand(of)? {
            Operand::Constant(values) => {
                let values: Vec<i128> = positions.iter().map(|&at| values[at] as i128).collect();
                self.ev.trivial(element, &values)
            }
            Operand::Column(column) => {
                let whole = positions.len() == column.count() && positions.iter().enumerate().all(|(i, &at)| i == at);
                let column = self.ev.cast(&column, element)?;
                Ok(if whole { column } else { column.gather(positions) })
            }
        }
    }

    /// The numbers of a constant, broadcast to the shape of the node; none of an encrypted operand.
    fn known(&self, of: usize) -> Result<Option<Vec<i128>>> {
        let Operand::Constant(values) = self.operand(of)? else { return Ok(None) };
        let positions = broadcast_positions(&self.graph.node(of).shape, &self.graph.node(self.at).shape);
        Ok(Some(positions.into_iter().map(|at| values[at] as i128).collect()))
    }

    fn gathered(&self, column: &Column, positions: &[i64]) -> Result<Column> {
        if !positions.contains(&-1) {
            return Ok(column.gather(&positions.iter().map(|&at| at.unsigned_abs() as usize).collect::<Vec<_>>()));
        }
        let zero = self.ev.trivial(column.element(), &[0])?;
        let both = Column::concatenate([column, &zero].into_iter())?;
        let last = column.count();
        Ok(both.gather(&positions.iter().map(|&at| usize::try_from(at).unwrap_or(last)).collect::<Vec<_>>()))
    }

    fn unary(&self, kind: Unary, of: usize) -> Result<Column> {
        let range = self.graph.node(of).range;
        match kind {
            Unary::Not => self.ev.unary(columns::Unary::Not, &self.spread(of, Element::Bool)?),
            Unary::Neg => {
                let wide = holding(range.hull(range.negated()));
                self.ev.unary(columns::Unary::Neg, &self.spread(of, wide)?)
            }
            Unary::Abs => self.ev.abs(&self.spread(of, holding(range.hull(range.abs())))?),
            Unary::Sign => {
                let wide = holding(range.hull(Interval::new(-1.0, 1.0)));
                let x = self.spread(of, wide)?;
                let zeros = vec![0; x.count()];
                let above = self.ev.binary_known(Binary::Compare(Comparison::Gt), &x, &zeros)?;
                let below = self.ev.binary_known(Binary::Compare(Comparison::Lt), &x, &zeros)?;
                let [above, below] = [above, below].map(|truth| self.ev.cast(&truth, wide));
                self.ev.binary(Binary::Sub, &above?, &below?)
            }
        }
    }

    fn binary(&self, kind: operation::Binary, a: usize, b: usize) -> Result<Column> {
        let [left, right] = [a, b].map(|at| self.graph.node(at));
        let node = self.graph.node(self.at);
        let truths = left.element == operation::Element::Bool && right.element == operation::Element::Bool;
        let of_columns = binary(kind);
        let shift = matches!(kind, operation::Binary::ShiftLeft | operation::Binary::ShiftRight);
        let arithmetic = matches!(kind, operation::Binary::Add | operation::Binary::Sub | operation::Binary::Mul);
        if truths && !shift && !arithmetic && of_columns.gate().is_some() {
            return self.ev.binary(of_columns, &self.spread(a, Element::Bool)?, &self.spread(b, Element::Bool)?);
        }
        if kind.compares() {
            for (kind, constant, of, x) in [(Some(kind), b, a, left), (turned(kind), a, b, right)] {
                if let (Operand::Constant(values), Some(kind)) = (self.operand(constant)?, kind) {
                    return self.compared(kind, of, x.range, constant, &values);
                }
            }
        }
        let mut hull = left.range.hull(right.range);
        let known = self.known(b)?;
        let uniform = known.as_ref().is_some_and(|values| values.iter().all(|value| *value == values[0]));
        if shift && !uniform {
            // Amounts are modulo the bits of the type: it has more than the largest.
            let sign = if hull.low < 0.0 { 1.0 } else { 0.0 };
            hull = hull.hull(Interval::new(0.0, libm::exp2(right.range.high) - sign));
        }
        let wide = holding(if node.element == operation::Element::Bool { hull } else { hull.hull(node.range) });
        if let Some(values) = known {
            return self.ev.binary_known(of_columns, &self.spread(a, wide)?, &values);
        }
        if let (Some(values), Some(turned)) = (self.known(a)?, turned(kind)) {
            let result = self.ev.binary_known(binary(turned), &self.spread(b, wide)?, &values);
            return result;
        }
        self.ev.binary(of_columns, &self.spread(a, wide)?, &self.spread(b, wide)?)
    }

    /// A comparison of integers in a range with numbers in clear, which may have fractions: with the integers for which it is the
    /// same. Those beyond the range are alike, and unequal to all in it; so is what has a fraction.
    fn compared(
        &self,
        kind: operation::Binary,
        of: usize,
        range: Interval,
        constant: usize,
        values: &[f64],
    ) -> Result<Column> {
        let around = range.widened(1.0);
        let whole = |&c: &f64| match kind {
            operation::Binary::Less | operation::Binary::GreaterEqual => c.ceil(),
            operation::Binary::Greater | operation::Binary::LessEqual => c.floor(),
            _ if c.fract() == 0.0 => c,
            _ => around.high,
        };
        let whole: Vec<f64> = values.iter().map(|c| whole(c).clamp(around.low, around.high)).collect();
        let positions = broadcast_positions(&self.graph.node(constant).shape, &self.graph.node(self.at).shape);
        let wide = holding(range.hull(Interval::of(&whole)));
        let values: Vec<i128> = positions.into_iter().map(|at| whole[at] as i128).collect();
        self.ev.binary_known(binary(kind), &self.spread(of, wide)?, &values)
    }

    fn reduced(&self, kind: Reduction, of: usize, axes: &[usize]) -> Result<Column> {
        let (operand, node) = (self.graph.node(of), self.graph.node(self.at));
        let count = size(&node.shape).unwrap_or(0);
        let mut terms: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (position, index) in indices(&operand.shape).enumerate() {
            terms[position_of(&without(&index, axes), &node.shape)].push(position);
        }
        let truths = operand.element == operation::Element::Bool;
        let wide = if truths { Element::Bool } else { holding(operand.range.hull(node.range)) };
        let column =
            |term: usize| self.picked(of, wide, &terms.iter().map(|term_of| term_of[term]).collect::<Vec<_>>());
        let columns = (0..terms[0].len()).map(column).collect::<Result<Vec<_>>>()?;
        match kind {
            Reduction::Sum => self.ev.sum(&columns),
            Reduction::Product => self.ev.fold(Binary::Mul, &columns),
            Reduction::Maximum => self.ev.fold(Binary::Max, &columns),
            Reduction::Minimum => self.ev.fold(Binary::Min, &columns),
        }
    }

    /// Products of elements with numbers, added up.
    fn matrix(&self, of: usize, columns: usize, matrix: &[f64]) -> Result<Column> {
        let (operand, node) = (self.graph.node(of), self.graph.node(self.at));
        let rows = matrix.len() / columns;
        let outer = size(&operand.shape).unwrap_or(0) / rows;
        let entries = Interval::of(matrix);
        let products = operand.range.times(entries).hull(entries);
        let wide = holding(operand.range.hull(node.range).hull(products));
        let terms = (0..rows).filter(|c| matrix[c * columns..(c + 1) * columns].iter().any(|&entry| entry != 0.0));
        let term = |c: usize| {
            let positions: Vec<usize> = (0..outer * columns).map(|at| at / columns * rows + c).collect();
            let values: Vec<i128> = (0..outer * columns).map(|at| matrix[c * columns + at % columns] as i128).collect();
            let x = self.picked(of, wide, &positions)?;
            if values.iter().all(|&value| value == 1) { Ok(x) } else { self.ev.binary_known(Binary::Mul, &x, &values) }
        };
        let terms = terms.map(term).collect::<Result<Vec<_>>>()?;
        if terms.is_empty() {
            return self.ev.trivial(wide, &vec![0; outer * columns]);
        }
        self.ev.sum(&terms)
    }

    /// By Horner's scheme.
    fn polynomial(&self, of: usize, coefficients: &[f64]) -> Result<Column> {
        let (x, node) = (self.graph.node(of), self.graph.node(self.at));
        // Sums and products are modulo 2^bits, so that what holds operands and results is enough.
        let most = coefficients.iter().fold(Interval::point(0.0), |hull, &c| hull.hull(Interval::point(c)));
        let wide = holding(x.range.hull(node.range).hull(most));
        let x = self.spread(of, wide)?;
        let numbers = |c: f64| vec![c as i128; x.count()];
        let (last, rest) = coefficients.split_last().unwrap_or((&0.0, &[]));
        let mut value: Option<Column> = None;
        for &c in rest.iter().rev() {
            let product = match &value {
                None if *last == 1.0 => x.clone(),
                None => self.ev.binary_known(Binary::Mul, &x, &numbers(*last))?,
                Some(value) => self.ev.binary(Binary::Mul, value, &x)?,
            };
            value = Some(if c == 0.0 { product } else { self.ev.binary_known(Binary::Add, &product, &numbers(c))? });
        }
        value.map_or_else(|| self.ev.trivial(wide, &numbers(*last)), Ok)
    }
}

/// The narrowest integer type that holds an interval.
pub(super) fn holding(range: Interval) -> Element {
    let fits = |bits: &u32| match range.low < 0.0 {
        true => range.low >= -libm::exp2(f64::from(bits - 1)) && range.high < libm::exp2(f64::from(bits - 1)),
        false => range.high < libm::exp2(f64::from(*bits)),
    };
    let bits = [8, 16, 32, 64].into_iter().find(fits).unwrap_or(64);
    if range.low < 0.0 { Element::Signed(bits) } else { Element::Unsigned(bits) }
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

/// The operation with its operands exchanged, if there is one.
const fn turned(kind: operation::Binary) -> Option<operation::Binary> {
    match kind {
        operation::Binary::Less => Some(operation::Binary::Greater),
        operation::Binary::LessEqual => Some(operation::Binary::GreaterEqual),
        operation::Binary::Greater => Some(operation::Binary::Less),
        operation::Binary::GreaterEqual => Some(operation::Binary::LessEqual),
        operation::Binary::Sub
        | operation::Binary::FloorDivide
        | operation::Binary::Remainder
        | operation::Binary::ShiftLeft
        | operation::Binary::ShiftRight => None,
        symmetric => Some(symmetric),
    }
}

fn refusal(graph: &Graph, at: usize, needed: &str) -> Error {
    CompileError::unsupported(graph, at, needed).into()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::backends::tests::{plan, run, toy};
    use crate::graph::operation::{Binary, Element};

    /// Compares the outputs of a graph on columns with its definition.
    fn check_run(graph: Graph, inputs: &[Vec<f64>]) {
        let graph = Arc::new(graph);
        let found = run(&plan(&graph, &toy("tfhe")), inputs);
        assert_eq!(found.values, graph.evaluate(inputs).expect("values"), "{graph:?}");
    }

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
