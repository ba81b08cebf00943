//! Which parameters and keys programs need, before any key exists.

use std::fmt;
use std::fs;
use std::path::Path;

use noren::circuits::recorder::Demands;
use noren::ckks::{KeyRequest, Parameters, Requirements};
use noren::programs::layout::TableLayout;
use noren::programs::program::Program;
use serde::Serialize;

use crate::bounds;
use crate::describe::{self, Description};
use crate::failure::Failure;

/// What tables look like that are to be encrypted.
pub(crate) struct Shape<'a> {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Names of the columns, or nothing.
    pub(crate) names: &'a [String],
    /// The file of bounds of the columns.
    pub(crate) bounds: Option<&'a Path>,
}

/// Parameters and keys for programs on tables of one shape.
pub(crate) struct Plan {
    pub(crate) parameters: Parameters,
    pub(crate) request: KeyRequest,
    pub(crate) report: Report,
}

/// The plan in words and numbers.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
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
    parameters: Description,
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
    let json = fs::read_to_string(path).map_err(|source| Failure::Io { path: path.to_owned(), source })?;
    Program::parse(name, Some(&json)).map_err(Failure::file(path))
}

/// Whether a program cannot be without a model.
fn needs_model(name: &str) -> bool {
    matches!(name, "linear" | "logistic" | "polynomial")
}

impl Plan {
    /// Plans with parameters that are given, or with the smallest ones that reach a precision.
    pub(crate) fn new(
        programs: &[Program],
        shape: &Shape<'_>,
        precision_bits: f64,
        given: Option<Parameters>,
    ) -> Result<Self, Failure> {
        let parameters = match given {
            Some(parameters) => parameters,
            None => choose(programs, shape, precision_bits)?,
        };
        let layout = shape.layout(parameters.max_slots())?;
        let demands = demands(programs, &layout)?;
        let level = parameters.max_level();
        if level < demands.depth {
            return Err(Failure::Unsuitable {
                what: "levels of the parameters",
                found: level.to_string(),
                needed: format!(
                    "{}, for the deepest of the programs: choose parameters with more primes",
                    demands.depth
                ),
            });
        }
        let request = demands.key_request(level)?;
        let key = |level| describe::evaluation_key(&parameters, level);
        let relinearization = if request.relinearization { key(request.level.unwrap_or(level)) } else { 0 };
        let report = Report {
            programs: programs.iter().map(Program::name).collect(),
            rows: layout.rows(),
            columns: layout.columns(),
            ciphertexts_per_table: layout.ciphertexts(),
            slots: layout.slots(),
            depth: demands.depth,
            relinearization: request.relinearization,
            rotations: demands.rotations.keys().copied().collect(),
            evaluation_keys: usize::from(request.relinearization) + request.rotations_at.len(),
            evaluation_key_bytes: relinearization
                + request.rotations_at.iter().map(|&(_, level)| key(level)).sum::<u64>(),
            predicted_error: parameters.predicted_error(demands.depth, 1.0, layout.slots()),
            parameters: Description::for_values(&parameters, layout.slots(), 1.0),
        };
        Ok(Self { parameters, request, report })
    }
}

impl Shape<'_> {
    /// The layout of such a table in a ring with so many slots.
    ///
    /// The scaling of columns depends on numbers that do not exist yet. Without bounds it is taken to differ between
    /// columns, and never to be 1: the case in which programs need the most levels.
    fn layout(&self, max_slots: usize) -> Result<TableLayout, Failure> {
        let layout = TableLayout::new(self.rows, self.columns, max_slots)?.with_column_names(self.names.to_vec())?;
        match self.bounds {
            Some(path) => {
                let bounds = bounds::read(path, &layout)?;
                bounds::scale(path, layout, &bounds)
            }
            None => Ok(layout.with_exponents((0..self.columns).map(|column| 1 + column as i32 % 2).collect())?),
        }
    }
}

