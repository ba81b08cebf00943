//! How many bootstraps the nodes of a graph take: [`run`] without ciphertexts, with bounds on the digits of each column, so that
//! digits which are known to be 0 are not counted.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use noren_rlwe::error::Result;

use crate::backends::tfhe::algebra::{ColumnAlgebra, Positions, Table};
use crate::backends::tfhe::columns::{element_of, run};
use crate::backends::tfhe::elements::DIGIT_BITS;
use crate::backends::tfhe::widths::Types;
use crate::graph::dag::Graph;
use crate::graph::shape::size;
use crate::programs::columns::lookup::CLEAN;
use crate::programs::columns::{Binary, Element, Unary};
use crate::radix::{Comparison, Cost, Digit, Operation, Shape, exchanges};
use crate::schemes::tfhe::Encoding;

/// A truth value that comes from encryption or from a gate.
const TRUTH: Digit = Digit { most: 1, ..Digit::FRESH };

/// The bootstraps of a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// Bootstraps.
    pub(super) bootstraps: usize,
    /// How many rounds of them follow one another.
    pub(super) rounds: usize,
    /// Circuit bootstraps of digits.
    pub(super) circuit_bootstraps: usize,
}

impl Count {
    /// Bootstraps of both kinds.
    pub(super) const fn all(&self) -> usize {
        self.bootstraps + self.circuit_bootstraps
    }
}

/// A column without ciphertexts: bounds on the digits of all of its elements.
#[derive(Debug, Clone)]
struct Blank {
    element: Element,
    count: usize,
    digits: Rc<[Digit]>,
}

impl Blank {
    /// Bounds for each digit, by its place.
    fn new(element: Element, count: usize, digit: impl Fn(u32) -> Digit) -> Self {
        let places = element.bits().map_or(1, |bits| bits / DIGIT_BITS);
        Self { element, count, digits: (0..places).map(digit).collect() }
    }

    /// Elements of both: as many as of this one.
    fn or(&self, other: &Self) -> Self {
        if Rc::ptr_eq(&self.digits, &other.digits) {
            return self.clone();
        }
        let digits = self.digits.iter().zip(&*other.digits).map(|(a, b)| a.or(*b)).collect();
        Self { digits, ..*self }
    }

    /// `count` elements, each of any of some columns, of which there is one at least.
    fn of_any<'a>(columns: impl Iterator<Item = &'a Self>, count: usize) -> Self {
        let all = columns.cloned().reduce(|all, column| all.or(&column)).expect("a column");
        Self { count, ..all }
    }
}

/// An operation, whether it is on one element, and the digits of its operands, with how many in a row are alike.
type Key = (Operation, bool, Vec<(usize, Vec<(u64, u64)>)>);
/// The cost of operations, and the digits of their results.
type Costs = HashMap<Key, (Cost, Vec<Rc<[Digit]>>)>;

/// Counts the bootstraps of each node.
struct Counter {
    encoding: Encoding,
    node: Cell<usize>,
    counts: RefCell<Vec<Count>>,
    /// Those of operations so far.
    costs: RefCell<Costs>,
}

/// The bootstraps of each node; none where no output depends on it.
///
/// # Errors
/// None of graphs that columns evaluate.
pub(super) fn counts(graph: &Graph, types: &Types, encoding: Encoding) -> Result<Vec<Count>> {
    let counts = RefCell::new(vec![Count::default(); graph.nodes().len()]);
    let counter = Counter { encoding, node: Cell::new(0), counts, costs: RefCell::default() };
    let input = |at| {
        let (element, count) = (element_of(graph, at)?, size(&graph.node(at).shape).unwrap_or(0));
        Ok(Blank::new(element, count, |_| if element == Element::Bool { TRUTH } else { Digit::FRESH }))
    };
    let inputs = graph.inputs().into_iter().map(input).collect::<Result<Vec<_>>>()?;
    run(graph, types, &counter, &inputs)?;
    Ok(counter.counts.into_inner())
}

impl Counter {
    fn add(&self, bootstraps: usize, rounds: usize) {
        let count = &mut self.counts.borrow_mut()[self.node.get()];
        count.bootstraps += bootstraps;
        count.rounds += rounds;
    }

    /// An operation on each element, and the digits of one of its results, as elements of a type.
    fn apply(&self, operation: Operation, operands: &[&Blank], (element, result): (Element, usize)) -> Blank {
        self.results(operation, operands, element).swap_remove(result)
    }

