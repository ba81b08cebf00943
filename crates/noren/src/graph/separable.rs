//! Sums of quadratic polynomials, each of one element: their ranges are sharp, where those of their steps are not.
//!
//! `|x - s|^2` written as `sum x^2 - 2 x s + sum s^2` is an example: interval arithmetic adds up the ranges of the three, and
//! takes it to be negative where x lies near 0. As `sum_i (x_i^2 - 2 s_i x_i + s_i^2)` each term has a range of its own, which
//! ends at the vertex of its parabola.

use crate::graph::interval::Interval;
use crate::graph::node::Node;
use crate::graph::operation::{Binary, Element, Operation, Reduction, Unary};
use crate::graph::shape::{broadcast_positions, moves_within_rows, positions_without, size};

/// The most terms and constants of all forms of a graph, of about 100 bytes each; nodes beyond have none.
const MOST_TERMS: usize = 1 << 19;

/// The most terms that are added up for one node.
const MOST_STEPS: usize = 1 << 22;

/// The relative error of coefficients and ranges, sums of up to [`MOST_STEPS`] terms that are each off by at most 2^-53.
const ROUNDING: f64 = 1.0 / (1u64 << 30) as f64;

/// `linear x + square x^2` of one element x.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Term {
    /// The number of the element.
    element: u32,
    linear: f64,
    square: f64,
}

/// A constant and terms of different elements, in ascending order.
#[derive(Debug, Clone, Default, PartialEq)]
struct Form {
    constant: f64,
    /// A bound on the sum of the absolute values of all that was added up, by which coefficients are rounded.
    size: f64,
    terms: Vec<Term>,
}

/// The forms of the elements of a node: of all, or of those of its first row where all rows are alike but for the elements that they
/// are of, which are those of the first moved on by a row of their node.
#[derive(Debug, Clone, PartialEq)]
struct Forms {
    rows: usize,
    forms: Vec<Form>,
}

/// Elements that forms are of: those of one node.
#[derive(Debug, Clone, PartialEq)]
struct Elements {
    first: u32,
    /// How many there are in a row.
    row: u32,
    range: Interval,
}

/// The forms of the nodes of a graph that have some.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Separable {
    forms: Vec<Option<Forms>>,
    elements: Vec<Elements>,
    /// How many elements there are.
    count: u32,
    /// How many terms and constants all forms have.
    terms: usize,
}

impl Form {
    fn constant(constant: f64) -> Self {
        Self { constant, size: constant.abs(), terms: Vec::new() }
    }

    /// `sum_k factors[k] forms[k]`.
    fn combined<'a>(parts: impl Iterator<Item = (&'a Self, f64)>) -> Self {
        let mut sum = Self::default();
        let mut count = 0;
        for (form, factor) in parts.filter(|&(_, factor)| factor != 0.0) {
            sum.constant += factor * form.constant;
            sum.size += factor.abs() * form.size;
            let scaled = |term: &Term| Term { linear: factor * term.linear, square: factor * term.square, ..*term };
            sum.terms.extend(form.terms.iter().map(scaled));
            count += 1;
        }
        if count > 1 {
            sum.terms.sort_by_key(|term| term.element);
            sum.terms.dedup_by(|next, sum| {
                let same = next.element == sum.element;
                if same {
                    (sum.linear, sum.square) = (sum.linear + next.linear, sum.square + next.square);
                }
                same
            });
        }
        sum
    }

    /// The product, if it is a form too: one of both is a constant, or both are linear in the same element.
    fn times(&self, other: &Self) -> Option<Self> {
        match (self.terms.as_slice(), other.terms.as_slice()) {
            ([], _) => Some(other.scaled(self)),
            (_, []) => Some(self.scaled(other)),
            ([a], [b]) if a.element == b.element && a.square == 0.0 && b.square == 0.0 => {
                let linear = self.constant * b.linear + other.constant * a.linear;
                let term = Term { element: a.element, linear, square: a.linear * b.linear };
                Some(Self { constant: self.constant * other.constant, size: self.size * other.size, terms: vec![term] })
            }
            _ => None,
        }
    }

    /// The form times a constant.
    fn scaled(&self, by: &Self) -> Self {
        let scaled = Self::combined(std::iter::once((self, by.constant)));
        Self { size: self.size * by.size, ..scaled }
    }

    /// `sum_k coefficients[k] form^k`, if it is a form.
    fn polynomial(&self, coefficients: &[f64]) -> Option<Self> {
        let &[c, b, a] = coefficients else {
            let &[c, b] = coefficients else { return None };
            return Some(Self::combined([(self, b), (&Self::constant(c), 1.0)].into_iter()));
        };
        Some(Self::combined([(&self.times(self)?, a), (self, b), (&Self::constant(c), 1.0)].into_iter()))
    }

    /// How many terms and constants there are.
    fn count(&self) -> usize {
        self.terms.len() + 1
    }
}

