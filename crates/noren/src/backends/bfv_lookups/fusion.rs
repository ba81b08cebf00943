//! A graph as sums of inputs and of functions of one or two of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use noren_rlwe::error::Result;

use crate::backends::bfv_lookups::functions::{Atom, Composed, Form, Functions, Op};
use crate::graph::dag::Graph;
use crate::graph::interval::Interval;
use crate::graph::operation::{Binary, Element, Operation, Reduction, Unary};
use crate::graph::shape::{broadcast_positions, positions_without, size};
use crate::lookup::MODULUS;
use crate::lowering::error::CompileError;

/// The most values of an input.
pub(super) const MOST_VALUES: i64 = 1 << 15;
/// The most elements and terms of all nodes, so that planning is quick.
const MOST_TERMS: usize = 1 << 18;
/// The most functions that are looked up: each has a matrix of its own.
const MOST_FUNCTIONS: usize = 1 << 8;

/// A graph whose outputs are sums of input elements, of functions of one or two of them, and of a number.
#[derive(Debug)]
pub(super) struct Fusion {
    pub(super) functions: Functions,
    /// The lowest and the highest value of each element of all inputs.
    pub(super) ranges: Vec<[i64; 2]>,
    /// The elements of each output, modulo [`MODULUS`]; functions have coefficient 1.
    pub(super) outputs: Vec<Vec<Form>>,
    terms: usize,
}

impl Fusion {
    /// Composes the operations of a graph.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`].
    pub(super) fn of(graph: &Arc<Graph>) -> Result<Self> {
        let functions = Functions::new(graph);
        let mut fusion = Self { functions, ranges: Vec::new(), outputs: Vec::new(), terms: 0 };
        let needed = graph.needed();
        for at in (0..needed.len()).filter(|&at| needed[at]) {
            fusion.check(graph, at)?;
        }
        let mut forms: Vec<Vec<Form>> = Vec::with_capacity(graph.nodes().len());
        for (at, needed) in needed.into_iter().enumerate() {
            forms.push(match (&graph.node(at).operation, needed) {
                (Operation::Input { range, .. }, _) => fusion.input(graph, at, *range, needed)?,
                (_, true) => fusion.node(graph, at, &forms)?,
                (_, false) => Vec::new(),
            });
        }
        for &output in graph.outputs() {
            let range = graph.node(output).range;
            if range.high - range.low >= MODULUS as f64 {
                let needed = format!("results in a range of at most {MODULUS} values: narrow the ranges of inputs");
                return Err(CompileError::unsupported(graph, output, &needed).into());
            }
            let fused = forms[output].iter().map(|form| fusion.fused(form)).collect();
            fusion.outputs.push(fused);
            let found = fusion.looked_up().len();
            if found > MOST_FUNCTIONS {
                let needed = format!("at most {MOST_FUNCTIONS} different functions of elements, not {found}");
                return Err(CompileError::unsupported(graph, output, &needed).into());
            }
        }
        Ok(fusion)
    }

    /// The functions that are looked up.
    pub(super) fn looked_up(&self) -> BTreeSet<usize> {
        let atoms = self.outputs.iter().flatten().flat_map(|form| form.terms.keys());
        let function = |atom: &Atom| match atom {
            Atom::Call(function, _) => Some(*function),
            Atom::Input(_) => None,
        };
        atoms.filter_map(function).collect()
    }

    /// How many values the first and the second argument of functions have at most.
    pub(super) fn domain(&self) -> [usize; 2] {
        let sizes = self.looked_up().into_iter().map(|function| self.functions.sizes(function));
        sizes.fold([1, 1], |[x, y], sizes| [x.max(sizes[0]), y.max(sizes.get(1).copied().unwrap_or(1))])
    }

    fn count(&mut self, graph: &Graph, at: usize, terms: usize) -> Result<()> {
        self.terms = self.terms.saturating_add(terms);
        if self.terms > MOST_TERMS {
            let needed = format!("arrays of fewer elements: at most {MOST_TERMS} elements and terms of sums in all");
            return Err(CompileError::unsupported(graph, at, &needed).into());
        }
        Ok(())
    }

    /// The elements of an input.
    fn input(&mut self, graph: &Graph, at: usize, range: Interval, needed: bool) -> Result<Vec<Form>> {
        let (first, count) = (self.ranges.len(), size(&graph.node(at).shape).unwrap_or(0));
        self.ranges.extend(vec![[range.low as i64, range.high as i64]; count]);
        if !needed {
            return Ok(Vec::new());
        }
        if range.high - range.low >= MOST_VALUES as f64 {
            let needed = format!("integers of at most {MOST_VALUES} values: narrow the range");
            return Err(CompileError::unsupported(graph, at, &needed).into());
        }
        Ok((first..first + count).map(|input| Form::atom(Atom::Input(input))).collect())
    }

