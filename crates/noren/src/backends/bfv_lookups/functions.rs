//! Functions of one or two integers, composed of operations: equal ones are held once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::graph::dag::Graph;
use crate::graph::operation::{self, Operation};

/// An input element, or a function of one or two of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Atom {
    /// An input element.
    Input(usize),
    /// A function, by its position, of input elements.
    Call(usize, Vec<usize>),
}

/// An affine combination of atoms.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Form {
    pub(super) terms: BTreeMap<Atom, i64>,
    pub(super) constant: i64,
}

/// An operation on numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Op {
    Unary(operation::Unary),
    Binary(operation::Binary),
    Select,
    /// The polynomial of a node of the graph.
    Polynomial(usize),
    /// The table of a node of the graph.
    Table(usize),
    /// The sum modulo a number of the only operand's terms.
    Sum(u64),
}

/// A function: an operation on combinations of its arguments and of functions of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Composed {
    pub(super) op: Op,
    pub(super) operands: Vec<Form>,
    /// The lowest and the highest value of each argument.
    pub(super) ranges: Vec<[i64; 2]>,
}

/// Functions, each after those that it calls.
#[derive(Debug)]
pub(super) struct Functions {
    graph: Arc<Graph>,
    all: Vec<Composed>,
    positions: HashMap<Composed, usize>,
}

impl Form {
    pub(super) fn constant(value: i64) -> Self {
        Self { constant: value, ..Self::default() }
    }

    pub(super) fn atom(atom: Atom) -> Self {
        Self { terms: [(atom, 1)].into(), constant: 0 }
    }

    /// `self + factor other`; `None` for coefficients past 64 bits.
    pub(super) fn plus(mut self, other: &Self, factor: i64) -> Option<Self> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for (atom, coefficient) in &other.terms {
            let to = self.terms.entry(atom.clone()).or_insert(0);
            *to = to.checked_add(coefficient.checked_mul(factor)?)?;
            if *to == 0 {
                self.terms.remove(atom);
            }
        }
        Some(self)
    }

    /// The input elements that it depends on.
    pub(super) fn inputs(&self) -> BTreeSet<usize> {
        self.terms.keys().flat_map(|atom| atom.inputs().iter().copied()).collect()
    }

    /// The same of other inputs.
    pub(super) fn renamed(&self, name: &dyn Fn(usize) -> usize) -> Self {
        let terms = self.terms.iter().map(|(atom, &c)| (atom.renamed(name), c)).collect();
        Self { terms, constant: self.constant }
    }
}

impl Atom {
    pub(super) fn inputs(&self) -> &[usize] {
        match self {
            Self::Input(input) => std::slice::from_ref(input),
            Self::Call(_, arguments) => arguments,
        }
    }

    fn renamed(&self, name: &dyn Fn(usize) -> usize) -> Self {
        match self {
            Self::Input(input) => Self::Input(name(*input)),
            Self::Call(function, arguments) => Self::Call(*function, arguments.iter().map(|&at| name(at)).collect()),
        }
    }
}

impl Functions {
    pub(super) fn new(graph: &Arc<Graph>) -> Self {
        Self { graph: Arc::clone(graph), all: Vec::new(), positions: HashMap::new() }
    }

    /// The position of a function.
    pub(super) fn insert(&mut self, function: Composed) -> usize {
        let next = self.all.len();
        let position = *self.positions.entry(function.clone()).or_insert(next);
        if position == next {
            self.all.push(function);
        }
        position
    }

    pub(super) fn get(&self, function: usize) -> &Composed {
        &self.all[function]
    }

    /// How many values each argument of a function has.
    pub(super) fn sizes(&self, function: usize) -> Vec<usize> {
        self.all[function].ranges.iter().map(|[low, high]| (high - low + 1) as usize).collect()
    }

    /// All calls that a function consists of, in terms of its arguments, operands before what is computed from them.
    pub(super) fn calls(&self, function: usize) -> Vec<(usize, Vec<usize>)> {
        let mut found = BTreeSet::new();
        let mut left = vec![(function, (0..self.all[function].ranges.len()).collect::<Vec<_>>())];
        while let Some((function, arguments)) = left.pop() {
            if !found.insert((function, arguments.clone())) {
                continue;
            }
            for operand in &self.all[function].operands {
                for atom in operand.terms.keys() {
                    if let Atom::Call(inner, of) = atom {
                        left.push((*inner, of.iter().map(|&at| arguments[at]).collect()));
                    }
                }
            }
        }
        found.into_iter().collect()
    }

    /// The values of a function, given by its [calls](Self::calls), at points: a list of numbers for each argument.
    pub(super) fn values(&self, calls: &[(usize, Vec<usize>)], points: &[Vec<i64>]) -> Vec<i64> {
        let mut known: HashMap<&(usize, Vec<usize>), Vec<i64>> = HashMap::new();
        for call in calls {
            let (function, arguments) = call;
            let Composed { op, operands, .. } = &self.all[*function];
            let column = |form: &Form| {
                let mut sums = vec![form.constant; points[0].len()];
                for (atom, &coefficient) in &form.terms {
                    let inner;
                    let values = match atom {
                        Atom::Input(at) => &points[arguments[*at]],
                        Atom::Call(function, of) => {
                            inner = (*function, of.iter().map(|&at| arguments[at]).collect());
                            &known[&inner]
                        }
                    };
                    let add = |sum: i64, value: i64| match op {
                        Op::Sum(t) => (sum + coefficient * value.rem_euclid(t.cast_signed())) % t.cast_signed(),
                        // Operands are numbers of at most 2^53: they are exact modulo 2^64.
                        _ => sum.wrapping_add(coefficient.wrapping_mul(value)),
                    };
                    sums.iter_mut().zip(values).for_each(|(sum, &value)| *sum = add(*sum, value));
                }
                sums
            };
            let operands: Vec<Vec<i64>> = operands.iter().map(column).collect();
            let value = |i: usize| {
                let of = |at: usize| operands[at][i];
                self.apply(*op, &of)
            };
            known.insert(call, (0..points[0].len()).map(value).collect());
        }
        calls.last().and_then(|call| known.remove(call)).unwrap_or_default()
    }

    /// An operation on numbers, as the graph has it.
    pub(super) fn apply(&self, op: Op, of: &dyn Fn(usize) -> i64) -> i64 {
        let x = of(0) as f64;
        let result = match op {
            Op::Sum(_) => return of(0),
            Op::Unary(kind) => kind.of(x),
            Op::Binary(kind) => kind.of(x, of(1) as f64),
            Op::Select => return if of(0) != 0 { of(1) } else { of(2) },
            // The result is a number of at most 2^53: it is exact modulo 2^64.
            Op::Polynomial(at) => match &self.graph.node(at).operation {
                Operation::Polynomial(_, coefficients) => {
                    let step = |value: i64, &c: &f64| value.wrapping_mul(of(0)).wrapping_add(c as i64);
                    return coefficients.iter().rev().fold(0, step);
                }
                _ => f64::NAN,
            },
            Op::Table(at) => match &self.graph.node(at).operation {
                Operation::Table { first, values, .. } => {
                    values.get((of(0) - first) as usize).copied().unwrap_or(f64::NAN)
                }
                _ => f64::NAN,
            },
        };
        result as i64
    }
}
