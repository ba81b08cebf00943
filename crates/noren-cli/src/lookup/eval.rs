//! `noren eval lookup`: a prepared function of two columns of encrypted integers, without any secret.

use std::cell::RefCell;
use std::fmt;
use std::iter;
use std::path::{Path, PathBuf};
use std::time::Instant;

use noren::Resources;
use noren::bfv::{Ciphertext, Context, Evaluator};
use noren::error::Error;
use noren::lookup::{Line, Lookup, LookupKeyFile, LookupPlan, Step};
use noren::programs::{IntegerLayout, IntegerTable};
use noren::wire::{Kind, Limits};
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::{bytes, count};
use crate::evaluation::{Evaluation, EvaluationOptions};
use crate::failure::{Failure, quoted};
use crate::files;
use crate::integers::parameters::read_parameters;
use crate::jobs::Expansion;
use crate::outputs::Output;
use crate::progress;
use crate::stages::Stages;
use crate::takes::{self, Takes};

/// The most pairs of ciphertexts that share the transforms of the factors.
const TOGETHER: usize = 4;

/// The lookup and its inputs.
struct Job<'a> {
    keys: &'a Path,
    /// The table of x and y, or one of each.
    inputs: Vec<&'a Path>,
    /// The prepared function.
    function: &'a Path,
    /// The columns of x and y, by name or position; the first ones if there are none.
    columns: &'a [String],
    output: Output,
}

#[derive(Serialize)]
struct EvaluationReport {
    path: PathBuf,
    rows: usize,
    ciphertexts: usize,
    bytes: u64,
    /// The least of all results, in bits.
    noise_budget: f64,
    seconds: f64,
    stages: Stages,
}

