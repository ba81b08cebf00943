//! A function as backends evaluate it, and what clients make of the results.

use std::sync::Arc;

use noren_rlwe::error::Result;

use crate::graph::dag::Graph;
use crate::graph::interval::Interval;
use crate::graph::node::Node;
use crate::graph::operation::{Binary, Element, Operation, Unary};
use crate::graph::rows::rows;
use crate::graph::simplify::simplified;

/// `factor x + shift`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Affine {
    factor: f64,
    shift: f64,
}

impl Affine {
    const IDENTITY: Self = Self { factor: 1.0, shift: 0.0 };

    /// The image of an image.
    fn of(self, inner: Self) -> Self {
        Self { factor: self.factor * inner.factor, shift: self.factor * inner.shift + self.shift }
    }

    fn at(self, x: f64) -> f64 {
        self.factor * x + self.shift
    }

    /// A bound on the distance of [`Affine::at`] from what the operations give that it stands for, in double precision.
    fn rounding(self, largest: f64) -> f64 {
        /// Each of the few operations is off by half a unit in the last place, here and there.
        const UNITS: f64 = 16.0;
        // Of multiples by powers of two none is.
        let is_exact = self.shift == 0.0 && libm::frexp(self.factor).0.abs() == 0.5;
        if is_exact { 0.0 } else { UNITS * f64::EPSILON * (self.factor.abs() * largest + self.shift.abs()) }
    }
}

/// A function as backends evaluate it: with polynomials in place of products and sums of one node, and without what clients do in
/// clear.
///
/// A function of integers whose only real numbers are multiples of results, as means and medians are, is one of integers here,
/// which exact backends evaluate: a client takes the multiples after decryption.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    graph: Arc<Graph>,
    /// For each result its image.
    images: Vec<Affine>,
    /// The outputs that lie in an interval.
    checks: Vec<Check>,
}

/// An output of which all elements lie in an interval, if results are right.
#[derive(Debug, Clone, PartialEq)]
struct Check {
    output: usize,
    range: Interval,
    place: String,
}

/// An element that is not certain to lie where a function was compiled for.
#[derive(Debug, Clone, PartialEq)]
pub struct Outside {
    /// Where the function asks for it.
    pub place: String,
    /// The interval.
    pub range: Interval,
    /// The element, within the bound on its error.
    pub value: f64,
    /// The row of the arguments that it follows from; none where results depend on all of them.
    pub row: Option<usize>,
}

impl Evaluated {
    /// The function of a graph.
    ///
    /// # Errors
    /// As [`Graph::push`].
    pub fn new(graph: &Graph) -> Result<Self> {
        let simple = simplified(graph)?;
        let (graph, images, checks) = match of_integers(&simple)? {
            Some((graph, images)) => (graph, images, Vec::new()),
            None => {
                let count = simple.outputs().len();
                let (graph, checks) = checked(simple)?;
                (graph, vec![Affine::IDENTITY; count], checks)
            }
        };
        Ok(Self { graph: Arc::new(graph), images, checks })
    }

    /// The elements that are not certain to lie where the function was compiled for, of what was evaluated: of each row and each
    /// interval the first. Where there is none, results are right within their bounds.
    pub(crate) fn outside(&self, evaluated: &[Vec<f64>], bounds: &[f64]) -> Vec<Outside> {
        let rows = rows(&self.graph);
        let mut all = Vec::new();
        for Check { output, range, place } in &self.checks {
            let (values, bound) = (&evaluated[*output], bounds[*output]);
            let is_inside = |x: f64| x - bound >= range.low && x + bound <= range.high;
            let width = rows.map_or(values.len(), |rows| values.len() / rows);
            for (row, values) in values.chunks(width.max(1)).enumerate() {
                let outside = values.iter().find(|x| !is_inside(**x));
                all.extend(outside.map(|&value| {
                    let (place, range) = (place.clone(), *range);
                    Outside { place, range, value, row: rows.map(|_| row) }
                }));
            }
        }
        all
    }

    /// The graph that backends evaluate.
    #[must_use]
    pub const fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// The error that what backends evaluate may have, of that which results may have.
    pub(crate) fn precision(&self, of_results: f64) -> f64 {
        of_results / self.images.iter().map(|image| image.factor.abs()).fold(0.0, f64::max)
    }

    /// The bounds on the errors of results, of those on what was evaluated; infinite where errors are not followed from the inputs
    /// on ([`Unary::Restated`]).
    pub(crate) fn bounds(&self, evaluated: &[f64]) -> Vec<f64> {
        let is_restated =
            |(node, needed): (&Node, bool)| needed && matches!(node.operation, Operation::Unary(Unary::Restated, _));
        if self.graph.nodes().iter().zip(self.graph.needed()).any(is_restated) {
            return vec![f64::INFINITY; self.images.len()];
        }
        let largest = self.graph.results().iter().map(|&at| self.graph.node(at).range.magnitude());
        let images = self.images.iter().zip(largest).zip(evaluated);
        images.map(|((image, largest), bound)| image.factor.abs() * bound + image.rounding(largest)).collect()
    }

