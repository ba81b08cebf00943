//! `noren eval lookup`: a prepared function of two columns of encrypted integers, without any secret.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use noren::Resources;
use noren::bfv::{Ciphertext, Context, Evaluator};
use noren::circuits::lookup::{Lookup, LookupKeyFile, Plan, Step};
use noren::error::Error;
use noren::programs::integers::{IntegerLayout, IntegerTable};
use noren::wire::{Kind, Limits};
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::{bytes, count};
use crate::failure::Failure;
use crate::files::{self, Output};
use crate::progress;

/// The name of the verb among those of programs.
pub(crate) const NAME: &str = "lookup";

/// The most pairs of ciphertexts that share the transforms of the factors.
const TOGETHER: usize = 4;

/// What is looked up, and where.
pub(crate) struct Job<'a> {
    pub(crate) keys: &'a Path,
    pub(crate) input: &'a Path,
    /// The prepared function.
    pub(crate) function: &'a Path,
    /// The columns of x and y, by name or position; the first two if there are none.
    pub(crate) columns: &'a [String],
    pub(crate) output: Output,
}

#[derive(Serialize)]
struct Report {
    path: PathBuf,
    rows: usize,
    ciphertexts: usize,
    bytes: u64,
    /// The least of all results, in bits.
    noise_budget: f64,
    seconds: f64,
    steps: Vec<StepTime>,
}

#[derive(Serialize)]
struct StepTime {
    step: &'static str,
    seconds: f64,
}

pub(crate) fn run(job: Job<'_>, console: &Console) -> Result<(), Failure> {
    let found = files::kind(job.keys)?;
    if found != Kind::LookupKeys {
        let (found, needed) = (found.to_string(), Kind::LookupKeys.to_string());
        return Err(Failure::file(job.keys)(Error::WrongKind { found, needed }));
    }
    // Table and function are looked at before gigabytes of keys are read.
    let context = Context::new(files::read_integer_parameters(job.keys, console)?)?;
    let table = files::read::<IntegerTable>(&context, job.input)?;
    let shown = progress::spinner("checking the prepared function".to_owned());
    let lookup = Lookup::open(&context, job.function, &Limits::default()).map_err(Failure::file(job.function))?;
    drop(shown);
    let columns = job.pair(table.layout(), lookup.plan())?;
    let pairs = table.layout().per_column();
    let together = together(lookup.plan(), pairs, job.output.path())?;

    let shown = progress::spinner("reading the keys".to_owned());
    let keys = files::read::<LookupKeyFile>(&(), job.keys)?;
    keys.check(lookup.plan()).map_err(Failure::file(job.keys))?;
    drop(shown);
    let evaluator = Evaluator::new(&keys.context, keys.evaluation.clone())?;
    let [x, y] = columns.map(|column| table.column(column));
    let operands: Vec<[&Ciphertext; 2]> = x.iter().zip(y).map(|(x, y)| [x, y]).collect();

    let shown = progress::bar("looking up", pairs);
    let (start, last, times) = (Instant::now(), Cell::new(Instant::now()), RefCell::new(Vec::new()));
    let watch = |step: Step| note(&mut times.borrow_mut(), step, last.replace(Instant::now()).elapsed().as_secs_f64());
    let mut results = Vec::new();
    for operands in operands.chunks(together) {
        last.set(Instant::now());
        let found = lookup.evaluate_many(&evaluator, &keys.keys, operands, &watch);
        results.extend(found.map_err(Failure::file(job.input))?);
        shown.set(results.len(), pairs);
    }
    let seconds = start.elapsed().as_secs_f64();
    drop(shown);
    let layout = table.layout();
    let layout = IntegerLayout::new(layout.rows(), 1, layout.slots(), layout.stretch())?
        .with_column_names(vec!["result".to_owned()])?;
    let result = IntegerTable::new(layout, results)?;
    let bytes = job.output.write(&keys.context, &result)?;
    console.report(&Report {
        path: job.output.path().to_owned(),
        rows: result.layout().rows(),
        ciphertexts: result.ciphertexts().len(),
        bytes,
        noise_budget: result.ciphertexts().iter().map(Ciphertext::noise_budget).fold(f64::INFINITY, f64::min),
        seconds,
        steps: times.into_inner(),
    })
}

