//! Ranges of intermediate results from examples.

use noren_rlwe::error::{Error, Result};

use crate::graph::dag::Graph;
use crate::graph::interval::Interval;
use crate::graph::operation::{Binary, Element, Operation, Reduction, Unary};
use crate::graph::shape::size;
use crate::graph::simplify::simplified;

/// Ranges that are known are narrowed to those of examples if they are this many times as wide.
const WIDER: f64 = 2.0;

/// Ranges of examples count as this wide at least: a part of the largest absolute value, and one of what is known. Few examples may
/// be alike.
const LEAST: f64 = 0.5;
const LEAST_OF_KNOWN: f64 = 1.0 / 1024.0;

/// The most of the margin, in widths of the range of examples.
const MOST_MARGIN: f64 = 1e6;

impl Graph {
    /// The function, simplified, with results and what is not linear in what it is of within the ranges that these inputs lead to (of
    /// one request, or of several one after the other), widened by `margin` times their width at both ends: where those that follow from the ranges of inputs are much wider. Half of
    /// the largest absolute value counts as the width of a narrower range.
    ///
    /// Whoever decrypts results checks that all elements lie there ([`Operation::Within`]).
    ///
    /// # Errors
    /// Inputs of other counts or sizes, or of fewer requests than others; a margin that is not a number from 0 to 10^6; results that are not finite.
    pub fn calibrated(&self, inputs: &[Vec<f64>], margin: f64) -> Result<Self> {
        self.calibrated_to(inputs, margin, true)
    }

    /// [`Graph::calibrated`], where errors are followed from one intermediate result that is checked to the next alone
    /// ([`Unary::Restated`]): of a function of many steps nothing is known then of the errors of results, whose bounds would grow with
    /// each step beyond any use.
    ///
    /// # Errors
    /// As [`Graph::calibrated`].
    pub fn calibrated_apart(&self, inputs: &[Vec<f64>], margin: f64) -> Result<Self> {
        self.calibrated_to(inputs, margin, false)
    }

    fn calibrated_to(&self, inputs: &[Vec<f64>], margin: f64, bounded: bool) -> Result<Self> {
        if !(0.0..=MOST_MARGIN).contains(&margin) {
            return Err(Error::parameter("margin", margin, "a number from 0 to 10^6"));
        }
        let simple = simplified(self)?;
        let (found, needed) = (ranges(&simple, inputs)?, simple.needed());
        let is_used = used_in_products(&simple);
        let mut calibrated = Self::default();
        let mut names: Vec<usize> = Vec::with_capacity(needed.len());
        for (at, node) in simple.nodes().iter().enumerate() {
            let mut name = calibrated.push(node.operation.clone().renamed(|operand| names[operand]), &node.place)?;
            let is_given = matches!(node.operation, Operation::Input { .. } | Operation::Constant { .. });
            if needed[at] && is_used[at] && !is_given && node.element == Element::Real {
                let (known, found) = (calibrated.node(name).range, found[at]);
                let width = (found.high - found.low)
                    .max(found.magnitude() * LEAST)
                    .max((known.high - known.low) * LEAST_OF_KNOWN);
                let found = known.clipped(found.widened(margin * width));
                if known.high - known.low > WIDER * (found.high - found.low) {
                    name = calibrated.push(Operation::Within(name, found), &node.place)?;
                    if !bounded && !simple.outputs().contains(&at) {
                        name = calibrated.push(Operation::Unary(Unary::Restated, name), &node.place)?;
                    }
                }
            }
            names.push(name);
        }
        calibrated.finish(simple.outputs().iter().map(|&output| names[output]).collect())?;
        Ok(calibrated)
    }
}

/// For each node the range of its elements for the inputs of some requests.
fn ranges(graph: &Graph, inputs: &[Vec<f64>]) -> Result<Vec<Interval>> {
    let sizes: Vec<usize> = graph.inputs().iter().map(|&at| size(&graph.node(at).shape).unwrap_or(0)).collect();
    let requests = inputs.first().zip(sizes.first()).map_or(1, |(input, size)| input.len() / size);
    let are_whole = inputs.iter().zip(&sizes).all(|(input, size)| input.len() == requests * size);
    let ranges_of = |inputs: &[Vec<f64>]| -> Result<Vec<Interval>> {
        Ok(graph.evaluate_all(inputs)?.iter().map(|values| Interval::of(values)).collect())
    };
    if requests <= 1 || inputs.len() != sizes.len() || !are_whole {
        // Inputs of other counts or sizes are refused there.
        return ranges_of(inputs);
    }
    let request = |at: usize| {
        let own = |(input, size): (&Vec<f64>, &usize)| input[at * size..][..*size].to_vec();
        inputs.iter().zip(&sizes).map(own).collect::<Vec<_>>()
    };
    (1..requests).try_fold(ranges_of(&request(0))?, |found, at| {
        Ok(found.into_iter().zip(ranges_of(&request(at))?).map(|(a, b)| a.hull(b)).collect())
    })
}