    /// The largest of these.
    pub(crate) fn largest_bound(&self, evaluated: &[f64]) -> f64 {
        self.bounds(evaluated).into_iter().fold(0.0, f64::max)
    }

    /// The results, of what was evaluated.
    pub(crate) fn results(&self, evaluated: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        let image = |(image, values): (&Affine, Vec<f64>)| match *image {
            Affine::IDENTITY => values,
            image => values.into_iter().map(|x| image.at(x)).collect(),
        };
        self.images.iter().zip(evaluated).map(image).collect()
    }

    /// The integers of those results that are integers themselves, of what was evaluated.
    pub(crate) fn integers(&self, evaluated: Vec<Option<Vec<i64>>>) -> Vec<Option<Vec<i64>>> {
        let own = |(image, integers): (&Affine, Option<_>)| integers.filter(|_| *image == Affine::IDENTITY);
        self.images.iter().zip(evaluated).map(own).collect()
    }
}

/// A function whose outputs are what is checked to lie in an interval, too: before it is taken to lie there, so that parameters hold
/// whatever follows from what was checked before.
fn checked(mut graph: Graph) -> Result<(Graph, Vec<Check>)> {
    let (needed, mut outputs, mut checks) = (graph.needed(), graph.outputs().to_vec(), Vec::new());
    let results = outputs.len();
    let within = |graph: &Graph, at: usize| match graph.node(at).operation {
        // Nothing lies beyond the ends of what is known anyway.
        Operation::Within(of, Interval { low, high }) => {
            let known = graph.node(of).range;
            let low = if low > known.low { low } else { f64::NEG_INFINITY };
            let high = if high < known.high { high } else { f64::INFINITY };
            Some((of, Interval { low, high }, graph.node(at).place.clone()))
        }
        _ => None,
    };
    for (output, at) in outputs.iter_mut().enumerate() {
        while let Some((of, range, place)) = within(&graph, *at) {
            checks.push(Check { output, range, place });
            *at = of;
        }
    }
    for (of, range, place) in (0..needed.len()).filter(|&at| needed[at]).filter_map(|at| within(&graph, at)) {
        let output = outputs.iter().position(|&output| output == of).unwrap_or_else(|| {
            outputs.push(of);
            outputs.len() - 1
        });
        let check = Check { output, range, place };
        if !checks.contains(&check) {
            checks.push(check);
        }
    }
    graph.finish_checked(outputs, results)?;
    Ok((graph, checks))
}

/// The function of integers that a function is, but for images of outputs; nothing if it computes with real numbers otherwise, or
/// with none.
fn of_integers(graph: &Graph) -> Result<Option<(Graph, Vec<Affine>)>> {
    let nodes = graph.nodes();
    let whole = nodes.iter().all(|node| node.element != Element::Real);
    let computed = graph.outputs().iter().map(|&output| preimage(graph, output)).collect::<Option<Vec<_>>>();
    let Some(computed) = computed.filter(|_| !whole) else { return Ok(None) };
    let (mut integers, mut outputs, mut images) = (graph.clone(), Vec::new(), Vec::new());
    for Preimage { mut node, moves, image } in computed {
        for &at in moves.iter().rev() {
            let Operation::Gather { shape, positions, .. } = &nodes[at].operation else { continue };
            let (shape, positions) = (shape.clone(), positions.clone());
            node = integers.push(Operation::Gather { of: node, shape, positions }, &nodes[at].place)?;
        }
        outputs.push(node);
        images.push(image);
    }
    integers.finish(outputs)?;
    let is_whole = |(node, needed): (&Node, bool)| !needed || node.element != Element::Real;
    let all = integers.nodes().iter().zip(integers.needed()).all(is_whole);
    Ok(all.then_some((integers, images)))
}

/// The node that an output is the image of.
struct Preimage {
    node: usize,
    /// The gathers between both, the last first.
    moves: Vec<usize>,
    image: Affine,
}

