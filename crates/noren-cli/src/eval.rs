//! `noren eval`: runs a program on an encrypted table, without any secret.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use clap::builder::PossibleValuesParser;
use noren::EvaluationKeys;
use noren::circuits::recorder::Demands;
use noren::ckks::{Ciphertext, Context, Evaluator};
use noren::programs::columns::Element;
use noren::programs::layout::TableLayout;
use noren::programs::program::Program;
use noren::programs::table::EncryptedTable;
use noren::wire::Kind;
use serde::Serialize;

use crate::bootstrap::eval as bootstrap;
use crate::console::Console;
use crate::describe::words::{bytes, count};
use crate::failure::Failure;
use crate::files::{self, Force, Output};
use crate::lookup::eval as lookup;
use crate::tfhe::eval as tfhe;
use crate::tfhe::lookup::Given;
use crate::tfhe::program::Program as TfheProgram;
use crate::tfhe::server_keys::ServerKeyForm;
use crate::{programs, progress};

/// Runs a program on an encrypted table
#[derive(Debug, Args)]
#[command(
    after_help = "Programs: sum, mean, variance, covariance and inner-product of columns; linear and logistic models; a \
        polynomial of every entry. bootstrap gives a table new levels, with the keys of noren keygen --bootstrap. lookup is any \
        function of two columns of integers that noren prepare has prepared, with the keys of noren keygen --lookup.\n\
        With the server keys of noren keygen --tfhe: of two columns, or of one and --number: add, sub, mul, div, rem, min, max, and, or, \
        xor, shift-left, shift-right, equal, not-equal, less, less-equal, greater, greater-equal; threshold: at least --number; not; \
        select: the second column where the first is true, else the third; of all rows of each column: sum, smallest, largest, \
        argmax; lookup: any function of one column or of two, by a formula of noren prepare or a table, for bytes with the \
        circuit.keys of noren keygen --tfhe --circuit.\n\n\
        Examples:\n  \
        noren eval mean --keys keys/eval.keys patients.ct -o mean.ct\n  \
        noren eval logistic --keys keys/eval.keys --model risk.json patients.ct -o risk.ct\n  \
        noren eval bootstrap --keys keys/bootstrap.keys patients.ct -o renewed.ct\n  \
        noren eval lookup --keys keys/lookup.keys --function div.prepared pairs.ct -o quotients.ct\n  \
        noren eval threshold --keys keys/server.keys --number 300 readings.ct -o alarms.ct\n  \
        noren eval lookup --keys keys/server.keys --circuit keys/circuit.keys --function dose.csv readings.ct -o doses.ct"
)]
pub(crate) struct Arguments {
    /// The program; bootstrap for new levels; lookup for any function
    #[arg(hide_possible_values = true, value_parser = PossibleValuesParser::new(
        Program::NAMES.into_iter().chain([bootstrap::NAME, lookup::NAME]).chain(TfheProgram::names())))]
    program: String,
    /// eval.keys; lookup.keys; server.keys, or what noren expand made of them; or bootstrap.keys: then a program
    /// bootstraps what runs out of levels
    #[arg(long, value_name = "FILE")]
    keys: PathBuf,
    /// The encrypted table
    input: PathBuf,
    /// The encrypted table of y of lookup, where x and y are in two
    #[arg(value_name = "INPUT2", requires = "function")]
    second: Option<PathBuf>,
    /// The model of the program, as JSON
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// The prepared function of lookup; with keys of TFHE a table, .csv or .npy, or the name of a formula, as noren
    /// prepare takes them
    #[arg(long, value_name = "FILE|NAME", required_if_eq("program", lookup::NAME))]
    function: Option<PathBuf>,
    /// The value where the formula of a lookup of TFHE has none
    #[arg(long, value_name = "VALUE", requires = "function")]
    undefined: Option<u64>,
    /// The CSV file of the table of a lookup of TFHE has no names of columns
    #[arg(long, requires = "function")]
    no_header: bool,
    /// The type of the values of a lookup of TFHE [default: that of its first column]
    #[arg(long = "type", value_name = "TYPE", requires = "function")]
    element: Option<Element>,
    /// circuit.keys, for lookups of bytes of TFHE
    #[arg(long, value_name = "FILE")]
    circuit: Option<PathBuf>,
    /// The columns of lookup and of programs of TFHE, by name or position from 0 [default: the first ones]
    #[arg(long, value_name = "X,Y", value_delimiter = ',')]
    columns: Vec<String>,
    /// A whole number in place of the second column of a program of TFHE
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    number: Option<i128>,
    /// The file for the encrypted result
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Nothing more is to be computed on the result: drop the levels that are left, so that its file is small
    #[arg(long)]
    last: bool,
    /// Refuse computations whose bootstraps may fail, all together, with a probability above 2^LOG2: -40, for example
    #[arg(long, value_name = "LOG2", allow_negative_numbers = true, value_parser = parse_log2)]
    failure_budget: Option<f64>,
    #[command(flatten)]
    force: Force,
}

