//! How many bootstraps the nodes of a graph take: [`run`](super::columns::run) without ciphertexts, with bounds on the digits of
//! each column, so that digits which are known to be 0 are not counted.

use std::collections::HashMap;
use std::rc::Rc;

use noren_rlwe::error::{Error, Result};

use crate::backends::tfhe::columns::{MOST_TERMS, binary, element_of};
use crate::backends::tfhe::elements::DIGIT_BITS;
use crate::backends::tfhe::tables::Index;
use crate::backends::tfhe::widths::{Form, Types, form, turned, whole_numbers};
use crate::graph::dag::Graph;
use crate::graph::operation::{Binary, Operation, Reduction, Unary};
use crate::graph::shape::size;
use crate::programs::columns::lookup::CLEAN;
use crate::programs::columns::{self, Element};
use crate::radix::{self, Comparison, Digit, Shape};
use crate::schemes::tfhe::Encoding;

/// The relation by which the smaller of signed integers is chosen, and those below 0 are found.
const LESS: columns::Binary = columns::Binary::Compare(Comparison::Lt);

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

/// A column: bounds on the digits of all of its elements.
#[derive(Debug, Clone)]
struct Blank {
    element: Element,
    digits: Rc<[Digit]>,
}

impl Blank {
    fn truth(noise: f64) -> Self {
        Self { element: Element::Bool, digits: [Digit { most: 1, noise }].into() }
    }

    /// Elements of both.
    fn or(&self, other: &Self) -> Self {
        let digits = self.digits.iter().zip(&*other.digits).map(|(a, b)| a.or(*b)).collect();
        Self { element: self.element, digits }
    }
}

/// An operand: numbers in clear, or a column.
#[derive(Debug, Clone)]
enum Operand {
    Constant(Rc<[f64]>),
    Column(Blank),
}

/// The cost of an operation on operands of these digits, and the digits of its results.
type Costs = HashMap<(radix::Operation, Vec<Vec<(u64, u64)>>, bool), (radix::Cost, Vec<Rc<[Digit]>>)>;

/// The nodes so far.
struct DryRun<'a> {
    graph: &'a Graph,
    types: &'a Types,
    encoding: Encoding,
    operands: Vec<Operand>,
    costs: Costs,
    /// The bootstraps of the current node.
    count: Count,
}

/// The bootstraps of each node; none where no output depends on it.
///
/// # Errors
/// None of graphs that columns evaluate.
pub(super) fn counts(graph: &Graph, types: &Types, encoding: Encoding) -> Result<Vec<Count>> {
    let mut dry =
        DryRun { graph, types, encoding, operands: Vec::new(), costs: HashMap::new(), count: Count::default() };
    let mut counts = Vec::with_capacity(graph.nodes().len());
    for at in 0..graph.nodes().len() {
        dry.count = Count::default();
        let operand = if types.is_used(at) { dry.node(at)? } else { Operand::Constant(Rc::default()) };
        dry.operands.push(operand);
        counts.push(dry.count);
    }
    for &output in graph.outputs() {
        if let Operand::Column(blank) = dry.operands[output].clone() {
            dry.count = counts[output];
            dry.cast(&blank, element_of(graph, output)?, dry.size(output));
            counts[output] = dry.count;
        }
    }
    Ok(counts)
}

