//! Tables of integers: what they are looked up of.

use crate::backends::tfhe::elements::{DIRECT_BITS, holding};
use crate::graph::dag::Graph;
use crate::graph::operation::{Binary, Operation};
use crate::programs::columns::Element;

/// The most bits of integers that a table is looked up of together.
pub(super) const TABLE_BITS: u32 = 16;
/// The most sums and products in an index that are looked through.
const MOST_STEPS: usize = 16;

/// The index of a table: a number, and nodes, one or two, each times a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Index {
    pub(super) terms: Vec<(usize, i128)>,
    pub(super) offset: i128,
}

impl Index {
    /// The index of the table of this node. Sums of two nodes are looked up of both, and not added up first, if their bits
    /// together are no more than those of the sum, or so few that a bootstrap reads them together.
    pub(super) fn of(graph: &Graph, table: usize) -> Option<Self> {
        let Operation::Table { of, .. } = graph.node(table).operation else { return None };
        let whole = Self { terms: vec![(of, 1)], offset: 0 };
        let mut parts = Self { terms: Vec::new(), offset: 0 };
        let found = parts.add(graph, of, (of, 1), &mut 0);
        let (single, several) = (whole.bits(graph), parts.bits(graph));
        let fits = several <= DIRECT_BITS || (single > DIRECT_BITS && several <= single);
        Some(if found.is_some() && (1..=2).contains(&parts.terms.len()) && fits { parts } else { whole })
    }

    /// The types that the nodes are looked up in.
    pub(super) fn elements(&self, graph: &Graph) -> Vec<Element> {
        self.terms.iter().map(|&(of, _)| holding(graph.node(of).range)).collect()
    }

    /// The bits of all nodes together.
    pub(super) fn bits(&self, graph: &Graph) -> u32 {
        self.elements(graph).iter().map(|element| element.bits().unwrap_or(0)).sum()
    }

    /// The index for values of the nodes.
    pub(super) fn at(&self, values: &[i128]) -> i128 {
        self.terms.iter().zip(values).map(|(&(_, factor), value)| factor * value).sum::<i128>() + self.offset
    }

    /// Adds a node, times a number, as a sum of others with the shape of the index; nothing if it takes too many.
    fn add(&mut self, graph: &Graph, index: usize, (at, factor): (usize, i128), steps: &mut usize) -> Option<()> {
        *steps += 1;
        let number = |of: usize| graph.number(of).filter(|x| x.fract() == 0.0).map(|x| x as i128);
        if let Some(number) = number(at) {
            self.offset = self.offset.checked_add(factor.checked_mul(number)?)?;
            return Some(());
        }
        let alike = |of: usize| number(of).is_some() || graph.node(of).shape == graph.node(index).shape;
        match graph.node(at).operation {
            _ if *steps > MOST_STEPS => None,
            Operation::Binary(kind @ (Binary::Add | Binary::Sub), a, b) if alike(a) && alike(b) => {
                self.add(graph, index, (a, factor), steps)?;
                self.add(graph, index, (b, if kind == Binary::Sub { -factor } else { factor }), steps)
            }
            Operation::Binary(Binary::Mul, a, b) if alike(a) && alike(b) => match (number(a), number(b)) {
                (Some(times), _) => self.add(graph, index, (b, factor.checked_mul(times)?), steps),
                (_, Some(times)) => self.add(graph, index, (a, factor.checked_mul(times)?), steps),
                _ => self.add_term(at, factor),
            },
            _ => self.add_term(at, factor),
        }
    }

    fn add_term(&mut self, at: usize, factor: i128) -> Option<()> {
        match self.terms.iter_mut().find(|(of, _)| *of == at) {
            Some((_, found)) => *found = found.checked_add(factor)?,
            None => self.terms.push((at, factor)),
        }
        Some(())
    }
}
