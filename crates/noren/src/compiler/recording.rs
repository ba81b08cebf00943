//! A dry run on slots: the views of inputs that the client encrypts, and what the server needs and does.

use noren_rlwe::error::{Error, Result};

use crate::circuits::recorder::{Blank, CircuitUsage, Counts, Recorder};
use crate::compiler::graph::Graph;
use crate::compiler::layout::Layout;
use crate::compiler::slots::lowering::{Approximations, Lowering, Source};
use crate::compiler::slots::number::Number;
use crate::compiler::slots::value::View;
use crate::schemes::slots::SlotEvaluator;

/// A graph on slots, recorded.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Recording {
    /// The slots of each ciphertext.
    pub(super) slots: usize,
    /// What the client encrypts, in order.
    pub(super) views: Vec<View>,
    /// Where the elements of each output lie.
    pub(super) layouts: Vec<Layout>,
    /// The levels and keys.
    pub(super) usage: CircuitUsage,
    /// What each node does, for the nodes that do something.
    pub(super) steps: Vec<Step>,
}

/// The work of one node.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    /// The node.
    pub(super) node: usize,
    /// Levels that are used up after it.
    pub(super) depth: usize,
    /// The ciphertexts of the result.
    pub(super) ciphertexts: usize,
    /// The operations.
    pub(super) counts: Counts,
}

impl Recording {
    /// Records a graph in ciphertexts of this many slots.
    ///
    /// # Errors
    /// What slots do not have, and what the circuits refuse.
    pub(super) fn new<T: Number>(graph: &Graph, slots: usize, approximations: Approximations) -> Result<Self> {
        let recorder = Recorder::<T>::default();
        let mut source = Blanks { recorder: &recorder, slots, views: Vec::new() };
        let mut steps: Vec<Step> = Vec::new();
        let mut before = Counts::default();
        let outputs = Lowering::new(&recorder, graph, slots, approximations, &mut source).run(|node, parts, _| {
            let counts = recorder.usage().counts;
            let fresh = recorder.level(&recorder.fresh(slots));
            let depth = parts.iter().map(|part| fresh - recorder.level(part)).max().unwrap_or(0);
            steps.push(Step { node, depth, ciphertexts: parts.len(), counts: difference(counts, before) });
            before = counts;
        })?;
        let layouts = outputs.into_iter().map(|output| output.layout).collect();
        Ok(Self { slots, views: source.views, layouts, usage: recorder.usage(), steps })
    }

    /// The number of ciphertexts of all inputs.
    pub(super) fn ciphertexts(&self) -> usize {
        self.views.iter().map(|view| view.layout.parts(self.slots)).sum()
    }
}

/// As many slots as the largest array takes.
pub(super) fn slots_of(graph: &Graph) -> usize {
    let needed = graph.needed();
    let nodes = graph.nodes().iter().enumerate().filter(|(at, _)| needed[*at]).map(|(_, node)| node);
    let padded = |shape: &[usize]| {
        shape.iter().fold(1usize, |product, extent| product.saturating_mul(extent.next_power_of_two()))
    };
    nodes.map(|node| padded(&node.shape)).max().unwrap_or(1)
}

/// A source of blanks, which notes the views.
struct Blanks<'a, T> {
    recorder: &'a Recorder<T>,
    slots: usize,
    views: Vec<View>,
}

impl<T: Number> Source<Blank> for Blanks<'_, T> {
    fn view(&mut self, view: View) -> Result<Vec<Blank>> {
        let period = view.layout.period().min(self.slots);
        let blanks = vec![self.recorder.fresh_repeated(self.slots, period); view.layout.parts(self.slots)];
        if !self.views.contains(&view) {
            self.views.push(view);
        }
        Ok(blanks)
    }
}

/// A source of ciphertexts that a client has encrypted.
pub(super) struct Stored<'a, C> {
    recording: &'a Recording,
    ciphertexts: Vec<C>,
}

impl<'a, C> Stored<'a, C> {
    /// The ciphertexts of all views, in their order.
    ///
    /// # Errors
    /// Another number of them.
    pub(super) fn new(recording: &'a Recording, ciphertexts: Vec<C>) -> Result<Self> {
        let needed = recording.ciphertexts();
        if ciphertexts.len() != needed {
            let (found, needed) = (ciphertexts.len(), needed.to_string());
            return Err(Error::Length { what: "ciphertexts of the inputs", found, needed });
        }
        Ok(Self { recording, ciphertexts })
    }
}

impl<C: Clone + Sync> Source<C> for Stored<'_, C> {
    fn view(&mut self, view: View) -> Result<Vec<C>> {
        let mut start = 0;
        for known in &self.recording.views {
            let count = known.layout.parts(self.recording.slots);
            if *known == view {
                return Ok(self.ciphertexts[start..start + count].to_vec());
            }
            start += count;
        }
        Err(Error::parameter("view of an input", view.free.input, "one that was recorded"))
    }
}

fn difference(after: Counts, before: Counts) -> Counts {
    Counts {
        products: after.products - before.products,
        relinearizations: after.relinearizations - before.relinearizations,
        plain_products: after.plain_products - before.plain_products,
        decompositions: after.decompositions - before.decompositions,
        rotations: after.rotations - before.rotations,
    }
}
