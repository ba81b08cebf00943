//! From the nodes of a graph to operations on slots, on any evaluator.

use std::collections::HashSet;
use std::sync::Arc;

use noren_rlwe::error::{Error, Result};

use crate::circuits::linear::{LinearMap, PreparedMap};
use crate::graph::dag::Graph;
use crate::graph::interval::Interval;
use crate::graph::operation::{Binary, Element, Operation, Reduction, Unary};
use crate::graph::shape::size;
use crate::lowering::decisions::Decide;
use crate::lowering::error::{CompileError, NotNear};
use crate::lowering::kept::{KeptBy, Maps, Place};
use crate::lowering::layout::{Fill, Layout};
use crate::lowering::number::Number;
use crate::lowering::value::{Free, Operand, Value, View};
use crate::schemes::slots::SlotEvaluator;

/// The ciphertexts of inputs.
pub(crate) trait Source<C>: Sync {
    /// The ciphertexts of a view.
    ///
    /// # Errors
    /// A view that there is not.
    fn view(&mut self, view: View) -> Result<Vec<C>>;
}

/// How comparisons and functions are approximated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Approximations {
    /// The absolute error of smooth functions that name none.
    pub(crate) error: f64,
    /// Comparisons of numbers that are closer than this may have any result; none are compiled without it.
    pub(crate) dead_zone: Option<f64>,
    /// The prime that integers are computed modulo; none of real numbers.
    pub(crate) modulus: Option<u64>,
}

impl Approximations {
    /// Those of real numbers.
    pub(crate) const fn of_reals(error: f64, dead_zone: Option<f64>) -> Self {
        Self { error, dead_zone, modulus: None }
    }

    /// Integers modulo a prime need none.
    pub(crate) const fn modulo(modulus: u64) -> Self {
        Self { error: 0.0, dead_zone: None, modulus: Some(modulus) }
    }
}

/// An evaluator whose vectors threads share.
pub(crate) trait Shared:
    SlotEvaluator<Scalar: Number, Ciphertext: Send + Sync, Plaintext: Send + Sync, Factor: Send + Sync> + Sync
{
}

impl<E> Shared for E where
    E: SlotEvaluator<Scalar: Number, Ciphertext: Send + Sync, Plaintext: Send + Sync, Factor: Send + Sync> + Sync
{
}

/// A result of a function: its ciphertexts, and where its elements lie.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Output<C> {
    pub(crate) parts: Vec<C>,
    pub(crate) layout: Layout,
}

/// A run of a graph on an evaluator.
pub(crate) struct Lowering<'a, E: SlotEvaluator> {
    pub(super) ev: &'a E,
    pub(super) graph: &'a Graph,
    pub(super) slots: usize,
    pub(super) approximations: Approximations,
    source: &'a mut dyn Source<E::Ciphertext>,
    consumers: Vec<Vec<usize>>,
    /// The decider of comparisons, in place of polynomials of signs.
    pub(super) decider: Option<&'a dyn Decide<E::Ciphertext>>,
    /// The matrices that this run has encoded, where none are kept from one run to the next.
    own: KeptBy<E>,
    kept: Option<&'a KeptBy<E>>,
    maps: Option<&'a Maps<E::Scalar>>,
    /// The part of the slack of signs that errors may fill.
    pub(super) margin: f64,
}

impl<'a, E: Shared> Lowering<'a, E> {
    /// A run on ciphertexts of this many slots.
    pub(crate) fn new(
        ev: &'a E,
        graph: &'a Graph,
        slots: usize,
        approximations: Approximations,
        source: &'a mut dyn Source<E::Ciphertext>,
    ) -> Self {
        let consumers = graph.consumers();
        let own = KeptBy::<E>::default();
        Self {
            ev,
            graph,
            slots,
            approximations,
            source,
            consumers,
            decider: None,
            own,
            kept: None,
            maps: None,
            margin: 1.0,
        }
    }

    /// The same, whose comparisons are decided, if something decides them.
    pub(crate) fn with_decider(self, decider: Option<&'a dyn Decide<E::Ciphertext>>) -> Self {
        Self { decider, ..self }
    }

    /// The same on a model, where errors may fill this part of what the signs of ciphertexts allow for.
    pub(crate) fn with_margin(self, margin: f64) -> Self {
        Self { margin, ..self }
    }

