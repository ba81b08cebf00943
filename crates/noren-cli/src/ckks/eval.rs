//! `noren eval` with evaluation keys of CKKS: a program on a table of numbers.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use noren::circuits::recorder::CircuitUsage;
use noren::ckks::{Ciphertext, Context, Evaluator};
use noren::programs::EncryptedTable;
use noren::programs::Program;
use noren::programs::TableLayout;
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::{bytes, count};
use crate::evaluation::{Evaluation, EvaluationOptions};
use crate::failure::{Failure, key_options};
use crate::files;
use crate::outputs::Output;
use crate::programs;
use crate::progress;
use crate::takes;

/// The result of a program.
#[derive(Serialize)]
pub(crate) struct ResultReport {
    path: PathBuf,
    program: &'static str,
    ciphertexts: usize,
    pub(crate) level: usize,
    bytes: u64,
    /// In units of the encoded numbers, which are at most about 1.
    error_bound: f64,
}

impl ResultReport {
    /// Writes the result.
    pub(crate) fn write(
        output: &Output,
        context: &Context,
        program: &'static str,
        result: &EncryptedTable<Ciphertext>,
    ) -> Result<Self, Failure> {
        let bytes = output.write(context, result)?;
        let ciphertexts = result.ciphertexts();
        Ok(Self {
            path: output.path().to_owned(),
            program,
            ciphertexts: ciphertexts.len(),
            level: lowest(ciphertexts),
            bytes,
            error_bound: ciphertexts.iter().map(Ciphertext::error_bound).fold(0.0, f64::max),
        })
    }

    /// The line about the result, where levels are left, and that about its file.
    pub(crate) fn lines(&self, left: &str) -> [String; 2] {
        let ciphertexts = count(self.ciphertexts, "ciphertext");
        let written = format!("wrote {}, {}", self.path.display(), bytes(self.bytes as f64));
        [format!("{}: {ciphertexts}, {left}", self.program), written]
    }
}

/// The lowest level.
fn lowest(ciphertexts: &[Ciphertext]) -> usize {
    ciphertexts.iter().map(Ciphertext::level).min().unwrap_or(0)
}

/// Runs the program.
pub(super) fn run(job: Evaluation<'_>, console: &Console) -> Result<(), Failure> {
    let Evaluation { program, options, output, .. } = job;
    let program = programs::program(program, options.model.as_deref())?;
    let keys = files::open_evaluation_keys::<Context>(&options.keys, &takes::EVAL_KEYS, console)?;
    let evaluator = Evaluator::new(&keys.context, Arc::new(keys.key))?;
    let table = files::read::<EncryptedTable<Ciphertext>>(&keys.context, &options.input, &takes::EVAL_INPUT, console)?;
    let owner = evaluator.keys().owner().key;
    owner.check(table.key_id(), "the table").map_err(Failure::file(&options.input))?;
    let layout = table.columns().map_err(Failure::file(&options.input))?;
    let level = lowest(table.ciphertexts());
    let usage = program.plan(layout).map_err(|error| match &options.model {
        Some(path) => Failure::file(path)(error),
        None => error.into(),
    })?;
    check_keys(options, &program, &evaluator, layout, &usage, level)?;
    let shown = progress::spinner(format!(
        "{}: {} products, {} rotations",
        program.name(),
        usage.counts.products + usage.counts.plain_products,
        usage.counts.rotations
    ));
    let mut result = program.run(&evaluator, &table).map_err(Failure::of_computation(&options.keys))?;
    if options.last {
        result = lowered(&evaluator, result)?;
    }
    drop(shown);
    console.report(&ResultReport::write(&output, &keys.context, program.name(), &result)?)
}

/// The same numbers at the lowest level that holds them.
pub(crate) fn lowered(
    evaluator: &Evaluator,
    table: EncryptedTable<Ciphertext>,
) -> Result<EncryptedTable<Ciphertext>, Failure> {
    let (layout, ciphertexts) = table.into_parts();
    let lower = |ciphertext: Ciphertext| {
        for level in 0..ciphertext.level() {
            let low = evaluator.drop_level(&ciphertext, level)?;
            if low.error_bound() == ciphertext.error_bound() {
                return Ok(low);
            }
        }
        Ok(ciphertext)
    };
    let ciphertexts = ciphertexts.into_iter().map(lower).collect::<noren::Result<_>>()?;
    Ok(EncryptedTable::new(layout, ciphertexts)?)
}

/// Refuses keys that do not cover the program before any work is done, and names all that are missing.
fn check_keys(
    options: &EvaluationOptions,
    program: &Program,
    evaluator: &Evaluator,
    layout: &TableLayout,
    usage: &CircuitUsage,
    level: usize,
) -> Result<(), Failure> {
    let Some(left) = level.checked_sub(usage.depth) else {
        return Err(Failure::input(
            &options.input,
            format!("{} on {} rows and {} columns", program.name(), layout.rows(), layout.columns()),
            count(level, "level"),
            format!("{}: make keys for this program, and encrypt with them", usage.depth),
        ));
    };
    let limbs_at = |depth: usize| left + usage.depth - depth + 1;
    let keys = evaluator.keys();
    let relinearization = usage.relinearization.filter(|&depth| keys.relinearization(limbs_at(depth)).is_err());
    let mut missing: Vec<String> = relinearization.iter().map(|_| "relinearisation".to_owned()).collect();
    for (&steps, &depth) in &usage.rotations {
        if keys.galois(evaluator.context().rotation_exponent(steps), limbs_at(depth)).is_err() {
            missing.push(format!("rotation by {steps}"));
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::MissingKeys {
        path: options.keys.clone(),
        program: program.name(),
        rows: layout.rows(),
        columns: layout.columns(),
        options: key_options(options.model.as_deref(), [layout.rows(), layout.columns()], layout.column_names()),
        level,
        missing: missing.join(", "),
    })
}

impl fmt::Display for ResultReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [result, written] = self.lines(&format!("{} left", count(self.level, "level")));
        write!(f, "{result}\n{written}")
    }
}