impl DryRun<'_> {
    fn size(&self, at: usize) -> usize {
        size(&self.graph.node(at).shape).unwrap_or(0)
    }

    /// A node, in the type of its result.
    fn node(&mut self, at: usize) -> Result<Operand> {
        let graph = self.graph;
        let found = match &graph.node(at).operation {
            Operation::Input { .. } => {
                let element = element_of(graph, at)?;
                self.fresh(element)
            }
            Operation::Constant { values, .. } => return Ok(Operand::Constant(values.as_slice().into())),
            Operation::Gather { of, positions, .. } => match self.operands[*of].clone() {
                Operand::Constant(values) => {
                    let value = |&at: &i64| usize::try_from(at).map_or(0.0, |at| values[at]);
                    return Ok(Operand::Constant(positions.iter().map(value).collect()));
                }
                Operand::Column(blank) if positions.iter().all(|&at| at < 0) => self.trivial(blank.element, &[]),
                Operand::Column(blank) => blank,
            },
            Operation::Unary(kind, of) => self.unary(at, *kind, *of),
            Operation::Binary(kind, a, b) => self.binary(at, *kind, *a, *b),
            Operation::Select(condition, a, b) => {
                let (wide, count) = (self.types.operands(at), self.size(at));
                let condition = self.spread(at, *condition, Element::Bool);
                let (a, b) = (self.spread(at, *a, wide), self.spread(at, *b, wide));
                self.select(&condition, &a, &b, count)
            }
            Operation::MatMul { of, columns, matrix } => self.matrix(at, *of, *columns, matrix),
            Operation::Reduce(kind, of, _) => self.reduced(at, *kind, *of),
            Operation::Polynomial(of, coefficients) => self.polynomial(at, *of, coefficients),
            Operation::Table { values, .. } => self.table(at, values)?,
            Operation::Function { .. } | Operation::Sort(..) | Operation::ArgMax(..) => {
                return Err(Error::parameter("operation", graph.node(at).operation.name(), "one on integers"));
            }
        };
        Ok(Operand::Column(self.cast(&found, self.types.result(at), self.size(at))))
    }

    /// Digits that come from encryption.
    fn fresh(&self, element: Element) -> Blank {
        match element.bits() {
            Some(bits) => Blank { element, digits: vec![Digit::FRESH; (bits / DIGIT_BITS) as usize].into() },
            None => Blank::truth(Digit::FRESH.noise),
        }
    }

    /// Numbers in clear as a column.
    fn trivial(&self, element: Element, values: &[f64]) -> Blank {
        let zero = Digit { most: 0, noise: 0.0 };
        let mut digits: Vec<Digit> = self.fresh(element).digits.iter().map(|_| zero).collect();
        for &value in values {
            let word = element.word(element.wrapped(value as i128));
            for (place, digit) in digits.iter_mut().enumerate() {
                let of_word = match element {
                    Element::Bool => word,
                    _ => word >> (DIGIT_BITS as usize * place) & Digit::FRESH.most,
                };
                digit.most = digit.most.max(of_word);
            }
        }
        Blank { element, digits: digits.into() }
    }

    /// An operand as elements of a type, broadcast to the shape of the node.
    fn spread(&mut self, at: usize, of: usize, element: Element) -> Blank {
        match self.operands[of].clone() {
            Operand::Constant(values) => self.trivial(element, &values),
            Operand::Column(blank) => self.cast(&blank, element, self.size(at).min(self.size(of))),
        }
    }

    /// An operation on each of `count` elements, and the digits of its results.
    fn apply(&mut self, operation: radix::Operation, operands: &[&Blank], count: usize) -> Vec<Rc<[Digit]>> {
        let is_flat = count == 1;
        let bits = |blank: &&Blank| blank.digits.iter().map(|digit| (digit.most, digit.noise.to_bits())).collect();
        let found = self.costs.entry((operation, operands.iter().map(bits).collect(), is_flat)).or_insert_with(|| {
            let digits: Vec<&Rc<[Digit]>> = operands.iter().map(|blank| &blank.digits).collect();
            let (cost, results) = operation.cost_of(&digits, if is_flat { Shape::Flat } else { Shape::Lean });
            (cost, results.into_iter().map(Rc::from).collect())
        });
        self.count.bootstraps += count * found.0.bootstraps;
        self.count.rounds += found.0.rounds;
        found.1.clone()
    }

    /// An operation with one integer as result, of the type of the first operand.
    fn integer(&mut self, operation: radix::Operation, operands: &[&Blank], count: usize) -> Blank {
        Blank { element: operands[0].element, digits: self.apply(operation, operands, count).swap_remove(0) }
    }

    /// Gates of truth values side by side.
    fn gates(&mut self, count: usize) -> Blank {
        self.count.bootstraps += count;
        self.count.rounds += 1;
        Blank::truth(1.0)
    }

    fn cast(&mut self, blank: &Blank, to: Element, count: usize) -> Blank {
        let from = blank.element;
        if from == to {
            return blank.clone();
        }
        match (from.bits(), to.bits()) {
            (_, None) => {
                let zeros = self.trivial(from, &[]);
                self.each(columns::Binary::Compare(Comparison::Ne), blank, &zeros, count)
            }
            (None, Some(_)) => {
                let mut digits = self.trivial(to, &[]).digits.to_vec();
                digits[0] = blank.digits[0];
                Blank { element: to, digits: digits.into() }
            }
            (Some(_), Some(bits)) => {
                let bits = bits as usize;
                let cast =
                    if from.is_signed() { radix::Operation::CastSigned(bits) } else { radix::Operation::Cast(bits) };
                Blank { element: to, ..self.integer(cast, &[blank], count) }
            }
        }
    }

    fn select(&mut self, condition: &Blank, a: &Blank, b: &Blank, count: usize) -> Blank {
        match (a.element, self.encoding) {
            // A multiplexer is a sum of two gates.
            (Element::Bool, Encoding::Bits) => self.gates(2 * count),
            (Element::Bool, Encoding::Integers { .. }) => {
                self.gates(count);
                self.gates(count);
                self.gates(count)
            }
            _ => Blank { element: a.element, ..self.integer(radix::Operation::Select, &[condition, a, b], count) },
        }
    }

    fn unary(&mut self, at: usize, kind: Unary, of: usize) -> Blank {
        let (wide, count) = (self.types.operands(at), self.size(at));
        let x = self.spread(at, of, wide);
        let zeros = self.trivial(wide, &[]);
        match kind {
            Unary::Not if wide == Element::Bool => x,
            Unary::Not => self.integer(radix::Operation::Not, &[&x], count),
            Unary::Neg => self.integer(radix::Operation::Neg, &[&x], count),
            Unary::Abs if !wide.is_signed() => x,
            Unary::Abs => {
                let negative = self.each(LESS, &x, &zeros, count);
                let turned = self.integer(radix::Operation::Neg, &[&x], count);
                self.select(&negative, &turned, &x, count)
            }
            Unary::Sign => {
                let above = self.each(columns::Binary::Compare(Comparison::Gt), &x, &zeros, count);
                let below = self.each(LESS, &x, &zeros, count);
                let [above, below] = [above, below].map(|truth| self.cast(&truth, wide, count));
                self.integer(radix::Operation::Sub, &[&above, &below], count)
            }
        }
    }

    fn binary(&mut self, at: usize, kind: Binary, a: usize, b: usize) -> Blank {
        let (wide, count) = (self.types.operands(at), self.size(at));
        match form(self.graph, at) {
            Form::Gate => {
                for of in [a, b] {
                    self.spread(at, of, wide);
                }
                self.gates(count)
            }
            Form::Mask { of, mask } => {
                let x = self.spread(at, of, wide);
                self.known(columns::Binary::And, &x, &[mask as f64], count)
            }
            Form::Right { of, by } => {
                let x = self.spread(at, of, wide);
                self.known(columns::Binary::ShiftRight, &x, &[f64::from(by)], count)
            }
            Form::Against { of, kind, numbers } => {
                let values = whole_numbers(self.graph, kind, self.graph.node(of).range, numbers);
                let x = self.spread(at, of, wide);
                self.known(binary(kind), &x, &values, count)
            }
            Form::Low | Form::Whole => match (self.operands[a].clone(), self.operands[b].clone(), turned(kind)) {
                (_, Operand::Constant(values), _) => {
                    let x = self.spread(at, a, wide);
                    self.known(binary(kind), &x, &values, count)
                }
                (Operand::Constant(values), _, Some(turned)) => {
                    let x = self.spread(at, b, wide);
                    self.known(binary(turned), &x, &values, count)
                }
                _ => {
                    let (x, y) = (self.spread(at, a, wide), self.spread(at, b, wide));
                    self.each(binary(kind), &x, &y, count)
                }
            },
        }
    }

    /// An operation of each element with numbers in clear.
    fn known(&mut self, kind: columns::Binary, x: &Blank, values: &[f64], count: usize) -> Blank {
        let mut words = values.iter().map(|&value| x.element.wrapped(value as i128));
        let number = words.next().filter(|first| words.all(|other| other == *first));
        match number.and_then(|number| kind.with_known(x.element, number)) {
            Some(operation) => self.integer(operation, &[x], count),
            None => {
                let numbers = self.trivial(x.element, values);
                self.each(kind, x, &numbers, count)
            }
        }
    }

    /// An operation on two columns of a type.
    fn each(&mut self, kind: columns::Binary, x: &Blank, y: &Blank, count: usize) -> Blank {
        if x.element == Element::Bool {
            return self.gates(count);
        }
        let Some(operation) = kind.of_integers(x.element.is_signed()) else {
            let less = self.each(LESS, x, y, count);
            let [a, b] = if kind == columns::Binary::Min { [x, y] } else { [y, x] };
            return self.select(&less, a, b, count);
        };
        let mut results = self.apply(operation, &[x, y], count);
        let digits = results.swap_remove(usize::from(kind == columns::Binary::Rem));
        let is_relation = matches!(kind, columns::Binary::Compare(_));
        Blank { element: if is_relation { Element::Bool } else { x.element }, digits }
    }

    fn reduced(&mut self, at: usize, kind: Reduction, of: usize) -> Blank {
        let (wide, count) = (self.types.operands(at), self.size(at));
        let terms = self.size(of) / count.max(1);
        let mut term = match self.operands[of].clone() {
            Operand::Constant(values) => self.trivial(wide, &values),
            Operand::Column(blank) => self.times(terms, |dry| dry.cast(&blank, wide, count)),
        };
        if kind == Reduction::Sum {
            return self.sum(&term, terms, count);
        }
        // By halves: of an odd number the last one waits.
        let (mut left, mut waiting) = (terms, None);
        while left > 1 {
            let right = match waiting.take_if(|_| left % 2 == 0) {
                Some(last) if left == 2 => last,
                Some(last) => term.or(&last),
                None => term.clone(),
            };
            let joined = self.each(binary(kind.binary()), &term, &right, left / 2 * count);
            if left % 2 == 1 {
                waiting = waiting.or(Some(term));
            }
            (term, left) = (joined, left.div_ceil(2));
        }
        term
    }

    /// Work that is done so often, each time on operands with the same bounds.
    fn times(&mut self, times: usize, work: impl FnOnce(&mut Self) -> Blank) -> Blank {
        let before = self.count;
        let found = work(self);
        self.count.bootstraps = before.bootstraps + times * (self.count.bootstraps - before.bootstraps);
        self.count.rounds = before.rounds + times * (self.count.rounds - before.rounds);
        found
    }

    /// The sum of terms that are alike, of many in groups.
    fn sum(&mut self, term: &Blank, terms: usize, count: usize) -> Blank {
        let (mut term, mut left) = (term.clone(), terms);
        while left > MOST_TERMS {
            let each = left.div_ceil(left.div_ceil(MOST_TERMS));
            let [full, last] = [left / each, left % each];
            let group = self.times(full, |dry| dry.sum_at_once(&vec![&term; each], count));
            term = match last {
                0 => group,
                last => self.sum_at_once(&vec![&term; last], count).or(&group),
            };
            left = full + usize::from(last > 0);
        }
        self.sum_at_once(&vec![&term; left], count)
    }

    fn sum_at_once(&mut self, terms: &[&Blank], count: usize) -> Blank {
        self.integer(radix::Operation::Sum(terms.len()), terms, count)
    }

    fn matrix(&mut self, at: usize, of: usize, columns: usize, matrix: &[f64]) -> Blank {
        let (wide, count) = (self.types.operands(at), self.size(at));
        let mut terms: Vec<Blank> = Vec::new();
        for entries in matrix.chunks(columns).filter(|entries| entries.iter().any(|&entry| entry != 0.0)) {
            let x = match self.operands[of].clone() {
                Operand::Constant(values) => self.trivial(wide, &values),
                Operand::Column(blank) => self.cast(&blank, wide, count.min(self.size(of))),
            };
            let is_one = |&entry: &f64| wide.wrapped(entry as i128) == 1;
            terms.push(if entries.iter().all(is_one) {
                x
            } else {
                self.known(columns::Binary::Mul, &x, entries, count)
            });
        }
        if terms.len() <= MOST_TERMS {
            return match terms.len() {
                0 => self.trivial(wide, &[]),
                _ => self.sum_at_once(&terms.iter().collect::<Vec<_>>(), count),
            };
        }
        let any = terms.iter().skip(1).fold(terms[0].clone(), |any, term| any.or(term));
        self.sum(&any, terms.len(), count)
    }

    fn polynomial(&mut self, at: usize, of: usize, coefficients: &[f64]) -> Blank {
        let (wide, count) = (self.types.operands(at), self.size(at));
        let x = self.spread(at, of, wide);
        let (last, rest) = coefficients.split_last().unwrap_or((&0.0, &[]));
        let mut value: Option<Blank> = None;
        for &c in rest.iter().rev() {
            let product = match &value {
                None if *last == 1.0 => x.clone(),
                None => self.known(columns::Binary::Mul, &x, &[*last], count),
                Some(value) => self.each(columns::Binary::Mul, value, &x, count),
            };
            value = Some(if c == 0.0 { product } else { self.known(columns::Binary::Add, &product, &[c], count) });
        }
        value.unwrap_or_else(|| self.trivial(wide, &[*last]))
    }

    fn table(&mut self, at: usize, values: &[f64]) -> Result<Blank> {
        let (graph, output, count) = (self.graph, self.types.result(at), self.size(at));
        let index = Index::of(graph, at).ok_or_else(|| Error::parameter("index of a table", "none", "an index"))?;
        let inputs = index.elements(graph);
        for (&(of, _), &input) in index.terms.iter().zip(&inputs) {
            let noisy = self.spread(at, of, input).digits.iter().filter(|digit| digit.noise > CLEAN).count();
            self.count.bootstraps += count * noisy;
            self.count.rounds += usize::from(noisy > 0);
        }
        let found = self.trivial(output, values);
        let digits: usize = inputs.iter().map(|&input| self.fresh(input).digits.len()).sum();
        if self.types.is_direct(at) {
            // A bootstrap has as many outputs as a ciphertext has room for values of the index.
            let shared = (self.encoding.size() >> self.types.operands(at).bits().unwrap_or(0)).max(1) as usize;
            self.count.bootstraps += count * found.digits.len().div_ceil(shared);
            self.count.rounds += 1;
        } else {
            self.count.circuit_bootstraps += count * digits;
        }
        let digit = |digit: &Digit| Digit { noise: 1.0, ..*digit };
        Ok(Blank { element: output, digits: found.digits.iter().map(digit).collect() })
    }
}