impl Separable {
    /// Notes the form of the next node of a graph, and returns its range, sharper where its form says more.
    pub(super) fn narrow(&mut self, nodes: &[Node], node: &Node) -> Interval {
        // Nodes from before the forms were dropped have none.
        self.forms.resize(nodes.len(), None);
        let found = self.form_of(nodes, node);
        let range = found.as_ref().map_or(node.range, |found| self.range(found, node));
        let kept = found.or_else(|| self.own(&node.shape, range));
        self.terms += kept.as_ref().map_or(0, |forms| forms.forms.iter().map(Form::count).sum());
        self.forms.push(kept);
        range
    }

    /// The range of a node of these forms, within what is known of it.
    fn range(&self, found: &Forms, node: &Node) -> Interval {
        let sharp = found.forms.iter().map(|form| self.range_of(form)).reduce(Interval::hull).unwrap_or(node.range);
        let sharp = match node.element {
            Element::Real => sharp,
            _ => Interval::new(sharp.low.ceil(), sharp.high.floor()),
        };
        if sharp.is_proper() { node.range.clipped(sharp) } else { node.range }
    }

    /// The range of one form, with its rounding.
    fn range_of(&self, form: &Form) -> Interval {
        let sum = form.terms.iter().fold(Interval::point(form.constant), |sum, term| {
            let Interval { low, high } = self.elements_with(term.element).range;
            let value = |x: f64| (term.linear + term.square * x) * x;
            let vertex = -term.linear / (2.0 * term.square);
            let inside = term.square != 0.0 && vertex > low && vertex < high;
            let ends = Interval::of(&[value(low), value(high)]);
            sum.plus(if inside { ends.hull(Interval::point(value(vertex))) } else { ends })
        });
        sum.widened(ROUNDING * form.size)
    }

    /// The elements of the node that one of them is of.
    fn elements_with(&self, element: u32) -> &Elements {
        &self.elements[self.elements.partition_point(|elements| elements.first <= element) - 1]
    }

    /// Forms of the elements of a node themselves.
    fn own(&mut self, shape: &[usize], range: Interval) -> Option<Forms> {
        let (rows, row) = match shape {
            [rows, rest @ ..] if !rest.is_empty() => (*rows, size(rest)?),
            _ => (1, size(shape)?),
        };
        let (first, count) = (self.count, self.count.checked_add(u32::try_from(rows.checked_mul(row)?).ok()?)?);
        if 2 * row > self.left() {
            return None;
        }
        self.count = count;
        let row = u32::try_from(row).ok()?;
        self.elements.push(Elements { first, row, range });
        let form = |element| {
            let terms = vec![Term { element, linear: 1.0, square: 0.0 }];
            Form { constant: 0.0, size: range.magnitude(), terms }
        };
        Some(Forms { rows, forms: (first..first + row).map(form).collect() })
    }

    /// How many terms and constants further forms may have.
    fn left(&self) -> usize {
        MOST_TERMS - self.terms
    }

    /// Forms, if there are not too many and not too large ones.
    fn collected(&self, forms: impl Iterator<Item = Option<Form>>) -> Option<Vec<Form>> {
        let mut left = self.left();
        let within = |form: Option<Form>| {
            let form = form?;
            left = left.checked_sub(form.count())?;
            Some(form)
        };
        forms.map(within).collect()
    }