    /// An operation on each element, and the digits of all its results, as elements of a type.
    fn results(&self, operation: Operation, operands: &[&Blank], element: Element) -> Vec<Blank> {
        let count = operands[0].count;
        let bits = |digits: &[Digit]| digits.iter().map(|digit| (digit.most, digit.noise.to_bits())).collect();
        let runs = operands.chunk_by(|a, b| Rc::ptr_eq(&a.digits, &b.digits) || a.digits == b.digits);
        let key = (operation, count == 1, runs.map(|run| (run.len(), bits(&run[0].digits))).collect());
        let mut costs = self.costs.borrow_mut();
        let (cost, results) = costs.entry(key).or_insert_with(|| {
            let digits: Vec<&Rc<[Digit]>> = operands.iter().map(|blank| &blank.digits).collect();
            let (cost, results) = operation.cost_of(&digits, if count == 1 { Shape::Flat } else { Shape::Lean });
            (cost, results.into_iter().map(Rc::from).collect())
        });
        self.add(count * cost.bootstraps, cost.rounds);
        results.iter().map(|digits| Blank { element, count, digits: Rc::clone(digits) }).collect()
    }

    /// An operation with one integer as result, of the type of the first operand.
    fn integer(&self, operation: Operation, operands: &[&Blank]) -> Blank {
        self.apply(operation, operands, (operands[0].element, 0))
    }

    /// Gates of truth values side by side, as many as there are elements.
    fn gates(&self, count: usize) -> Blank {
        self.add(count, 1);
        Blank::new(Element::Bool, count, |_| TRUTH)
    }
}

impl ColumnAlgebra for Counter {
    type Column = Blank;

    fn begin(&self, node: usize) {
        self.node.set(node);
    }

    fn element(&self, column: &Blank) -> Element {
        column.element
    }

    fn count(&self, column: &Blank) -> usize {
        column.count
    }

    fn trivial(&self, element: Element, numbers: &[f64], count: usize, _: Positions<'_>) -> Result<Blank> {
        let words: Vec<_> = numbers.iter().map(|&x| element.word(element.wrapped(x as i128))).collect();
        let most = |place: u32| words.iter().map(|word| word >> (DIGIT_BITS * place) & Digit::FRESH.most).max();
        let digit = |place| Digit { most: most(place).unwrap_or(0), noise: 0.0 };
        Ok(Blank::new(element, count, digit))
    }

    fn gather(&self, column: &Blank, count: usize, _: Positions<'_>) -> Blank {
        Blank { count, ..column.clone() }
    }

    fn gather_or_zero(&self, column: &Blank, positions: &[i64]) -> Result<Blank> {
        match positions.iter().all(|&at| at < 0) {
            true => self.trivial(column.element, &[0.0], positions.len(), &Vec::new),
            false => Ok(self.gather(column, positions.len(), &Vec::new)),
        }
    }

    fn cast(&self, column: &Blank, to: Element) -> Result<Blank> {
        let from = column.element;
        match (from.bits(), to.bits()) {
            _ if from == to => Ok(column.clone()),
            (_, None) => self.binary_known(Binary::Compare(Comparison::Ne), column, &[0.0], &Vec::new),
            (None, Some(_)) => {
                let zero = Digit { most: 0, noise: 0.0 };
                Ok(Blank::new(to, column.count, |place| if place == 0 { column.digits[0] } else { zero }))
            }
            (Some(_), Some(bits)) => {
                let bits = bits as usize;
                let cast = if from.is_signed() { Operation::CastSigned(bits) } else { Operation::Cast(bits) };
                Ok(self.apply(cast, &[column], (to, 0)))
            }
        }
    }

    fn unary(&self, kind: Unary, x: &Blank) -> Result<Blank> {
        Ok(match kind {
            Unary::Not if x.element == Element::Bool => x.clone(),
            Unary::Not => self.integer(Operation::Not, &[x]),
            Unary::Neg => self.integer(Operation::Neg, &[x]),
        })
    }

    fn binary(&self, kind: Binary, x: &Blank, y: &Blank) -> Result<Blank> {
        if x.element == Element::Bool {
            return Ok(self.gates(x.count));
        }
        let Some(operation) = kind.of_integers(x.element.is_signed()) else {
            let less = self.binary(Binary::Compare(Comparison::Lt), x, y)?;
            let [a, b] = if kind == Binary::Min { [x, y] } else { [y, x] };
            return self.select(&less, a, b);
        };
        let element = if matches!(kind, Binary::Compare(_)) { Element::Bool } else { x.element };
        Ok(self.apply(operation, &[x, y], (element, usize::from(kind == Binary::Rem))))
    }

