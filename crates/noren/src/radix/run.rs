//! Circuits on ciphertexts: round by round, all integers of a batch together, or of a part of it that has room.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use noren_ring::interrupt::{self, Steps};
use noren_rlwe::error::Result;

use crate::radix::circuit::{Circuit, Cost, Function, LookupStep, ROOM, Schedule};
use crate::radix::value::Value;
use crate::schemes::tfhe::parts::{WORKING_SET, elements_that_fill, parts};
use crate::schemes::tfhe::{Ciphertext, Evaluator, Lookup};

/// Runs circuits, and keeps the tables that it met.
pub(super) struct Runner {
    evaluator: Evaluator,
    tables: Mutex<HashMap<Vec<Function>, Arc<Lookup>>>,
    working_set: usize,
}

impl Runner {
    /// Runs with this evaluator.
    pub fn new(evaluator: &Evaluator) -> Self {
        Self { evaluator: evaluator.clone(), tables: Mutex::default(), working_set: WORKING_SET }
    }

    /// The same, but that batches hold at most `bytes` bytes at a time.
    pub fn with_working_set(self, bytes: usize) -> Self {
        Self { working_set: bytes, ..self }
    }

    /// The evaluator of lookups.
    pub const fn evaluator(&self) -> &Evaluator {
        &self.evaluator
    }

    /// The outputs of the circuit for each element of a batch, part by part.
    pub fn run(
        &self,
        circuit: &Circuit,
        batch: &[Vec<&Ciphertext>],
        outputs: &[Value],
    ) -> Result<Vec<Vec<Ciphertext>>> {
        let owner = self.evaluator.owner();
        batch.iter().flatten().try_for_each(|operand| owner.check(operand.owner(), "the ciphertext"))?;
        let schedule = circuit.schedule(outputs);
        let Cost { bootstraps, rounds, held } = schedule.cost;
        let progress = Steps::new(bootstraps * batch.len());
        let context = self.evaluator.context();
        let sample = size_of::<u64>() * (context.parameters().torus().dimension() + 1);
        let bytes = held * sample + circuit.wires() * size_of::<Option<Ciphertext>>();
        let least = elements_that_fill(context.server().capacity(), bootstraps, rounds);
        let mut results = Vec::with_capacity(batch.len());
        for part in parts(batch.len(), bytes, self.working_set, least) {
            results.extend(self.run_part(circuit, &schedule, &batch[part], outputs, &progress)?);
        }
        Ok(results)
    }

    fn run_part(
        &self,
        circuit: &Circuit,
        schedule: &Schedule,
        batch: &[Vec<&Ciphertext>],
        outputs: &[Value],
        progress: &Steps,
    ) -> Result<Vec<Vec<Ciphertext>>> {
        let mut wires: Vec<Vec<Option<Ciphertext>>> = batch.iter().map(|operands| hold(circuit, operands)).collect();
        for (number, steps) in schedule.rounds.iter().enumerate() {
            let lookups = steps.iter().map(|step| self.lookup(step)).collect::<Result<Vec<_>>>()?;
            let sums = wires.iter().flat_map(|wires| steps.iter().map(|step| self.sum(wires, &step.operand)));
            let sums = sums.collect::<Result<Vec<_>>>()?;
            let pairs: Vec<_> = sums.iter().zip(lookups.iter().map(|lookup| &**lookup).cycle()).collect();
            let mut results = self.evaluator.lookup_pairs(&pairs)?.into_iter();
            progress.advance(pairs.len());
            for wires in &mut wires {
                for (step, values) in steps.iter().zip(&mut results) {
                    let places = step.functions.iter().map(|&(_, wire)| wire);
                    places.zip(values).for_each(|(wire, value)| wires[wire] = Some(value));
                }
                // The values that no later step needs.
                let done = wires.iter_mut().zip(&schedule.last_uses).filter(|(_, last)| **last <= number);
                done.for_each(|(wire, _)| *wire = None);
            }
        }
        let results = wires.iter().map(|wires| outputs.iter().map(|output| self.sum(wires, output)).collect());
        results.collect()
    }

    /// The functions of a step as a table.
    fn lookup(&self, step: &LookupStep) -> Result<Arc<Lookup>> {
        let functions: Vec<Function> = step.functions.iter().map(|&(function, _)| function).collect();
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lookup) = tables.get(&functions) {
            return Ok(Arc::clone(lookup));
        }
        let context = self.evaluator.context();
        let lookup = if let [Function::Carry(scale)] = functions[..] {
            Lookup::carry(context, u64::from(scale))?
        } else {
            let entries: Vec<_> = functions.iter().map(|function| |x: u64| function.entry(x)).collect();
            let entries: Vec<&dyn Fn(u64) -> u64> = entries.iter().map(|entry| entry as _).collect();
            Lookup::many(context, (ROOM / functions.len()) as u64, &entries)?
        };
        Ok(Arc::clone(tables.entry(functions).or_insert(Arc::new(lookup))))
    }

    /// The ciphertext of a sum.
    fn sum(&self, wires: &[Option<Ciphertext>], value: &Value) -> Result<Ciphertext> {
        // Sums of a large batch take seconds, between rounds of lookups.
        interrupt::check();
        let held = |wire: usize| wires[wire].as_ref().unwrap_or_else(|| panic!("wire {wire} is needed and not held"));
        let terms: Vec<_> = value.terms().iter().map(|&(wire, factor)| (held(wire), factor)).collect();
        self.evaluator.combine_known(&terms, value.offset(), value.most())
    }
}

/// The wires of an element with its operands.
fn hold(circuit: &Circuit, operands: &[&Ciphertext]) -> Vec<Option<Ciphertext>> {
    let mut wires: Vec<_> = operands.iter().map(|&operand| Some(operand.clone())).collect();
    wires.resize(circuit.wires(), None);
    wires
}
