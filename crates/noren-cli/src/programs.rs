//! Programs with their models from files, and the plan for them in words.

use std::fmt;
use std::path::Path;

use noren::programs::Program;
use noren::programs::ProgramPlan;
use serde::Serialize;

use crate::describe::Ckks;
use crate::describe::ring::evaluation_key;
use crate::describe::words::{bytes, count, error};
use crate::failure::Failure;
use crate::files::read_text;

/// The most bytes that are read of a model.
const MAX_BYTES: u64 = 1 << 28;

/// The plan in words and numbers.
#[derive(Debug, Serialize)]
pub(crate) struct PlanReport {
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

/// The programs of these names with their models: each is `PROGRAM=FILE`, or just a file for the next program in the
/// list that cannot do without one.
pub(crate) fn programs(names: &[String], models: &[String]) -> Result<Vec<Program>, Failure> {
    let mut files: Vec<Option<&str>> = vec![None; names.len()];
    for model in models {
        let named = model.split_once('=').filter(|(name, _)| Program::NAMES.contains(name));
        let place = match named {
            Some((name, _)) => names.iter().zip(&files).position(|(own, file)| own == name && file.is_none()),
            None => names.iter().zip(&files).position(|(own, file)| needs_model(own) && file.is_none()),
        };
        let Some(place) = place else {
            return Err(Failure::Unsuitable {
                what: "--model",
                found: format!("{model}, which belongs to none of the programs {}", names.join(", ")),
                needed: "one model for each program that takes one; write PROGRAM=FILE to say for which".to_owned(),
            });
        };
        files[place] = Some(named.map_or(model.as_str(), |(_, file)| file));
    }
    names.iter().zip(files).map(|(name, file)| program(name, file.map(Path::new))).collect()
}

/// The program of this name with the model in a file.
pub(crate) fn program(name: &str, model: Option<&Path>) -> Result<Program, Failure> {
    let Some(path) = model else { return Ok(Program::parse(name, None)?) };
    let json = read_text(path, MAX_BYTES, "a model as JSON")?;
    Program::parse(name, Some(&json)).map_err(Failure::file(path))
}

/// Whether a program cannot be without a model.
fn needs_model(name: &str) -> bool {
    matches!(name, "linear" | "logistic" | "polynomial")
}

impl PlanReport {
    pub(crate) fn new(programs: &[Program], plan: &ProgramPlan) -> noren::Result<Self> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn models_find_their_programs() {
        let missing =
            |names: &[&str], models: &[&str]| programs(&named(names), &named(models)).expect_err("no such file");
        // The file is looked for only once it has a program.
        for models in [["logistic=/no/such.json"], ["/no/such.json"]] {
            let message = missing(&["mean", "covariance", "logistic"], &models).to_string();
            assert!(message.starts_with("/no/such.json:"), "{message}");
        }
        let message = missing(&["mean"], &["/no/such.json"]).to_string();
        assert!(message.contains("belongs to none of the programs mean"), "{message}");
        let message = missing(&["logistic"], &[]).to_string();
        assert!(message.contains("interval"), "{message}");
    }
}