/// The first node of integers on the way back from an output, if only multiples, shifts and moves lie between, and something is
/// computed there.
fn preimage(graph: &Graph, output: usize) -> Option<Preimage> {
    let (mut at, mut moves, mut image) = (output, Vec::new(), Affine::IDENTITY);
    let mut has_zeros = false;
    while graph.node(at).element == Element::Real {
        let node = graph.node(at);
        let alike = |of: usize| graph.node(of).shape == node.shape;
        let (of, step) = match &node.operation {
            Operation::Gather { of, positions, .. } => {
                has_zeros |= positions.iter().any(|&at| at < 0);
                moves.push(at);
                (*of, Affine::IDENTITY)
            }
            Operation::Unary(Unary::Neg, of) => (*of, Affine { factor: -1.0, shift: 0.0 }),
            Operation::Polynomial(of, coefficients) => {
                let &[shift, factor] = &coefficients[..] else { return None };
                (*of, Affine { factor, shift })
            }
            Operation::Binary(kind, a, b) => {
                let (of, c, second) = match (graph.number(*a), graph.number(*b)) {
                    (None, Some(c)) if alike(*a) => (*a, c, true),
                    (Some(c), None) if alike(*b) => (*b, c, false),
                    _ => return None,
                };
                let step = match kind {
                    Binary::Add => Affine { factor: 1.0, shift: c },
                    Binary::Sub if second => Affine { factor: 1.0, shift: -c },
                    Binary::Sub => Affine { factor: -1.0, shift: c },
                    Binary::Mul => Affine { factor: c, shift: 0.0 },
                    _ => return None,
                };
                (of, step)
            }
            _ => return None,
        };
        // Zeros in places without an element are no images.
        if has_zeros && step.shift != 0.0 {
            return None;
        }
        image = image.of(step);
        at = of;
    }
    let computed = !matches!(graph.node(at).operation, Operation::Input { .. } | Operation::Constant { .. });
    let proper = image.factor.is_normal() && image.shift.is_finite();
    (computed && proper).then_some(Preimage { node: at, moves, image })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::interval::Interval;
    use crate::graph::operation::Reduction;

    /// The function of four integers that `build` appends.
    fn graph_of(build: impl Fn(&mut Graph, usize) -> usize) -> Graph {
        let mut graph = Graph::default();
        let (shape, range) = (vec![4], Interval::new(-3.0, 9.0));
        let input = Operation::Input { name: "x".into(), shape, element: Element::Integer, range };
        let x = graph.push(input, "").expect("an input");
        let output = build(&mut graph, x);
        graph.finish(vec![output]).expect("an output");
        graph
    }

    fn with_number(graph: &mut Graph, kind: Binary, x: usize, c: f64) -> usize {
        let values = vec![c];
        let c =
            graph.push(Operation::Constant { shape: vec![], element: Element::Real, values }, "").expect("a number");
        graph.push(Operation::Binary(kind, x, c), "").expect("an operation")
    }

    #[test]
    fn multiples_of_integers_are_taken_after_they_are_evaluated() {
        let sorted = |graph: &mut Graph, x| graph.push(Operation::Sort(x, 0), "").expect("a sort");
        let graphs = [
            graph_of(|graph, x| {
                let sum = graph.push(Operation::Reduce(Reduction::Sum, x, vec![0]), "").expect("a sum");
                let mean = with_number(graph, Binary::Mul, sum, 0.25);
                with_number(graph, Binary::Sub, mean, 1.5)
            }),
            graph_of(|graph, x| {
                let order = sorted(graph, x);
                let third = with_number(graph, Binary::Mul, order, 1.0 / 3.0);
                graph.push(Operation::Gather { of: third, shape: vec![2], positions: vec![2, -1] }, "").expect("moved")
            }),
        ];
        for graph in graphs {
            let evaluated = Evaluated::new(&graph).expect("a function");
            let needed = evaluated.graph().needed();
            let mut nodes = evaluated.graph().nodes().iter().zip(needed);
            assert!(nodes.all(|(node, needed)| !needed || node.element == Element::Integer));
            for x in [[1.0, 9.0, -3.0, 4.0], [0.0, -1.0, 2.0, 2.0]] {
                let found = evaluated.results(evaluated.graph().evaluate(&[x.to_vec()]).expect("values"));
                let expected = graph.evaluate(&[x.to_vec()]).expect("values");
                let bound = evaluated.bounds(&[0.0])[0];
                assert!(bound > 0.0 && bound < 1e-12, "{bound}");
                for (a, b) in found[0].iter().zip(&expected[0]) {
                    assert!((a - b).abs() <= bound, "{a} for {b}");
                }
            }
        }
    }

    #[test]
    fn real_numbers_that_more_is_computed_with_stay() {
        let graphs = [
            // Zero in a place without an element is not the image of zero.
            graph_of(|graph, x| {
                let order = graph.push(Operation::Sort(x, 0), "").expect("a sort");
                let shifted = with_number(graph, Binary::Add, order, 0.5);
                graph
                    .push(Operation::Gather { of: shifted, shape: vec![2], positions: vec![2, -1] }, "")
                    .expect("moved")
            }),
            // Nothing would be left to the server.
            graph_of(|graph, x| with_number(graph, Binary::Mul, x, 0.5)),
            graph_of(|graph, x| {
                let half = with_number(graph, Binary::Mul, x, 0.5);
                graph.push(Operation::Binary(Binary::Mul, half, x), "").expect("a product")
            }),
        ];
        for graph in graphs {
            let evaluated = Evaluated::new(&graph).expect("a function");
            assert_eq!(**evaluated.graph(), simplified(&graph).expect("a graph"));
            assert_eq!(evaluated.bounds(&[1.0]), [1.0]);
        }
    }
}
