//! Polynomials in place of the products and sums that they are written as.

use noren_rlwe::error::Result;

use crate::compiler::graph::Graph;
use crate::compiler::operation::{Binary, Element, Operation, Unary};

/// The highest degree that is made of products: higher powers are seldom meant as one polynomial.
const HIGHEST_DEGREE: usize = 64;

/// `sum_k coefficients[k] x^k` of the elements of a node.
#[derive(Debug, Clone)]
struct Series {
    of: usize,
    coefficients: Vec<f64>,
}

/// The graph, with sums and products of one node with itself and with numbers as polynomials of it.
///
/// A polynomial takes `ceil(log2(degree + 1))` levels, however it was written, and its range is known sharply. Nodes keep
/// their positions; those that no output depends on any more stay, unused.
///
/// # Errors
/// As [`Graph::push`].
pub(super) fn simplified(graph: &Graph) -> Result<Graph> {
    let mut series: Vec<Option<Series>> = Vec::with_capacity(graph.nodes().len());
    let mut result = Graph::default();
    for (at, node) in graph.nodes().iter().enumerate() {
        let found = series_of(graph, at, &series);
        let operation = match &found {
            Some(Series { of, coefficients }) if is_shorter(&node.operation, coefficients) => {
                Operation::Polynomial(*of, coefficients.clone())
            }
            _ => node.operation.clone(),
        };
        series.push(found);
        // A polynomial of integers with fractions is real, as the operations were.
        result.push(operation, &node.place)?;
    }
    result.finish(graph.outputs().to_vec())?;
    Ok(result)
}

/// Whether the polynomial takes fewer levels than the operation on its own operands.
fn is_shorter(operation: &Operation, coefficients: &[f64]) -> bool {
    match coefficients {
        [] | [_] => false,
        [_, factor] if factor.abs() == 1.0 => false,
        [0.0, _] => false,
        [_, _] => !matches!(operation, Operation::Polynomial(..)),
        _ => true,
    }
}

fn series_of(graph: &Graph, at: usize, series: &[Option<Series>]) -> Option<Series> {
    let node = graph.node(at);
    let known = |of: usize| {
        let itself = || Series { of, coefficients: vec![0.0, 1.0] };
        let element = graph.node(of).element;
        (element != Element::Bool).then(|| series[of].clone().unwrap_or_else(itself))
    };
    let alike = |of: usize| graph.node(of).shape == node.shape;
    let found = match &node.operation {
        Operation::Unary(Unary::Neg, of) => {
            let x = known(*of)?;
            Series { coefficients: x.coefficients.iter().map(|c| -c).collect(), ..x }
        }
        Operation::Polynomial(of, coefficients) => {
            let x = known(*of)?;
            let mut value = vec![0.0];
            for &c in coefficients.iter().rev() {
                value = times(&value, &x.coefficients)?;
                value[0] += c;
            }
            Series { coefficients: value, ..x }
        }
        Operation::Binary(kind @ (Binary::Add | Binary::Sub | Binary::Mul), a, b) => {
            let (left, right) = match (number(graph, *a), number(graph, *b)) {
                (None, Some(c)) if alike(*a) => (known(*a)?, Series { of: *a, coefficients: vec![c] }),
                (Some(c), None) if alike(*b) => (Series { of: *b, coefficients: vec![c] }, known(*b)?),
                (None, None) if alike(*a) && alike(*b) => (known(*a)?, known(*b)?),
                _ => return None,
            };
            let constant = left.coefficients.len() == 1 || right.coefficients.len() == 1;
            if left.of != right.of && !constant {
                return None;
            }
            let of = if left.coefficients.len() == 1 { right.of } else { left.of };
            let coefficients = match kind {
                Binary::Mul => times(&left.coefficients, &right.coefficients)?,
                _ => {
                    let sign = if *kind == Binary::Sub { -1.0 } else { 1.0 };
                    let count = left.coefficients.len().max(right.coefficients.len());
                    let coefficient = |series: &Series, k: usize| series.coefficients.get(k).copied().unwrap_or(0.0);
                    (0..count).map(|k| coefficient(&left, k) + sign * coefficient(&right, k)).collect()
                }
            };
            Series { of, coefficients }
        }
        _ => return None,
    };
    let sound = found.coefficients.iter().all(|c| c.is_finite());
    let mut coefficients = found.coefficients;
    while coefficients.len() > 1 && coefficients.last() == Some(&0.0) {
        coefficients.pop();
    }
    (sound && coefficients.len() > 1).then_some(Series { coefficients, ..found })
}

/// The number that a constant holds in every place.
fn number(graph: &Graph, at: usize) -> Option<f64> {
    let Operation::Constant { values, .. } = &graph.node(at).operation else { return None };
    let first = *values.first()?;
    values.iter().all(|&x| x == first).then_some(first)
}

/// The product of two polynomials, unless its degree is too high.
fn times(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    if a.len() + b.len() - 2 > HIGHEST_DEGREE {
        return None;
    }
    let mut product = vec![0.0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        b.iter().enumerate().for_each(|(j, y)| product[i + j] += x * y);
    }
    Some(product)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::interval::Interval;

    fn graph_of(build: impl Fn(&mut Graph, usize) -> usize) -> Graph {
        let mut graph = Graph::default();
        let range = Interval::new(-1.0, 2.0);
        let x = Operation::Input { name: "x".into(), shape: vec![2], element: Element::Real, range };
        let x = graph.push(x, "").expect("an input");
        let output = build(&mut graph, x);
        graph.finish(vec![output]).expect("an output");
        graph
    }

    fn constant(graph: &mut Graph, c: f64) -> usize {
        let values = vec![c];
        graph.push(Operation::Constant { shape: vec![], element: Element::Real, values }, "").expect("a constant")
    }

    fn binary(graph: &mut Graph, kind: Binary, a: usize, b: usize) -> usize {
        graph.push(Operation::Binary(kind, a, b), "").expect("an operation")
    }

    #[test]
    fn sums_of_products_become_one_polynomial_with_a_sharp_range() {
        // 1 - 2 x + x^2 by Horner: (x - 2) x + 1.
        let graph = graph_of(|graph, x| {
            let (two, one) = (constant(graph, 2.0), constant(graph, 1.0));
            let inner = binary(graph, Binary::Sub, x, two);
            let product = binary(graph, Binary::Mul, inner, x);
            binary(graph, Binary::Add, product, one)
        });
        let simple = simplified(&graph).expect("a graph");
        let last = simple.node(simple.outputs()[0]);
        assert_eq!(last.operation, Operation::Polynomial(0, vec![1.0, -2.0, 1.0]));
        assert!(last.range.low > -0.2 && last.range.high < 4.2, "{:?}", last.range);
        let x = [vec![0.5, 2.0]];
        assert_eq!(simple.evaluate(&x).expect("values"), graph.evaluate(&x).expect("values"));
    }

    #[test]
    fn what_takes_no_level_stays() {
        let graph = graph_of(|graph, x| {
            let one = constant(graph, 1.0);
            let difference = binary(graph, Binary::Sub, one, x);
            binary(graph, Binary::Add, difference, one)
        });
        assert_eq!(simplified(&graph).expect("a graph"), graph);
    }
}
