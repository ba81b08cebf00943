//! Functions of truth values as gates.
//!
//! Integers from 0 to 1 are truth values too, and what follows from two truth values is a table of four numbers: an index of a
//! table, a sum, a comparison. Tables of truth values are gates, so that only results that more than two truth values lead to, or
//! that leave their places, are computed.

use std::collections::HashMap;

use crate::backends::tfhe::columns::{check, is_constant};
use crate::graph::dag::Graph;
use crate::graph::node::Node;
use crate::graph::operation::{Binary, Element, Operation, Reduction, Unary};
use crate::graph::shape::broadcast_positions;

/// The most truth values that a node is a table of.
const MOST: usize = 2;

/// A node as numbers that follow from truth values of the same element.
#[derive(Debug, Clone)]
struct Table {
    /// Nodes of the graph of gates, in rising order.
    of: Vec<usize>,
    /// The number for each of their values: bit i of its place is the value of node i.
    numbers: Vec<f64>,
}

/// The way from a graph to one of gates.
struct Gates<'a> {
    graph: &'a Graph,
    made: Graph,
    tables: Vec<Option<Table>>,
    /// The node of each table of two.
    known: HashMap<([usize; MOST], u8), usize>,
}

/// The same function on truth values alone, by gates; nothing where it has other numbers.
pub(super) fn of_truths(graph: &Graph) -> Option<Graph> {
    let needed = graph.needed();
    let mut gates = Gates { graph, made: Graph::default(), tables: vec![None; needed.len()], known: HashMap::new() };
    for (at, &is_needed) in needed.iter().enumerate() {
        if is_needed || matches!(graph.node(at).operation, Operation::Input { .. }) {
            gates.tables[at] = Some(gates.table(at)?);
        }
    }
    let outputs = graph.outputs().iter().map(|&at| gates.node(at).filter(|&found| !is_constant(&gates.made, found)));
    let outputs = outputs.collect::<Option<Vec<usize>>>()?;
    gates.made.finish(outputs).and_then(|()| check(&gates.made)).ok()?;
    Some(gates.made)
}

impl Table {
    fn of_node(at: usize) -> Self {
        Self { of: vec![at], numbers: vec![0.0, 1.0] }
    }

    /// The number for some values of nodes.
    fn at(&self, value: &impl Fn(usize) -> bool) -> f64 {
        let place = self.of.iter().enumerate().map(|(bit, &of)| usize::from(value(of)) << bit).sum::<usize>();
        self.numbers[place]
    }

    /// The values as bits, the first one lowest, if all are truth values.
    fn truths(&self) -> Option<u8> {
        let truths = self.numbers.iter().all(|&x| x == 0.0 || x == 1.0);
        truths.then(|| self.numbers.iter().rev().fold(0, |bits, &x| 2 * bits + u8::from(x == 1.0)))
    }
}