    fn binary_known(&self, kind: Binary, x: &Blank, numbers: &[f64], at: Positions<'_>) -> Result<Blank> {
        let mut wrapped = numbers.iter().map(|&number| x.element.wrapped(number as i128));
        let number = wrapped.next().filter(|first| wrapped.all(|other| other == *first));
        match number.and_then(|number| kind.with_known(x.element, number)) {
            Some(operation) => Ok(self.integer(operation, &[x])),
            None => self.binary(kind, x, &self.trivial(x.element, numbers, x.count, at)?),
        }
    }

    fn select(&self, condition: &Blank, a: &Blank, b: &Blank) -> Result<Blank> {
        let count = a.count;
        Ok(match (a.element, self.encoding) {
            // A multiplexer is a sum of two gates.
            (Element::Bool, Encoding::Bits) => Blank { count, ..self.gates(2 * count) },
            (Element::Bool, Encoding::Integers { .. }) => {
                self.add(2 * count, 2);
                self.gates(count)
            }
            _ => self.apply(Operation::Select, &[condition, a, b], (a.element, 0)),
        })
    }

    fn fold(&self, kind: Binary, terms: &[Blank]) -> Result<Blank> {
        let mut terms = terms.to_vec();
        while terms.len() > 1 {
            // The halves of all pairs are one batch.
            let (pairs, each) = (terms.len() / 2, terms[0].count);
            let half = |first: usize| Blank::of_any(terms[first..2 * pairs].iter().step_by(2), pairs * each);
            let joined = Blank { count: each, ..self.binary(kind, &half(0), &half(1))? };
            terms.drain(..2 * pairs);
            terms.splice(..0, std::iter::repeat_n(joined, pairs));
        }
        Ok(terms.remove(0))
    }

    fn sum(&self, terms: &[Blank]) -> Result<Blank> {
        Ok(self.integer(Operation::Sum(terms.len()), &terms.iter().collect::<Vec<_>>()))
    }

    fn sort(&self, terms: &[Blank]) -> Result<Blank> {
        let (element, each) = (terms[0].element, terms[0].count);
        let exchange = if element.is_signed() { Operation::ExchangeSigned } else { Operation::Exchange };
        let mut terms = terms.to_vec();
        for layer in exchanges(terms.len()).iter().filter(|layer| !layer.is_empty()) {
            // All pairs of a layer are one batch.
            let left = Blank::of_any(layer.iter().map(|&(i, _)| &terms[i]), layer.len() * each);
            let right = Blank::of_any(layer.iter().map(|&(_, j)| &terms[j]), layer.len() * each);
            let results = self.results(exchange, &[&left, &right], element);
            let [low, high] = [0, 1].map(|at: usize| Blank { count: each, ..results[at].clone() });
            for &(i, j) in layer {
                (terms[i], terms[j]) = (low.clone(), high.clone());
            }
        }
        Ok(Blank::of_any(terms.iter(), terms.len() * each))
    }

    fn argmax(&self, terms: &[Blank]) -> Result<Blank> {
        let element = terms[0].element;
        let ordered = |term: &Blank| match element {
            Element::Signed(bits) => self.integer(Operation::AddKnown(1 << (bits - 1)), &[term]),
            _ => term.clone(),
        };
        let ordered: Vec<Blank> = terms.iter().map(ordered).collect();
        let bits = Element::narrowest(terms.len() - 1);
        let result = Element::Unsigned(bits);
        let numbers = self.apply(Operation::Argmax(terms.len()), &ordered.iter().collect::<Vec<_>>(), (result, 1));
        Ok(self.apply(Operation::Cast(bits as usize), &[&numbers], (result, 0)))
    }

    fn table(&self, table: &Table<'_>, operands: &[Blank]) -> Result<Blank> {
        let count = operands[0].count;
        for operand in operands {
            let noisy = operand.digits.iter().filter(|digit| digit.noise > CLEAN).count();
            self.add(count * noisy, usize::from(noisy > 0));
        }
        let found = self.trivial(table.output, table.values, count, &Vec::new)?;
        if table.is_direct {
            // A bootstrap has as many outputs as a ciphertext has room for values of the index.
            let bits: u32 = operands.iter().filter_map(|operand| operand.element.bits()).sum();
            let shared = (self.encoding.size() >> bits).max(1) as usize;
            self.add(count * found.digits.len().div_ceil(shared), 1);
        } else {
            let digits: usize = operands.iter().map(|operand| operand.digits.len()).sum();
            self.counts.borrow_mut()[self.node.get()].circuit_bootstraps += count * digits;
        }
        let digits = found.digits.iter().map(|digit| Digit { noise: 1.0, ..*digit }).collect();
        Ok(Blank { digits, ..found })
    }
}
