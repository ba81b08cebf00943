//! Functions of integers whose sums and products pass 2^53, which `f64` holds no more.

use noren_rlwe::error::{Error, Result};

use crate::graph::dag::Graph;
use crate::graph::inference::LARGEST_INTEGER;
use crate::graph::interval::Interval;
use crate::graph::node::Node;
use crate::graph::operation::{Binary, Element, Operation, Reduction, Unary};
use crate::graph::shape::{broadcast_positions, positions_without, size};

impl Graph {
    /// Whether elements of a node may be integers beyond 2^53.
    pub(crate) fn is_wide(&self, at: usize) -> bool {
        let node = self.node(at);
        node.element != Element::Real && node.range.magnitude() > LARGEST_INTEGER
    }

    /// The first node of integers beyond 2^53 that an output depends on.
    pub(crate) fn first_wide(&self) -> Option<usize> {
        let needed = self.needed();
        (0..needed.len()).find(|&at| needed[at] && self.is_wide(at))
    }

    /// The outputs of a function of integers for these inputs in clear: [`Graph::evaluate`], exact beyond 2^53.
    ///
    /// # Errors
    /// As [`Graph::evaluate`]; an output of real numbers.
    pub fn evaluate_whole(&self, inputs: &[Vec<f64>]) -> Result<Vec<Vec<i64>>> {
        if let Some(real) = self.outputs().iter().find(|&&output| self.node(output).element == Element::Real) {
            return Err(Error::parameter("output", format!("real numbers, node {real}"), "integers"));
        }
        let whole = |values: Vec<f64>| values.into_iter().map(|x| x as i64).collect::<Vec<_>>();
        let Some(first) = self.first_wide() else {
            return Ok(self.evaluate(inputs)?.into_iter().map(whole).collect());
        };
        // Those before are exact: what follows from an inexact one is computed again.
        let mut values: Vec<Vec<i64>> = self.evaluate_all(inputs)?.into_iter().map(whole).collect();
        for (at, needed) in self.needed().into_iter().enumerate().skip(first) {
            if needed && !matches!(self.node(at).operation, Operation::Input { .. }) {
                values[at] = self.whole_result(at, &values);
            }
        }
        Ok(self.outputs().iter().map(|&output| values[output].clone()).collect())
    }

