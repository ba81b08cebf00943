//! A question as a graph on the bits of columns.
//!
//! Of the lower and the upper half of the bits of two codes, `equal = equal_low equal_high` and `above = above_high + equal_high
//! above_low`: products as deep as the logarithm of the bits.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use noren_rlwe::error::Result;

use crate::graph::dag::Graph;
use crate::graph::interval::Interval;
use crate::graph::operation::{Binary, Element, Operation, Reduction, Unary};
use crate::tables::codes::Codes;
use crate::tables::column::{Schema, Values};
use crate::tables::error::TableError;
use crate::tables::layout::Layout;
use crate::tables::question::{Condition, Measure, Question};

/// The most sums of a question.
const MOST_SUMS: usize = 1 << 12;

/// An input of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bits {
    /// 1 for each row that there is.
    Present,
    /// A bit of the codes of a column.
    Bit { column: usize, bit: usize },
}

impl Bits {
    /// The column whose bits these are.
    pub const fn column(self) -> Option<usize> {
        match self {
            Self::Present => None,
            Self::Bit { column, .. } => Some(column),
        }
    }
}

/// A sum over the rows of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Sum {
    /// Of ones.
    Count,
    /// Of a limb of the codes of a column.
    Limb { column: usize, limb: usize },
    /// Of the product of two limbs of the codes of a column.
    Product { column: usize, limbs: [usize; 2] },
    /// Of ones of the rows with a code.
    Code { column: usize, code: u64 },
    /// Of ones of the rows with a code from one on.
    From { column: usize, code: u64 },
}

/// A question as a graph.
#[derive(Debug)]
pub(super) struct Circuit {
    pub graph: Graph,
    pub inputs: Vec<Bits>,
    /// The codes of the columns of each group.
    pub groups: Vec<Vec<u64>>,
    /// The sums of each group, the number of its rows first; their outputs follow those of the group before.
    pub sums: Vec<Sum>,
    /// The bits of limbs that are added up, and of those that are multiplied.
    pub limb_bits: [usize; 2],
}

/// The node of the input that says which rows there are.
const PRESENT: usize = 0;

/// A truth value of each row.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Truth {
    False,
    True,
    Of(usize),
}

/// The other side of a comparison of the bits of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Against {
    /// The bits of a code.
    Code(u64),
    /// The same bits of another column.
    Column(usize),
}

impl Against {
    /// The other side for the lower bits, `low` of them, and for the upper ones.
    const fn halves(self, low: usize) -> [Self; 2] {
        match self {
            Self::Code(code) => [Self::Code(code & ((1 << low) - 1)), Self::Code(code >> low)],
            Self::Column(_) => [self, self],
        }
    }
}

/// A comparison: column, first bit, number of bits, and the other side.
type Comparison = (usize, usize, usize, Against);

struct Builder<'a> {
    schema: &'a Schema,
    graph: Graph,
    /// How many products each node is deep.
    depths: Vec<usize>,
    /// The nodes of the bits of columns.
    bits: HashMap<(usize, usize), usize>,
    /// Whether bits are the same.
    equal: HashMap<Comparison, usize>,
    /// Whether they are of a larger code.
    above: HashMap<Comparison, Truth>,
    /// Limbs of the codes of columns: by column, limb, and bits of limbs.
    limbs: HashMap<(usize, usize, usize), usize>,
}