/// For each node whether it is a result, or something that is not linear is made of it.
fn used_in_products(graph: &Graph) -> Vec<bool> {
    let mut is_used = vec![false; graph.nodes().len()];
    graph.outputs().iter().for_each(|&output| is_used[output] = true);
    let is_constant = |at: usize| matches!(graph.node(at).operation, Operation::Constant { .. });
    for node in graph.nodes().iter().zip(graph.needed()).filter_map(|(node, needed)| needed.then_some(node)) {
        let is_linear = match &node.operation {
            Operation::Binary(Binary::Mul, a, b) => is_constant(*a) || is_constant(*b),
            Operation::Binary(kind, ..) => matches!(kind, Binary::Add | Binary::Sub),
            Operation::Polynomial(_, coefficients) => coefficients.len() <= 2,
            Operation::Unary(kind, _) => *kind == Unary::Neg,
            Operation::Reduce(kind, ..) => *kind == Reduction::Sum,
            Operation::Gather { .. } | Operation::MatMul { .. } | Operation::Sparse { .. } | Operation::Within(..) => {
                true
            }
            _ => false,
        };
        if !is_linear {
            node.operation.operands().into_iter().for_each(|operand| is_used[operand] = true);
        }
    }
    is_used
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::evaluated::Evaluated;

    /// `((x @ a)^2 @ b, x @ a)` of rows of four numbers from -1 to 1.
    fn network() -> Graph {
        let mut graph = Graph::default();
        let range = Interval::new(-1.0, 1.0);
        let x = Operation::Input { name: "x".into(), shape: vec![3, 4], element: Element::Real, range };
        let x = graph.push(x, "").expect("an input");
        let a = (0..8).map(|k| f64::from(k % 3) - 1.0).collect();
        let hidden = graph.push(Operation::MatMul { of: x, columns: 2, matrix: a }, "a").expect("a product");
        let square = graph.push(Operation::Binary(Binary::Mul, hidden, hidden), "square").expect("a square");
        let last = Operation::MatMul { of: square, columns: 1, matrix: vec![10.0, -5.0] };
        let last = graph.push(last, "b").expect("a product");
        graph.finish(vec![last, hidden]).expect("outputs");
        graph
    }

    #[test]
    fn of_many_squares_the_ranges_are_those_of_examples_and_errors_are_counted_from_one_to_the_next() {
        let range = Interval::new(-3.0, 3.0);
        let built = |mut graph: Graph| {
            let x = Operation::Input { name: "x".into(), shape: vec![4], element: Element::Real, range };
            let mut last = graph.push(x, "")?;
            for _ in 0..12 {
                // 2 x^2 - 1 stays within [-1, 1], and a sum of matrices hides that.
                let square = graph.push(Operation::Binary(Binary::Mul, last, last), "")?;
                let matrix = (0..16).map(|k| if k % 5 == 0 { 2.0 } else { 0.0 }).collect();
                let twice = graph.push(Operation::MatMul { of: square, columns: 4, matrix }, "")?;
                let one = Operation::Constant { shape: vec![], element: Element::Real, values: vec![1.0] };
                let one = graph.push(one, "")?;
                last = graph.push(Operation::Binary(Binary::Sub, twice, one), "")?;
            }
            graph.finish(vec![last])?;
            Ok::<_, Error>(graph)
        };
        assert!(built(Graph::default()).is_err());
        let draft = built(Graph::draft()).expect("a draft");
        let inputs = [vec![0.1, -0.7, 0.9, 0.5]];
        let calibrated = draft.calibrated_apart(&inputs, 0.25).expect("ranges");
        assert!(!calibrated.is_draft() && calibrated.nodes().iter().all(|node| node.range.magnitude() <= 50.0));
        let values = [&calibrated, &draft].map(|graph| graph.evaluate(&inputs).expect("values").concat());
        values[0].iter().zip(&values[1]).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{a} for {b}"));
        let restated = |graph: &Graph| {
            graph.nodes().iter().filter(|node| matches!(node.operation, Operation::Unary(Unary::Restated, _))).count()
        };
        assert!(restated(&calibrated) > 0);
        let bounded = draft.calibrated(&inputs, 0.25).expect("ranges");
        assert_eq!(restated(&bounded), 0);
        for (graph, bound) in [(calibrated, f64::INFINITY), (bounded, 0.5)] {
            assert_eq!(Evaluated::new(&graph).expect("a function").bounds(&[0.5]), [bound]);
        }
    }

    #[test]
    fn ranges_are_those_of_examples_with_a_margin_where_they_are_much_narrower() {
        let graph = network();
        let inputs = vec![(0..12).map(|k| f64::from(k % 5) / 20.0).collect::<Vec<_>>()];
        let calibrated = graph.calibrated(&inputs, 0.25).expect("ranges");
        assert_eq!(calibrated.evaluate(&inputs).expect("values"), graph.evaluate(&inputs).expect("values"));
        let found = graph.evaluate(&inputs).expect("values");
        let hidden = calibrated.outputs()[1];
        let (Operation::Within(_, range), own) = (&calibrated.node(hidden).operation, Interval::of(&found[1])) else {
            panic!("a range")
        };
        assert_eq!(*range, own.widened(0.25 * (own.high - own.low)));
        assert_eq!(calibrated.node(hidden).range, *range);
        assert!(calibrated.node(calibrated.outputs()[0]).range.magnitude() < graph.node(3).range.magnitude() / 4.0);
        // Results are checked before they are taken to lie within a range.
        let evaluated = Evaluated::new(&calibrated).expect("a function");
        assert_eq!(evaluated.graph().outputs().len(), 2);
        let of_evaluated = evaluated.graph().evaluate(&inputs).expect("values");
        assert_eq!(evaluated.outside(&of_evaluated, &[0.0; 2]), []);
        assert_eq!(evaluated.results(of_evaluated), found);
        let far = vec![[vec![1.0; 4], inputs[0][4..].to_vec()].concat()];
        let outside = evaluated.outside(&evaluated.graph().evaluate(&far).expect("values"), &[0.0; 2]);
        assert!(!outside.is_empty() && outside.iter().all(|outside| outside.row == Some(0)), "{outside:?}");
        // What is nearer to an end than its bound is not certain to lie there.
        let near = evaluated.graph().evaluate(&inputs).expect("values");
        assert!(!evaluated.outside(&near, &[1e3, 1e3]).is_empty());
        let unknown = vec![vec![f64::NAN; 3], vec![f64::NAN; 6]];
        assert_eq!(evaluated.outside(&unknown, &[0.0; 2]).len(), 3);
    }

    #[test]
    fn what_is_checked_and_no_result_is_an_output_of_its_own() {
        let mut graph = network();
        graph.finish(vec![3]).expect("an output");
        let inputs = vec![vec![0.1; 12]];
        let evaluated = Evaluated::new(&graph.calibrated(&inputs, 0.5).expect("ranges")).expect("a function");
        let whole = evaluated.graph();
        assert_eq!((whole.results().len(), whole.outputs().len()), (1, 2));
        let text = graph.calibrated(&inputs, 0.5).expect("ranges").to_json();
        assert!(text.contains("within"), "{text}");
        assert_eq!(Evaluated::new(&Graph::from_json(&text).expect("a graph")).expect("a function"), evaluated);
    }

    #[test]
    fn ranges_of_several_requests_are_those_of_each_together() {
        let graph = network();
        let requests: [Vec<f64>; 2] = [[0.1, -0.3], [0.25, 0.05]]
            .map(|[first, step]| (0..12).map(|k| first + step * f64::from(k) / 12.0).collect());
        let found = ranges(&graph, &[requests.concat()]).expect("ranges");
        let [a, b] = requests.map(|request| ranges(&graph, &[request]).expect("ranges"));
        assert_eq!(found, a.iter().zip(&b).map(|(a, b)| a.hull(*b)).collect::<Vec<_>>());
        assert!(a != b && a != found && b != found);
        assert!(ranges(&graph, &[vec![0.0; 25]]).is_err(), "two requests and one number");
    }

    #[test]
    fn wide_examples_change_nothing_and_wrong_margins_are_refused() {
        let graph = network();
        let inputs = vec![(0..12).map(|k| f64::from(k % 3) - 1.0).collect::<Vec<_>>()];
        assert_eq!(graph.calibrated(&inputs, 100.0).expect("ranges"), simplified(&graph).expect("a graph"));
        for margin in [-0.1, f64::NAN, f64::INFINITY] {
            assert!(graph.calibrated(&inputs, margin).is_err());
        }
        assert!(graph.calibrated(&[vec![0.0; 3]], 0.1).is_err());
        let mut graph = graph;
        let of_no_part = graph.push(Operation::Within(1, Interval::new(50.0, 60.0)), "here");
        assert!(of_no_part.expect_err("no part").to_string().contains("a part of the range of its operand"));
    }
}