    /// Refuses real numbers, and too many elements.
    fn check(&mut self, graph: &Graph, at: usize) -> Result<()> {
        let node = graph.node(at);
        if node.element == Element::Real {
            return Err(CompileError::unsupported(graph, at, "integers: round and scale the numbers").into());
        }
        self.count(graph, at, size(&node.shape).unwrap_or(0))
    }

    /// The elements of a node that is computed from others.
    fn node(&mut self, graph: &Graph, at: usize, forms: &[Vec<Form>]) -> Result<Vec<Form>> {
        let node = graph.node(at);
        let count = size(&node.shape).unwrap_or(0);
        let spread = |of: usize| {
            let positions = broadcast_positions(&graph.node(of).shape, &node.shape);
            positions.into_iter().map(move |position| &forms[of][position])
        };
        match &node.operation {
            Operation::Input { .. } => Ok(Vec::new()),
            Operation::Constant { values, .. } => Ok(values.iter().map(|&x| Form::constant(x as i64)).collect()),
            Operation::Gather { of, positions, .. } => {
                let element =
                    |&at: &i64| usize::try_from(at).map_or_else(|_| Form::default(), |at| forms[*of][at].clone());
                Ok(positions.iter().map(element).collect())
            }
            Operation::Unary(kind, of) => forms[*of].iter().map(|x| self.unary(graph, at, *kind, x)).collect(),
            Operation::Binary(kind, a, b) => {
                spread(*a).zip(spread(*b)).map(|(a, b)| self.binary(graph, at, *kind, a, b)).collect()
            }
            Operation::Select(condition, a, b) => {
                let branches = spread(*a).zip(spread(*b));
                let chosen = spread(*condition).zip(branches);
                chosen.map(|(c, (a, b))| self.apply(graph, at, Op::Select, &[c, a, b])).collect()
            }
            Operation::MatMul { of, columns, matrix } => {
                let rows = matrix.len() / columns;
                let mut results = Vec::with_capacity(count);
                for row in forms[*of].chunks(rows) {
                    for k in 0..*columns {
                        let mut sum = Form::default();
                        for (c, x) in row.iter().enumerate() {
                            sum = self.sum(graph, at, sum, x, matrix[c * columns + k] as i64)?;
                        }
                        results.push(sum);
                    }
                }
                Ok(results)
            }
            Operation::Reduce(kind, of, axes) => {
                let mut results: Vec<Option<Form>> = vec![None; count];
                for (to, x) in positions_without(&graph.node(*of).shape, axes).into_iter().zip(&forms[*of]) {
                    results[to] = Some(match results[to].take() {
                        None => x.clone(),
                        Some(total) if *kind == Reduction::Sum => self.sum(graph, at, total, x, 1)?,
                        Some(total) => self.binary(graph, at, kind.binary(), &total, x)?,
                    });
                }
                Ok(results.into_iter().map(Option::unwrap_or_default).collect())
            }
            Operation::Polynomial(of, coefficients) if coefficients.len() <= 2 => {
                let [constant, factor] = [0, 1].map(|k| coefficients.get(k).map_or(0, |&c| c as i64));
                let of = forms[*of].iter();
                of.map(|x| self.sum(graph, at, Form::constant(constant), x, factor)).collect()
            }
            Operation::Polynomial(of, _) => {
                forms[*of].iter().map(|x| self.apply(graph, at, Op::Polynomial(at), &[x])).collect()
            }
            Operation::Table { of, .. } => {
                forms[*of].iter().map(|x| self.apply(graph, at, Op::Table(at), &[x])).collect()
            }
            Operation::Function { .. } => {
                Err(CompileError::unsupported(graph, at, "a table of its values: values[x]").into())
            }
            Operation::Sort(..)
            | Operation::ArgMax(..)
            | Operation::OrderStatistic { .. }
            | Operation::Top { .. }
            | Operation::Sparse { .. }
            | Operation::Within(..) => Err(CompileError::unsupported(graph, at, "").into()),
        }
    }

    fn unary(&mut self, graph: &Graph, at: usize, kind: Unary, x: &Form) -> Result<Form> {
        match kind {
            Unary::Restated => Ok(x.clone()),
            Unary::Neg => self.sum(graph, at, Form::default(), x, -1),
            Unary::Not => self.sum(graph, at, Form::constant(1), x, -1),
            Unary::Abs | Unary::Sign => self.apply(graph, at, Op::Unary(kind), &[x]),
        }
    }

