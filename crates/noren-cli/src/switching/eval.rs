//! `noren eval` with switching keys: programs that compare entries of a table of numbers.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use noren::bootstrapping::{BootstrapKeyFile, Bootstrapper, Mode, Parameters};
use noren::ckks::Context;
use noren::programs::{DecidedTable, DecisionProgram};
use noren::schemes::error::FailureBudgetExceeded;
use noren::switching::{self, KeyFile, SchemeSwitch, Steps};
use noren::{KeyId, tfhe};
use noren_rlwe::wire::file::directory_of;
use serde::Serialize;

use crate::bootstrap::eval::{check_level, read_keys, read_table};
use crate::ckks::eval::{self, lowered};
use crate::columns::{check_distinct, position};
use crate::console::Console;
use crate::describe::words::{count, right_but};
use crate::evaluation::{Evaluation, EvaluationOptions, Number};
use crate::failure::{Failure, keys_of};
use crate::files;
use crate::progress;
use crate::switching::keys::SWITCHING;
use crate::takes;
use crate::tfhe::files::ServerKeyForm;
use crate::tfhe::keys::SERVER;

/// Its own options.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct SwitchingOptions {
    /// How many entries of each column are the largest for the program top
    #[arg(long, value_name = "K")]
    count: Option<usize>,
    /// switching.keys, for programs that compare entries of tables of numbers [default: the file beside bootstrap.keys]
    #[arg(long, value_name = "FILE")]
    switching_keys: Option<PathBuf>,
    /// server.keys for these programs [default: the file beside bootstrap.keys]
    #[arg(long, value_name = "FILE")]
    server_keys: Option<PathBuf>,
    /// In how many bootstraps of TFHE these programs compare: 3 have a dead zone that is about 30 times smaller [default: 1]
    #[arg(long, value_name = "1|3", value_parser = parse_steps)]
    steps: Option<Steps>,
}

/// In how many steps is decided.
fn parse_steps(text: &str) -> Result<Steps, String> {
    match text {
        "1" => Ok(Steps::One),
        "3" => Ok(Steps::Three),
        _ => Err("1 or 3 is needed".to_owned()),
    }
}

/// The program, with the one number that it takes.
fn decision_program(job: &Evaluation<'_>, count: Option<usize>) -> Result<DecisionProgram, Failure> {
    let (name, number) = (job.program, job.options.number.as_ref().map(Number::nearest));
    let refuse =
        |what, found: String, needed: &str| Err(Failure::Unsuitable { what, found, needed: needed.to_owned() });
    match (name, number, count) {
        ("threshold", Some(number), None) => Ok(DecisionProgram::Threshold(number)),
        ("threshold", None, _) => refuse("--number", "none".to_owned(), "the threshold, in units of the columns"),
        ("top", None, Some(count)) => Ok(DecisionProgram::Top(count)),
        ("top", _, None) => refuse("--count", "none".to_owned(), "how many entries are the largest"),
        (_, Some(number), _) if name != "threshold" => {
            refuse("--number", number.to_string(), &format!("none: {name} takes none"))
        }
        (_, _, Some(count)) => refuse("--count", count.to_string(), &format!("none: {name} takes none")),
        ("argmin", ..) => Ok(DecisionProgram::Argmin),
        ("argmax", ..) => Ok(DecisionProgram::Argmax),
        _ => Ok(DecisionProgram::Rank),
    }
}

#[derive(Serialize)]
struct EvaluationReport {
    #[serde(flatten)]
    result: eval::ResultReport,
    /// The levels that are for products before the next bootstrap.
    levels_left: usize,
    seconds: f64,
    /// Of samples of TFHE.
    bootstraps: u64,
    /// Of the probability that any result is wrong beyond dead zones and error bounds.
    log2_failure: f64,
    dead_zones: Vec<DeadZone>,
    /// The statement about entries within the dead zones.
    #[serde(skip)]
    meaning: &'static str,
}

/// Up to which distance a result may be either.
#[derive(Serialize)]
struct DeadZone {
    column: String,
    /// In units of the column.
    dead_zone: f64,
}

/// Switching keys and TFHE server keys, read from files.
struct Keys {
    switching: KeyFile,
    context: tfhe::Context,
    server: ServerKeyForm,
    /// The file of the keys between the schemes.
    path: PathBuf,
}

