//! The lookups of a graph: which functions, in which ciphertexts, with how much noise.

use std::collections::BTreeSet;
use std::sync::Arc;

use noren_rlwe::error::Result;

use crate::backends::backend::Step;
use crate::backends::bfv_lookups::fusion::Fusion;
use crate::backends::bfv_lookups::packing::{Call, Group, Packing};
use crate::backends::bfv_lookups::price::LookupDraft;
use crate::graph::dag::Graph;
use crate::lookup::{Function, LookupPlan, MODULUS};
use crate::lowering::error::CompileError;
use crate::schemes::bfv::{Noise, Parameters};
use crate::schemes::integers::noise::Mode;

/// Lookups for a graph.
pub(super) struct Lookups {
    pub(super) graph: Arc<Graph>,
    pub(super) fusion: Arc<Fusion>,
    pub(super) packing: Packing,
    pub(super) lookup: LookupPlan,
}

impl Lookups {
    pub(super) fn new(graph: &Arc<Graph>, fusion: Fusion, parameters: &Parameters) -> Result<Self> {
        let lookup = LookupPlan::new(parameters, fusion.domain())?;
        let packing = Packing::of(&fusion, lookup.layout().queries());
        let plan = Self { graph: Arc::clone(graph), fusion: Arc::new(fusion), packing, lookup };
        plan.check()?;
        Ok(plan)
    }

    /// Refuses sums whose noise is too large.
    fn check(&self) -> Result<()> {
        let degree = self.lookup.layout().degree();
        let noises = [false, true].map(|matrix| self.lookup.largest_noise(matrix));
        for group in self.packing.encrypted() {
            if self.noise(group, &noises).budget(degree) < 0.0 {
                let fit = libm::exp2(noises.iter().map(|noise| noise.budget(degree)).fold(f64::INFINITY, f64::min));
                let needed = format!(
                    "sums of at most {fit:.0} results of functions, not {}: return parts of the sum, and add them after \
                     decryption",
                    group.calls.len()
                );
                let [output, _] = group.places[0][0];
                return Err(CompileError::unsupported(&self.graph, self.graph.outputs()[output], &needed).into());
            }
        }
        Ok(())
    }

    /// The noise of a group at most, as the evaluator adds it up, where lookups of one and of two numbers have these.
    fn noise(&self, group: &Group, noises: &[Noise; 2]) -> Noise {
        let (parameters, limbs) = (self.lookup.parameters(), self.lookup.limbs());
        let laws = parameters.laws();
        let fresh = laws.fresh(Mode::Symmetric, parameters.max_limbs());
        let factor = |&(_, factor): &(usize, i64)| {
            let centered = factor.min(MODULUS.cast_signed() - factor);
            fresh.scaled(libm::log2(centered as f64))
        };
        let linear = group.inputs.iter().map(factor).reduce(|sum, term| sum.plus(&term));
        let linear = linear.map(|noise| noise.with(&laws.rounding(limbs)));
        let calls = group.calls.iter().map(|&at| noises[usize::from(is_pair(&self.packing.calls[at]))].clone());
        let sum = linear.into_iter().chain(calls).reduce(|sum, term| sum.plus(&term)).unwrap_or_else(Noise::none);
        sum.with(&laws.plain_rounding(limbs))
    }

    /// A function of numbers from 0 on, modulo [`MODULUS`]. Beyond the values of its arguments it is that of the last.
    pub(super) fn function(&self, at: usize) -> Function {
        let fusion = Arc::clone(&self.fusion);
        let calls = fusion.functions.calls(at);
        Function::batch(self.lookup.layout().domain(), move |x, y, values| {
            let ranges = &fusion.functions.get(at).ranges;
            let argument = |(numbers, &[low, high]): (&[u32], &[i64; 2])| -> Vec<i64> {
                numbers.iter().map(|&number| (low + i64::from(number)).min(high)).collect()
            };
            let points: Vec<Vec<i64>> = [x, y].into_iter().zip(ranges).map(argument).collect();
            let results = fusion.functions.values(&calls, &points).into_iter();
            let residue = |result: i64| result.rem_euclid(MODULUS.cast_signed()).cast_unsigned();
            values.iter_mut().zip(results).for_each(|(value, result)| *value = Some(residue(result)));
        })
    }

    /// For the price of some of the lookups.
    pub(super) fn draft(&self, calls: &[&Call]) -> LookupDraft<'_> {
        let pairs: Vec<usize> = calls.iter().filter(|call| is_pair(call)).map(|call| call.function).collect();
        let functions: BTreeSet<usize> = pairs.iter().copied().collect();
        LookupDraft {
            plan: &self.lookup,
            inputs: self.packing.inputs.len(),
            results: self.packing.encrypted().count(),
            pairs: pairs.len(),
            matrices: functions.len(),
            operations: functions.iter().map(|&function| self.fusion.functions.calls(function).len()).sum(),
            lines: calls.len() - pairs.len(),
            line_values: self.lookup.layout().domain()[0],
            terms: self.packing.groups.iter().map(|group| group.inputs.len()).sum(),
        }
    }

    /// The step of an output, with the lookups that no earlier one has.
    pub(super) fn step(&self, output: usize, seen: &mut BTreeSet<usize>) -> Step {
        let (at, packing) = (self.graph.outputs()[output], &self.packing);
        let own = |group: &&Group| group.places.iter().flatten().any(|place| place[0] == output);
        let groups: Vec<&Group> = packing.encrypted().filter(own).collect();
        let calls = groups.iter().flat_map(|group| &group.calls).filter(|&&call| seen.insert(call));
        let calls: Vec<&Call> = calls.map(|&call| &packing.calls[call]).collect();
        let (draft, node) = (self.draft(&calls), self.graph.node(at));
        let ([factors, rotations], (sums, _)) = (draft.steps(), self.lookup.sum_rotations());
        Step {
            operation: node.operation.name(),
            place: node.place.clone(),
            shape: node.shape.clone(),
            range: node.range,
            element: "integer".to_owned(),
            level: 0,
            ciphertexts: groups.len(),
            products: draft.one_hot_vectors() * draft.squarings() + draft.pairs,
            plain_products: factors + draft.line_blocks(),
            rotations: rotations + calls.len() * sums.concat().len(),
            bootstraps: 0,
            bound: 0.0,
        }
    }
}

fn is_pair(call: &Call) -> bool {
    call.arguments.len() == 2
}