    /// The forms of all elements.
    fn expanded(&self, forms: &Forms) -> Option<Vec<Form>> {
        if forms.rows == 1 {
            return Some(forms.forms.clone());
        }
        let moved = |form: &Form, row: u32| {
            let term =
                |term: &Term| Term { element: term.element + row * self.elements_with(term.element).row, ..*term };
            Form { terms: form.terms.iter().map(term).collect(), ..*form }
        };
        let rows = u32::try_from(forms.rows).ok()?;
        self.collected((0..rows).flat_map(|row| forms.forms.iter().map(move |form| Some(moved(form, row)))))
    }

    /// The forms of an operand for a result of this shape, and its shape: of one row, or of all.
    fn operand(&self, nodes: &[Node], at: usize, result: &[usize], by_row: bool) -> Option<(Vec<Form>, Vec<usize>)> {
        let (forms, shape) = (self.of(at)?, &nodes[at].shape);
        if by_row && is_rowed(forms, shape, result) {
            return Some((forms.forms.clone(), [&[1], &shape[1..]].concat()));
        }
        Some((self.expanded(forms)?, shape.clone()))
    }

    /// Whether each row of a result follows from the same row of each operand, or from numbers that all rows share.
    fn by_row(&self, nodes: &[Node], operands: &[usize], result: &[usize]) -> bool {
        let follows = |&at: &usize| {
            let shape = &nodes[at].shape;
            let shared = matches!(nodes[at].operation, Operation::Constant { .. })
                && (shape.len() < result.len() || shape[0] == 1);
            shared || self.of(at).is_some_and(|forms| is_rowed(forms, shape, result))
        };
        result.len() > 1 && operands.iter().all(follows)
    }

    fn of(&self, at: usize) -> Option<&Forms> {
        self.forms.get(at)?.as_ref()
    }

    fn form_of(&self, nodes: &[Node], node: &Node) -> Option<Forms> {
        let shape = &node.shape;
        let each = |at: usize, change: &dyn Fn(&Form) -> Option<Form>| {
            let forms = self.of(at)?;
            Some(Forms { rows: forms.rows, forms: self.collected(forms.forms.iter().map(change))? })
        };
        match &node.operation {
            Operation::Constant { values, .. } => {
                Some(Forms { rows: 1, forms: self.collected(values.iter().map(|&x| Some(Form::constant(x))))? })
            }
            Operation::Unary(Unary::Neg, at) => each(*at, &|form| Some(Form::combined([(form, -1.0)].into_iter()))),
            Operation::Polynomial(at, coefficients) => each(*at, &|form| form.polynomial(coefficients)),
            Operation::Binary(kind @ (Binary::Add | Binary::Sub | Binary::Mul), a, b) => {
                let by_row = self.by_row(nodes, &[*a, *b], shape);
                let (rows, result) = if by_row { (shape[0], [&[1], &shape[1..]].concat()) } else { (1, shape.clone()) };
                if size(&result)? > self.left() {
                    return None;
                }
                let [a, b] = [a, b].map(|&at| {
                    let (forms, own) = self.operand(nodes, at, shape, by_row)?;
                    Some((forms, broadcast_positions(&own, &result)))
                });
                let ((a, from_a), (b, from_b)) = (a?, b?);
                let sign = if *kind == Binary::Sub { -1.0 } else { 1.0 };
                let combine = |(&i, &j): (&usize, &usize)| match kind {
                    Binary::Mul => a[i].times(&b[j]),
                    _ => Some(Form::combined([(&a[i], 1.0), (&b[j], sign)].into_iter())),
                };
                Some(Forms { rows, forms: self.collected(from_a.iter().zip(&from_b).map(combine))? })
            }
            Operation::Gather { of: at, positions, .. } => {
                let forms = self.of(*at)?;
                let (rows, row) = (forms.rows, forms.forms.len());
                let within = rows > 1 && shape.first() == Some(&rows) && moves_within_rows(row, rows, positions);
                let (rows, all) = if within { (rows, forms.forms.clone()) } else { (1, self.expanded(forms)?) };
                let take =
                    |&position: &i64| Some(usize::try_from(position).map_or(Form::default(), |at| all[at].clone()));
                let taken = &positions[..positions.len() / rows];
                Some(Forms { rows, forms: self.collected(taken.iter().map(take))? })
            }
            Operation::MatMul { of: at, columns, matrix } => {
                let forms = self.of(*at)?;
                let (inner, steps) = (matrix.len() / columns, forms.forms.iter().map(Form::count).sum::<usize>());
                // A row of a vector is one of its elements.
                if steps.checked_mul(*columns)? > MOST_STEPS || (nodes[*at].shape.len() == 1 && forms.rows > 1) {
                    return None;
                }
                let product = |row: &[Form], k: usize| {
                    Form::combined(row.iter().enumerate().map(|(i, form)| (form, matrix[i * columns + k])))
                };
                let products = |row| (0..*columns).map(move |k| Some(product(row, k)));
                Some(Forms { rows: forms.rows, forms: self.collected(forms.forms.chunks(inner).flat_map(products))? })
            }
            Operation::Reduce(Reduction::Sum, at, axes) => {
                let (forms, from) = (self.of(*at)?, &nodes[*at].shape);
                let within = forms.rows > 1 && !axes.contains(&0);
                let (rows, all, from) = match within {
                    true => (forms.rows, forms.forms.clone(), [&[1], &from[1..]].concat()),
                    false => (1, self.expanded(forms)?, from.clone()),
                };
                let mut parts = vec![Vec::new(); size(shape)? / rows];
                for (form, place) in all.iter().zip(positions_without(&from, axes)) {
                    parts[place].push((form, 1.0));
                }
                let sums = parts.into_iter().map(|parts| Some(Form::combined(parts.into_iter())));
                Some(Forms { rows, forms: self.collected(sums)? })
            }
            _ => None,
        }
    }
}

