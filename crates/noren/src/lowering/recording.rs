//! A dry run on slots: the views of inputs that the client encrypts, and what the server needs and does.

use std::sync::atomic::{AtomicUsize, Ordering};

use noren_rlwe::error::{Error, Result};

use crate::circuits::recorder::{Blank, CircuitUsage, Counts, Recorder, Terms};
use crate::circuits::renewing::{Planned, Renewable, Renewal, Renewing};
use crate::graph::dag::Graph;
use crate::graph::node::Node;
use crate::graph::operation::Operation;
use crate::lowering::decisions::{Decide, Decided};
use crate::lowering::error::CompileError;
use crate::lowering::kept::Maps;
use crate::lowering::layout::Layout;
use crate::lowering::nodes::{Approximations, Lowering, Shared, Source};
use crate::lowering::number::Number;
use crate::lowering::thresholds::MOST_THRESHOLDS;
use crate::lowering::value::View;
use crate::schemes::slots::SlotEvaluator;

/// A graph on slots, recorded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Recording {
    /// The slots of each ciphertext.
    pub(crate) slots: usize,
    /// The vectors that the client encrypts, in order.
    pub(crate) views: Vec<View>,
    /// Where the elements of each output lie.
    pub(crate) layouts: Vec<Layout>,
    /// The levels and keys.
    pub(crate) usage: CircuitUsage,
    /// The most ciphertexts that are added up.
    pub(crate) terms: Terms,
    /// The operations of each node that has some.
    pub(crate) steps: Vec<NodeWork>,
    /// The values that are decided.
    pub(crate) decided: usize,
    /// The ciphertexts of these, whose switches count as bootstraps.
    pub(crate) switches: usize,
}

/// The work of one node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NodeWork {
    /// The node.
    pub(crate) node: usize,
    /// Levels that are used up after it.
    pub(crate) depth: usize,
    /// The ciphertexts of the result.
    pub(crate) ciphertexts: usize,
    /// The operations.
    pub(crate) counts: Counts,
    /// The bootstraps, and the switches of decisions, which end as bootstraps do.
    pub(crate) bootstraps: usize,
}

impl Recording {
    /// Records a graph in ciphertexts of this many slots.
    ///
    /// # Errors
    /// Operations that slots do not have, and those that circuits refuse.
    pub(crate) fn new<T: Number>(graph: &Graph, slots: usize, approximations: Approximations) -> Result<Self> {
        Self::with_maps::<T>(graph, slots, approximations, None)
    }

    /// The same with matrices that other runs made, or make use of.
    ///
    /// # Errors
    /// As [`Recording::new`].
    pub(crate) fn with_maps<T: Number>(
        graph: &Graph,
        slots: usize,
        approximations: Approximations,
        maps: Option<&Maps<T>>,
    ) -> Result<Self> {
        let recorder = Recorder::<T>::default();
        let mut source = Blanks { recorder: &recorder, slots, views: Vec::new() };
        let fresh = recorder.level(&recorder.fresh(slots));
        let run = Run { graph, slots, approximations, maps };
        let (steps, layouts) =
            run.steps((&recorder, None), &mut source, |part| fresh - recorder.level(part), || (recorder.counts(), 0))?;
        let (usage, terms) = (recorder.usage(), recorder.terms());
        Ok(Self { slots, views: source.views, layouts, usage, terms, steps, decided: 0, switches: 0 })
    }

    /// Records a graph with bootstraps where more than `levels` levels would be used up one after the other, and with decisions in
    /// place of polynomials of signs if something `decides`.
    ///
    /// # Errors
    /// As [`Recording::new`].
    pub(crate) fn with_bootstraps(
        graph: &Graph,
        slots: usize,
        approximations: Approximations,
        levels: usize,
        decides: bool,
    ) -> Result<Self> {
        let recorder = Recorder::default();
        let planned = Planned::new(levels);
        let counted = Counted { recorder: &recorder, decided: AtomicUsize::new(0), switches: AtomicUsize::new(0) };
        let decider: Option<&dyn Decide<Renewable<Blank>>> = if decides { Some(&counted) } else { None };
        let switches = || counted.switches.load(Ordering::Relaxed);
        let mut source = Renewed(Blanks { recorder: &recorder, slots, views: Vec::new() });
        let run = Run { graph, slots, approximations, maps: None };
        let (steps, layouts) = run.steps(
            (&Renewing::new(&recorder, &planned), decider),
            &mut source,
            |part| levels - planned.left(&recorder, part.best()),
            || (recorder.counts(), planned.count() + switches()),
        )?;
        let (usage, terms) = (recorder.usage(), recorder.terms());
        let (decided, switches) = (counted.decided.load(Ordering::Relaxed), switches());
        Ok(Self { slots, views: source.0.views, layouts, usage, terms, steps, decided, switches })
    }