    fn binary(&mut self, graph: &Graph, at: usize, kind: Binary, a: &Form, b: &Form) -> Result<Form> {
        match kind {
            Binary::Add | Binary::Sub => {
                self.count(graph, at, a.terms.len())?;
                self.sum(graph, at, a.clone(), b, if kind == Binary::Add { 1 } else { -1 })
            }
            Binary::Mul if b.terms.is_empty() => self.sum(graph, at, Form::default(), a, b.constant),
            Binary::Mul if a.terms.is_empty() => self.sum(graph, at, Form::default(), b, a.constant),
            _ => self.apply(graph, at, Op::Binary(kind), &[a, b]),
        }
    }

    /// `a + factor b`.
    fn sum(&mut self, graph: &Graph, at: usize, a: Form, b: &Form, factor: i64) -> Result<Form> {
        self.count(graph, at, 1 + b.terms.len())?;
        let sum = a.plus(b, factor);
        sum.ok_or_else(|| CompileError::unsupported(graph, at, "smaller factors: they are of 64 bits").into())
    }

    /// A function of the inputs that these forms depend on.
    fn apply(&mut self, graph: &Graph, at: usize, op: Op, operands: &[&Form]) -> Result<Form> {
        let inputs: BTreeSet<usize> = operands.iter().flat_map(|form| form.inputs()).collect();
        if inputs.is_empty() {
            return Ok(Form::constant(self.functions.apply(op, &|at| operands[at].constant)));
        }
        if inputs.len() > 2 {
            let needed = format!("a function of at most two encrypted numbers: this one depends on {}", inputs.len());
            return Err(CompileError::unsupported(graph, at, &needed).into());
        }
        Ok(Form::atom(self.call(op, operands, &inputs)))
    }

    /// The call of an operation on forms of one or two inputs.
    fn call(&mut self, op: Op, operands: &[&Form], inputs: &BTreeSet<usize>) -> Atom {
        let mut inputs: Vec<usize> = inputs.iter().copied().collect();
        // The larger first, so that all functions share one domain.
        inputs.sort_by_key(|&input| (Reverse(self.ranges[input][1] - self.ranges[input][0]), input));
        let name = |input: usize| inputs.iter().position(|&known| known == input).unwrap_or(0);
        let operands = operands.iter().map(|form| form.renamed(&name)).collect();
        let ranges = inputs.iter().map(|&input| self.ranges[input]).collect();
        Atom::Call(self.functions.insert(Composed { op, operands, ranges }), inputs)
    }

    /// A form modulo [`MODULUS`] with one function for each set of inputs, into which go functions of parts of them, and these
    /// inputs themselves.
    fn fused(&mut self, form: &Form) -> Form {
        let t = MODULUS.cast_signed();
        let residues = form.terms.iter().map(|(atom, c)| (atom.clone(), c.rem_euclid(t)));
        let left: Vec<(Atom, i64)> = residues.filter(|(_, c)| *c != 0).collect();
        let calls = left.iter().filter(|(atom, _)| matches!(atom, Atom::Call(..)));
        let mut sets: Vec<BTreeSet<usize>> = calls.map(|(atom, _)| atom.inputs().iter().copied().collect()).collect();
        sets.sort_by_key(|set| Reverse(set.len()));
        // The first set that has a pair of inputs, or an input alone.
        let mut first: HashMap<BTreeSet<usize>, usize> = HashMap::new();
        for (at, set) in sets.iter().enumerate() {
            first.entry(set.clone()).or_insert(at);
            set.iter().for_each(|&input| {
                first.entry([input].into()).or_insert(at);
            });
        }
        let (mut own, mut terms) = (vec![BTreeMap::new(); sets.len()], BTreeMap::new());
        for (atom, c) in left {
            let set = first.get(&atom.inputs().iter().copied().collect());
            set.map_or(&mut terms, |&at| &mut own[at]).insert(atom, c);
        }
        for (set, own) in sets.iter().zip(own) {
            let atom = match own.iter().next() {
                None => continue,
                Some((atom, 1)) if own.len() == 1 => atom.clone(),
                Some(_) => self.call(Op::Sum(MODULUS), &[&Form { terms: own, constant: 0 }], set),
            };
            terms.insert(atom, 1);
        }
        Form { terms, constant: form.constant.rem_euclid(t) }
    }
}