/// How many pairs of ciphertexts the memory holds at once.
fn together(plan: &Plan, pairs: usize, output: &Path) -> Result<usize, Failure> {
    let resources = Resources::of_machine(output);
    plan.check_evaluation(1, &resources)?;
    let most = TOGETHER.min(pairs);
    Ok((1..=most).rev().find(|&pairs| plan.check_evaluation(pairs, &resources).is_ok()).unwrap_or(1))
}

/// Adds the time of a step to what it took before.
fn note(times: &mut Vec<StepTime>, step: Step, seconds: f64) {
    let step = match step {
        Step::OneHot => "one_hot",
        Step::Babies => "babies",
        Step::Matrix => "matrix",
        Step::Giants => "giants",
        Step::Select => "select",
    };
    match times.iter_mut().find(|time| time.step == step) {
        Some(time) => time.seconds += seconds,
        None => times.push(StepTime { step, seconds }),
    }
}

impl Job<'_> {
    /// The columns of x and y, which must lie as the function takes them.
    fn pair(&self, layout: &IntegerLayout, plan: &Plan) -> Result<[usize; 2], Failure> {
        let columns = match self.columns {
            [] => [0, 1],
            [x, y] => [self.column(layout, x)?, self.column(layout, y)?],
            other => {
                let (what, found) = ("--columns", count(other.len(), "column"));
                return Err(Failure::Unsuitable { what, found, needed: "that of x and that of y".to_owned() });
            }
        };
        if columns.iter().any(|&column| column >= layout.columns()) {
            let found = count(layout.columns(), "column");
            return Err(Failure::input(self.input, "the table", found, "one of x and one of y"));
        }
        let domain = plan.layout().domain();
        let largest = domain[0].max(domain[1]);
        for (column, size) in columns.into_iter().zip(domain) {
            let place = match layout.column_names().get(column) {
                Some(name) => format!("column {} ({name:?})", column + 1),
                None => format!("column {}", column + 1),
            };
            let needed = format!("numbers below {size}, as {} has: encrypt with --domain", self.function.display());
            match layout.sizes().get(column) {
                None => return Err(Failure::input(self.input, place, "numbers of any size", needed)),
                Some(&found) if found > size => {
                    return Err(Failure::input(self.input, place, format!("numbers below {found}"), needed));
                }
                Some(_) => {}
            }
        }
        if layout.stretch() != plan.layout().stretch() {
            let found = format!("numbers in {} each", count(layout.stretch(), "slot"));
            let needed = format!("{}: encrypt with --domain {largest}", plan.layout().stretch());
            return Err(Failure::input(self.input, "the table", found, needed));
        }
        Ok(columns)
    }

    /// A column by its name or its position.
    fn column(&self, layout: &IntegerLayout, text: &str) -> Result<usize, Failure> {
        let named = layout.column_names().iter().position(|name| name == text);
        let column = named.or_else(|| text.parse().ok().filter(|&column| column < layout.columns()));
        column.ok_or_else(|| {
            let names = layout.column_names().join(", ");
            let needed = format!("a name ({names}) or a position from 0 to {}", layout.columns() - 1);
            Failure::input(self.input, "--columns", format!("{text:?}"), needed)
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, ciphertexts) = (count(self.rows, "row"), count(self.ciphertexts, "ciphertext"));
        writeln!(
            f,
            "lookup: {rows} in {ciphertexts}, noise budget {:.1} bits, {:.2} s",
            self.noise_budget, self.seconds
        )?;
        for StepTime { step, seconds } in &self.steps {
            writeln!(f, "  {step:<14} {seconds:.3} s")?;
        }
        write!(f, "wrote {}, {}", self.path.display(), bytes(self.bytes as f64))
    }
}