    /// The same with matrices that are kept from one run to the next.
    pub(crate) fn with_kept(self, kept: Option<&'a KeptBy<E>>) -> Self {
        Self { kept, ..self }
    }

    /// The same with matrices in clear that other runs made, or make use of.
    pub(crate) fn with_maps(self, maps: Option<&'a Maps<E::Scalar>>) -> Self {
        Self { maps, ..self }
    }

    /// Runs all nodes that an output depends on; `done` hears of the ciphertexts of each.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] for operations that slots do not have; what the evaluator refuses.
    pub(crate) fn run(
        mut self,
        mut done: impl FnMut(usize, &[E::Ciphertext], &Layout),
    ) -> Result<Vec<Output<E::Ciphertext>>> {
        let needed = self.graph.needed();
        let mut left: Vec<usize> = self.consumers.iter().map(Vec::len).collect();
        self.graph.outputs().iter().for_each(|&output| left[output] += 1);
        let mut results: Vec<Option<Operand<E::Ciphertext>>> = vec![None; self.graph.nodes().len()];
        for at in (0..results.len()).filter(|&at| needed[at]) {
            let result = self.node(at, &results).map_err(|error| self.refused(at, error))?;
            let result = self.narrowed(at, result);
            if let Operand::Value(value) = &result {
                self.check_value(at, value)?;
                done(at, &value.parts, &value.layout);
            }
            results[at] = Some(result);
            for operand in self.graph.node(at).operation.operands() {
                left[operand] -= 1;
                if left[operand] == 0 {
                    results[operand] = None;
                }
            }
        }
        let outputs = self.graph.outputs().to_vec();
        outputs.into_iter().map(|at| self.output(at, &results)).collect()
    }

    /// A matrix, encoded for a vector.
    pub(super) fn prepared(
        &self,
        place: &Place,
        x: &E::Ciphertext,
        map: impl FnOnce() -> Result<LinearMap<E::Scalar>>,
    ) -> Result<Arc<PreparedMap<E::Factor>>> {
        let map = || match self.maps {
            Some(maps) => maps.known(self.slots, place, map),
            None => map().map(Arc::new),
        };
        self.kept.unwrap_or(&self.own).prepared(place, self.ev, x, map)
    }

    /// The result of a node, with its range told to the evaluator where every slot holds an element.
    fn narrowed(&self, at: usize, result: Operand<E::Ciphertext>) -> Operand<E::Ciphertext> {
        let value = match result {
            Operand::Value(value) => value,
            other => return other,
        };
        let bounds = value.bounds.clipped(self.graph.node(at).range);
        if bounds == value.bounds || !value.layout.is_full() {
            return Operand::Value(value);
        }
        let (parts, layout) = match Arc::try_unwrap(value) {
            Ok(value) => (value.parts, value.layout),
            Err(value) => (value.parts.clone(), value.layout.clone()),
        };
        Operand::Value(self.made(parts, layout, bounds).into())
    }

    fn output(&mut self, at: usize, results: &[Option<Operand<E::Ciphertext>>]) -> Result<Output<E::Ciphertext>> {
        let value = match self.operand(at, results)? {
            Operand::Value(value) => value,
            Operand::Free(free) => self.view(free, &self.graph.node(at).shape.clone(), None)?,
            Operand::Constant(_) => return Err(self.refusal(at, "return it without encryption")),
        };
        self.check_value(at, &value)?;
        Ok(Output { parts: value.parts.clone(), layout: value.layout.clone() })
    }

    fn operand(&self, at: usize, results: &[Option<Operand<E::Ciphertext>>]) -> Result<Operand<E::Ciphertext>> {
        results[at].clone().ok_or_else(|| self.refusal(at, "a node before its use"))
    }