/// Whether forms are those of one row, and the rows those of a result.
fn is_rowed(forms: &Forms, shape: &[usize], result: &[usize]) -> bool {
    forms.rows > 1 && shape.len() == result.len() && shape[0] == forms.rows && result[0] == forms.rows
}

#[cfg(test)]
mod tests {
    use crate::graph::dag::Graph;
    use crate::graph::interval::Interval;
    use crate::graph::operation::{Binary, Element, Operation, Reduction};

    fn push(graph: &mut Graph, operation: Operation) -> usize {
        graph.push(operation, "").expect("an operation")
    }

    fn input(graph: &mut Graph, shape: &[usize], range: Interval) -> usize {
        let (name, shape) = ("x".to_owned(), shape.to_vec());
        push(graph, Operation::Input { name, shape, element: Element::Real, range })
    }

    fn constant(graph: &mut Graph, shape: &[usize], values: Vec<f64>) -> usize {
        push(graph, Operation::Constant { shape: shape.to_vec(), element: Element::Real, values })
    }

    /// `|x - s|^2` of each row x and each s, as sums of squares and products.
    fn distances(graph: &mut Graph, x: usize, points: &[f64], [rows, columns, count]: [usize; 3]) -> usize {
        let square = push(graph, Operation::Binary(Binary::Mul, x, x));
        let squares = push(graph, Operation::Reduce(Reduction::Sum, square, vec![1]));
        let positions = (0..rows as i64).collect();
        let squares = push(graph, Operation::Gather { of: squares, shape: vec![rows, 1], positions });
        let matrix = (0..columns * count).map(|at| points[at % count * columns + at / count]).collect();
        let products = push(graph, Operation::MatMul { of: x, columns: count, matrix });
        let two = constant(graph, &[], vec![2.0]);
        let products = push(graph, Operation::Binary(Binary::Mul, products, two));
        let lengths = points.chunks(columns).map(|point| point.iter().map(|s| s * s).sum()).collect();
        let lengths = constant(graph, &[count], lengths);
        let difference = push(graph, Operation::Binary(Binary::Sub, squares, products));
        push(graph, Operation::Binary(Binary::Add, difference, lengths))
    }