    /// The result of one node from those of all before it.
    fn whole_result(&self, at: usize, values: &[Vec<i64>]) -> Vec<i64> {
        let node = self.node(at);
        let spread = |of: usize| {
            let positions = broadcast_positions(&self.node(of).shape, &node.shape);
            positions.into_iter().map(move |position| i128::from(values[of][position]))
        };
        // Ranges hold all results, in 63 bits: what wraps around on the way comes back.
        let narrow = |x: i128| x as i64;
        match &node.operation {
            Operation::Gather { of, positions, .. } => {
                positions.iter().map(|&at| usize::try_from(at).map_or(0, |at| values[*of][at])).collect()
            }
            Operation::Unary(Unary::Neg, of) => values[*of].iter().map(|x| -x).collect(),
            Operation::Binary(kind @ (Binary::Add | Binary::Sub | Binary::Mul | Binary::Remainder), a, b) => {
                let of = |(a, b): (i128, i128)| match kind {
                    Binary::Add => a.wrapping_add(b),
                    Binary::Sub => a.wrapping_sub(b),
                    Binary::Mul => a.wrapping_mul(b),
                    _ => a.rem_euclid(b),
                };
                spread(*a).zip(spread(*b)).map(of).map(narrow).collect()
            }
            Operation::Select(condition, a, b) => {
                let pairs = spread(*a).zip(spread(*b));
                spread(*condition).zip(pairs).map(|(c, (a, b))| narrow(if c != 0 { a } else { b })).collect()
            }
            Operation::MatMul { of, columns, matrix } => {
                let product = |row: &[i64]| -> Vec<i64> {
                    let term = |k: usize| {
                        let column = matrix[k..].iter().step_by(*columns);
                        row.iter().zip(column).map(|(&x, &m)| i128::from(x) * m as i128).fold(0, i128::wrapping_add)
                    };
                    (0..*columns).map(term).map(narrow).collect()
                };
                values[*of].chunks(matrix.len() / columns).flat_map(product).collect()
            }
            Operation::Reduce(kind @ (Reduction::Sum | Reduction::Product), of, axes) => {
                let is_sum = *kind == Reduction::Sum;
                let mut result = vec![i128::from(!is_sum); size(&node.shape).unwrap_or(0)];
                for (to, &x) in positions_without(&self.node(*of).shape, axes).into_iter().zip(&values[*of]) {
                    let x = i128::from(x);
                    result[to] = if is_sum { result[to].wrapping_add(x) } else { result[to].wrapping_mul(x) };
                }
                result.into_iter().map(narrow).collect()
            }
            Operation::Polynomial(of, coefficients) => {
                let value = |&x: &i64| {
                    let step = |value: i128, &c: &f64| value.wrapping_mul(i128::from(x)).wrapping_add(c as i128);
                    coefficients.iter().rev().fold(0, step)
                };
                values[*of].iter().map(value).map(narrow).collect()
            }
            // Of integers up to 2^53, to such.
            operation => {
                let operands = operation.operands();
                let exact = |of: &usize| values[*of].iter().map(|&x| x as f64).collect();
                let exact: Vec<Vec<f64>> = operands.iter().map(exact).collect();
                let operand = |of: usize| operands.iter().position(|&operand| operand == of).unwrap_or(0);
                self.result(at, |of| &exact[operand(of)]).into_iter().map(|x| x as i64).collect()
            }
        }
    }
}

/// The residue of an integer modulo an odd number that is nearest to zero: itself where it is one.
pub(crate) fn centred(x: f64, modulus: u64) -> f64 {
    let residue = x.rem_euclid(modulus as f64);
    if residue > (modulus / 2) as f64 { residue - modulus as f64 } else { residue }
}

/// A function modulo an odd number: all inputs and numbers in clear as residues between minus half of it and half, all outputs as
/// residues from 0 on. Nothing but sums, products and moves is computed of what is known as a residue alone.
///
/// # Errors
/// The first node that computes something else of residues; none where arrays are too large.
pub(crate) fn residues(graph: &Graph, modulus: u64) -> std::result::Result<Graph, Option<usize>> {
    let half = (modulus / 2) as f64;
    let fits = |x: f64| x.abs() <= half;
    let all = |values: &[f64]| values.iter().map(|&x| centred(x, modulus)).collect::<Vec<_>>();
    let needed = graph.needed();
    let mut is_residue = vec![false; needed.len()];
    let mut result = Graph::default();
    for (at, node) in graph.nodes().iter().enumerate() {
        let operands = node.operation.operands();
        let of_residues = operands.iter().any(|&of| is_residue[of] || graph.is_wide(of));
        if needed[at] && of_residues && !is_of_residues(node, &is_residue) {
            return Err(Some(at));
        }
        let (operation, is_changed) = match node.operation.clone() {
            Operation::Input { name, shape, element, range } => {
                let is_changed = !(fits(range.low) && fits(range.high));
                let range = if is_changed { Interval::new(-half, half) } else { range };
                (Operation::Input { name, shape, element, range }, is_changed)
            }
            _ if !needed[at] => {
                (Operation::Constant { shape: vec![], element: node.element, values: vec![0.0] }, false)
            }
            Operation::Constant { shape, element, values } => {
                let is_changed = !values.iter().all(|&x| fits(x));
                (Operation::Constant { shape, element, values: all(&values) }, is_changed)
            }
            Operation::MatMul { of, columns, matrix } => {
                // Of elements that are all the same the entries of a column are added up first.
                if (matrix.len() / columns) as f64 * half > LARGEST_INTEGER {
                    return Err(None);
                }
                let is_changed = !matrix.iter().all(|&x| fits(x));
                (Operation::MatMul { of, columns, matrix: all(&matrix) }, is_changed)
            }
            Operation::Polynomial(of, coefficients) => {
                let is_changed = !coefficients.iter().all(|&x| fits(x));
                (Operation::Polynomial(of, all(&coefficients)), is_changed)
            }
            other => (other, false),
        };
        is_residue[at] = is_changed || of_residues;
        result.push(operation, &node.place).map_err(|_| Some(at))?;
    }
    let mut remainder = |&output: &usize| {
        let values = vec![modulus as f64];
        let by = result.push(Operation::Constant { shape: vec![], element: Element::Integer, values }, "")?;
        result.push(Operation::Binary(Binary::Remainder, output, by), &graph.node(output).place)
    };
    let outputs: Result<Vec<usize>> = graph.outputs().iter().map(&mut remainder).collect();
    outputs.and_then(|outputs| result.finish(outputs)).map_err(|_| None)?;
    Ok(result)
}