/// The base-two logarithm of a probability.
fn parse_log2(text: &str) -> Result<f64, String> {
    let log2 = text.parse::<f64>().ok().filter(|&log2| log2 < 0.0);
    log2.ok_or_else(|| "the base-two logarithm of a probability is needed, such as -40".to_owned())
}

/// What a program gave.
#[derive(Serialize)]
pub(crate) struct Report {
    path: PathBuf,
    program: &'static str,
    ciphertexts: usize,
    pub(crate) level: usize,
    bytes: u64,
    /// In units of the encoded numbers, which are at most about 1.
    error_bound: f64,
}

impl Report {
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

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let output = Output::new(&arguments.output, &arguments.force)?;
    let kind = files::kind(&arguments.keys)?;
    if ServerKeyForm::is(kind) {
        return run_tfhe(arguments, output, console);
    }
    if kind == Kind::TfheCircuitKeys {
        let needed = format!("{}, such as server.keys: these are for --circuit", Kind::TfheKeys);
        return Err(Failure::Unsuitable { what: "--keys", found: kind.to_string(), needed });
    }
    check_not_tfhe(arguments, kind)?;
    if arguments.program == lookup::NAME {
        return run_lookup(arguments, output, console);
    }
    if let Some(path) = &arguments.function {
        return Err(Failure::input(
            path,
            "--function",
            "a prepared function",
            format!("none: {} takes none", arguments.program),
        ));
    }
    let renewal = arguments.program == bootstrap::NAME;
    if let (true, Some(model)) = (renewal, &arguments.model) {
        return Err(Failure::input(model, "--model", "a model", "none: bootstrap takes no model"));
    }
    let program = || programs::program(&arguments.program, arguments.model.as_deref());
    if renewal || matches!(kind, Kind::BootstrapKeys | Kind::ExpandedBootstrapKeys) {
        let program = if renewal { None } else { Some(program()?) };
        let &Arguments { ref keys, ref input, last, failure_budget, .. } = arguments;
        return bootstrap::run(bootstrap::Job { program, keys, input, output, last, failure_budget }, console);
    }
    check_no_budget(arguments)?;
    let program = program()?;
    let keys = files::read_key::<Context, EvaluationKeys>(&arguments.keys, console)?;
    let evaluator = Evaluator::new(&keys.context, Arc::new(keys.key))?;
    let table = files::read::<EncryptedTable<Ciphertext>>(&keys.context, &arguments.input, console)?;
    let owner = evaluator.keys().owner().key;
    owner.check(table.key_id(), "the table").map_err(Failure::file(&arguments.input))?;
    let layout = table.columns().map_err(Failure::file(&arguments.input))?;
    let level = lowest(table.ciphertexts());
    let demands = program.plan(layout).map_err(|error| match &arguments.model {
        Some(path) => Failure::file(path)(error),
        None => error.into(),
    })?;
    check_keys(arguments, &evaluator, &program, layout, &demands, level)?;
    let shown = progress::spinner(format!(
        "{}: {} products, {} rotations",
        program.name(),
        demands.counts.products + demands.counts.plain_products,
        demands.counts.rotations
    ));
    let mut result = program.run(&evaluator, &table)?;
    if arguments.last {
        result = lowered(&evaluator, result)?;
    }
    drop(shown);
    console.report(&Report::write(&output, &keys.context, program.name(), &result)?)
}

