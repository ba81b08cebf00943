//! `noren eval` with bootstrapping keys: new levels for a table, or a program whose levels do not end.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use noren::Resources;
use noren::bootstrapping::{
    BootstrapKeyFile, BootstrapPlan, Bootstrapper, Mode, Parameters, Progress, Stage, WithBootstrapping,
};
use noren::ckks::{Ciphertext, Context, Evaluator};
use noren::programs::EncryptedTable;
use noren::programs::Program;
use noren::schemes::error::FailureBudgetExceeded;
use noren::wire::{Kind, Limits};
use serde::Serialize;

use crate::ckks::eval::{self, lowered};
use crate::console::Console;
use crate::describe::words::{count, right_but};
use crate::evaluation::{Evaluation, EvaluationOptions};
use crate::failure::Failure;
use crate::files;
use crate::outputs::Output;
use crate::programs;
use crate::progress;
use crate::stages::Stages;
use crate::takes;

/// The name of the verb among those of programs.
pub(super) const NAME: &str = "bootstrap";

/// Whether these are keys of bootstrapping.
pub(crate) fn is_key(keys: Kind) -> bool {
    matches!(keys, Kind::BOOTSTRAP_KEYS | Kind::EXPANDED_BOOTSTRAP_KEYS)
}

#[derive(Serialize)]
struct EvaluationReport {
    #[serde(flatten)]
    result: eval::ResultReport,
    /// The levels that are for products before the next bootstrap.
    levels_left: usize,
    bootstraps: u64,
    /// Of the probability that any of these is wrong; none without bootstraps.
    log2_failure: Option<f64>,
    /// Of new levels alone.
    stages: Stages,
}

/// Runs the job with the real parts of numbers, which is what tables hold.
pub(super) fn run(job: Evaluation<'_>, console: &Console) -> Result<(), Failure> {
    let Evaluation { program, options, output, .. } = job;
    let &EvaluationOptions { keys: ref path, ref input, ref model, last, failure_budget, .. } = options;
    let program = match program {
        // New levels alone.
        NAME => None,
        program => Some(programs::program(program, model.as_deref())?),
    };
    // The table is looked at before gigabytes of keys are read.
    let (parameters, table) = read_table(path, input, console)?;
    check_levels(input, program.is_none(), &parameters, &table)?;
    if let (None, Some(allowed)) = (&program, failure_budget) {
        let bootstraps = table.ciphertexts().len() as u64;
        let found = BootstrapPlan::new(&parameters)?.log2_failure(bootstraps);
        if found > allowed {
            return Err(Failure::file(input)(FailureBudgetExceeded { bootstraps, found, allowed }.into()));
        }
    }

    let BootstrapKeyFile { context, parameters, keys } = read_keys(path, &output)?;
    keys.owner().key.check(table.key_id(), "the table").map_err(Failure::file(input))?;
    let shown = progress::spinner("encoding the matrices".to_owned());
    let bootstrapper = Bootstrapper::new(&context, &parameters, keys.clone(), Mode::Real)?;
    let evaluator = Evaluator::new(&context, keys.evaluation.clone())?;
    drop(shown);

    let mut stages = Stages::begin();
    let (mut result, bootstraps, log2_failure) = match &program {
        None => {
            let result = renewed(&bootstrapper, table, &mut stages)?;
            let bootstraps = result.ciphertexts().len() as u64;
            (result, bootstraps, BootstrapPlan::new(&parameters)?.log2_failure(bootstraps))
        }
        Some(program) => {
            let shown = progress::spinner(program.name().to_owned());
            let evaluator = evaluator.with_bootstrapping(Arc::new(bootstrapper))?;
            let evaluator = evaluator.with_failure_budget(failure_budget.unwrap_or(0.0))?;
            let result = program.run(&evaluator, &table).map_err(Failure::of_computation(path))?;
            drop(shown);
            (result, evaluator.bootstraps(), evaluator.log2_failure())
        }
    };
    if last {
        result = lowered(&evaluator, result)?;
    }
    let program = program.as_ref().map_or(NAME, Program::name);
    let result = eval::ResultReport::write(&output, &context, program, &result)?;
    console.report(&EvaluationReport {
        levels_left: result.level.saturating_sub(parameters.input_level()),
        result,
        bootstraps,
        log2_failure: (bootstraps > 0).then_some(log2_failure),
        stages,
    })
}

