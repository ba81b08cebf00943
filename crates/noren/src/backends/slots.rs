//! The common part of backends on slots: inputs as slots, a run of the graph, slots as outputs.

use std::sync::Arc;

use noren_rlwe::error::{Error, Result};
use noren_rlwe::parameters::Parameters;

use crate::backends::backend::{Bounds, Outcome, Outline, Record, Step};
use crate::cost::slots::{SlotDraft, Slots, limbs_at};
use crate::graph::dag::Graph;
use crate::graph::operation::{Binary, Element, Operation, Reduction};
use crate::lowering::decisions::Decide;
use crate::lowering::kept::KeptBy;
use crate::lowering::layout::Layout;
use crate::lowering::nodes::{Approximations, Lowering, Output, Shared, Source};
use crate::lowering::recording::{Recording, Stored};
use crate::lowering::value::View;
use crate::schemes::slots::SlotEvaluator;

/// A graph on slots: how it is approximated, and what was recorded of it.
pub(super) struct OnSlots {
    pub(super) graph: Arc<Graph>,
    pub(super) approximations: Approximations,
    pub(super) recording: Recording,
}

/// Whether slots have the operation of a node: those of real numbers, or of integers.
pub(super) fn evaluates(graph: &Graph, at: usize, reals: bool) -> bool {
    let node = graph.node(at);
    let truths = node.element == Element::Bool;
    match &node.operation {
        Operation::Input { .. } | Operation::Constant { .. } | Operation::Gather { .. } | Operation::Select(..) => true,
        Operation::MatMul { .. } | Operation::Polynomial(..) => true,
        Operation::Function { .. } | Operation::Sort(..) | Operation::Within(..) => reals,
        Operation::OrderStatistic { .. } | Operation::Top { .. } | Operation::Sparse { .. } => reals,
        Operation::Table { .. } => !reals,
        Operation::ArgMax(..) => false,
        Operation::Unary(..) => true,
        Operation::Reduce(kind, ..) => reals || truths || matches!(kind, Reduction::Sum | Reduction::Product),
        Operation::Binary(kind, ..) => match kind {
            Binary::Add | Binary::Sub | Binary::Mul => true,
            Binary::And | Binary::Or | Binary::Xor => truths,
            Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual => true,
            Binary::Equal | Binary::NotEqual => !reals,
            Binary::Maximum | Binary::Minimum => true,
            _ => false,
        },
    }
}

/// A vector of a view that is to be encrypted.
pub(super) struct Packed {
    /// The position of the view.
    pub(super) view: usize,
    /// The number of the vector among those of all views, by which its errors are named.
    pub(super) number: u64,
    pub(super) slots: Vec<f64>,
}

impl OnSlots {
    pub(super) const fn new(graph: Arc<Graph>, approximations: Approximations, recording: Recording) -> Self {
        Self { graph, approximations, recording }
    }

    /// The content of a file, with the bytes of parameters.
    pub(super) fn record(&self, parameters: &[u8]) -> Record {
        let Approximations { error, dead_zone, .. } = self.approximations;
        Record { error, dead_zone, ..Record::new(parameters, self.recording.slots) }
    }

    /// A recorded graph, for its price.
    pub(super) fn draft(&self, slots: Slots, parameters: &Parameters, limbs: Vec<usize>) -> SlotDraft {
        let recording = &self.recording;
        let usage = recording.usage.clone();
        let depths = usage.relinearization.into_iter().chain(usage.rotations.values().copied());
        let key_limbs = depths.map(|depth| limbs_at(&limbs, depth)).collect();
        SlotDraft {
            slots,
            parameters: parameters.clone(),
            usage,
            limbs,
            key_limbs,
            width: recording.slots,
            inputs: recording.ciphertexts(),
            results: recording.layouts.iter().map(|layout| layout.parts(recording.slots)).sum(),
        }
    }

    /// The outline from inputs with this many levels.
    pub(super) fn outline(&self, levels: usize, element: &str, bounds: Option<&Bounds>) -> Outline {
        let recording = &self.recording;
        let steps = recording.steps.iter().map(|step| {
            let node = self.graph.node(step.node);
            Step {
                operation: node.operation.name(),
                place: node.place.clone(),
                shape: node.shape.clone(),
                range: node.range,
                element: element.to_owned(),
                level: levels.saturating_sub(step.depth),
                ciphertexts: step.ciphertexts,
                products: step.counts.products,
                plain_products: step.counts.plain_products,
                rotations: step.counts.rotations,
                bootstraps: step.bootstraps,
                bound: bounds.and_then(|bounds| bounds.nodes[step.node]).unwrap_or(0.0),
            }
        });
        Outline {
            ciphertexts: recording.ciphertexts(),
            slots: recording.slots,
            levels,
            rotations: recording.usage.rotations.keys().copied().collect(),
            steps: steps.collect(),
        }
    }

    /// The positions of all views, with the inputs of which they are.
    fn views(&self) -> Result<Vec<(usize, usize)>> {
        let nodes = self.graph.inputs();
        let input = |(at, view): (usize, &View)| {
            let input = nodes.iter().position(|&node| node == view.free.input);
            input.map(|input| (at, input)).ok_or_else(|| Error::parameter("view", at, "one of an input"))
        };
        self.recording.views.iter().enumerate().map(input).collect()
    }

    /// The vectors of each input; none for inputs that are not given.
    pub(super) fn packed(&self, inputs: &[Option<&[f64]>]) -> Result<Vec<Vec<Packed>>> {
        let mut packed: Vec<Vec<Packed>> = inputs.iter().map(|_| Vec::new()).collect();
        let mut first = 0;
        for (view, input) in self.views()? {
            let numbers = first..;
            first += self.recording.views[view].layout.parts(self.recording.slots) as u64;
            let Some(values) = inputs[input] else { continue };
            let vectors = self.recording.views[view].pack(values, self.recording.slots);
            packed[input].extend(numbers.zip(vectors).map(|(number, slots)| Packed { view, number, slots }));
        }
        Ok(packed)
    }