/// The job that the options ask for.
fn job(evaluation: Evaluation<'_>) -> Result<Job<'_>, Failure> {
    let EvaluationOptions { keys, input, others, function, columns, .. } = evaluation.options;
    if let [_, third, ..] = &others[..] {
        let needed = "two tables at most, for x and y".to_owned();
        return Err(Failure::Unsuitable { what: "INPUT2", found: third.display().to_string(), needed });
    }
    // It is there wherever the program is lookup.
    let function = function.as_deref().unwrap_or(Path::new(""));
    let inputs = iter::once(input.as_path()).chain(others.first().map(PathBuf::as_path)).collect();
    Ok(Job { keys, inputs, function, columns, output: evaluation.output })
}

pub(super) fn run(evaluation: Evaluation<'_>, console: &Console) -> Result<(), Failure> {
    let job = job(evaluation)?;
    let found = console.inputs().kind(job.keys, &takes::EVAL_KEYS)?;
    if !is_key(found) {
        let (found, needed) = (found.to_string(), Kind::LOOKUP_KEYS.to_string());
        return Err(Failure::file(job.keys)(Error::WrongKind { found, needed }));
    }
    // Table and function are looked at before gigabytes of keys are read.
    let context = Context::new(read_parameters(job.keys, &takes::EVAL_KEYS, console)?)?;
    let read = |path: &&Path| files::read::<IntegerTable>(&context, path, &takes::EVAL_INPUT, console);
    let tables = job.inputs.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let shown = progress::spinner("checking the prepared function".to_owned());
    console.inputs().verify(job.function, &takes::EVAL_FUNCTION)?;
    let lookup = Lookup::open(&context, job.function, &Limits::default()).map_err(Failure::file(job.function))?;
    drop(shown);
    let columns = job.columns(&tables, &lookup)?;
    let [x, y] = columns.each_ref().map(|column| column.table.column(column.index));
    let (layout, pairs) = (columns[0].table.layout(), x.len());
    let together = together(lookup.plan(), pairs, job.output.path())?;

    let shown = progress::spinner("reading the keys".to_owned());
    let keys = open(job.keys, &takes::EVAL_KEYS, console)?;
    keys.check(lookup.plan()).map_err(Failure::file(job.keys))?;
    for column in &columns {
        let owner = keys.owner().key;
        owner.check(column.table.key_id(), "the table").map_err(Failure::file(column.path))?;
    }
    drop(shown);
    let evaluator = Evaluator::new(&keys.context, keys.evaluation.clone())?;
    let operands: Vec<[&Ciphertext; 2]> = x.iter().zip(y).map(|(x, y)| [x, y]).collect();

    let shown = progress::bar("looking up", pairs);
    let (start, stages) = (Instant::now(), RefCell::new(Stages::begin()));
    let watch = |step: Step| stages.borrow_mut().end(name(step));
    let mut results = Vec::new();
    for operands in operands.chunks(together) {
        stages.borrow_mut().restart();
        let found = lookup.evaluate_many(&evaluator, &keys.keys, operands, &watch);
        results.extend(found.map_err(Failure::file(columns[0].path))?);
        shown.set(results.len(), pairs);
    }
    let seconds = start.elapsed().as_secs_f64();
    drop(shown);
    let layout = IntegerLayout::new(layout.rows(), 1, layout.slots(), layout.stretch())?
        .with_column_names(vec!["result".to_owned()])?;
    let result = IntegerTable::new(layout, results)?;
    let bytes = job.output.write(&keys.context, &result)?;
    console.report(&EvaluationReport {
        path: job.output.path().to_owned(),
        rows: result.layout().rows(),
        ciphertexts: result.ciphertexts().len(),
        bytes,
        noise_budget: result.ciphertexts().iter().map(Ciphertext::noise_budget).fold(f64::INFINITY, f64::min),
        seconds,
        stages: stages.into_inner(),
    })
}

/// Whether these are keys of lookups.
pub(super) fn is_key(keys: Kind) -> bool {
    matches!(keys, Kind::LOOKUP_KEYS | Kind::EXPANDED_LOOKUP_KEYS)
}

/// Reads keys with their parameters, or maps those of an expanded file; refuses those that promise too little security.
fn open(path: &Path, takes: &Takes, console: &Console) -> Result<LookupKeyFile, Failure> {
    let keys = files::read_or_map(path, Kind::EXPANDED_LOOKUP_KEYS, LookupKeyFile::map, takes, console)?;
    files::admit(keys.context.parameters(), path, console)?;
    Ok(keys)
}

/// Expands the keys.
pub(super) fn expand(job: Expansion<'_>, console: &Console) -> Result<(), Failure> {
    let open = || open(job.input, &takes::EXPAND_INPUT, console);
    job.run(console, open, |keys, to| Ok(keys.write_expanded(to)?))
}

/// How many pairs of ciphertexts the memory holds at once.
fn together(plan: &LookupPlan, pairs: usize, output: &Path) -> Result<usize, Failure> {
    let resources = Resources::of_machine(output);
    plan.check_evaluation(1, &resources)?;
    let most = TOGETHER.min(pairs);
    Ok((1..=most).rev().find(|&pairs| plan.check_evaluation(pairs, &resources).is_ok()).unwrap_or(1))
}

/// The name of a step.
const fn name(step: Step) -> &'static str {
    match step {
        Step::OneHot => "one_hot",
        Step::Powers => "powers",
        Step::Babies => "babies",
        Step::Matrix => "matrix",
        Step::Giants => "giants",
        Step::Select => "select",
    }
}

/// A column of a table.
#[derive(Clone, Copy)]
struct Column<'a> {
    path: &'a Path,
    table: &'a IntegerTable,
    index: usize,
}

impl<'a> Column<'a> {
    /// A column by its name or its position.
    fn named(path: &'a Path, table: &'a IntegerTable, text: &str) -> Result<Self, Failure> {
        let layout = table.layout();
        let named = layout.column_names().iter().position(|name| name == text);
        let index = named.or_else(|| text.parse().ok().filter(|&column| column < layout.columns()));
        let index = index.ok_or_else(|| {
            let names = layout.column_names().join(", ");
            let needed = format!("a name ({names}) or a position from 0 to {}", layout.columns() - 1);
            Failure::input(path, "--columns", format!("{text:?}"), needed)
        })?;
        Ok(Self { path, table, index })
    }

    /// Refuses numbers that lie in another way than those of the function, or may be outside its domain; `advice` says how they
    /// are encrypted for it.
    fn check(&self, plan: &LookupPlan, size: usize, advice: &str) -> Result<(), Failure> {
        let layout = self.table.layout();
        let place = match layout.column_names().get(self.index) {
            Some(name) => format!("column {} ({name:?})", self.index + 1),
            None => format!("column {}", self.index + 1),
        };
        let refuse = |found: String, needed: &str| {
            let needed = format!("{needed}, as the function takes them: encrypt with {advice}");
            Err(Failure::input(self.path, &place, found, needed))
        };
        let below = format!("numbers below {size}");
        match layout.sizes().get(self.index) {
            None => return refuse("numbers of any size".to_owned(), &below),
            Some(&found) if found > size => return refuse(format!("numbers below {found}"), &below),
            Some(_) => {}
        }
        let (found, needed) = (layout.stretch(), plan.layout().stretch());
        if found != needed {
            return refuse(format!("numbers in {} each", count(found, "slot")), &count(needed, "slot"));
        }
        Ok(())
    }
}

