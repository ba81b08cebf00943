//! `noren eval` with server keys of TFHE: a program on encrypted columns, without any secret.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use noren::programs::columns::{Column, ColumnEvaluator, ColumnLookup, Columns, Element};
use noren::tfhe::{CompactCircuitKeys, Context, Evaluator, PRESETS, Preset};
use noren_rlwe::wire::file::directory_of;
use serde::Serialize;

use crate::columns::{check_distinct, position};
use crate::console::Console;
use crate::describe::words::{bytes, count, right_but};
use crate::evaluation::{Evaluation, EvaluationOptions, Number};
use crate::failure::{Failure, quoted};
use crate::files;
use crate::outputs::Output;
use crate::progress;
use crate::tables::decimal::Decimal;
use crate::takes;
use crate::tfhe::files::{ServerKeyForm, read_key};
use crate::tfhe::keys::CIRCUIT;
use crate::tfhe::lookup::{Given, Rule};
use crate::tfhe::program::Program;

/// Its own options.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct TorusOptions {
    /// The value where the formula of a lookup of TFHE has none
    #[arg(long, value_name = "VALUE", requires = "function")]
    undefined: Option<u64>,
    /// The CSV file of the table of a lookup of TFHE has no names of columns
    #[arg(long, requires = "function")]
    no_header: bool,
    /// The type of the values of a lookup of TFHE [default: that of its first column]
    #[arg(id = "type", long = "type", value_name = "TYPE", requires = "function")]
    element: Option<Element>,
    /// circuit.keys, for lookups of bytes of TFHE
    #[arg(long, value_name = "FILE")]
    circuit: Option<PathBuf>,
}

/// The program and its inputs.
struct Job<'a> {
    /// The name of the program.
    name: &'a str,
    keys: &'a Path,
    input: &'a Path,
    /// Its columns, by name or position; the first ones if there are none.
    columns: &'a [String],
    /// The number that stands in place of the last column.
    number: Option<i128>,
    /// The function of a lookup.
    function: Option<Given<'a>>,
    /// The keys of circuit bootstrapping, for functions that need them.
    circuit: Option<PathBuf>,
    /// `log2` of the largest probability with which any bootstrap may fail.
    failure_budget: Option<f64>,
    output: Output,
}

#[derive(Serialize)]
struct EvaluationReport {
    path: PathBuf,
    program: String,
    rows: usize,
    columns: usize,
    types: Vec<Element>,
    seconds: f64,
    bootstraps: u64,
    /// Of the probability that any of these failed; none without bootstraps.
    log2_failure: Option<f64>,
    bytes: u64,
}

