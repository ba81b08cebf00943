//! The graph of a traced function.

use noren_rlwe::error::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::graph::inference::infer;
use crate::graph::interval::Interval;
use crate::graph::node::Node;
use crate::graph::operation::Operation;
use crate::graph::separable::Separable;

/// A function of arrays: operations, each on the results of earlier ones, of which some are returned.
///
/// Shapes, element types and ranges of all nodes follow from the operations.
///
/// # Examples
/// ```
/// use noren::graph::{Binary, Element, Graph, Interval, Operation};
///
/// let mut graph = Graph::default();
/// let range = Interval::new(-1.0, 1.0);
/// let x = graph.push(Operation::Input { name: "x".into(), shape: vec![3], element: Element::Real, range }, "")?;
/// let square = graph.push(Operation::Binary(Binary::Mul, x, x), "")?;
/// graph.finish(vec![square])?;
/// assert_eq!(graph.node(square).range, Interval::new(0.0, 1.0));
/// assert_eq!(graph.evaluate(&[vec![0.5, -1.0, 0.0]])?, [[0.25, 1.0, 0.0]]);
/// # Ok::<(), noren::error::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Graph {
    nodes: Vec<Node>,
    outputs: Vec<usize>,
    /// How many of the outputs are results; the others are checked alone.
    results: usize,
    /// The forms that narrow the ranges of further nodes, until [`Graph::finish`].
    separable: Separable,
    /// Whether ranges that are not finite are cut off.
    draft: bool,
}

/// The JSON of a graph: all that does not follow.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    nodes: Vec<(Operation, String)>,
    outputs: Vec<usize>,
}

/// The most nodes of a graph.
const MOST_NODES: usize = 1 << 16;

impl Graph {
    /// A graph whose ranges of intermediate results are those of [examples](Graph::calibrated) in the end: that which follows from
    /// ranges of inputs need not be finite, as after many squares. It is calibrated before it is compiled.
    #[must_use]
    pub fn draft() -> Self {
        Self { draft: true, ..Self::default() }
    }

    /// Whether it is a [draft](Graph::draft).
    #[must_use]
    pub const fn is_draft(&self) -> bool {
        self.draft
    }

    /// Appends an operation on earlier nodes, and returns its position.
    ///
    /// # Errors
    /// An operand that there is not; [`GraphError`](crate::graph::GraphError) for operands that the operation does not
    /// take, or for which it is not defined.
    pub fn push(&mut self, operation: Operation, place: &str) -> Result<usize> {
        if self.nodes.len() >= MOST_NODES {
            return Err(Error::parameter("operations", self.nodes.len() + 1, format!("at most {MOST_NODES}")));
        }
        if let Some(missing) = operation.operands().into_iter().find(|&operand| operand >= self.nodes.len()) {
            return Err(Error::parameter("operand", missing, format!("below {}", self.nodes.len())));
        }
        let (shape, element, range) = infer(&self.nodes, &operation, place, self.draft)?;
        let mut node = Node { operation, place: place.to_owned(), shape, element, range };
        node.range = self.separable.narrow(&self.nodes, &node);
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    /// Makes the last node a constant if it is computed from constants alone.
    pub(super) fn fold_last(&mut self) {
        let Some(last) = self.nodes.len().checked_sub(1) else { return };
        let Some(values) = self.in_clear(last) else { return };
        let node = &mut self.nodes[last];
        node.range = Interval::of(&values);
        node.operation = Operation::Constant { shape: node.shape.clone(), element: node.element, values };
    }

    /// Says which nodes the function returns.
    ///
    /// # Errors
    /// No node, or one that there is not.
    pub fn finish(&mut self, outputs: Vec<usize>) -> Result<()> {
        let results = outputs.len();
        self.finish_checked(outputs, results)
    }

    /// The same, where outputs after the first `results` are decrypted to be checked alone.
    pub(super) fn finish_checked(&mut self, outputs: Vec<usize>, results: usize) -> Result<()> {
        let nodes = self.nodes.len();
        match outputs.iter().find(|&&output| output >= nodes) {
            Some(output) => Err(Error::parameter("output", output, format!("below {nodes}"))),
            None if outputs.is_empty() => {
                Err(Error::Length { what: "outputs", found: 0, needed: "at least 1".to_owned() })
            }
            None => {
                self.outputs = outputs;
                self.results = results;
                self.separable = Separable::default();
                Ok(())
            }
        }
    }

    /// The nodes, operands before what is computed from them.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// A node.
    ///
    /// # Panics
    /// There is no such node.
    #[must_use]
    pub fn node(&self, position: usize) -> &Node {
        &self.nodes[position]
    }

    /// The nodes that the function returns.
    #[must_use]
    pub fn outputs(&self) -> &[usize] {
        &self.outputs
    }

    /// The outputs that are results, the first: others are checked alone.
    pub(crate) fn results(&self) -> &[usize] {
        &self.outputs[..self.results]
    }

    /// The nodes of the inputs, in the order of the arguments.
    #[must_use]
    pub fn inputs(&self) -> Vec<usize> {
        let inputs = self.nodes.iter().enumerate();
        inputs.filter(|(_, node)| matches!(node.operation, Operation::Input { .. })).map(|(at, _)| at).collect()
    }

    /// For each node whether an output depends on it.
    #[must_use]
    pub fn needed(&self) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        self.outputs.iter().for_each(|&output| needed[output] = true);
        for at in (0..self.nodes.len()).rev() {
            if needed[at] {
                self.nodes[at].operation.operands().iter().for_each(|&operand| needed[operand] = true);
            }
        }
        needed
    }

    /// The number that all elements of a constant are.
    #[must_use]
    pub fn number(&self, at: usize) -> Option<f64> {
        let Operation::Constant { values, .. } = &self.nodes[at].operation else { return None };
        let (&first, rest) = values.split_first()?;
        rest.iter().all(|&x| x == first).then_some(first)
    }

    /// For each node the nodes that are computed from it and that an output depends on.
    #[must_use]
    pub fn consumers(&self) -> Vec<Vec<usize>> {
        let needed = self.needed();
        let mut consumers = vec![Vec::new(); self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate().filter(|(at, _)| needed[*at]) {
            node.operation.operands().iter().for_each(|&operand| consumers[operand].push(at));
        }
        consumers
    }

    /// The graph as JSON.
    ///
    /// # Panics
    /// Never: every graph has a JSON form.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.record()).expect("numbers, strings and lists have a JSON form")
    }

    /// As [`to_json`](Self::to_json), before it is text.
    pub(crate) fn to_value(&self) -> serde_json::Value {
        serde_json::to_value(self.record()).expect("numbers, strings and lists have a JSON form")
    }

    fn record(&self) -> Record {
        let nodes = self.nodes.iter().map(|node| (node.operation.clone(), node.place.clone())).collect();
        Record { nodes, outputs: self.outputs.clone() }
    }

    /// The graph that this JSON describes.
    ///
    /// Nothing is allocated by a number in the text that is not the length of a list in it.
    ///
    /// # Errors
    /// Text that is not the JSON of a graph; a graph that could not have been made.
    pub fn from_json(text: &str) -> Result<Self> {
        let refused = |error| Error::parameter("graph", format!("refused ({error})"), "the JSON of a graph");
        let Record { nodes, outputs } = serde_json::from_str(text).map_err(refused)?;
        let mut graph = Self::default();
        for (operation, place) in nodes {
            graph.push(operation, &place)?;
        }
        graph.finish(outputs)?;
        Ok(graph)
    }
}
