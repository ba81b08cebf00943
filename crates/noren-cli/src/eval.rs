//! `noren eval`: runs a program on an encrypted table, without any secret.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use clap::builder::PossibleValuesParser;
use noren::programs::columns::Element;
use noren::programs::{DecisionProgram, Program};
use noren::switching::Steps;
use noren::wire::Kind;

use crate::bootstrap::eval as bootstrap;
use crate::ckks::eval as ckks;
use crate::console::Console;
use crate::failure::Failure;
use crate::integers::eval as integers;
use crate::lookup::eval as lookup;
use crate::outputs::{Content, Force, Output};
use crate::programs;
use crate::switching::eval as switching;
use crate::tables::decimal::Decimal;
use crate::takes;
use crate::tfhe::eval as tfhe;
use crate::tfhe::lookup::Given;
use crate::tfhe::program::Program as TfheProgram;
use crate::tfhe::server_keys::ServerKeyForm;

/// Runs a program on an encrypted table
#[derive(Debug, Args)]
#[command(
    after_help = "Programs: sum, mean, variance, covariance and inner-product of columns; linear and logistic models; a \
        polynomial of every entry. bootstrap gives a table new levels, with the keys of noren keygen --bootstrap. lookup is any \
        function of two columns of integers that noren prepare has prepared, with the keys of noren keygen --lookup. matrix \
        multiplies a matrix of whole numbers with each column of integers, with the keys of noren keygen --integers --matrices.\n\
        With the keys of noren keygen --bootstrap --switching: threshold: 1 where an entry is above --number, 0 where it is below; \
        argmin and argmax: the row of the smallest and the largest entry of each column, and that entry; rank: how many \
        entries of the column are smaller; top: 1 for the --count largest of each column, 0 for the others.\n\
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
        noren eval matrix --keys keys/eval.keys --matrix weights.npy vectors.ct -o products.ct\n  \
        noren eval threshold --keys keys/bootstrap.keys --number 27.5 --columns bmi patients.ct -o high.ct\n  \
        noren eval threshold --keys keys/server.keys --number 300 readings.ct -o alarms.ct\n  \
        noren eval lookup --keys keys/server.keys --circuit keys/circuit.keys --function dose.csv readings.ct -o doses.ct"
)]
pub(crate) struct Arguments {
    /// The program; bootstrap for new levels; lookup for any function; matrix for a matrix of whole numbers
    #[arg(hide_possible_values = true, value_parser = PossibleValuesParser::new(
        Program::NAMES.into_iter().chain([bootstrap::NAME, lookup::NAME, integers::NAME]).chain(TfheProgram::names())
            .chain(switching_names())))]
    program: String,
    /// eval.keys; lookup.keys; server.keys, or what noren expand made of them; or bootstrap.keys: then a program
    /// bootstraps what runs out of levels
    #[arg(long, value_name = "FILE")]
    keys: PathBuf,
    /// The encrypted table, or - for standard input
    input: PathBuf,
    /// The encrypted table of y of lookup, where x and y are in two
    #[arg(value_name = "INPUT2", requires = "function")]
    second: Option<PathBuf>,
    /// The model of the program, as JSON
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// The matrix of the program matrix, .csv without names of columns, .npy, or what noren prepare made of it: as many
    /// columns as the table has rows
    #[arg(long, value_name = "FILE", required_if_eq("program", integers::NAME))]
    matrix: Option<PathBuf>,
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
    /// The columns of lookup, of programs of TFHE and of switching, by name or position from 0 [default: the first ones; of
    /// switching all]
    #[arg(long, value_name = "X,Y", value_delimiter = ',')]
    columns: Vec<String>,
    /// The threshold; with keys of TFHE, a whole number in place of the second column of any program
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    number: Option<Number>,
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
    /// The file for the encrypted result, or - for standard output
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

/// A number as it was written: programs of TFHE take whole ones of any size.
#[derive(Debug, Clone)]
struct Number {
    text: String,
    value: Decimal,
}

impl Number {
    /// The number in floating point.
    fn nearest(&self) -> f64 {
        match self.value {
            Decimal::Whole(whole) => whole as f64,
            Decimal::Nearest(x) => x,
        }
    }
}

impl FromStr for Number {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let value = Decimal::parse(text).filter(|value| !matches!(value, Decimal::Nearest(x) if !x.is_finite()));
        value.map(|value| Self { text: text.to_owned(), value }).ok_or_else(|| "a number is needed".to_owned())
    }
}

