//! Functions that treat the rows of their arrays alike and apart.

use crate::graph::dag::Graph;
use crate::graph::operation::Operation;
use crate::graph::shape::{moves_within_rows, size};

/// How many rows a function computes apart: the length of the first axis of all inputs and outputs, if each row of each result
/// follows from the same row of each input, and all rows in the same way.
pub(crate) fn rows(graph: &Graph) -> Option<usize> {
    let inputs = graph.inputs();
    let rows = *graph.node(*inputs.first()?).shape.first()?;
    let needed = graph.needed();
    let mut apart = vec![false; needed.len()];
    for at in (0..needed.len()).filter(|&at| needed[at] || inputs.contains(&at)) {
        apart[at] = is_apart(graph, at, rows, &apart)?;
    }
    graph.outputs().iter().all(|&at| apart[at]).then_some(rows)
}

/// The same function of the first `count` rows, of a function that computes its rows apart: its nodes have the same positions, and
/// those that no output depends on are numbers in clear.
pub(crate) fn first_rows(graph: &Graph, count: usize) -> Option<Graph> {
    let rows = rows(graph)?;
    let needed = graph.needed();
    let mut shorter = Graph::default();
    for (at, node) in graph.nodes().iter().enumerate() {
        let cut = |shape: &[usize]| [&[count], &shape[1..]].concat();
        let operation = match &node.operation {
            Operation::Input { name, shape, element, range } => {
                Operation::Input { name: name.clone(), shape: cut(shape), element: *element, range: *range }
            }
            _ if !needed[at] => Operation::Constant { shape: vec![], element: node.element, values: vec![0.0] },
            Operation::Gather { of, shape, positions } => Operation::Gather {
                of: *of,
                shape: cut(shape),
                positions: positions[..positions.len() / rows * count].to_vec(),
            },
            other => other.clone(),
        };
        shorter.push(operation, &node.place).ok()?;
    }
    shorter.finish_checked(graph.outputs().to_vec(), graph.results().len()).ok()?;
    Some(shorter)
}

/// So many rows of an array of `rows` rows, from one of them on; the last row stands for those behind it.
pub(crate) fn repeated_rows(values: &[f64], rows: usize, from: usize, count: usize) -> Vec<f64> {
    let width = values.len() / rows;
    let row = |row: usize| &values[row.min(rows - 1) * width..][..width];
    (from..from + count).flat_map(row).copied().collect()
}