/// Whether the result of a node is known modulo a number where its operands are.
fn is_of_residues(node: &Node, is_residue: &[bool]) -> bool {
    match &node.operation {
        Operation::Select(condition, ..) => !is_residue[*condition],
        Operation::Gather { .. } | Operation::MatMul { .. } | Operation::Polynomial(..) => true,
        Operation::Unary(kind, _) => *kind == Unary::Neg,
        Operation::Binary(kind, ..) => matches!(kind, Binary::Add | Binary::Sub | Binary::Mul),
        Operation::Reduce(kind, ..) => matches!(kind, Reduction::Sum | Reduction::Product),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIME: u64 = 65537;

    /// Sums, products, powers and choices of three numbers up to 2^20, beside numbers in clear up to 2^30.
    fn graph() -> Graph {
        let mut graph = Graph::default();
        let range = Interval::new(-((1u64 << 20) as f64), (1u64 << 20) as f64);
        let input = Operation::Input { name: "x".into(), shape: vec![3], element: Element::Integer, range };
        let x = graph.push(input, "").expect("an input");
        let mut push = |operation| graph.push(operation, "here").expect("an operation");
        let large = (1u64 << 30) as f64;
        let c = push(Operation::Constant { shape: vec![3], element: Element::Integer, values: vec![large, -7.0, 3.0] });
        let product = push(Operation::Binary(Binary::Mul, x, c));
        let cubes = push(Operation::Polynomial(x, vec![5.0, -1e6, 2.0, -1.0]));
        let matrix = vec![large, 1.0, -1.0, 2.0, 0.0, -large];
        let of_matrix = push(Operation::MatMul { of: x, columns: 2, matrix });
        let is_positive = push(Operation::Binary(Binary::GreaterEqual, x, c));
        let chosen = push(Operation::Select(is_positive, product, cubes));
        let negative = push(Operation::Unary(Unary::Neg, chosen));
        let moved = push(Operation::Gather { of: negative, shape: vec![2], positions: vec![2, -1] });
        let sum = push(Operation::Reduce(Reduction::Sum, moved, vec![0]));
        let rest = push(Operation::Binary(Binary::Sub, of_matrix, sum));
        graph.finish(vec![cubes, rest]).expect("outputs");
        graph
    }

    /// The same by integers of 128 bits.
    fn expected(x: [i128; 3]) -> Vec<Vec<i64>> {
        let (large, c) = (1i128 << 30, [1i128 << 30, -7, 3]);
        let cube = |x: i128| 5 - 1_000_000 * x + 2 * x * x - x * x * x;
        let chosen = |k: usize| if x[k] >= c[k] { x[k] * c[k] } else { cube(x[k]) };
        let sum = -chosen(2);
        let of_matrix = [large * x[0] - x[1], x[0] + 2 * x[1] - large * x[2]];
        let whole = |values: Vec<i128>| values.into_iter().map(|x| i64::try_from(x).expect("63 bits")).collect();
        vec![whole(x.map(cube).to_vec()), whole(of_matrix.map(|y| y - sum).to_vec())]
    }

    #[test]
    fn integers_beyond_f64_are_those_of_128_bits_and_lie_in_their_ranges() {
        let graph = graph();
        let ranges: Vec<Interval> = graph.outputs().iter().map(|&at| graph.node(at).range).collect();
        for x in [[0, 0, 0], [1 << 20; 3], [-(1 << 20); 3], [1_048_575, -1_048_575, 934_567], [5, -7, 3]] {
            let found = graph.evaluate_whole(&[x.map(|x| x as f64).to_vec()]).expect("integers");
            assert_eq!(found, expected(x));
            let inside =
                found.iter().zip(&ranges).all(|(values, range)| values.iter().all(|&y| range.contains(y as f64)));
            assert!(inside, "{found:?} in {ranges:?}");
        }
        assert!(ranges[0].magnitude() > LARGEST_INTEGER);
    }

    #[test]
    fn what_follows_from_integers_beyond_f64_is_exact_again() {
        let mut graph = Graph::default();
        let range = Interval::new(0.0, (1u64 << 20) as f64);
        let input = Operation::Input { name: "x".into(), shape: vec![2], element: Element::Integer, range };
        let x = graph.push(input, "").expect("an input");
        let number = |value| Operation::Constant { shape: vec![], element: Element::Integer, values: vec![value] };
        let mut push = |operation| graph.push(operation, "").expect("an operation");
        let (factor, three) = (push(number((1u64 << 40) as f64)), push(number(3.0)));
        let large = push(Operation::Binary(Binary::Mul, x, factor));
        let above = push(Operation::Binary(Binary::Add, large, x));
        let again = push(Operation::Binary(Binary::Sub, above, large));
        let is_above = push(Operation::Binary(Binary::Greater, again, three));
        graph.finish(vec![again, is_above]).expect("outputs");
        assert!(graph.is_wide(above) && !graph.is_wide(again));
        let found = graph.evaluate_whole(&[vec![3.0, 999_999.0]]).expect("integers");
        assert_eq!(found, [[3, 999_999], [0, 1]]);
    }

    #[test]
    fn residues_are_those_of_the_integers() {
        let graph = graph();
        let refused = residues(&graph, PRIME).expect_err("a comparison of numbers beyond the prime");
        assert_eq!(refused.map(|at| graph.node(at).operation.name()), Some("greater equal".to_owned()));
        let mut products = Graph::default();
        let range = Interval::new(0.0, (1u64 << 40) as f64);
        let input = Operation::Input { name: "x".into(), shape: vec![2, 2], element: Element::Integer, range };
        let x = products.push(input, "").expect("an input");
        let matrix = vec![(1u64 << 20) as f64, -1.0, 3.0, 7.0];
        let product = products.push(Operation::MatMul { of: x, columns: 2, matrix }, "").expect("a product");
        let sums = products.push(Operation::Reduce(Reduction::Sum, product, vec![0]), "").expect("sums");
        products.finish(vec![sums, product]).expect("outputs");
        let modulo = residues(&products, PRIME).expect("sums and products");
        let x: Vec<f64> = [1e12, 65536.0, 32769.0, 1_099_511_627_775.0].to_vec();
        let half = (PRIME / 2) as f64;
        let residues = |x: &f64| (x + half).rem_euclid(PRIME as f64) - half;
        assert!(x.iter().all(|&x| residues(&x) == centred(x, PRIME) && centred(residues(&x), PRIME) == residues(&x)));
        let found = modulo.evaluate_whole(&[x.iter().map(residues).collect()]).expect("residues");
        let modulus = PRIME.cast_signed();
        let wanted = products.evaluate_whole(&[x]).expect("integers");
        let wanted: Vec<Vec<i64>> =
            wanted.iter().map(|all| all.iter().map(|x| x.rem_euclid(modulus)).collect()).collect();
        assert_eq!(found, wanted);
    }
}