    #[test]
    fn squared_distances_are_not_negative_and_end_at_a_corner() {
        for rows in [1, 2, 1000] {
            let mut graph = Graph::default();
            let x = input(&mut graph, &[rows, 3], Interval::new(-1.0, 2.0));
            let at = distances(&mut graph, x, &[0.5, -1.0, 1.0, 2.0, 0.0, 0.0], [rows, 3, 2]);
            let Interval { low, high } = graph.node(at).range;
            // The furthest corner of the second point is (-1, 2, 2), that of the first (2, 2, -1).
            let furthest: f64 = 1.5 * 1.5 + 9.0 + 4.0;
            assert!(
                low.abs() < 1e-6 && (high - furthest.max(9.0 + 4.0 + 4.0)).abs() < 1e-6,
                "{rows} rows: {low}, {high}"
            );
        }
    }

    #[test]
    fn values_lie_in_the_ranges_of_random_sums() {
        let mut state = 1u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut sharper = 0;
        for _ in 0..300 {
            let mut graph = Graph::default();
            let range = Interval::new(-(random(3) as f64) - 0.5, random(4) as f64 + 0.25);
            let mut known = vec![input(&mut graph, &[3, 2], range), input(&mut graph, &[3, 2], range)];
            for _ in 0..8 {
                let [a, b] = [known[random(known.len())], known[random(known.len())]];
                let kind = [Binary::Add, Binary::Sub, Binary::Mul][random(3)];
                let of = a;
                let operation = match random(6) {
                    0 => Operation::Polynomial(of, vec![random(5) as f64 - 2.0, 1.5, random(3) as f64 - 1.0]),
                    1 => Operation::MatMul { of, columns: 2, matrix: vec![1.0, -0.5, 0.25, random(4) as f64] },
                    2 => Operation::Gather { of, shape: vec![3, 2], positions: vec![1, 0, 3, 2, 5, 4] },
                    3 => Operation::Gather { of, shape: vec![3, 2], positions: vec![4, 0, -1, 2, 5, 1] },
                    _ => Operation::Binary(kind, a, b),
                };
                known.push(push(&mut graph, operation));
            }
            let last = *known.last().expect("a node");
            let sum = push(&mut graph, Operation::Reduce(Reduction::Sum, last, vec![random(2)]));
            let steps = graph.nodes()[last].range.binary(Binary::Sub, graph.nodes()[known[2]].range);
            let difference = push(&mut graph, Operation::Binary(Binary::Sub, last, known[2]));
            sharper += usize::from(graph.node(difference).range.magnitude() < 0.99 * steps.magnitude());
            graph.finish(known.iter().copied().chain([sum, difference]).collect()).expect("outputs");
            for sample in 0..20 {
                let mut value = |_| match sample {
                    0 => range.low,
                    1 => range.high,
                    _ => range.low + (range.high - range.low) * random(1001) as f64 / 1000.0,
                };
                let inputs: Vec<Vec<f64>> = (0..2).map(|_| (0..6).map(&mut value).collect()).collect();
                for (values, &at) in graph.evaluate(&inputs).expect("values").iter().zip(graph.outputs()) {
                    let range = graph.node(at).range;
                    assert!(values.iter().all(|&x| range.contains(x)), "{values:?} not in {range:?}");
                }
            }
        }
        assert!(sharper > 30, "{sharper} of 300");
    }

    #[test]
    fn graphs_beyond_the_limits_keep_the_ranges_of_their_steps() {
        let mut graph = Graph::default();
        let [a, b] = [[2000, 1], [1, 2000]].map(|shape| input(&mut graph, &shape, Interval::new(-1.0, 1.0)));
        let sums = push(&mut graph, Operation::Binary(Binary::Add, a, b));
        let zeros = push(&mut graph, Operation::Binary(Binary::Sub, sums, b));
        assert_eq!(graph.node(zeros).range, Interval::new(-3.0, 3.0));
    }
}