/// Whether a node has a row for each row of the inputs (or is the same for all rows), where it is one of the two; which of the nodes
/// before it have rows is known.
fn is_apart(graph: &Graph, at: usize, rows: usize, apart: &[bool]) -> Option<bool> {
    let node = graph.node(at);
    let has_rows = node.shape.first() == Some(&rows);
    let operands = node.operation.operands();
    if !operands.iter().any(|&of| apart[of]) {
        return match node.operation {
            Operation::Input { .. } => has_rows.then_some(true),
            Operation::Constant { .. } => Some(false),
            // Of constants: what it says of rows is not looked at.
            _ => None,
        };
    }
    let axes = |of: usize| graph.node(of).shape.len();
    let kept = match &node.operation {
        Operation::Binary(..) | Operation::Select(..) => operands.iter().all(|&of| match apart[of] {
            true => axes(of) == node.shape.len(),
            false => axes(of) < node.shape.len() || graph.node(of).shape[0] == 1,
        }),
        Operation::MatMul { of, .. } | Operation::Sparse { of, .. } => axes(*of) > 1,
        Operation::Reduce(_, _, axes) => !axes.contains(&0),
        Operation::Sort(_, axis)
        | Operation::ArgMax(_, axis)
        | Operation::OrderStatistic { axis, .. }
        | Operation::Top { axis, .. } => *axis > 0,
        Operation::Gather { of, positions, .. } => {
            let row = size(&graph.node(*of).shape).unwrap_or(0) / rows;
            has_rows && moves_within_rows(row, rows, positions)
        }
        Operation::Unary(..)
        | Operation::Polynomial(..)
        | Operation::Function { .. }
        | Operation::Within(..)
        | Operation::Table { .. } => true,
        Operation::Input { .. } | Operation::Constant { .. } => false,
    };
    (kept && has_rows).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::interval::Interval;
    use crate::graph::operation::{Binary, Element, Reduction};

    const RANGE: Interval = Interval { low: -9.0, high: 9.0 };

    fn input(graph: &mut Graph, shape: &[usize]) -> usize {
        let name = format!("x{}", graph.nodes().len());
        let input = Operation::Input { name, shape: shape.to_vec(), element: Element::Integer, range: RANGE };
        graph.push(input, "").expect("an input")
    }

    fn constant(graph: &mut Graph, shape: &[usize]) -> usize {
        let values = (0..shape.iter().product()).map(|k| (k % 5) as f64).collect();
        let constant = Operation::Constant { shape: shape.to_vec(), element: Element::Integer, values };
        graph.push(constant, "").expect("a constant")
    }

    fn ended(mut graph: Graph, operation: Operation) -> Graph {
        let at = graph.push(operation, "").expect("an operation");
        graph.finish(vec![at]).expect("an output");
        graph
    }

    #[test]
    fn the_first_rows_of_results_are_the_results_of_the_first_rows() {
        let mut graph = Graph::default();
        let (x, y, c) = (input(&mut graph, &[4, 3]), input(&mut graph, &[4, 3]), constant(&mut graph, &[3]));
        let product = graph.push(Operation::Binary(Binary::Mul, x, y), "").expect("a product");
        let shifted = graph.push(Operation::Binary(Binary::Add, product, c), "").expect("a sum");
        let positions = (0..4).flat_map(|row| [3 * row + 2, -1, 3 * row]).collect();
        let moved = graph.push(Operation::Gather { of: shifted, shape: vec![4, 3], positions }, "").expect("a gather");
        let matrix = vec![1.0, 2.0, -1.0, 0.0, 3.0, 1.0];
        let of_matrix = graph.push(Operation::MatMul { of: moved, columns: 2, matrix }, "").expect("a product");
        let graph = ended(graph, Operation::Reduce(Reduction::Sum, of_matrix, vec![1]));
        assert_eq!(rows(&graph), Some(4));
        let shorter = first_rows(&graph, 3).expect("three rows");
        let inputs: [Vec<f64>; 2] = [5, 7].map(|step| (0..12).map(|k| f64::from(k * step % 19 - 9)).collect());
        let whole = graph.evaluate(&inputs).expect("values");
        assert_eq!(shorter.evaluate(&inputs.map(|x| x[..9].to_vec())).expect("values"), [whole[0][..3].to_vec()]);
    }

    #[test]
    fn results_that_nobody_asks_for_do_not_matter() {
        let mut graph = Graph::default();
        let x = input(&mut graph, &[4, 3]);
        let first = Operation::Gather { of: x, shape: vec![], positions: vec![0] };
        let first = graph.push(first, "").expect("a gather");
        graph.push(Operation::Binary(Binary::Mul, first, x), "").expect("a product");
        graph.push(Operation::Gather { of: x, shape: vec![12], positions: (0..12).collect() }, "").expect("a gather");
        let graph = ended(graph, Operation::Binary(Binary::Mul, x, x));
        let shorter = first_rows(&graph, 2).expect("two rows");
        let values: Vec<f64> = (0..6).map(f64::from).collect();
        let squares: Vec<f64> = values.iter().map(|x| x * x).collect();
        assert_eq!(shorter.evaluate(&[values]).expect("values"), [squares]);
    }

    #[test]
    fn rows_that_depend_on_each_other_or_differ_are_not_apart() {
        let with = |build: &dyn Fn(&mut Graph, usize) -> Operation| {
            let mut graph = Graph::default();
            let x = input(&mut graph, &[4, 4]);
            let last = build(&mut graph, x);
            rows(&ended(graph, last))
        };
        assert_eq!(with(&|_, x| Operation::Binary(Binary::Mul, x, x)), Some(4));
        assert_eq!(with(&|_, x| Operation::Sort(x, 1)), Some(4));
        assert_eq!(with(&|_, x| Operation::Sort(x, 0)), None);
        assert_eq!(with(&|_, x| Operation::Reduce(Reduction::Sum, x, vec![0])), None);
        assert_eq!(with(&|_, x| Operation::Reduce(Reduction::Sum, x, vec![0, 1])), None);
        // A number of each row of its own, and a vector whose one axis is broadcast as the second.
        let beside = |shape: &'static [usize]| {
            move |graph: &mut Graph, x| Operation::Binary(Binary::Add, x, constant(graph, shape))
        };
        assert_eq!(with(&beside(&[4, 1])), None);
        assert_eq!(with(&beside(&[4])), Some(4));
        assert_eq!(with(&beside(&[1, 4])), Some(4));
        assert_eq!(with(&|graph, x| Operation::Binary(Binary::Add, x, input(graph, &[4]))), None);
        let transposed: Vec<i64> = (0..16).map(|k| k % 4 * 4 + k / 4).collect();
        let moved = |shape: &'static [usize], positions: Vec<i64>| {
            with(&|_, of| Operation::Gather { of, shape: shape.to_vec(), positions: positions.clone() })
        };
        assert_eq!(moved(&[4, 4], transposed), None);
        let mut positions: Vec<i64> = (0..16).collect();
        positions.swap(2, 3);
        assert_eq!(moved(&[4, 4], positions), None);
        assert_eq!(moved(&[16], (0..16).collect()), None);
        assert_eq!(moved(&[4, 4], (0..16).collect()), Some(4));
    }
}