/// The options of `noren encrypt` for the table in this file, of which these columns are looked up with numbers below these
/// sizes, by a function of a domain whose largest size is `largest`.
fn options_of_encryption(path: &Path, looked_up: &[(Column<'_>, usize)], largest: usize) -> String {
    let mut own: Vec<(Column<'_>, usize)> =
        looked_up.iter().filter(|(column, _)| column.path == path).copied().collect();
    // In the order of the table; a column that is x and y must suit both.
    own.sort_unstable_by_key(|(column, size)| (column.index, *size));
    own.dedup_by_key(|(column, _)| column.index);
    let layout = own[0].0.table.layout();
    let mut options = String::new();
    if own.len() < layout.columns() {
        // The list is split at commas.
        let names = layout.column_names();
        let by_name = !names.is_empty() && own.iter().all(|(column, _)| !names[column.index].contains(','));
        let name = |index: usize| if by_name { names[index].clone() } else { index.to_string() };
        let chosen: Vec<String> = own.iter().map(|(column, _)| name(column.index)).collect();
        options += &format!("--columns {} ", quoted(Path::new(&chosen.join(","))));
    }
    let mut sizes: Vec<usize> = own.iter().map(|(_, size)| *size).collect();
    let most = sizes.iter().copied().fold(0, usize::max);
    if sizes.iter().all(|&size| size == most) {
        sizes.truncate(1);
    }
    options += "--domain ";
    options += &sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    if most < largest {
        options += &format!(" --beside {largest}");
    }
    options
}

impl Job<'_> {
    /// The columns of x and y. Of a function of x alone, that of x is taken twice.
    fn columns<'a>(&'a self, tables: &'a [IntegerTable], lookup: &Lookup) -> Result<[Column<'a>; 2], Failure> {
        let first = (self.inputs[0], &tables[0]);
        let last = (self.inputs[tables.len() - 1], &tables[tables.len() - 1]);
        let at = |(path, table): (&'a Path, &'a IntegerTable), index: usize| {
            let columns = table.layout().columns();
            let found = || Failure::input(path, "the table", count(columns, "column"), "one of x and one of y");
            if index < columns { Ok(Column { path, table, index }) } else { Err(found()) }
        };
        let of_x_alone = lookup.line() == Some(Line::First);
        let x = match self.columns.first() {
            Some(name) => Column::named(first.0, first.1, name)?,
            None => at(first, 0)?,
        };
        let y = match self.columns {
            _ if of_x_alone => x,
            [] => at(last, 2 - tables.len())?,
            [_, name] => Column::named(last.0, last.1, name)?,
            other => {
                let (what, found) = ("--columns", count(other.len(), "column"));
                return Err(Failure::Unsuitable { what, found, needed: "that of x and that of y".to_owned() });
            }
        };
        let plan = lookup.plan();
        let [x_size, y_size] = plan.layout().domain();
        let looked_up = &[(x, x_size), (y, y_size)][..if of_x_alone { 1 } else { 2 }];
        for (column, size) in looked_up {
            column.check(plan, *size, &options_of_encryption(column.path, looked_up, x_size.max(y_size)))?;
        }
        let [found, needed] = [y, x].map(|column| column.table.layout().rows());
        if found != needed {
            let needed = format!("{}, as {} has", count(needed, "row"), x.path.display());
            return Err(Failure::input(y.path, "the table", count(found, "row"), needed));
        }
        Ok([x, y])
    }
}

impl fmt::Display for EvaluationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, ciphertexts) = (count(self.rows, "row"), count(self.ciphertexts, "ciphertext"));
        writeln!(
            f,
            "lookup: {rows} in {ciphertexts}, noise budget {:.1} bits, {:.2} s",
            self.noise_budget, self.seconds
        )?;
        write!(f, "{}wrote {}, {}", self.stages, self.path.display(), bytes(self.bytes as f64))
    }
}