/// The smallest parameters that hold the programs: the slots of a ciphertext depend on the ring, and with them the
/// errors, so the search is repeated until both agree.
fn choose(programs: &[Program], shape: &Shape<'_>, precision_bits: f64) -> Result<Parameters, Failure> {
    let mut needed = Requirements { depth: 0, precision_bits, slots: 1, ..Requirements::default() };
    loop {
        let parameters = Parameters::for_requirements(&needed)?;
        let layout = shape.layout(parameters.max_slots())?;
        let depth = demands(programs, &layout)?.depth;
        let holds = parameters.max_level() >= depth
            && parameters.predicted_error(depth, needed.max_abs, layout.slots()) <= (-precision_bits).exp2();
        if holds {
            return Ok(parameters);
        }
        // Both grow in each round, and both are bounded: by the largest ring that the parameters can have.
        needed.depth = needed.depth.max(depth);
        needed.slots = needed.slots.max(layout.slots());
    }
}

fn demands(programs: &[Program], layout: &TableLayout) -> Result<Demands, Failure> {
    let mut merged = Demands::default();
    for program in programs {
        merged = merged.merge(&program.plan(layout)?);
    }
    Ok(merged)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "programs       {}", self.programs.join(", "))?;
        let (rows, columns, count) = (self.rows, self.columns, self.ciphertexts_per_table);
        let noun = if count == 1 { "ciphertext" } else { "ciphertexts" };
        writeln!(f, "tables         {rows} rows, {columns} columns: {count} {noun} of {} slots", self.slots)?;
        let relinearization = if self.relinearization { ", products of ciphertexts" } else { "" };
        let (keys, bytes) = (self.evaluation_keys, describe::bytes(self.evaluation_key_bytes as f64));
        writeln!(f, "needs          {} levels, {} rotations{relinearization}", self.depth, self.rotations.len())?;
        writeln!(f, "eval.keys      {keys} keys, {bytes}")?;
        let error = describe::error(self.predicted_error);
        writeln!(f, "precision      about {error} after {} multiplications, relative to a column's bound", self.depth)?;
        write!(f, "{}", self.parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn shape(rows: usize, columns: usize) -> Shape<'static> {
        Shape { rows, columns, names: &[], bounds: None }
    }

    #[test]
    fn chosen_parameters_reach_the_precision_with_the_slots_they_have() {
        for (program, rows, columns, bits) in
            [("mean", 20, 3, 20.0), ("mean", 5000, 30, 20.0), ("covariance", 300, 12, 16.0), ("sum", 9, 1, 30.0)]
        {
            let programs = programs(&named(&[program]), &[]).expect("known");
            let plan = Plan::new(&programs, &shape(rows, columns), bits, None).expect("can be met");
            assert!(plan.report.predicted_error <= f64::exp2(-bits), "{program}: {}", plan.report.predicted_error);
            assert_eq!(plan.parameters.max_level(), plan.report.depth, "{program}");
        }
    }

    #[test]
    fn the_plan_of_several_programs_covers_each() {
        let shape = shape(50, 6);
        let plan = |names: &[&str]| {
            let programs = programs(&named(names), &[]).expect("known");
            Plan::new(&programs, &shape, 16.0, None).expect("can be met").report
        };
        let (mean, variance, both) = (plan(&["mean"]), plan(&["variance"]), plan(&["mean", "variance"]));
        assert_eq!(both.depth, mean.depth.max(variance.depth));
        assert!(mean.rotations.iter().chain(&variance.rotations).all(|steps| both.rotations.contains(steps)));
        assert!(!mean.relinearization && both.relinearization);
    }

    #[test]
    fn scaling_that_is_not_known_counts_as_the_worst() {
        let directory = std::env::temp_dir().join(format!("noren-plan-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        let model = directory.join("cubic.json");
        fs::write(&model, r#"{"coefficients": [0, 1, 0, 1], "interval": [-1, 1]}"#).expect("written");
        let programs = programs(&named(&["polynomial"]), &[model.display().to_string()]).expect("a model");
        let unit = demands(&programs, &TableLayout::new(8, 2, 64).expect("a layout")).expect("a plan");
        let unknown = Plan::new(&programs, &shape(8, 2), 16.0, None).expect("can be met");
        fs::remove_dir_all(&directory).expect("removed");
        assert_eq!(unknown.report.depth, unit.depth + 1);
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