impl Circuit {
    /// The graph of a question.
    ///
    /// # Errors
    /// [`TableError::Question`] for more groups and sums than are taken, and for a condition that no row can meet.
    pub fn new(question: &Question, layout: Layout) -> Result<Self> {
        let schema = &question.schema;
        let groups = groups(schema, question)?;
        let mut builder = Builder {
            schema,
            graph: Graph::default(),
            depths: Vec::new(),
            bits: HashMap::new(),
            equal: HashMap::new(),
            above: HashMap::new(),
            limbs: HashMap::new(),
        };
        let inputs = builder.inputs(question, layout)?;
        let condition = builder.condition(&question.condition)?;
        let mut masks = Vec::with_capacity(groups.len());
        for codes in &groups {
            let mut parts = vec![condition];
            for (&column, &code) in question.groups.iter().zip(codes) {
                parts.push(Truth::Of(builder.is(column, code)?));
            }
            masks.push(builder.product(parts)?);
        }
        if masks.contains(&Truth::False) {
            return Err(refused("a condition that no row can meet", "values that columns may have"));
        }
        let width = |mask: &Truth| {
            mask.node().map_or(1.0, |node| builder.graph.node(node).range.high - builder.graph.node(node).range.low)
        };
        let width = masks.iter().map(width).fold(1.0, f64::max);
        let limb_bits = [1, 2].map(|factors| layout.limb_bits(factors, width));
        let sums = sums(schema, question, limb_bits);
        let count = sums.len() * groups.len();
        if count > MOST_SUMS {
            return Err(refused(
                &format!("more than {MOST_SUMS} sums, in {} groups", groups.len()),
                "fewer groups, or quantiles of columns with fewer values",
            ));
        }
        let mut outputs = Vec::with_capacity(count);
        let mut addends = HashMap::new();
        for mask in masks {
            for &sum in &sums {
                outputs.push(builder.sum(mask, sum, limb_bits, &mut addends)?);
            }
        }
        let mut graph = builder.graph;
        graph.finish(outputs)?;
        Ok(Self { graph, inputs, groups, sums, limb_bits })
    }

    /// The most that a row adds to a sum.
    pub fn largest(&self, schema: &Schema, sum: Sum) -> i128 {
        let of_limb = |column: usize, limb: usize, bits: usize| {
            let held = limb_range(schema.columns[column].values.bits(), limb, bits);
            (1_i128 << held.len()) - 1
        };
        let [added, multiplied] = self.limb_bits;
        match sum {
            Sum::Count | Sum::Code { .. } | Sum::From { .. } => 1,
            Sum::Limb { column, limb } => of_limb(column, limb, added),
            Sum::Product { column, limbs: [a, b] } => of_limb(column, a, multiplied) * of_limb(column, b, multiplied),
        }
    }
}

fn refused(found: &str, needed: &str) -> noren_rlwe::error::Error {
    TableError::Question { found: found.to_owned(), needed: needed.to_owned() }.into()
}

/// The bits of a limb, of codes with `all` bits in limbs of `bits`.
fn limb_range(all: usize, limb: usize, bits: usize) -> Range<usize> {
    limb * bits..all.min((limb + 1) * bits)
}

/// The codes of the columns of each group, the last column first to change.
fn groups(schema: &Schema, question: &Question) -> Result<Vec<Vec<u64>>> {
    let mut groups = vec![Vec::new()];
    for &column in &question.groups {
        let count = schema.columns[column].values.count();
        if count.saturating_mul(groups.len() as u64) > MOST_SUMS as u64 {
            let found = format!("more than {MOST_SUMS} groups, by column {:?}", schema.columns[column].name);
            return Err(refused(&found, "columns with fewer values"));
        }
        let extended = |group: &Vec<u64>| -> Vec<Vec<u64>> {
            (0..count).map(|code| group.iter().copied().chain([code]).collect()).collect()
        };
        groups = groups.iter().flat_map(extended).collect();
    }
    Ok(groups)
}

/// The sums that the measures of a group follow from, the number of rows first.
fn sums(schema: &Schema, question: &Question, limb_bits: [usize; 2]) -> Vec<Sum> {
    let (mut sums, mut known) = (vec![Sum::Count], HashSet::from([Sum::Count]));
    let mut add = |sum: Sum| {
        // More than are taken are refused by their number.
        if sums.len() <= MOST_SUMS && known.insert(sum) {
            sums.push(sum);
        }
    };
    for (_, measure) in &question.measures {
        let Some(column) = measure.column() else { continue };
        let values = &schema.columns[column].values;
        let limbs = |bits: usize| values.bits().div_ceil(bits);
        match measure {
            Measure::Count => {}
            Measure::Sum(_) | Measure::Mean(_) | Measure::Variance { .. } => {
                (0..limbs(limb_bits[0])).for_each(|limb| add(Sum::Limb { column, limb }));
                let count = if matches!(measure, Measure::Variance { .. }) { limbs(limb_bits[1]) } else { 0 };
                for first in 0..count {
                    (first..count).for_each(|second| add(Sum::Product { column, limbs: [first, second] }));
                }
            }
            Measure::Quantile(..) | Measure::Minimum(_) | Measure::Maximum(_) => {
                (0..=(values.count() - 1).min(MOST_SUMS as u64)).for_each(|code| add(Sum::Code { column, code }));
            }
            Measure::Histogram(_, edges) => {
                let starts = starts(values, edges).into_iter().filter(|&code| code < values.count());
                starts.for_each(|code| add(Sum::From { column, code }));
            }
        }
    }
    sums
}