/// The parameters of keys of bootstrapping, and a table of these.
pub(crate) fn read_table(
    keys: &Path,
    input: &Path,
    console: &Console,
) -> Result<(Parameters, EncryptedTable<Ciphertext>), Failure> {
    console.inputs().verify(keys, &takes::EVAL_KEYS)?;
    let parameters = BootstrapKeyFile::read_parameters(keys, &Limits::default()).map_err(Failure::file(keys))?;
    let context = Context::new(parameters.ckks()?)?;
    files::admit(context.parameters(), keys, console)?;
    let table = files::read(&context, input, &takes::EVAL_INPUT, console)?;
    Ok((parameters, table))
}

/// Reads or maps the keys, if there is memory for them and for bootstrapping.
pub(crate) fn read_keys(keys: &Path, output: &Output) -> Result<BootstrapKeyFile, Failure> {
    let shown = progress::bar("reading bootstrapping keys", 1);
    let mut heard = |Progress { done, of, .. }: Progress| shown.set(done, of);
    let resources = Resources::of_machine(output.path());
    BootstrapKeyFile::open(keys, &Limits::default(), &resources, &mut heard).map_err(Failure::file(keys))
}

/// Refuses a ciphertext below the level that bootstrapping takes.
pub(crate) fn check_level(input: &Path, index: usize, level: usize, least: usize) -> Result<(), Failure> {
    if level >= least {
        return Ok(());
    }
    let needed = format!("at least {least}, which bootstrapping takes");
    Err(Failure::input(input, format!("ciphertext {index}"), count_level(level), needed))
}

/// Refuses tables that cannot be bootstrapped, or need not be.
fn check_levels(
    path: &Path,
    renews: bool,
    parameters: &Parameters,
    table: &EncryptedTable<Ciphertext>,
) -> Result<(), Failure> {
    let (input, output) = (parameters.input_level(), parameters.output_level());
    for (index, ciphertext) in table.ciphertexts().iter().enumerate() {
        let level = ciphertext.level();
        if !renews {
            check_level(path, index, level, input)?;
        } else if !(input..output).contains(&level) {
            let needed = format!("{input} to {}: results of bootstrapping are at level {output}", output - 1);
            return Err(Failure::input(path, format!("ciphertext {index}"), count_level(level), needed));
        }
    }
    Ok(())
}

fn count_level(level: usize) -> String {
    format!("level {level}")
}

/// The table at the level of results; notes the time of each stage.
fn renewed(
    bootstrapper: &Bootstrapper,
    table: EncryptedTable<Ciphertext>,
    stages: &mut Stages,
) -> Result<EncryptedTable<Ciphertext>, Failure> {
    let (layout, ciphertexts) = table.into_parts();
    let all = ciphertexts.len();
    let shown = progress::bar("bootstrapping", all);
    let renew = |(index, ciphertext): (usize, &Ciphertext)| {
        stages.restart();
        let mut done = |stage: Stage| {
            stages.end(stage.name());
            shown.say(&format!("bootstrapping {} of {all}: {stage}", index + 1));
        };
        let result = bootstrapper.stages(ciphertext, &mut done)?.result;
        shown.set(index + 1, all);
        Ok(result)
    };
    let renewed = ciphertexts.iter().enumerate().map(renew).collect::<noren::Result<_>>()?;
    Ok(EncryptedTable::new(layout, renewed)?)
}

impl fmt::Display for EvaluationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = format!("{} left before the next bootstrap", count(self.levels_left, "level"));
        let [result, written] = self.result.lines(&left);
        writeln!(f, "{result}")?;
        if let Some(failure) = self.log2_failure {
            writeln!(f, "{}", right_but(self.bootstraps, failure))?;
        }
        write!(f, "{}{written}", self.stages)
    }
}
