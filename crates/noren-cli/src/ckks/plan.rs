//! The plan for programs on numbers, in words and numbers.

use std::fmt;

use noren::programs::{Program, ProgramPlan};
use serde::Serialize;

use crate::describe::Ckks;
use crate::describe::ring::evaluation_key;
use crate::describe::words::{bytes, count, error};

/// The plan in words and numbers.
#[derive(Debug, Serialize)]
pub(super) struct PlanReport {
    programs: Vec<&'static str>,
    rows: usize,
    columns: usize,
    ciphertexts_per_table: usize,
    slots: usize,
    /// Levels that the programs use.
    depth: usize,
    relinearization: bool,
    rotations: Vec<isize>,
    evaluation_keys: usize,
    evaluation_key_bytes: u64,
    /// After as many multiplications as the deepest program has, in units of the encoded numbers, which are at most 1.
    predicted_error: f64,
    parameters: Ckks,
}

impl PlanReport {
    pub(super) fn new(programs: &[Program], plan: &ProgramPlan) -> noren::Result<Self> {
        let ProgramPlan { parameters, layout, usage } = plan;
        let request = plan.key_request()?;
        let levels = request.rotations_at.iter().map(|&(_, level)| level).chain(request.level);
        let sizes: Vec<u64> = levels.map(|level| evaluation_key(parameters.rlwe(), level + 1)).collect();
        Ok(Self {
            programs: programs.iter().map(Program::name).collect(),
            rows: layout.rows(),
            columns: layout.columns(),
            ciphertexts_per_table: layout.ciphertexts(),
            slots: layout.slots(),
            depth: usage.depth,
            relinearization: request.relinearization,
            rotations: usage.rotations.keys().copied().collect(),
            evaluation_keys: sizes.len(),
            evaluation_key_bytes: sizes.iter().sum(),
            predicted_error: plan.predicted_error(),
            parameters: Ckks::for_values(parameters, layout.slots(), 1.0),
        })
    }
}

impl fmt::Display for PlanReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "programs       {}", self.programs.join(", "))?;
        let (rows, columns) = (count(self.rows, "row"), count(self.columns, "column"));
        let ciphertexts = count(self.ciphertexts_per_table, "ciphertext");
        writeln!(f, "tables         {rows}, {columns}: {ciphertexts} of {} slots", self.slots)?;
        let relinearization = if self.relinearization { ", products of ciphertexts" } else { "" };
        let (keys, bytes) = (count(self.evaluation_keys, "key"), bytes(self.evaluation_key_bytes as f64));
        let (levels, rotations) = (count(self.depth, "level"), count(self.rotations.len(), "rotation"));
        writeln!(f, "needs          {levels}, {rotations}{relinearization}")?;
        writeln!(f, "eval.keys      {keys}, {bytes}")?;
        let (error, products) = (error(self.predicted_error), count(self.depth, "multiplication"));
        writeln!(f, "precision      about {error} after {products}, relative to a column's bound")?;
        write!(f, "{}", self.parameters)
    }
}
