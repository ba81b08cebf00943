//! Polynomials in place of the products and sums that they are written as, and constants of what they are computed to.

use noren_rlwe::error::Result;

use crate::graph::dag::Graph;
use crate::graph::inference::{LARGEST_INTEGER, polynomial_range};
use crate::graph::operation::{Binary, Element, Function, Operation, Unary};

/// The highest degree that is made of products: higher powers are seldom meant as one polynomial.
const HIGHEST_DEGREE: usize = 64;

/// How much larger than the polynomial its terms may be.
///
/// Each coefficient is made by fewer than 2^8 sums and products, each off by at most 2^-53 of the sum of the absolute terms.
/// The polynomial is off by less than 2^-45 of it then, and with this factor by less than 2^-35 of its own largest value.
const LARGEST_TERMS: f64 = 1024.0;

/// Of how many nodes a node is noted to be a polynomial.
const MOST_BASES: usize = 4;

/// `sum_k coefficients[k] x^k` of the elements of a node.
#[derive(Debug, Clone)]
struct Series {
    of: usize,
    coefficients: Vec<f64>,
    /// A bound on the sum of the absolute values of all terms, those that cancelled included.
    terms: f64,
}

impl Series {
    /// Whether the coefficients are as good as the operations that they stand for: the terms are not much larger than the
    /// polynomial; and of integers they are at most 2^53, so that sums and products of coefficients are exact.
    fn is_sound(&self, graph: &Graph) -> bool {
        let node = graph.node(self.of);
        let exact = node.element == Element::Real
            || self.terms <= LARGEST_INTEGER
            || self.coefficients.iter().any(|c| c.fract() != 0.0);
        let finite = self.terms.is_finite() && self.coefficients.iter().all(|c| c.is_finite());
        exact && finite && self.terms <= LARGEST_TERMS * polynomial_range(&self.coefficients, node.range).magnitude()
    }
}

/// The graph, with sums and products of one node with itself and with numbers as polynomials of it, and with what is computed
/// from constants as constants.
///
/// A polynomial takes `ceil(log2(degree + 1))` levels, however it was written, and its range is known sharply. Nodes keep
/// their positions; those that no output depends on any more stay, unused.
///
/// # Errors
/// As [`Graph::push`].
pub fn simplified(graph: &Graph) -> Result<Graph> {
    let mut series: Vec<Vec<Series>> = Vec::with_capacity(graph.nodes().len());
    let mut result = if graph.is_draft() { Graph::draft() } else { Graph::default() };
    // Nodes that are the same as earlier ones.
    let mut same: Vec<usize> = Vec::with_capacity(graph.nodes().len());
    for (at, node) in graph.nodes().iter().enumerate() {
        let found = series_of(graph, at, &series);
        let operation = match found.first() {
            Some(Series { of, coefficients, .. }) if is_shorter(&node.operation, coefficients) => {
                even_of_roots(graph, *of, coefficients.clone())
            }
            _ => node.operation.clone(),
        };
        series.push(found);
        let operation = operation.renamed(|operand| same[operand]);
        let twin = match &operation {
            Operation::Polynomial(of, coefficients) if coefficients[..] == [0.0, 1.0] => *of,
            _ => at,
        };
        same.push(twin);
        // A polynomial of integers with fractions is real, as the operations were.
        result.push(operation, &node.place)?;
        result.fold_last();
    }
    result.finish(graph.outputs().iter().map(|&output| same[output]).collect())?;
    Ok(result)
}