    fn node(&mut self, at: usize, results: &[Option<Operand<E::Ciphertext>>]) -> Result<Operand<E::Ciphertext>> {
        let node = self.graph.node(at);
        let operand = |at: usize| self.operand(at, results);
        Ok(match &node.operation {
            Operation::Input { .. } => Operand::Free(Free { input: at, positions: None, range: node.range }),
            Operation::Constant { values, .. } => Operand::Constant(values.clone().into()),
            Operation::Gather { of, positions, .. } => {
                let operand = operand(*of)?;
                self.gather(at, *of, operand, positions)?
            }
            Operation::Unary(kind, of) => {
                let x = operand(*of)?;
                match kind {
                    Unary::Neg => self.scaled((*of, x), -1.0)?,
                    Unary::Not => self.complement(at, (*of, x))?,
                    Unary::Abs => self.abs(at, (*of, x))?,
                    Unary::Sign => self.sign(at, (*of, x))?,
                    Unary::Restated => {
                        let x = self.value((*of, x), None)?;
                        // What is no element is not checked, and has its errors further on.
                        let exact = |part: &E::Ciphertext| match x.layout.is_full() {
                            true => self.ev.split_error(part.clone()).0,
                            false => part.clone(),
                        };
                        Operand::Value(
                            self.made(x.parts.iter().map(exact).collect(), x.layout.clone(), x.bounds).into(),
                        )
                    }
                }
            }
            Operation::Binary(kind, a, b) => {
                let (a, b) = ((*a, operand(*a)?), (*b, operand(*b)?));
                match kind {
                    Binary::Add | Binary::Sub | Binary::Mul => self.combined(at, *kind, a, b)?,
                    Binary::Maximum | Binary::Minimum => self.extreme(at, *kind, a, b)?,
                    Binary::And if node.element == Element::Bool => self.combined(at, Binary::Mul, a, b)?,
                    Binary::Or | Binary::Xor if node.element == Element::Bool => self.either(at, *kind, a, b)?,
                    // Integers are congruent to their remainders by the modulus; by others clients take them.
                    Binary::Remainder if self.approximations.modulus.is_some() => match a.1 {
                        x if node.shape == self.graph.node(a.0).shape => x,
                        x => {
                            let zeros = vec![0.0; size(&self.graph.node(b.0).shape).unwrap_or(0)];
                            self.combined(at, Binary::Add, (a.0, x), (b.0, Operand::Constant(zeros.into())))?
                        }
                    },
                    kind if kind.compares() => self.comparison(at, *kind, a, b)?,
                    _ => return Err(self.refusal(at, "")),
                }
            }
            Operation::Within(of, range) => {
                let x = self.value((*of, operand(*of)?), None)?;
                // What is no element is not checked.
                let bounds = match (x.layout.is_full(), x.layout.is_known()) {
                    (true, _) => x.bounds.clipped(*range),
                    (_, true) => x.bounds.clipped(range.hull(Interval::point(0.0))),
                    _ => x.bounds,
                };
                Operand::Value(self.made(x.parts.clone(), x.layout.clone(), bounds).into())
            }
            Operation::Select(condition, a, b) => {
                let operands = [(*condition, operand(*condition)?), (*a, operand(*a)?), (*b, operand(*b)?)];
                self.selected(at, operands)?
            }
            Operation::MatMul { of, columns, matrix } => {
                let x = self.value((*of, operand(*of)?), None)?;
                Operand::Value(self.matrix_product(at, &x, *columns, matrix)?.into())
            }
            Operation::Sparse { of, columns, matrix } => {
                let x = self.value((*of, operand(*of)?), None)?;
                let rows = self.graph.node(*of).shape.last().copied().unwrap_or(1);
                Operand::Value(self.sparse_product(at, &x, (rows, *columns), matrix)?.into())
            }
            Operation::Reduce(kind, of, axes) => {
                let x = self.value((*of, operand(*of)?), None)?;
                Operand::Value(self.reduced(at, *kind, x, axes)?)
            }
            Operation::Polynomial(of, coefficients) => {
                let x = self.value((*of, operand(*of)?), None)?;
                Operand::Value(self.polynomial(at, &x, coefficients)?.into())
            }
            Operation::Function { name, of, error } => {
                let x = self.value((*of, operand(*of)?), None)?;
                Operand::Value(self.function(at, *of, &x, *name, *error)?.into())
            }
            Operation::Table { of, first, values, .. } => {
                self.of_integers(at, (*of, operand(*of)?), |x| values[(x - *first as f64) as usize])?
            }
            Operation::Sort(of, axis) => {
                let x = self.value((*of, operand(*of)?), None)?;
                Operand::Value(self.sorted(at, x, *axis)?)
            }
            Operation::ArgMax(of, axis) => {
                let x = self.value((*of, operand(*of)?), None)?;
                let places = self.place_of_largest(at, &x, *axis)?;
                Operand::Value(self.without_axes(&places, &[*axis]).into())
            }
            Operation::OrderStatistic { of, axis, terms } => {
                let x = self.value((*of, operand(*of)?), None)?;
                let sums = self.order_statistic(at, &x, *axis, terms)?;
                Operand::Value(self.without_axes(&sums, &[*axis]).into())
            }
            Operation::Top { of, axis, count } => {
                let x = self.value((*of, operand(*of)?), None)?;
                Operand::Value(self.top(at, &x, *axis, *count)?.into())
            }
        })
    }