    /// The source of the ciphertexts of each input that a client sent.
    ///
    /// # Errors
    /// Inputs that are missing, another number of ciphertexts, or of slots.
    pub(super) fn stored<C>(&self, inputs: Vec<Vec<C>>, slots: impl Fn(&C) -> usize) -> Result<Stored<'_, C>> {
        for ciphertext in inputs.iter().flatten() {
            check_length("slots of an input", slots(ciphertext), self.recording.slots)?;
        }
        let nodes = self.graph.inputs();
        check_length("inputs", inputs.len(), nodes.len())?;
        let mut needed = vec![0; nodes.len()];
        let views = self.views()?;
        let parts = |at: usize| self.recording.views[at].layout.parts(self.recording.slots);
        views.iter().for_each(|&(at, input)| needed[input] += parts(at));
        for ((ciphertexts, &needed), &at) in inputs.iter().zip(&needed).zip(&nodes) {
            check_input(&self.graph, at, ciphertexts.is_empty() && needed > 0)?;
            check_length("ciphertexts of an input", ciphertexts.len(), needed)?;
        }
        let mut inputs: Vec<_> = inputs.into_iter().map(Vec::into_iter).collect();
        let ordered = views.iter().flat_map(|&(at, input)| inputs[input].by_ref().take(parts(at)).collect::<Vec<_>>());
        Stored::new(&self.recording, ordered.collect())
    }

    /// Runs the graph on an evaluator: the ciphertexts of each output, where they lie as was recorded; decryption looks for
    /// elements there. What is `kept` is not encoded again.
    pub(super) fn run<E: Shared>(
        &self,
        ev: &E,
        source: &mut dyn Source<E::Ciphertext>,
        decider: Option<&dyn Decide<E::Ciphertext>>,
        kept: Option<&KeptBy<E>>,
    ) -> Result<Vec<Vec<E::Ciphertext>>> {
        let recording = &self.recording;
        let lowering = Lowering::new(ev, &self.graph, recording.slots, self.approximations, source);
        let lowering = lowering.with_decider(decider).with_kept(kept);
        let outputs: Vec<Output<_>> = lowering.run(|_, _, _| {})?;
        let moved = outputs.iter().zip(&recording.layouts).find(|(found, known)| found.layout != **known);
        if let Some((found, known)) = moved {
            let needed = format!("{:?}, as was recorded", known.dimensions);
            return Err(Error::parameter("layout of an output", format!("{:?}", found.layout.dimensions), needed));
        }
        // A sum of counts would hide one too many beside one too few.
        check_length("outputs", outputs.len(), recording.layouts.len())?;
        let counts = recording.layouts.iter().map(|layout| layout.parts(recording.slots));
        let checked = |(output, count): (Output<_>, usize)| {
            check_length("ciphertexts of an output", output.parts.len(), count)?;
            Ok(output.parts)
        };
        outputs.into_iter().zip(counts).map(checked).collect()
    }

    /// The elements of all outputs in decrypted slots, whose ciphertexts lie one output after the other.
    pub(super) fn unpacked(&self, slots: &[Vec<f64>], errors: &[f64]) -> Result<Outcome> {
        let recording = &self.recording;
        let parts = |layout: &Layout| layout.parts(recording.slots);
        check_length("ciphertexts of the outputs", slots.len(), recording.layouts.iter().map(parts).sum())?;
        slots.iter().try_for_each(|vector| check_length("slots of an output", vector.len(), recording.slots))?;
        let mut start = 0;
        let (mut values, mut bounds) = (Vec::new(), Vec::new());
        for (layout, &at) in recording.layouts.iter().zip(self.graph.outputs()) {
            let count = parts(layout);
            let own = &slots[start..start + count];
            let element = |address: usize| own[address / recording.slots][address % recording.slots];
            let addresses = layout.addresses(&self.graph.node(at).shape);
            values.push(addresses.into_iter().map(element).collect());
            bounds.push(errors[start..start + count].iter().copied().fold(0.0, f64::max));
            start += count;
        }
        Ok(Outcome::within(values, bounds))
    }
}

/// Runs work on a thread of the evaluator, which otherwise hands each of its loops over to its threads, and waits.
pub(super) fn in_pool<E: SlotEvaluator, T: Send>(ev: &E, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    match ev.engine() {
        Some(engine) => engine.map(vec![work], |work| work()).swap_remove(0),
        None => work(),
    }
}

/// Refuses slots that no ciphertext of the parameters has.
pub(super) fn check_slots(found: usize, most: usize) -> Result<()> {
    if found.is_power_of_two() && found <= most {
        return Ok(());
    }
    Err(Error::parameter("slots", found, format!("a power of two up to {most}")))
}

/// Refuses a run without an input that it needs.
///
/// # Errors
/// [`Error::Parameters`] with the name of the input.
pub(super) fn check_input(graph: &Graph, at: usize, is_missing: bool) -> Result<()> {
    match &graph.node(at).operation {
        Operation::Input { name, .. } if is_missing => {
            let needed = "all inputs that results depend on: give the request that has it too";
            Err(Error::parameter("inputs of a run", format!("none for {name:?}"), needed))
        }
        _ => Ok(()),
    }
}

pub(super) fn check_length(what: &'static str, found: usize, needed: usize) -> Result<()> {
    if found == needed { Ok(()) } else { Err(Error::Length { what, found, needed: needed.to_string() }) }
}