    /// The bootstraps and switches of all nodes.
    pub(crate) fn bootstraps(&self) -> usize {
        self.steps.iter().map(|step| step.bootstraps).sum()
    }

    /// The number of ciphertexts of all inputs.
    pub(crate) fn ciphertexts(&self) -> usize {
        self.views.iter().map(|view| view.layout.parts(self.slots)).sum()
    }
}

/// The recording.
struct Run<'a, T> {
    graph: &'a Graph,
    slots: usize,
    approximations: Approximations,
    maps: Option<&'a Maps<T>>,
}

impl<T> Run<'_, T> {
    /// The operations of each node on an evaluator, and the layouts of outputs.
    fn steps<E: Shared<Scalar = T>>(
        &self,
        (ev, decider): (&E, Option<&dyn Decide<E::Ciphertext>>),
        source: &mut dyn Source<E::Ciphertext>,
        depth: impl Fn(&E::Ciphertext) -> usize,
        done: impl Fn() -> (Counts, usize),
    ) -> Result<(Vec<NodeWork>, Vec<Layout>)> {
        let (mut steps, mut before) = (Vec::new(), (Counts::default(), 0));
        let lowering = Lowering::new(ev, self.graph, self.slots, self.approximations, source)
            .with_decider(decider)
            .with_maps(self.maps);
        let outputs = lowering.run(|node, parts, _| {
            let after = done();
            let depth = parts.iter().map(&depth).max().unwrap_or(0);
            let counts = difference(after.0, before.0);
            steps.push(NodeWork { node, depth, ciphertexts: parts.len(), counts, bootstraps: after.1 - before.1 });
            before = after;
        })?;
        Ok((steps, outputs.into_iter().map(|output| output.layout).collect()))
    }
}

/// The first of a graph's recordings that has slots for the elements along each axis where they are to lie in one ciphertext:
/// with those of the largest array, or as many as are needed.
///
/// # Errors
/// As `record`, and a need of more slots than it takes.
pub(crate) fn with_slots<T>(graph: &Graph, record: impl Fn(usize) -> Result<T>) -> Result<T> {
    let mut slots = slots_of(graph);
    loop {
        let found = record(slots);
        match found.as_ref().err().and_then(|error| error.downcast_ref()) {
            Some(&CompileError::Apart { slots: needed, .. }) if needed > slots => slots = needed,
            _ => return found,
        }
    }
}

/// As many slots as the largest array takes.
pub(crate) fn slots_of(graph: &Graph) -> usize {
    let needed = graph.needed();
    let nodes = graph.nodes().iter().enumerate().filter(|(at, _)| needed[*at]).map(|(_, node)| node);
    let padded = |shape: &[usize]| {
        shape.iter().fold(1usize, |product, extent| product.saturating_mul(extent.next_power_of_two()))
    };
    let slots = |node: &Node| match node.operation {
        // Several thresholds side by side.
        Operation::OrderStatistic { of, .. } | Operation::Top { of, .. } => {
            padded(&graph.node(of).shape).saturating_mul(MOST_THRESHOLDS)
        }
        _ => padded(&node.shape),
    };
    nodes.map(slots).max().unwrap_or(1)
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

/// Decisions of blanks, each counted.
struct Counted<'a> {
    recorder: &'a Recorder,
    decided: AtomicUsize,
    switches: AtomicUsize,
}

impl Decide<Renewable<Blank>> for Counted<'_> {
    /// Without a dead zone, which recordings do not know.
    fn is_positive(&self, x: &Renewable<Blank>) -> Result<Decided<Renewable<Blank>>> {
        let (slots, period) = (self.recorder.slots(x.best()), self.recorder.period(x.best()));
        self.switches.fetch_add(1, Ordering::Relaxed);
        self.decided.fetch_add(period.min(slots), Ordering::Relaxed);
        Ok(Decided { result: self.recorder.fresh_repeated(slots, period).into(), dead_zone: 0.0 })
    }
}

/// A source of vectors that may be renewed.
pub(crate) struct Renewed<S>(pub(crate) S);

impl<C, S: Source<C>> Source<Renewable<C>> for Renewed<S> {
    fn view(&mut self, view: View) -> Result<Vec<Renewable<C>>> {
        Ok(self.0.view(view)?.into_iter().map(Into::into).collect())
    }
}

/// A source of ciphertexts that a client has encrypted.
pub(crate) struct Stored<'a, C> {
    recording: &'a Recording,
    ciphertexts: Vec<C>,
}

impl<'a, C> Stored<'a, C> {
    /// The ciphertexts of all views, in their order.
    ///
    /// # Errors
    /// Another number of them.
    pub(crate) fn new(recording: &'a Recording, ciphertexts: Vec<C>) -> Result<Self> {
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