/// The first code of each interval between edges, and that behind the last one.
pub(super) fn starts(values: &Values, edges: &[f64]) -> Vec<u64> {
    let first = |codes: Codes| codes.intervals().first().map_or(values.count(), |[first, _]| *first);
    let (last, others) = edges.split_last().expect("edges");
    others.iter().map(|&edge| first(values.codes_from(edge))).chain([first(values.codes_above(*last))]).collect()
}

impl Builder<'_> {
    fn push(&mut self, operation: Operation, depth: usize) -> Result<usize> {
        let at = self.graph.push(operation, "")?;
        self.depths.resize(at, 0);
        self.depths.push(depth);
        Ok(at)
    }

    /// The inputs: whether there is a row, and all bits of the columns that are asked for.
    fn inputs(&mut self, question: &Question, layout: Layout) -> Result<Vec<Bits>> {
        let mut columns: Vec<usize> = question.measures.iter().filter_map(|(_, measure)| measure.column()).collect();
        columns.extend(&question.groups);
        question.condition.columns(&mut |column| columns.push(column));
        columns.sort_unstable();
        columns.dedup();
        let mut inputs = vec![Bits::Present];
        for column in columns {
            inputs.extend((0..self.schema.columns[column].values.bits()).map(|bit| Bits::Bit { column, bit }));
        }
        for &input in &inputs {
            let name = match input {
                Bits::Present => "rows".to_owned(),
                Bits::Bit { column, bit } => format!("bit {bit} of {}", self.schema.columns[column].name),
            };
            let (element, range) = (Element::Bool, Interval::new(0.0, 1.0));
            let at = self.push(Operation::Input { name, shape: layout.shape(), element, range }, 0)?;
            if let Bits::Bit { column, bit } = input {
                self.bits.insert((column, bit), at);
            }
        }
        Ok(inputs)
    }

    fn is_bool(&self, at: usize) -> bool {
        self.graph.node(at).element == Element::Bool
    }

    fn constant(&mut self, number: f64) -> Result<usize> {
        self.push(Operation::Constant { shape: vec![], element: Element::Integer, values: vec![number] }, 0)
    }

    fn binary(&mut self, kind: Binary, a: usize, b: usize) -> Result<usize> {
        let depth = self.depths[a].max(self.depths[b]);
        let is_product = matches!(kind, Binary::And | Binary::Mul);
        let is_known = [a, b].iter().any(|&at| matches!(self.graph.node(at).operation, Operation::Constant { .. }));
        self.push(Operation::Binary(kind, a, b), depth + usize::from(is_product && !is_known))
    }

    fn not(&mut self, truth: Truth) -> Result<Truth> {
        Ok(match truth {
            Truth::False => Truth::True,
            Truth::True => Truth::False,
            Truth::Of(at) if self.is_bool(at) => {
                Truth::Of(self.push(Operation::Unary(Unary::Not, at), self.depths[at])?)
            }
            Truth::Of(at) => {
                let one = self.constant(1.0)?;
                Truth::Of(self.binary(Binary::Sub, one, at)?)
            }
        })
    }

    /// Whether all hold: a product in which those that are the deepest are multiplied last.
    fn product(&mut self, truths: Vec<Truth>) -> Result<Truth> {
        if truths.contains(&Truth::False) {
            return Ok(Truth::False);
        }
        let mut nodes: Vec<usize> = truths.into_iter().filter_map(Truth::node).collect();
        loop {
            nodes.sort_by_key(|&at| Reverse(self.depths[at]));
            match (nodes.pop(), nodes.pop()) {
                (Some(a), Some(b)) => nodes.push(self.both(a, b)?),
                (last, _) => return Ok(last.map_or(Truth::True, Truth::Of)),
            }
        }
    }

    fn both(&mut self, a: usize, b: usize) -> Result<usize> {
        let kind = if self.is_bool(a) && self.is_bool(b) { Binary::And } else { Binary::Mul };
        self.binary(kind, a, b)
    }

    /// Whether `count` bits of a column from `first` on are the same.
    fn equal(&mut self, column: usize, first: usize, count: usize, against: Against) -> Result<usize> {
        let key = (column, first, count, against);
        if let Some(&found) = self.equal.get(&key) {
            return Ok(found);
        }
        let found = if count == 1 {
            let bit = self.bits[&(column, first)];
            match against {
                Against::Code(1) => bit,
                Against::Code(_) => self.push(Operation::Unary(Unary::Not, bit), 0)?,
                Against::Column(other) => {
                    let differ = self.push(Operation::Binary(Binary::Xor, bit, self.bits[&(other, first)]), 1)?;
                    self.push(Operation::Unary(Unary::Not, differ), 1)?
                }
            }
        } else {
            let half = count / 2;
            let [low, high] = against.halves(half);
            let low = self.equal(column, first, half, low)?;
            let high = self.equal(column, first + half, count - half, high)?;
            self.both(low, high)?
        };
        self.equal.insert(key, found);
        Ok(found)
    }

    /// Whether these bits are of a larger code.
    fn above(&mut self, column: usize, first: usize, count: usize, against: Against) -> Result<Truth> {
        let key = (column, first, count, against);
        if let Some(&found) = self.above.get(&key) {
            return Ok(found);
        }
        let found = if count == 1 {
            let bit = self.bits[&(column, first)];
            match against {
                Against::Code(1) => Truth::False,
                Against::Code(_) => Truth::Of(bit),
                Against::Column(other) => {
                    let not = self.push(Operation::Unary(Unary::Not, self.bits[&(other, first)]), 0)?;
                    Truth::Of(self.both(bit, not)?)
                }
            }
        } else {
            let half = count / 2;
            let [of_low, of_high] = against.halves(half);
            let low = self.above(column, first, half, of_low)?;
            let high = self.above(column, first + half, count - half, of_high)?;
            match (low, high) {
                (Truth::Of(low), Truth::Of(high)) => {
                    let equal = self.equal(column, first + half, count - half, of_high)?;
                    let depth = [equal, low, high].map(|at| self.depths[at]).into_iter().fold(0, usize::max);
                    Truth::Of(self.push(Operation::Select(equal, low, high), depth + 1)?)
                }
                (Truth::Of(low), _) => {
                    let equal = self.equal(column, first + half, count - half, of_high)?;
                    Truth::Of(self.both(equal, low)?)
                }
                (_, high) => high,
            }
        };
        self.above.insert(key, found);
        Ok(found)
    }

    /// Whether a column has this code.
    fn is(&mut self, column: usize, code: u64) -> Result<usize> {
        self.equal(column, 0, self.schema.columns[column].values.bits(), Against::Code(code))
    }

    /// Whether the code of a column is at least this one.
    fn at_least(&mut self, column: usize, code: u64) -> Result<Truth> {
        let values = &self.schema.columns[column].values;
        match code {
            0 => Ok(Truth::True),
            code if code >= values.count() => Ok(Truth::False),
            code => self.above(column, 0, values.bits(), Against::Code(code - 1)),
        }
    }

    /// Whether the code of a column is from one to another.
    fn between(&mut self, column: usize, [first, last]: [u64; 2]) -> Result<Truth> {
        if first == last {
            return self.is(column, first).map(Truth::Of);
        }
        let [lower, upper] = [self.at_least(column, first)?, self.at_least(column, last + 1)?];
        match (lower, upper) {
            // Codes from the upper end on are among those from the lower end on.
            (Truth::Of(lower), Truth::Of(upper)) => Ok(Truth::Of(self.binary(Binary::Sub, lower, upper)?)),
            (lower, Truth::False) => Ok(lower),
            (_, upper) => self.not(upper),
        }
    }

    fn condition(&mut self, condition: &Condition) -> Result<Truth> {
        match condition {
            Condition::Among(column, codes) => {
                let mut sum = Truth::False;
                // One of the intervals at most holds the code.
                for &interval in codes.intervals() {
                    sum = match (sum, self.between(*column, interval)?) {
                        (Truth::Of(a), Truth::Of(b)) => Truth::Of(self.binary(Binary::Add, a, b)?),
                        (Truth::False, found) => found,
                        (found, _) => found,
                    };
                }
                Ok(sum)
            }
            Condition::Equal(first, second) => {
                let bits = self.schema.columns[*first].values.bits();
                self.equal(*first, 0, bits, Against::Column(*second)).map(Truth::Of)
            }
            Condition::Above(first, second) => {
                let bits = self.schema.columns[*first].values.bits();
                self.above(*first, 0, bits, Against::Column(*second))
            }
            Condition::All(parts) => {
                let parts = parts.iter().map(|part| self.condition(part)).collect::<Result<_>>()?;
                self.product(parts)
            }
            Condition::Any(parts) => {
                let mut none = Vec::with_capacity(parts.len());
                for part in parts {
                    let found = self.condition(part)?;
                    none.push(self.not(found)?);
                }
                let none = self.product(none)?;
                self.not(none)
            }
            Condition::Not(part) => {
                let found = self.condition(part)?;
                self.not(found)
            }
        }
    }

    /// `sum_i 2^i bit_i` of a limb.
    fn limb(&mut self, column: usize, limb: usize, bits: usize) -> Result<usize> {
        if let Some(&found) = self.limbs.get(&(column, limb, bits)) {
            return Ok(found);
        }
        let mut sum = None;
        for (i, bit) in limb_range(self.schema.columns[column].values.bits(), limb, bits).enumerate() {
            let bit = self.bits[&(column, bit)];
            let factor = self.constant(f64::from(1u32 << i))?;
            let term = self.binary(Binary::Mul, factor, bit)?;
            sum = Some(match sum {
                None => term,
                Some(sum) => self.binary(Binary::Add, sum, term)?,
            });
        }
        let sum = sum.expect("a limb has a bit");
        self.limbs.insert((column, limb, bits), sum);
        Ok(sum)
    }

    /// The addend of a row: 0 of rows that fill the table up, all of whose bits are 0.
    fn addend(&mut self, sum: Sum, limb_bits: [usize; 2]) -> Result<usize> {
        match sum {
            Sum::Limb { column, limb } => self.limb(column, limb, limb_bits[0]),
            Sum::Product { column, limbs } => {
                let [a, b] = [self.limb(column, limbs[0], limb_bits[1])?, self.limb(column, limbs[1], limb_bits[1])?];
                self.binary(Binary::Mul, a, b)
            }
            Sum::Code { column, code } => {
                let equal = self.is(column, code)?;
                if code == 0 { self.both(PRESENT, equal) } else { Ok(equal) }
            }
            Sum::From { column, code } => Ok(self.at_least(column, code)?.node().unwrap_or(PRESENT)),
            Sum::Count => Ok(PRESENT),
        }
    }

    /// The sum over the blocks of each lane.
    fn sum(
        &mut self,
        mask: Truth,
        sum: Sum,
        limb_bits: [usize; 2],
        addends: &mut HashMap<Sum, usize>,
    ) -> Result<usize> {
        let addend = match addends.entry(sum) {
            Entry::Occupied(found) => *found.get(),
            Entry::Vacant(place) => *place.insert(self.addend(sum, limb_bits)?),
        };
        let terms = match mask {
            Truth::Of(mask) => self.both(mask, addend)?,
            _ => addend,
        };
        self.push(Operation::Reduce(Reduction::Sum, terms, vec![1]), self.depths[terms])
    }
}

impl Truth {
    const fn node(self) -> Option<usize> {
        match self {
            Self::Of(at) => Some(at),
            _ => None,
        }
    }
}