pub(super) fn run(job: Evaluation<'_>, console: &Console) -> Result<(), Failure> {
    let own: SwitchingOptions = job.given.own();
    let program = decision_program(&job, own.count)?;
    let &EvaluationOptions { keys: ref path, ref input, columns: ref asked, last, failure_budget, .. } = job.options;
    // Everything small is looked at before gigabytes of keys are read.
    let (parameters, table) = read_table(path, input, console)?;
    let layout = table.columns().map_err(Failure::file(input))?;
    for (index, ciphertext) in table.ciphertexts().iter().enumerate() {
        check_level(input, index, ciphertext.level(), parameters.input_level())?;
    }
    if layout.slots() > parameters.slots() {
        let needed = format!("at most {}, the slots of noren keygen --bootstrap --slots", parameters.slots());
        return Err(Failure::input(input, "its ciphertexts", count(layout.slots(), "slot"), needed));
    }
    let names: Vec<String> = match layout.column_names() {
        [] => (0..layout.columns()).map(|column| column.to_string()).collect(),
        names => names.to_vec(),
    };
    let columns = match &asked[..] {
        [] => (0..names.len()).collect(),
        chosen => chosen.iter().map(|text| position(&names, text, input)).collect::<Result<Vec<_>, _>>()?,
    };
    check_distinct(&columns, asked)?;
    program.rotations(layout, &columns, parameters.slots()).map_err(Failure::file(input))?;
    let keys = Keys::read(path, &own, &parameters, table.key_id(), console)?;
    let BootstrapKeyFile { context, parameters, keys: bootstrap } = read_keys(path, &job.output)?;
    bootstrap.owner().key.check(table.key_id(), "the table").map_err(Failure::file(input))?;
    let shown = progress::spinner("preparing the keys".to_owned());
    let bootstrapper = Arc::new(Bootstrapper::new(&context, &parameters, bootstrap, Mode::Real)?);
    let switch = keys.switch(&context, bootstrapper, failure_budget)?.with_steps(own.steps.unwrap_or_default());
    shown.say(program.name());
    let start = Instant::now();
    let decided = program.run(&switch, &table, &columns).map_err(Failure::of_computation(path))?;
    let DecidedTable { table: result, dead_zones, log2_failure } = decided;
    let seconds = start.elapsed().as_secs_f64();
    drop(shown);
    let bootstraps = switch.evaluator().bootstraps();
    if let Some(allowed) = failure_budget.filter(|&allowed| log2_failure > allowed) {
        return Err(Failure::file(input)(FailureBudgetExceeded { bootstraps, found: log2_failure, allowed }.into()));
    }
    let result = if last { lowered(switch.bootstrapper().evaluator(), result)? } else { result };
    let result = eval::ResultReport::write(&job.output, &context, program.name(), &result)?;
    let zone = |(&column, dead_zone): (&usize, f64)| DeadZone { column: names[column].clone(), dead_zone };
    console.report(&EvaluationReport {
        levels_left: result.level.saturating_sub(parameters.input_level()),
        result,
        seconds,
        bootstraps,
        log2_failure,
        dead_zones: columns.iter().zip(dead_zones).map(zone).collect(),
        meaning: match program {
            DecisionProgram::Threshold(_) => "numbers that near to the threshold may be on either side",
            DecisionProgram::Argmin | DecisionProgram::Argmax => "no number is better by more",
            DecisionProgram::Rank | DecisionProgram::Top(_) => "of two numbers that near either may rank higher",
        },
    })
}

impl Keys {
    /// Reads the keys of switching and of TFHE, which must be of these parameters and of the owner of the table.
    fn read(
        keys: &Path,
        options: &SwitchingOptions,
        parameters: &Parameters,
        owner: KeyId,
        console: &Console,
    ) -> Result<Self, Failure> {
        let path = beside(options.switching_keys.as_deref(), keys, SWITCHING, "--switching-keys")?;
        let server_path = beside(options.server_keys.as_deref(), keys, SERVER, "--server-keys")?;
        let switching: KeyFile = files::read(&(), &path, &takes::EVAL_SWITCHING, console)?;
        files::admit_security(switching.parameters.tfhe().spec().torus.security, &path, console)?;
        if switching.parameters.bootstrapping().fingerprint() != parameters.fingerprint() {
            let [found, needed] = [switching.parameters.bootstrapping(), parameters].map(Parameters::name);
            return Err(Failure::input(&path, "the parameters of bootstrapping", found, needed));
        }
        let found = switching.keys.rlwe_owner().key;
        owner.check(found, "the set of switching keys").map_err(Failure::file(&path))?;
        let (context, server) = ServerKeyForm::open(&server_path, &takes::EVAL_SERVER, console)?;
        let samples = switching.keys.torus_owner();
        samples.check(&server.owner(), "the set of server keys").map_err(Failure::file(&server_path))?;
        Ok(Self { switching, context, server, path })
    }

    fn switch(
        self,
        ckks: &Context,
        bootstrapper: Arc<Bootstrapper>,
        failure_budget: Option<f64>,
    ) -> Result<SchemeSwitch, Failure> {
        let KeyFile { parameters, keys, .. } = &self.switching;
        let context = switching::Context::new(parameters, ckks, &self.context)?;
        let between = Arc::new(context.expand(keys)?);
        let evaluator = tfhe::Evaluator::new(&self.context, self.server.expanded(&self.context)?)?;
        let evaluator = evaluator.with_failure_budget(failure_budget.unwrap_or(0.0));
        SchemeSwitch::new(&context, bootstrapper, &evaluator, between).map_err(Failure::file(&self.path))
    }
}

/// The file that was named, or the one of this name beside the keys of bootstrapping.
fn beside(named: Option<&Path>, keys: &Path, name: &str, option: &'static str) -> Result<PathBuf, Failure> {
    let path = named.map_or_else(|| directory_of(keys).join(name), Path::to_owned);
    if path.exists() {
        return Ok(path);
    }
    let needed = format!(
        "{name}, there or named by {option}: their owner makes them with: noren keygen --add --out {} --switching 2_2",
        keys_of(Some(keys))
    );
    Err(Failure::input(&path, "the keys for scheme switching", "no file", needed))
}

impl fmt::Display for EvaluationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// More columns than this are told in JSON alone.
        const SHOWN: usize = 8;
        let left =
            format!("{} left before the next bootstrap, {:.2} s", count(self.levels_left, "level"), self.seconds);
        let [result, written] = self.result.lines(&left);
        writeln!(f, "{result}")?;
        let zone = |zone: &DeadZone| format!("{:.2e} in {}", zone.dead_zone, zone.column);
        let mut zones: Vec<String> = self.dead_zones.iter().take(SHOWN).map(zone).collect();
        if self.dead_zones.len() > SHOWN {
            zones.push(format!("{} more", self.dead_zones.len() - SHOWN));
        }
        writeln!(f, "dead zone {}: {}", zones.join(", "), self.meaning)?;
        write!(f, "{}\n{written}", right_but(self.bootstraps, self.log2_failure))
    }
}