/// The job that the options ask for.
fn job(evaluation: Evaluation<'_>) -> Result<Job<'_>, Failure> {
    let Evaluation { program: name, options, given, output } = evaluation;
    let &EvaluationOptions { ref keys, ref input, ref columns, ref number, ref function, failure_budget, .. } = options;
    let TorusOptions { undefined, no_header, element, circuit } = given.own();
    let given = |function| Given { function, header: !no_header, undefined, output: element };
    let function = function.as_deref().map(given);
    let number = match number {
        None => None,
        Some(Number { value: Decimal::Whole(number), .. }) => Some(*number),
        Some(Number { text, .. }) => {
            let needed = "a whole number, for keys of TFHE; above 2^53 with all its digits".to_owned();
            return Err(Failure::Unsuitable { what: "--number", found: text.clone(), needed });
        }
    };
    Ok(Job { name, keys, input, columns, number, function, circuit, failure_budget, output })
}

pub(super) fn run(evaluation: Evaluation<'_>, console: &Console) -> Result<(), Failure> {
    let job = job(evaluation)?;
    let Some(program) = Program::named(job.name) else {
        let needed = "a program on columns of TFHE, such as add, threshold or argmax: see noren eval --help";
        return Err(Failure::input(job.keys, "the program", job.name, needed));
    };
    // The table is looked at before the keys are prepared.
    let (context, keys) = ServerKeyForm::open(job.keys, &takes::EVAL_KEYS, console)?;
    let table = files::read::<Columns>(context.parameters(), job.input, &takes::EVAL_INPUT, console)?;
    let rule = job.rule(program)?;
    let needed = rule.as_ref().map_or_else(|| program.columns(job.number.is_some()), |(rule, _)| Some(rule.operands()));
    let chosen = job.chosen(program, needed, &table)?;
    let operand = |index: usize| &table.columns()[chosen[index]];
    let lookup = rule.map(|(rule, given)| {
        let inputs: Vec<Element> = chosen.iter().map(|&index| table.layout().columns[index].element).collect();
        rule.lookup(&context, given, &inputs)
    });
    let lookup = lookup.transpose()?;
    if let (Some(true), None) = (lookup.as_ref().map(ColumnLookup::needs_circuit_keys), &job.circuit) {
        let needed = circuit_keys_of(job.keys, &context);
        return Err(Failure::Unsuitable { what: "--circuit", found: "none".to_owned(), needed });
    }
    let circuit = job
        .circuit
        .as_deref()
        .map(|path| Ok::<_, Failure>((path, read_key::<CompactCircuitKeys>(path, &takes::EVAL_CIRCUIT, console)?)));
    let circuit = circuit.transpose()?;
    let shown = progress::spinner("preparing the keys".to_owned());
    let mut evaluator = Evaluator::new(&context, keys.expanded(&context)?)?;
    if let Some((path, file)) = circuit {
        let keys = context.expand_circuit(&file.key).map(Arc::new);
        evaluator = keys.and_then(|keys| evaluator.with_circuit_keys(keys)).map_err(Failure::file(path))?;
    }
    let bits = evaluator.with_failure_budget(job.failure_budget.unwrap_or(0.0));
    let evaluator = ColumnEvaluator::new(bits.clone());
    shown.say(&format!("{}: {}", job.name, count(table.layout().size().unwrap_or(0), "row")));
    let start = Instant::now();
    let one = |result: noren::Result<Column>| Ok(vec![("result".to_owned(), result?)]);
    let results = match program {
        Program::Join(operation) => one(match job.number {
            Some(number) => evaluator.binary_known(operation, operand(0), &vec![number; operand(0).count()]),
            None => evaluator.binary(operation, operand(0), operand(1)),
        }),
        Program::Each(operation) => one(evaluator.unary(operation, operand(0))),
        Program::Select => one(evaluator.select(operand(0), operand(1), operand(2))),
        Program::Reduce(reduction) => {
            let reduce = |&index: &usize| {
                let (name, column) = (table.layout().columns[index].name.clone(), &table.columns()[index]);
                if reduction.may_wrap(column) {
                    console.warn(format_args!("{}: sums of 64 bits are modulo 2^64", job.input.display()));
                }
                Ok((name, reduction.run(&evaluator, column)?))
            };
            chosen.iter().map(reduce).collect()
        }
        Program::Lookup => {
            let lookup = lookup.as_ref().unwrap_or_else(|| panic!("a lookup has a function"));
            one(evaluator.lookup(lookup, &(0..chosen.len()).map(operand).collect::<Vec<_>>()))
        }
    };
    let results: Vec<(String, Column)> = results.map_err(Failure::file(job.input))?;
    drop(shown);
    job.finish(&bits, results, start, console)
}

/// Where circuit keys for the server keys in a file are, or how their owner gets some.
fn circuit_keys_of(keys: &Path, context: &Context) -> String {
    let directory = directory_of(keys);
    let beside = directory.join(CIRCUIT);
    if beside.exists() {
        return format!("circuit.keys, for functions of inputs this wide: --circuit {}", quoted(&beside));
    }
    // A directory that is not there yet: keygen keeps the secret key that it finds.
    let mut name = directory.file_name().unwrap_or_default().to_owned();
    name.push(if name.is_empty() { "circuit" } else { "-circuit" });
    let new = match directory {
        path if path == Path::new(".") => name.into(),
        path => path.with_file_name(name),
    };
    let fingerprint = context.parameters().fingerprint();
    let of_these = |preset: &&Preset| preset.parameters().is_ok_and(|found| found.fingerprint() == fingerprint);
    let set = PRESETS.iter().find(of_these).map_or("SET", |preset| preset.name);
    format!(
        "circuit.keys, for functions of inputs this wide. They are made together with the secret key, and cannot be added: \
         the owner makes new keys with: noren keygen --out {} --tfhe {set} --circuit, and encrypts the table again with them",
        quoted(&new)
    )
}

impl Job<'_> {
    /// The function of a lookup, which no other program has.
    fn rule(&self, program: Program) -> Result<Option<(Rule, &Given<'_>)>, Failure> {
        let refuse = |what, found: &Path| {
            let needed = format!("none: {} takes none", self.name);
            Err(Failure::Unsuitable { what, found: found.display().to_string(), needed })
        };
        match (program, &self.function) {
            // The arguments ask for a function wherever the program is a lookup.
            (Program::Lookup, Some(given)) => Ok(Some((Rule::of(given)?, given))),
            (_, Some(given)) => refuse("--function", given.function),
            (_, None) => self.circuit.as_deref().map_or(Ok(None), |path| refuse("--circuit", path)),
        }
    }

    /// The positions of the columns that the program takes: `needed` of them, or any number.
    fn chosen(&self, program: Program, needed: Option<usize>, table: &Columns) -> Result<Vec<usize>, Failure> {
        let layout = table.layout();
        if layout.shape.len() != 1 {
            let found = format!("{:?}", layout.shape);
            return Err(Failure::input(self.input, "the shape of columns", found, "the number of rows"));
        }
        if let (Some(number), false) = (self.number, matches!(program, Program::Join(_))) {
            let needed = format!("none: {} takes none", self.name);
            return Err(Failure::Unsuitable { what: "--number", found: number.to_string(), needed });
        }
        let names: Vec<&str> = layout.columns.iter().map(|column| column.name.as_str()).collect();
        let chosen = self.columns.iter().map(|text| position(&names, text, self.input));
        let chosen = chosen.collect::<Result<Vec<_>, _>>()?;
        match needed {
            None if chosen.is_empty() => Ok((0..layout.columns.len()).collect()),
            // Each column gives one of the result.
            None => check_distinct(&chosen, self.columns).map(|()| chosen),
            Some(needed) if chosen.is_empty() && layout.columns.len() >= needed => Ok((0..needed).collect()),
            Some(needed) if chosen.is_empty() => {
                let found = count(layout.columns.len(), "column");
                Err(Failure::input(self.input, "the table", found, self.needs(program, needed)))
            }
            Some(needed) if chosen.len() == needed => Ok(chosen),
            Some(needed) => {
                let found = count(chosen.len(), "column");
                Err(Failure::Unsuitable { what: "--columns", found, needed: self.needs(program, needed) })
            }
        }
    }

    fn needs(&self, program: Program, columns: usize) -> String {
        let or_number = if columns == 2 && matches!(program, Program::Join(_)) { ", or one and --number" } else { "" };
        format!("{} for {}{or_number}", count(columns, "column"), self.name)
    }

    /// Writes the result and says so.
    fn finish(
        &self,
        evaluator: &Evaluator,
        columns: Vec<(String, Column)>,
        start: Instant,
        console: &Console,
    ) -> Result<(), Failure> {
        let seconds = start.elapsed().as_secs_f64();
        let rows = columns.first().map_or(0, |(_, column)| column.count());
        let result = Columns::new(vec![rows], columns)?;
        let bytes = self.output.write(evaluator.context().parameters(), &result)?;
        let layout = result.layout();
        console.report(&EvaluationReport {
            path: self.output.path().to_owned(),
            program: self.name.to_owned(),
            rows: layout.shape[0],
            columns: layout.columns.len(),
            types: layout.columns.iter().map(|column| column.element).collect(),
            seconds,
            bootstraps: evaluator.bootstraps(),
            log2_failure: (evaluator.bootstraps() > 0).then(|| evaluator.log2_failure()),
            bytes,
        })
    }
}

impl fmt::Display for EvaluationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, columns) = (count(self.rows, "row"), count(self.columns, "column"));
        let types: Vec<String> = self.types.iter().map(ToString::to_string).collect();
        writeln!(f, "{}: {rows}, {columns} of {}, {:.2} s", self.program, types.join(", "), self.seconds)?;
        if let Some(failure) = self.log2_failure {
            writeln!(f, "{}", right_but(self.bootstraps, failure))?;
        }
        write!(f, "wrote {}, {}", self.path.display(), bytes(self.bytes as f64))
    }
}