/// In how many steps is decided.
fn parse_steps(text: &str) -> Result<Steps, String> {
    match text {
        "1" => Ok(Steps::One),
        "3" => Ok(Steps::Three),
        _ => Err("1 or 3 is needed".to_owned()),
    }
}

/// The names that only programs of switching have.
fn switching_names() -> impl Iterator<Item = &'static str> {
    DecisionProgram::NAMES.into_iter().filter(|name| TfheProgram::named(name).is_none())
}

/// Computes with keys of a kind.
type Run = fn(&Arguments, Kind, Output, &Console) -> Result<(), Failure>;

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let output = Output::or_standard(&arguments.output, &arguments.force, Content::Binary, console)?;
    let kind = console.inputs().kind(&arguments.keys, &takes::EVAL_KEYS)?;
    if let (Some(path), true) = (&arguments.matrix, arguments.program != integers::NAME) {
        let needed = format!("none: {} takes none", arguments.program);
        return Err(Failure::input(path, "--matrix", "a matrix", needed));
    }
    let of_bootstrapping = matches!(kind, Kind::BOOTSTRAP_KEYS | Kind::EXPANDED_BOOTSTRAP_KEYS);
    let compares = of_bootstrapping && DecisionProgram::NAMES.contains(&arguments.program.as_str());
    if !compares {
        check_not_switching(arguments)?;
    }
    let run: Run = match (arguments.program.as_str(), kind) {
        (_, kind) if ServerKeyForm::is(kind) => run_tfhe,
        (lookup::NAME, _) => run_lookup,
        (integers::NAME, _) => run_matrix,
        _ if compares => run_switching,
        (bootstrap::NAME, _) => run_bootstrap,
        _ if of_bootstrapping => run_bootstrap,
        // A file of another kind is refused where keys of CKKS are read.
        _ => run_ckks,
    };
    run(arguments, kind, output, console)
}