impl Gates<'_> {
    fn push(&mut self, operation: Operation, at: usize) -> Option<usize> {
        self.made.push(operation, &self.graph.node(at).place).ok()
    }

    fn table(&mut self, at: usize) -> Option<Table> {
        let graph = self.graph;
        let node = graph.node(at);
        let is_constant = matches!(node.operation, Operation::Constant { .. });
        if node.element == Element::Real && !is_constant {
            return None;
        }
        match &node.operation {
            Operation::Input { name, shape, range, .. } => {
                let truths = range.low >= 0.0 && range.high <= 1.0;
                let (name, shape, range) = (name.clone(), shape.clone(), *range);
                let input = Operation::Input { name, shape, element: Element::Bool, range };
                truths.then(|| self.push(input, at)).flatten().map(Table::of_node)
            }
            Operation::Constant { shape, values, .. } => match graph.number(at) {
                Some(number) => Some(Table { of: Vec::new(), numbers: vec![number] }),
                None => {
                    let truths = values.iter().all(|&x| x == 0.0 || x == 1.0);
                    let (shape, values) = (shape.clone(), values.clone());
                    let constant = Operation::Constant { shape, element: Element::Bool, values };
                    truths.then(|| self.push(constant, at)).flatten().map(Table::of_node)
                }
            },
            Operation::Gather { of, shape, positions } => {
                let of = self.node(*of)?;
                let gather = Operation::Gather { of, shape: shape.clone(), positions: positions.clone() };
                self.push(gather, at).map(Table::of_node)
            }
            Operation::Reduce(kind, of, axes) => {
                let kind = match kind {
                    Reduction::Sum => return None,
                    Reduction::Maximum => Reduction::Maximum,
                    Reduction::Product | Reduction::Minimum => Reduction::Minimum,
                };
                let of = self.node(*of)?;
                self.push(Operation::Reduce(kind, of, axes.clone()), at).map(Table::of_node)
            }
            Operation::Unary(..)
            | Operation::Binary(..)
            | Operation::Select(..)
            | Operation::Polynomial(..)
            | Operation::Table { .. } => self.each(at),
            Operation::MatMul { .. }
            | Operation::Sparse { .. }
            | Operation::Sort(..)
            | Operation::ArgMax(..)
            | Operation::OrderStatistic { .. }
            | Operation::Top { .. }
            | Operation::Within(..)
            | Operation::Function { .. } => None,
        }
    }

    /// The table of an operation on each element.
    fn each(&mut self, at: usize) -> Option<Table> {
        let node = self.graph.node(at);
        let operands = node.operation.operands();
        let mut tables = operands.iter().map(|&of| self.tables[of].clone()).collect::<Option<Vec<Table>>>()?;
        if bases(&tables).len() > MOST {
            for (table, &of) in tables.iter_mut().zip(&operands) {
                if table.of.len() > 1 {
                    *table = Table::of_node(self.node(of)?);
                }
            }
        }
        let of = bases(&tables);
        if of.len() > MOST {
            let [condition, a, b] = operands[..] else { return None };
            let select = Operation::Select(self.node(condition)?, self.node(a)?, self.node(b)?);
            return self.push(select, at).map(Table::of_node);
        }
        let number = |place: usize| {
            let value = |node: usize| of.iter().position(|&of| of == node).is_some_and(|bit| place >> bit & 1 == 1);
            applied(node, &tables.iter().map(|table| table.at(&value)).collect::<Vec<_>>())
        };
        let numbers = (0..1 << of.len()).map(number).collect();
        Some(Table { of, numbers }.reduced())
    }

    /// The node of the graph of gates that a node is, of its shape, if it is a truth value.
    fn node(&mut self, at: usize) -> Option<usize> {
        let table = self.tables[at].clone()?;
        let truths = table.truths()?;
        let found = match (&table.of[..], truths) {
            (&[a], 0b10) => a,
            (&[a], _) => self.push(Operation::Unary(Unary::Not, a), at)?,
            (&[a, b], _) => self.gate([a, b], truths, at)?,
            _ => {
                let constant = Operation::Constant { shape: vec![], element: Element::Bool, values: table.numbers };
                self.push(constant, at)?
            }
        };
        let (shape, own) = (&self.graph.node(at).shape, &self.made.node(found).shape);
        if own == shape {
            return Some(found);
        }
        let positions = broadcast_positions(own, shape).into_iter().map(|from| from as i64).collect();
        self.push(Operation::Gather { of: found, shape: shape.clone(), positions }, at)
    }

    /// A gate of two nodes by the bits of its table, that for false and false lowest, then that for true and false.
    fn gate(&mut self, of: [usize; MOST], truths: u8, at: usize) -> Option<usize> {
        if let Some(&known) = self.known.get(&(of, truths)) {
            return Some(known);
        }
        let [a, b] = of;
        let other = truths ^ 0b1111;
        let kind = match truths {
            0b1000 => Some(Binary::And),
            0b1110 => Some(Binary::Or),
            0b0110 => Some(Binary::Xor),
            0b1001 => Some(Binary::Equal),
            0b0100 => Some(Binary::Less),
            0b1101 => Some(Binary::LessEqual),
            0b0010 => Some(Binary::Greater),
            0b1011 => Some(Binary::GreaterEqual),
            _ => None,
        };
        let made = match (self.known.get(&(of, other)).copied(), kind) {
            (Some(other), _) => self.push(Operation::Unary(Unary::Not, other), at)?,
            (None, Some(kind)) => self.push(Operation::Binary(kind, a, b), at)?,
            (None, None) => {
                let other = self.gate(of, other, at)?;
                self.push(Operation::Unary(Unary::Not, other), at)?
            }
        };
        self.known.insert((of, truths), made);
        Some(made)
    }
}

impl Table {
    /// The same without nodes that it does not depend on.
    fn reduced(mut self) -> Self {
        for bit in (0..self.of.len()).rev() {
            let without = |place: usize| ((place >> bit) << (bit + 1)) | (place & ((1 << bit) - 1));
            let places = 0..self.numbers.len() / 2;
            if places.clone().all(|place| self.numbers[without(place)] == self.numbers[without(place) | (1 << bit)]) {
                self.numbers = places.map(|place| self.numbers[without(place)]).collect();
                self.of.remove(bit);
            }
        }
        self
    }
}

/// The nodes that tables are of.
fn bases(tables: &[Table]) -> Vec<usize> {
    let mut all: Vec<usize> = tables.iter().flat_map(|table| table.of.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The result of an operation on each element, in the clear.
fn applied(node: &Node, operands: &[f64]) -> f64 {
    match (&node.operation, operands) {
        (Operation::Unary(kind, _), &[x]) => kind.of(x),
        (Operation::Binary(kind, ..), &[x, y]) => kind.of(x, y),
        (Operation::Select(..), &[condition, x, y]) => {
            if condition == 0.0 {
                y
            } else {
                x
            }
        }
        (Operation::Polynomial(_, coefficients), &[x]) => coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c),
        (Operation::Table { first, values, .. }, &[x]) => {
            values.get((x - *first as f64) as usize).copied().unwrap_or(f64::NAN)
        }
        _ => f64::NAN,
    }
}