/// A polynomial of even powers of absolute values or square roots as one of what these are of.
fn even_of_roots(graph: &Graph, of: usize, coefficients: Vec<f64>) -> Operation {
    let is_even = coefficients.iter().skip(1).step_by(2).all(|&c| c == 0.0);
    match graph.node(of).operation {
        Operation::Unary(Unary::Abs, inner) if is_even => even_of_roots(graph, inner, coefficients),
        Operation::Function { name: Function::Sqrt, of: inner, .. } if is_even => {
            even_of_roots(graph, inner, coefficients.into_iter().step_by(2).collect())
        }
        _ => Operation::Polynomial(of, coefficients),
    }
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

/// The polynomials that a node is: of the nodes that its operands are polynomials of, the first ones first, and of an operand.
fn series_of(graph: &Graph, at: usize, series: &[Vec<Series>]) -> Vec<Series> {
    let mut bases = Vec::new();
    for of in graph.node(at).operation.operands() {
        for base in series[of].iter().map(|series| series.of).chain([of]) {
            if !bases.contains(&base) {
                bases.push(base);
            }
        }
    }
    let of_base = |base: usize| {
        let operand = |of: usize| {
            if of == base {
                Some(itself(graph, of))
            } else {
                series[of].iter().find(|series| series.of == base).cloned()
            }
        };
        composed(graph, at, &operand).filter(|found| found.is_sound(graph))
    };
    bases.into_iter().filter_map(of_base).take(MOST_BASES).collect()
}

/// A node as a polynomial of itself.
fn itself(graph: &Graph, of: usize) -> Series {
    // Of integers at least 1, so that the terms are no smaller than the coefficients.
    let least = if graph.node(of).element == Element::Real { 0.0 } else { 1.0 };
    Series { of, coefficients: vec![0.0, 1.0], terms: graph.node(of).range.magnitude().max(least) }
}

/// The polynomial that a node is, if its operands are these.
fn composed(graph: &Graph, at: usize, operand: &impl Fn(usize) -> Option<Series>) -> Option<Series> {
    let node = graph.node(at);
    let known = |of: usize| if graph.node(of).element == Element::Bool { None } else { operand(of) };
    let constant = |of: usize, c: f64| Series { of, coefficients: vec![c], terms: c.abs() };
    let alike = |of: usize| graph.node(of).shape == node.shape;
    let mut found = match &node.operation {
        Operation::Unary(Unary::Neg, of) => {
            let x = known(*of)?;
            Series { coefficients: x.coefficients.iter().map(|c| -c).collect(), ..x }
        }
        Operation::Polynomial(of, coefficients) => {
            let x = known(*of)?;
            let (mut value, mut terms) = (vec![0.0], 0.0);
            for &c in coefficients.iter().rev() {
                value = times(&value, &x.coefficients)?;
                value[0] += c;
                terms = terms * x.terms + c.abs();
            }
            Series { coefficients: value, terms, ..x }
        }
        Operation::Binary(kind @ (Binary::Add | Binary::Sub | Binary::Mul), a, b) => {
            let (left, right) = match (graph.number(*a), graph.number(*b)) {
                (None, Some(c)) if alike(*a) => (known(*a)?, constant(*a, c)),
                (Some(c), None) if alike(*b) => (constant(*b, c), known(*b)?),
                (None, None) if alike(*a) && alike(*b) => (known(*a)?, known(*b)?),
                _ => return None,
            };
            let constant = left.coefficients.len() == 1 || right.coefficients.len() == 1;
            if left.of != right.of && !constant {
                return None;
            }
            let of = if left.coefficients.len() == 1 { right.of } else { left.of };
            let (coefficients, terms) = match kind {
                Binary::Mul => (times(&left.coefficients, &right.coefficients)?, left.terms * right.terms),
                _ => {
                    let sign = if *kind == Binary::Sub { -1.0 } else { 1.0 };
                    let count = left.coefficients.len().max(right.coefficients.len());
                    let coefficient = |series: &Series, k: usize| series.coefficients.get(k).copied().unwrap_or(0.0);
                    let sums = (0..count).map(|k| coefficient(&left, k) + sign * coefficient(&right, k));
                    (sums.collect(), left.terms + right.terms)
                }
            };
            Series { of, coefficients, terms }
        }
        _ => return None,
    };
    while found.coefficients.len() > 1 && found.coefficients.last() == Some(&0.0) {
        found.coefficients.pop();
    }
    (found.coefficients.len() > 1).then_some(found)
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
    use crate::graph::interval::Interval;

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
    fn squares_of_roots_and_absolute_values_are_polynomials_of_what_these_are_of() {
        // 3 + 2 |z|^2 + |z|^4 of z = x + 2 i, as numpy has |z|.
        let graph = graph_of(|graph, x| {
            let square = binary(graph, Binary::Mul, x, x);
            let four = constant(graph, 4.0);
            let sum = binary(graph, Binary::Add, square, four);
            let root = Operation::Function { name: Function::Sqrt, of: sum, error: 0.0 };
            let root = graph.push(root, "").expect("a root");
            let root = graph.push(Operation::Unary(Unary::Abs, root), "").expect("an absolute value");
            graph.push(Operation::Polynomial(root, vec![3.0, 0.0, 2.0, 0.0, 1.0]), "").expect("a polynomial")
        });
        let simple = simplified(&graph).expect("a graph");
        let roots = simple.nodes().iter().zip(simple.needed());
        assert!(roots.into_iter().all(|(node, needed)| {
            !needed || !matches!(node.operation, Operation::Function { .. } | Operation::Unary(..))
        }));
        let x = [vec![0.5, 2.0]];
        let (found, expected) = (simple.evaluate(&x).expect("values"), graph.evaluate(&x).expect("values"));
        found[0].iter().zip(&expected[0]).for_each(|(a, b)| assert!((a - b).abs() < 1e-12 * b, "{a} for {b}"));

        // |y|^2 of |y| = sqrt(y) is y itself, and no product.
        let graph = graph_of(|graph, x| {
            let square = binary(graph, Binary::Mul, x, x);
            let root = Operation::Function { name: Function::Sqrt, of: square, error: 0.0 };
            let root = graph.push(root, "").expect("a root");
            binary(graph, Binary::Mul, root, root)
        });
        let simple = simplified(&graph).expect("a graph");
        assert_eq!(simple.outputs(), [1]);
    }

    #[test]
    fn what_is_computed_from_constants_is_one() {
        let graph = graph_of(|graph, x| {
            let (two, three) = (constant(graph, 2.0), constant(graph, 3.0));
            let square = binary(graph, Binary::Mul, three, three);
            let sum = binary(graph, Binary::Add, square, two);
            let root =
                graph.push(Operation::Function { name: Function::Sqrt, of: sum, error: 0.0 }, "").expect("a root");
            binary(graph, Binary::Add, x, root)
        });
        let simple = simplified(&graph).expect("a graph");
        let Operation::Binary(Binary::Add, 0, c) = simple.node(simple.outputs()[0]).operation else { panic!("a sum") };
        assert_eq!(simple.number(c), Some(11.0_f64.sqrt()));
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

    /// `(x - c)^exponent`, as products or as a power.
    fn power_of_difference(element: Element, range: Interval, c: f64, exponent: usize, products: bool) -> Graph {
        let mut graph = Graph::default();
        let x = Operation::Input { name: "x".into(), shape: vec![3], element, range };
        let x = graph.push(x, "").expect("an input");
        let c = Operation::Constant { shape: vec![], element, values: vec![c] };
        let c = graph.push(c, "").expect("a constant");
        let difference = binary(&mut graph, Binary::Sub, x, c);
        let mut last = difference;
        if products {
            (1..exponent).for_each(|_| last = binary(&mut graph, Binary::Mul, last, difference));
        } else {
            let mut coefficients = vec![0.0; exponent + 1];
            coefficients[exponent] = 1.0;
            last = graph.push(Operation::Polynomial(difference, coefficients), "").expect("a power");
        }
        graph.finish(vec![last]).expect("an output");
        graph
    }

    #[test]
    fn powers_far_from_zero_stay_powers_of_a_difference() {
        for (c, exponent, low, high) in [(10.1, 12, 9.0, 11.0), (3.3, 20, 2.5, 4.0)] {
            for products in [false, true] {
                let graph = power_of_difference(Element::Real, Interval::new(low, high), c, exponent, products);
                let simple = simplified(&graph).expect("a graph");
                let x = [vec![low, 0.3 * low + 0.7 * high, high]];
                let (found, expected) = (simple.evaluate(&x).expect("values"), graph.evaluate(&x).expect("values"));
                let largest = graph.node(graph.outputs()[0]).range.magnitude();
                for (a, b) in found[0].iter().zip(&expected[0]) {
                    assert!((a - b).abs() <= largest * libm::exp2(-35.0), "{a} for {b}");
                }
            }
        }
    }

    #[test]
    fn powers_of_products_are_one_polynomial_of_the_difference() {
        let graph = power_of_difference(Element::Real, Interval::new(9.0, 11.0), 10.1, 12, true);
        let simple = simplified(&graph).expect("a graph");
        let polynomials = simple.nodes().iter().zip(simple.needed()).filter(|(node, needed)| {
            *needed && matches!(node.operation, Operation::Polynomial(..) | Operation::Binary(Binary::Mul, ..))
        });
        assert_eq!(polynomials.count(), 1);
        let last = simple.node(simple.outputs()[0]);
        assert!(matches!(&last.operation, Operation::Polynomial(1.., power) if power.len() == 13), "{last:?}");
    }

    #[test]
    fn polynomials_of_integers_are_exact() {
        for (c, exponent) in [(100_000_003.0, 2), (1_000_003.0, 3), (1_700_000_000.0, 3), (3.0, 5)] {
            for products in [false, true] {
                let range = Interval::new(c - 3.0, c + 3.0);
                let graph = power_of_difference(Element::Integer, range, c, exponent, products);
                let simple = simplified(&graph).expect("a graph");
                let x = [vec![c - 3.0, c + 1.0, c + 3.0]];
                assert_eq!(simple.evaluate(&x).expect("values"), graph.evaluate(&x).expect("values"));
                let (found, expected) = (simple.node(simple.outputs()[0]), graph.node(graph.outputs()[0]));
                assert!(found.range.magnitude() <= 2.0 * expected.range.magnitude(), "{:?}", found.range);
            }
        }
    }
}