    fn reduced(
        &mut self,
        at: usize,
        kind: Reduction,
        x: Arc<Value<E::Ciphertext>>,
        axes: &[usize],
    ) -> Result<Arc<Value<E::Ciphertext>>> {
        let of = self.graph.node(at).operation.operands()[0];
        let exact_truths = self.approximations.modulus.is_some() && self.graph.node(of).element == Element::Bool;
        match kind {
            Reduction::Minimum if exact_truths => self.along_axes(at, Reduction::Product, x, axes),
            // Any of some is not none of them.
            Reduction::Maximum if exact_truths => {
                let complements = self.complement(of, (of, Operand::Value(x)))?;
                let complements = self.value((of, complements), None)?;
                let none = self.along_axes(at, Reduction::Product, complements, axes)?;
                let any = self.complement(at, (at, Operand::Value(none)))?;
                self.value((at, any), None)
            }
            _ => self.along_axes(at, kind, x, axes),
        }
    }

    fn along_axes(
        &mut self,
        at: usize,
        kind: Reduction,
        x: Arc<Value<E::Ciphertext>>,
        axes: &[usize],
    ) -> Result<Arc<Value<E::Ciphertext>>> {
        let shape = &self.graph.node(self.graph.node(at).operation.operands()[0]).shape;
        let absent: Vec<usize> = axes.iter().copied().filter(|&axis| x.layout.find(axis).is_none()).collect();
        let mut x = x;
        // The outermost first: once it is gone, the next is outermost, and sums over the outermost are copies.
        while let Some(dimension) =
            x.layout.dimensions.iter().rposition(|d| d.axis.is_some_and(|axis| axes.contains(&axis)))
        {
            x = match kind {
                Reduction::Sum => self.sum(&x, dimension)?.into(),
                Reduction::Product => self.product(&x, dimension)?.into(),
                Reduction::Maximum | Reduction::Minimum => self.extreme_of(at, kind, &x, dimension)?.into(),
            };
        }
        // Axes that the layout lacks hold copies.
        let count: usize = absent.iter().map(|&axis| shape[axis]).product();
        if count > 1 {
            x = self.copies_reduced(kind, &x, count)?.into();
        }
        Ok(Arc::new(self.without_axes(&x, axes)))
    }

    /// An array whose layout lacks some axes, with the names that its other axes have without them.
    pub(super) fn without_axes(&self, x: &Value<E::Ciphertext>, axes: &[usize]) -> Value<E::Ciphertext> {
        let name = |axis: usize| axis - axes.iter().filter(|&&gone| gone < axis).count();
        self.made(x.parts.clone(), x.layout.clone().renamed(name), x.bounds)
    }

    /// An operand as ciphertexts; those of an input in this layout, or in one that suits what follows.
    pub(super) fn value(
        &mut self,
        (at, operand): (usize, Operand<E::Ciphertext>),
        layout: Option<Layout>,
    ) -> Result<Arc<Value<E::Ciphertext>>> {
        match operand {
            Operand::Value(value) => Ok(value),
            Operand::Free(free) => {
                self.view(free, &self.graph.node(at).shape.clone(), layout.or_else(|| Some(self.suited(at))))
            }
            Operand::Constant(_) => Err(self.refusal(at, "compute it before the function is compiled")),
        }
    }