/// Refuses what only programs of switching take.
fn check_not_switching(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { program, switching_keys, server_keys, steps, count, .. } = arguments;
    let given = [
        ("--switching-keys", switching_keys.is_some()),
        ("--server-keys", server_keys.is_some()),
        ("--steps", steps.is_some()),
        ("--count", count.is_some()),
    ];
    let Some((what, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
    let needed = format!(
        "none: it is for {} with keys of noren keygen --bootstrap --switching",
        DecisionProgram::NAMES.join(", ")
    );
    Err(Failure::Unsuitable { what, found: program.clone(), needed })
}

fn run_switching(arguments: &Arguments, _: Kind, output: Output, console: &Console) -> Result<(), Failure> {
    check_no_function(arguments)?;
    let &Arguments { ref program, ref keys, ref input, ref columns, last, failure_budget, .. } = arguments;
    let Arguments { undefined, no_header, element, circuit, model, second, .. } = arguments;
    let given = [
        ("--model", model.is_some()),
        ("--circuit", circuit.is_some()),
        ("INPUT2", second.is_some()),
        ("--undefined", undefined.is_some()),
        ("--no-header", *no_header),
        ("--type", element.is_some()),
    ];
    if let Some((what, _)) = given.into_iter().find(|(_, given)| *given) {
        let needed = "none: programs that compare entries take none".to_owned();
        return Err(Failure::Unsuitable { what, found: program.clone(), needed });
    }
    let program = decision_program(arguments)?;
    let (switching, server) = (arguments.switching_keys.as_deref(), arguments.server_keys.as_deref());
    let steps = arguments.steps.unwrap_or_default();
    let job = switching::Job { program, keys, switching, server, input, columns, steps, last, failure_budget, output };
    switching::run(job, console)
}

/// The program of switching, with the one number that it takes.
fn decision_program(arguments: &Arguments) -> Result<DecisionProgram, Failure> {
    let Arguments { program, number, count, .. } = arguments;
    let number = number.as_ref().map(Number::nearest);
    let refuse =
        |what, found: String, needed: &str| Err(Failure::Unsuitable { what, found, needed: needed.to_owned() });
    match (program.as_str(), number, *count) {
        ("threshold", Some(number), None) => Ok(DecisionProgram::Threshold(number)),
        ("threshold", None, _) => refuse("--number", "none".to_owned(), "the threshold, in units of the columns"),
        ("top", None, Some(count)) => Ok(DecisionProgram::Top(count)),
        ("top", _, None) => refuse("--count", "none".to_owned(), "how many entries are the largest"),
        (_, Some(number), _) if program != "threshold" => {
            refuse("--number", number.to_string(), &format!("none: {program} takes none"))
        }
        (_, _, Some(count)) => refuse("--count", count.to_string(), &format!("none: {program} takes none")),
        ("argmin", ..) => Ok(DecisionProgram::Argmin),
        ("argmax", ..) => Ok(DecisionProgram::Argmax),
        _ => Ok(DecisionProgram::Rank),
    }
}

fn run_ckks(arguments: &Arguments, kind: Kind, output: Output, console: &Console) -> Result<(), Failure> {
    check_not_tfhe(arguments, kind)?;
    check_no_function(arguments)?;
    check_no_budget(arguments)?;
    let Arguments { program, keys, input, model, last, .. } = arguments;
    let program = programs::program(program, model.as_deref())?;
    ckks::run(ckks::Job { program, keys, input, model: model.as_deref(), last: *last, output }, console)
}

fn run_bootstrap(arguments: &Arguments, kind: Kind, output: Output, console: &Console) -> Result<(), Failure> {
    check_not_tfhe(arguments, kind)?;
    check_no_function(arguments)?;
    let &Arguments { ref program, ref keys, ref input, ref model, last, failure_budget, .. } = arguments;
    let program = match (program.as_str(), model) {
        (bootstrap::NAME, Some(model)) => {
            return Err(Failure::input(model, "--model", "a model", "none: bootstrap takes no model"));
        }
        (bootstrap::NAME, None) => None,
        (program, model) => Some(programs::program(program, model.as_deref())?),
    };
    bootstrap::run(bootstrap::Job { program, keys, input, output, last, failure_budget }, console)
}

fn run_tfhe(arguments: &Arguments, _: Kind, output: Output, console: &Console) -> Result<(), Failure> {
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
    let number = match number {
        None => None,
        Some(Number { value: Decimal::Whole(number), .. }) => Some(*number),
        Some(Number { text, .. }) => {
            let needed = "a whole number, for keys of TFHE; above 2^53 with all its digits".to_owned();
            return Err(Failure::Unsuitable { what: "--number", found: text.clone(), needed });
        }
    };
    let failure_budget = arguments.failure_budget;
    let job = tfhe::Job { name: program, keys, input, columns, number, function, circuit, failure_budget, output };
    tfhe::run(job, console)
}

/// Refuses a function, which lookups alone take.
fn check_no_function(arguments: &Arguments) -> Result<(), Failure> {
    let Some(path) = &arguments.function else { return Ok(()) };
    let needed = format!("none: {} takes none", arguments.program);
    Err(Failure::input(path, "--function", "a prepared function", needed))
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
    let compares = DecisionProgram::NAMES.contains(&program.as_str());
    if compares || TfheProgram::names().any(|name| name == program) {
        let of_switching = format!(", or {}, with switching keys beside them", Kind::BOOTSTRAP_KEYS);
        let needed = format!("{}{}", Kind::TFHE_KEYS, if compares { &of_switching } else { "" });
        let found = found.to_string();
        return Err(Failure::file(&arguments.keys)(noren::Error::WrongKind { found, needed }));
    }
    let given = [
        ("--columns", !columns.is_empty() && program != lookup::NAME),
        ("--number", number.is_some()),
        ("--undefined", undefined.is_some()),
        ("--no-header", *no_header),
        ("--type", element.is_some()),
        ("--circuit", circuit.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((what, _)) => {
            let needed = format!("none: it is for {}, and {} has {found}", Kind::TFHE_KEYS, arguments.keys.display());
            Err(Failure::Unsuitable { what, found: program.clone(), needed })
        }
    }
}

fn run_matrix(arguments: &Arguments, kind: Kind, output: Output, console: &Console) -> Result<(), Failure> {
    check_not_tfhe(arguments, kind)?;
    check_no_function(arguments)?;
    check_no_budget(arguments)?;
    let Arguments { keys, input, matrix, model, last, second, .. } = arguments;
    let given = [("--model", model.is_some()), ("INPUT2", second.is_some()), ("--last", *last)];
    if let Some((what, _)) = given.into_iter().find(|(_, given)| *given) {
        let needed = "none: matrix takes a matrix alone".to_owned();
        return Err(Failure::Unsuitable { what, found: "matrix".to_owned(), needed });
    }
    // It is there wherever the program is matrix.
    let matrix = matrix.as_deref().unwrap_or(Path::new(""));
    integers::run(integers::Job { keys, input, matrix, output }, console)
}

fn run_lookup(arguments: &Arguments, kind: Kind, output: Output, console: &Console) -> Result<(), Failure> {
    check_not_tfhe(arguments, kind)?;
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
