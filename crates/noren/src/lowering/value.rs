//! Arrays in slots, encrypted or not.

use std::sync::Arc;

use crate::graph::interval::Interval;
use crate::lowering::layout::Layout;

/// An array in ciphertexts.
pub(super) struct Value<C> {
    /// The ciphertexts, in the order of addresses.
    pub(super) parts: Vec<C>,
    /// Where the elements lie.
    pub(super) layout: Layout,
    /// Where the contents of all slots lie, those that are no elements too.
    pub(super) bounds: Interval,
}

impl<C> Value<C> {
    /// The ciphertext of this part of a larger array. Where it would hold no element, it is another one.
    pub(super) fn part(&self, part: usize, slots: usize) -> &C {
        let all = self.layout.period().div_ceil(slots);
        self.parts.get(part % all).unwrap_or(&self.parts[self.parts.len() - 1])
    }

    /// Whether there are as many ciphertexts as the layout says, and unknown contents between elements stay within them.
    pub(super) fn is_sound(&self, slots: usize) -> bool {
        self.parts.len() == self.layout.parts(slots) && self.layout.crossing(slots).is_none()
    }

    /// Whether a larger array repeats it with ciphertexts that hold no element.
    pub(super) fn is_cut(&self, larger: &Layout, slots: usize) -> bool {
        self.parts.len() < self.layout.period().div_ceil(slots) && larger.period() > self.layout.period()
    }
}

/// An operand of an operation.
pub(super) enum Operand<C> {
    /// Numbers in clear, in row-major order.
    Constant(Arc<[f64]>),
    /// Elements of an input, which the client brings into any layout.
    Free(Free),
    /// A result.
    Value(Arc<Value<C>>),
}

impl<C> Clone for Operand<C> {
    fn clone(&self) -> Self {
        match self {
            Self::Constant(values) => Self::Constant(values.clone()),
            Self::Free(free) => Self::Free(free.clone()),
            Self::Value(value) => Self::Value(value.clone()),
        }
    }
}

/// Elements of an input.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Free {
    /// The node of the input.
    pub(crate) input: usize,
    /// For each element its position in the input, or -1 for zero; all elements in their order if there are none.
    pub(crate) positions: Option<Arc<[i64]>>,
    /// Where the elements lie.
    pub(crate) range: Interval,
}

/// Elements of an input in a layout: what the client encrypts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct View {
    /// The elements.
    pub(crate) free: Free,
    /// Their shape.
    pub(crate) shape: Vec<usize>,
    /// Where they lie.
    pub(crate) layout: Layout,
}

impl Free {
    /// The contents of slots without an element: the number of the range that is next to zero.
    pub(crate) fn padding(&self) -> f64 {
        0.0f64.clamp(self.range.low, self.range.high)
    }
}

impl View {
    /// The slots of all ciphertexts, of `slots` slots each.
    pub(crate) fn pack(&self, elements: &[f64], slots: usize) -> Vec<Vec<f64>> {
        let padding = self.free.padding();
        let element = |at: Option<usize>| {
            let Some(at) = at else { return padding };
            let at = self.free.positions.as_ref().map_or(at as i64, |positions| positions[at]);
            usize::try_from(at).map_or(0.0, |at| elements[at])
        };
        let period: Vec<f64> = self.layout.positions(&self.shape).into_iter().map(element).collect();
        let mut parts = in_parts(&period, slots);
        parts.truncate(self.layout.parts(slots));
        parts
    }
}

/// The slots of all ciphertexts for the numbers of one period.
pub(super) fn in_parts<T: Copy>(period: &[T], slots: usize) -> Vec<Vec<T>> {
    if period.len() >= slots {
        return period.chunks(slots).map(<[T]>::to_vec).collect();
    }
    vec![period.iter().copied().cycle().take(slots).collect()]
}