    /// The ciphertexts of elements of an input.
    pub(super) fn view(
        &mut self,
        free: Free,
        shape: &[usize],
        layout: Option<Layout>,
    ) -> Result<Arc<Value<E::Ciphertext>>> {
        let order: Vec<usize> = (0..shape.len()).collect();
        let fill = self.fill_of(&free);
        let layout = layout.unwrap_or_else(|| Layout::of_axes(shape, &order, fill));
        let bounds = if layout.is_full() { free.range } else { free.range.hull(Interval::point(free.padding())) };
        let view = View { free, shape: shape.to_vec(), layout: layout.clone() };
        let parts = self.source.view(view)?;
        Ok(Arc::new(self.made(parts, layout, bounds)))
    }

    /// The contents of slots without an element of an input.
    pub(super) fn fill_of(&self, free: &Free) -> Fill {
        if free.padding() == 0.0 { Fill::Zeros } else { Fill::Unknown }
    }

    /// The layout of an input that suits what is done with it: axes along which elements are summed lie outermost, because sums
    /// over the outermost dimension are in all its slots.
    pub(super) fn suited(&self, at: usize) -> Layout {
        let node = self.graph.node(at);
        let outermost = self.summed(at, &mut HashSet::new());
        let (inner, outer): (Vec<usize>, Vec<usize>) =
            (0..node.shape.len()).partition(|axis| !outermost.contains(axis));
        let padding = 0.0f64.clamp(node.range.low, node.range.high);
        let fill = if padding == 0.0 { Fill::Zeros } else { Fill::Unknown };
        Layout::of_axes(&node.shape, &[inner, outer].concat(), fill)
    }

    /// The axes of a node along which it, or a result of the same shape, is summed first.
    pub(super) fn summed(&self, at: usize, seen: &mut HashSet<usize>) -> Vec<usize> {
        /// How many nodes are looked at.
        const MOST: usize = 256;
        let axes = self.graph.node(at).shape.len();
        for &consumer in &self.consumers[at] {
            if seen.len() >= MOST || !seen.insert(consumer) {
                continue;
            }
            let node = self.graph.node(consumer);
            let found = match &node.operation {
                Operation::Reduce(_, _, reduced) => reduced.clone(),
                Operation::MatMul { .. } | Operation::Sparse { .. } => vec![axes - 1],
                Operation::ArgMax(_, axis) | Operation::OrderStatistic { axis, .. } | Operation::Top { axis, .. } => {
                    vec![*axis]
                }
                Operation::Gather { .. } => continue,
                _ => {
                    let missing = node.shape.len().saturating_sub(axes);
                    self.summed(consumer, seen).into_iter().filter_map(|axis| axis.checked_sub(missing)).collect()
                }
            };
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// Refuses a result whose ciphertexts are not those of its layout: its elements would be looked for in others.
    fn check_value(&self, at: usize, value: &Value<E::Ciphertext>) -> Result<()> {
        if value.is_sound(self.slots) {
            return Ok(());
        }
        Err(self.refusal(at, "an operation whose results fill ciphertexts in order: apply it to smaller arrays"))
    }

    /// An array of these ciphertexts, with what is known of it told to the evaluator.
    pub(super) fn made(&self, parts: Vec<E::Ciphertext>, layout: Layout, bounds: Interval) -> Value<E::Ciphertext> {
        let period = layout.period().min(self.slots);
        let known = |part| self.ev.with_range(self.ev.with_period(part, period), bounds.into());
        let value = Value { parts: parts.into_iter().map(known).collect(), layout, bounds };
        debug_assert!(value.is_sound(self.slots), "{} ciphertexts of {:?}", value.parts.len(), value.layout);
        value
    }

    /// Runs `work` for each of `count` ciphertexts or matrices, side by side on the threads of the evaluator.
    pub(super) fn side_by_side<T: Send>(
        &self,
        count: usize,
        work: impl Fn(usize) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        self.ev.side_by_side(count, &work)
    }

    /// The refusal of a node that slots cannot compute.
    pub(super) fn refusal(&self, at: usize, needed: &str) -> Error {
        CompileError::unsupported(self.graph, at, needed).into()
    }

    /// The refusal of a node by what its polynomials were refused for, or another error as it is.
    fn refused(&self, at: usize, error: Error) -> Error {
        let Some(NotNear(reason)) = error.downcast_ref() else { return error };
        let (node, reason) = (self.graph.node(at), reason.clone());
        let (place, operation) = (node.place.clone(), node.operation.name());
        CompileError::Approximation { place, operation, reason }.into()
    }
}