fn run_tfhe(arguments: &Arguments, output: Output, console: &Console) -> Result<(), Failure> {
    let Arguments { program, keys, input, columns, number, model, second, last, .. } = arguments;
    let given = [("--model", model.is_some()), ("INPUT2", second.is_some()), ("--last", *last)];
    if let Some((what, _)) = given.into_iter().find(|(_, given)| *given) {
        let (found, needed) = (program.clone(), "none: programs of TFHE take none".to_owned());
        return Err(Failure::Unsuitable { what, found, needed });
    }
    let function = arguments.function.as_deref().map(|function| Given {
        function,
        header: !arguments.no_header,
        undefined: arguments.undefined,
        output: arguments.element,
    });
    let circuit = arguments.circuit.as_deref();
    let (number, failure_budget) = (*number, arguments.failure_budget);
    let job = tfhe::Job { name: program, keys, input, columns, number, function, circuit, failure_budget, output };
    tfhe::run(job, console)
}

/// Refuses a failure budget for programs that bootstrap nothing.
fn check_no_budget(arguments: &Arguments) -> Result<(), Failure> {
    match arguments.failure_budget {
        None => Ok(()),
        Some(log2) => {
            let needed = format!("none: {} with these keys takes no bootstraps", arguments.program);
            Err(Failure::Unsuitable { what: "--failure-budget", found: log2.to_string(), needed })
        }
    }
}

/// Refuses programs of TFHE, and what only they take, with keys of another kind.
fn check_not_tfhe(arguments: &Arguments, found: Kind) -> Result<(), Failure> {
    let Arguments { program, columns, number, undefined, no_header, element, circuit, .. } = arguments;
    let of_lookup = undefined.is_some() || *no_header || element.is_some() || circuit.is_some();
    let columns = !columns.is_empty() && program != lookup::NAME;
    if !columns && !of_lookup && number.is_none() && TfheProgram::names().all(|name| name != program) {
        return Ok(());
    }
    let (found, needed) = (found.to_string(), Kind::TfheKeys.to_string());
    Err(Failure::file(&arguments.keys)(noren::Error::WrongKind { found, needed }))
}

fn run_lookup(arguments: &Arguments, output: Output, console: &Console) -> Result<(), Failure> {
    let Arguments { keys, input, second, function, columns, model, last, .. } = arguments;
    check_no_budget(arguments)?;
    if let Some(model) = model {
        return Err(Failure::input(model, "--model", "a model", "none: lookup takes a function, see noren prepare"));
    }
    if *last {
        let needed = "none: results of lookup have the fewest limbs already".to_owned();
        return Err(Failure::Unsuitable { what: "--last", found: "lookup".to_owned(), needed });
    }
    // It is there wherever the program is lookup.
    let function = function.as_deref().unwrap_or(Path::new(""));
    let inputs = std::iter::once(input.as_path()).chain(second.as_deref()).collect();
    lookup::run(lookup::Job { keys, inputs, function, columns, output }, console)
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
    arguments: &Arguments,
    evaluator: &Evaluator,
    program: &Program,
    layout: &TableLayout,
    demands: &Demands,
    level: usize,
) -> Result<(), Failure> {
    let Some(left) = level.checked_sub(demands.depth) else {
        return Err(Failure::input(
            &arguments.input,
            format!("{} on {} rows and {} columns", program.name(), layout.rows(), layout.columns()),
            count(level, "level"),
            format!("{}: make keys for this program, and encrypt with them", demands.depth),
        ));
    };
    let limbs_at = |depth: usize| left + demands.depth - depth + 1;
    let keys = evaluator.keys();
    let relinearization = demands.relinearization.filter(|&depth| keys.relinearization(limbs_at(depth)).is_err());
    let mut missing: Vec<String> = relinearization.iter().map(|_| "relinearisation".to_owned()).collect();
    for (&steps, &depth) in &demands.rotations {
        if keys.galois(evaluator.context().rotation_exponent(steps), limbs_at(depth)).is_err() {
            missing.push(format!("rotation by {steps}"));
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::MissingKeys {
        path: arguments.keys.clone(),
        program: program.name(),
        rows: layout.rows(),
        columns: layout.columns(),
        level,
        missing: missing.join(", "),
    })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [result, written] = self.lines(&format!("{} left", count(self.level, "level")));
        write!(f, "{result}\n{written}")
    }
}
