//! The server half: prepared functions, and a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use noren_rlwe::error::Result;
use noren_rlwe::wire::object::Object;
use noren_rlwe::wire::writer::Form;

use crate::backends::backend::Running;
use crate::backends::bfv_lookups::lookups::Lookups;
use crate::backends::bfv_lookups::packing::Group;
use crate::backends::keys::ServerKeys;
use crate::backends::parcel::ciphertexts;
use crate::backends::slots::check_length;
use crate::lookup::{Line, LineLookup, Lookup, LookupKeyFile, MODULUS};
use crate::schemes::bfv::{Bfv, Ciphertext, Encoder, Evaluator};
use crate::schemes::integers::Ciphertexts;

/// The bytes that pairs which are looked up at once may take.
const PAIR_BYTES: u64 = 1 << 30;
/// The most pairs that are looked up at once.
const MOST_PAIRS: u64 = 32;

/// The server half of a plan.
pub(super) struct LookupsServer {
    plan: Arc<Lookups>,
    keys: ServerKeys,
    ev: Evaluator,
    prepared: BTreeMap<usize, Prepared>,
}

/// A function, ready to be looked up.
enum Prepared {
    One(Box<LineLookup>),
    Two(Box<Lookup>),
}

impl LookupsServer {
    /// Prepares all functions.
    ///
    /// # Errors
    /// Keys of other domains; matrices that are larger than the memory.
    pub(super) fn new(plan: Arc<Lookups>, keys: &ServerKeys) -> Result<Self> {
        let file = keys.get::<LookupKeyFile>(0)?;
        file.check(&plan.lookup)?;
        let ev = Evaluator::new(&file.context, Arc::clone(&file.evaluation))?;
        let prepare = |at: usize| {
            let function = plan.function(at);
            let prepared = match plan.fusion.functions.sizes(at).len() {
                1 => Prepared::One(Box::new(LineLookup::prepare(&file.context, &plan.lookup, &function, Line::First)?)),
                _ => Prepared::Two(Box::new(Lookup::prepare(&file.context, &plan.lookup, &function, None)?)),
            };
            Ok((at, prepared))
        };
        let prepared = plan.fusion.looked_up().into_iter().map(prepare).collect::<Result<_>>()?;
        Ok(Self { keys: keys.clone(), ev, prepared, plan })
    }

    /// The results of all lookups: those of a matrix several at a time, so that its factors are transformed once for them.
    fn look_up(&self, inputs: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
        let keys = &self.keys.get::<LookupKeyFile>(0)?.keys;
        let calls = &self.plan.packing.calls;
        let mut results: Vec<Option<Ciphertext>> = vec![None; calls.len()];
        let at_once = (PAIR_BYTES / self.plan.lookup.working_bytes(1).max(1)).clamp(1, MOST_PAIRS) as usize;
        for (&function, prepared) in &self.prepared {
            let own: Vec<usize> = (0..calls.len()).filter(|&at| calls[at].function == function).collect();
            for own in own.chunks(at_once) {
                let argument = |at: usize, of: usize| &inputs[calls[at].arguments[of]];
                let found = match prepared {
                    Prepared::One(line) => {
                        let one = |&at: &usize| line.evaluate(&self.ev, keys, argument(at, 0), argument(at, 0));
                        own.iter().map(one).collect::<Result<_>>()?
                    }
                    Prepared::Two(lookup) => {
                        let pairs: Vec<_> = own.iter().map(|&at| [argument(at, 0), argument(at, 1)]).collect();
                        lookup.evaluate_many(&self.ev, keys, &pairs, &|_| {})?
                    }
                };
                own.iter().zip(found).for_each(|(&at, result)| results[at] = Some(result));
            }
        }
        Ok(results.into_iter().flatten().collect())
    }

    /// The sum of a group, in its lanes.
    fn sum(&self, group: &Group, inputs: &[Ciphertext], results: &[Ciphertext]) -> Result<Ciphertext> {
        let (ev, layout) = (&self.ev, self.plan.lookup.layout());
        let terms: Vec<(&Ciphertext, i64)> = group.inputs.iter().map(|&(at, factor)| (&inputs[at], factor)).collect();
        let linear = match (terms.is_empty(), group.calls.is_empty()) {
            (true, _) => None,
            (false, true) => Some(ev.mod_switch_to_noise(&ev.weighted_sum(&terms, 0)?)?),
            (false, false) => Some(ev.mod_switch(&ev.weighted_sum(&terms, 0)?, self.plan.lookup.limbs())?),
        };
        let all = linear.iter().chain(group.calls.iter().map(|&at| &results[at])).cloned();
        let sum = all.map(Ok).reduce(|sum, term| ev.add(&sum?, &term?)).expect("a group has a term")?;
        if group.constants.iter().all(|&constant| constant == 0) {
            return Ok(sum);
        }
        let constants = layout.encode(&Encoder::new(ev.context()), &group.constants, MODULUS as usize)?;
        ev.add_plain(&sum, &constants)
    }
}

impl Running for LookupsServer {
    fn run(&self, inputs: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
        let (context, packing) = (self.ev.context(), &self.plan.packing);
        check_length("inputs", inputs.len(), self.plan.graph.inputs().len())?;
        let inputs = ciphertexts(inputs, |item| Ok(Ciphertexts::<Bfv>::from_bytes(context, item)?.0))?.concat();
        check_length("ciphertexts of the inputs", inputs.len(), packing.inputs.len())?;
        let results = self.look_up(&inputs)?;
        let outputs = packing.encrypted().map(|group| self.sum(group, &inputs, &results)).collect::<Result<_>>()?;
        Ok(vec![Ciphertexts::<Bfv>(outputs).to_bytes(context, Form::Packed)])
    }
}
