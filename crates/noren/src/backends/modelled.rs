//! Runs of a graph on the model of noise of CKKS, and the part of the precision that each kind of error may have.

use noren_rlwe::error::{Error, Result};

use crate::backends::backend::Bounds;
use crate::graph::dag::Graph;
use crate::lowering::error::CompileError;
use crate::lowering::kept::Maps;
use crate::lowering::layout::Layout;
use crate::lowering::nodes::{Approximations, Lowering, Source};
use crate::lowering::recording::Recording;
use crate::lowering::value::View;
use crate::schemes::ckks::model::{ModelVector, NoiseModel};
use crate::schemes::ckks::noise::Mode;

/// The part of the precision that one approximation may take at first.
pub(super) const SHARE_OF_APPROXIMATIONS: f64 = 0.5;

/// The part of the last bound that a bound must fall to, so that better approximations count as a help.
pub(super) const HELPS: f64 = 0.75;

/// The part of the precision that the predicted bound may reach: that of ciphertexts differs a little, where plain operands are
/// rounded or bootstraps are made.
pub(super) const MARGIN: f64 = 0.9;

/// The part of the slack of signs that predicted errors may fill: bounds of bootstraps differ from them by a third and more.
pub(super) const MARGIN_OF_SLACK: f64 = 0.5;

/// Whether a graph was refused because no polynomials are near enough to what they stand for.
pub(super) fn is_approximation(error: &Error) -> bool {
    matches!(error.downcast_ref(), Some(CompileError::Approximation { .. }))
}

/// Runs a graph on a model, without values; with matrices that other runs made, if there are some.
pub(super) fn predicted(
    graph: &Graph,
    model: &NoiseModel,
    recording: &Recording,
    approximations: Approximations,
    maps: Option<&Maps<f64>>,
) -> Result<Bounds> {
    let mut source = Modelled::new(model, model.parameters().max_level(), recording.slots, None);
    let mut nodes = vec![None; graph.nodes().len()];
    let bound = |parts: &[ModelVector]| parts.iter().map(|part| model.error_bound(part)).fold(0.0, f64::max);
    let outputs = Lowering::new(model, graph, recording.slots, approximations, &mut source)
        .with_margin(MARGIN_OF_SLACK)
        .with_maps(maps)
        .run(|node, parts, _: &Layout| nodes[node] = Some(bound(parts)))?;
    Ok(Bounds::of(graph, nodes, outputs.iter().map(|output| bound(&output.parts)).collect()))
}

/// Inputs of a model: given ones, or some without values. Each view of one is encrypted once: all that is computed from it has its error.
pub(super) struct Modelled<'a> {
    model: &'a NoiseModel,
    level: usize,
    slots: usize,
    inputs: Option<(&'a [usize], &'a [Vec<f64>])>,
    encrypted: Vec<(View, Vec<ModelVector>)>,
}

impl<'a> Modelled<'a> {
    /// The inputs of nodes, or none, in ciphertexts of `level` with `slots` slots.
    pub(super) const fn new(
        model: &'a NoiseModel,
        level: usize,
        slots: usize,
        inputs: Option<(&'a [usize], &'a [Vec<f64>])>,
    ) -> Self {
        Self { model, level, slots, inputs, encrypted: Vec::new() }
    }
}

impl Source<ModelVector> for Modelled<'_> {
    fn view(&mut self, view: View) -> Result<Vec<ModelVector>> {
        if let Some((_, vectors)) = self.encrypted.iter().find(|(known, _)| *known == view) {
            return Ok(vectors.clone());
        }
        let range = encrypted_range(&view);
        let input = |(nodes, inputs): (&[usize], &'_ [Vec<f64>])| {
            let at = nodes.iter().position(|&node| node == view.free.input);
            at.map(|at| view.pack(&inputs[at], self.slots))
        };
        let encrypt = |slots: &Vec<f64>| self.model.encrypt(slots, range, self.level);
        let unknown = |_| self.model.fresh(Vec::new(), self.slots, range, self.level, Mode::Symmetric);
        let vectors: Vec<_> = match self.inputs.and_then(input) {
            Some(slots) => slots.iter().map(encrypt).collect::<Result<_>>()?,
            None => (0..view.layout.parts(self.slots)).map(unknown).collect::<Result<_>>()?,
        };
        self.encrypted.push((view, vectors.clone()));
        Ok(vectors)
    }
}

/// Where all slots of a view lie.
pub(super) fn encrypted_range(view: &View) -> [f64; 2] {
    let padding = view.free.padding();
    [view.free.range.low.min(padding), view.free.range.high.max(padding)]
}

/// A number that is not below, of two digits.
pub(super) fn in_few_digits(x: f64) -> f64 {
    let exponent = libm::log10(x).floor() as i32 - 1;
    let digits = (x / libm::pow(10.0, f64::from(exponent))).ceil();
    // As the text is read, so that what is shown is what was tried.
    format!("{digits:.0}e{exponent}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_digits_are_not_below() {
        assert_eq!([1e-3, 1.01e-3, 0.1249, 99.5].map(in_few_digits), [1e-3, 1.1e-3, 0.13, 100.0]);
    }
}
