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
use crate::integers::add as addition;
use crate::integers::eval as integers;
use crate::lookup::eval as lookup;
use crate::outputs::{Content, Force, Output};
use crate::programs;
use crate::switching::eval as switching;
use crate::tables::decimal::Decimal;
use crate::takes;
use crate::tfhe::eval as tfhe;
use crate::tfhe::files::ServerKeyForm;
use crate::tfhe::lookup::Given;
use crate::tfhe::program::Program as TfheProgram;

/// Runs a program on an encrypted table
#[derive(Debug, Args)]
#[command(
    after_help = "Programs: sum, mean, variance, covariance and inner-product of columns; linear and logistic models; a \
        polynomial of every entry. bootstrap gives a table new levels, with the keys of noren keygen --bootstrap. lookup is any \
        function of two columns of integers that noren prepare has prepared, with the keys of noren keygen --lookup. matrix \
        multiplies a matrix of whole numbers with each column of integers, with the keys of noren keygen --integers --matrices; add adds \
        tables of integers of one shape, with the keys of noren keygen --integers or noren party.\n\
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
        noren eval add --keys keys/eval.keys north.ct south.ct -o total.ct\n  \
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
    /// The encrypted table of y of lookup, where x and y are in two; further tables of integers of add
    #[arg(value_name = "INPUT2")]
    others: Vec<PathBuf>,
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
type Run = fn(&Arguments, Output, &Console) -> Result<(), Failure>;

/// A way to run programs.
struct Way {
    /// The programs, or their keys, in words.
    words: &'static str,
    run: Run,
    /// The options that it takes, of those that not all ways do.
    options: &'static [&'static str],
}

const CKKS: Way = Way { words: "programs on tables of numbers", run: run_ckks, options: &["--model", "--last"] };
const BOOTSTRAPPED: Way = Way {
    words: "programs with bootstrapping keys",
    run: run_bootstrap,
    options: &["--model", "--last", "--failure-budget"],
};
const RENEWAL: Way = Way { words: bootstrap::NAME, run: run_bootstrap, options: &["--last", "--failure-budget"] };
const COMPARISONS: Way = Way {
    words: "threshold, argmin, argmax, rank and top with keys of noren keygen --bootstrap --switching",
    run: run_switching,
    options: &[
        "--columns",
        "--number",
        "--count",
        "--switching-keys",
        "--server-keys",
        "--steps",
        "--last",
        "--failure-budget",
    ],
};
const MATRIX: Way = Way { words: integers::NAME, run: run_matrix, options: &["--matrix"] };
const ADDITION: Way = Way { words: "add with keys of exact integers", run: run_addition, options: &["INPUT2"] };
const LOOKUP: Way = Way { words: lookup::NAME, run: run_lookup, options: &["INPUT2", "--function", "--columns"] };
const TFHE: Way = Way {
    words: "bootstrapping keys with TFHE parameters",
    run: run_tfhe,
    options: &[
        "--columns",
        "--number",
        "--function",
        "--undefined",
        "--no-header",
        "--type",
        "--circuit",
        "--failure-budget",
    ],
};
/// All of them.
const WAYS: [&Way; 8] = [&CKKS, &BOOTSTRAPPED, &RENEWAL, &COMPARISONS, &MATRIX, &ADDITION, &LOOKUP, &TFHE];

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let output = Output::or_standard(&arguments.output, &arguments.force, Content::Binary, console)?;
    let kind = console.inputs().kind(&arguments.keys, &takes::EVAL_KEYS)?;
    let way = way(arguments, kind)?;
    check_options(arguments, way, kind)?;
    (way.run)(arguments, output, console)
}

/// The way to run a program with keys of a kind.
fn way(arguments: &Arguments, found: Kind) -> Result<&'static Way, Failure> {
    let name = arguments.program.as_str();
    let of_bootstrapping = matches!(found, Kind::BOOTSTRAP_KEYS | Kind::EXPANDED_BOOTSTRAP_KEYS);
    let compares = DecisionProgram::NAMES.contains(&name);
    if compares && of_bootstrapping {
        return Ok(&COMPARISONS);
    }
    let adds = name == addition::NAME;
    if adds && matches!(found, Kind::INTEGER_EVALUATION_KEYS | Kind::EXPANDED_INTEGER_EVALUATION_KEYS) {
        return Ok(&ADDITION);
    }
    let is_of_tfhe = ServerKeyForm::is(found);
    if !is_of_tfhe && (compares || TfheProgram::names().any(|own| own == name)) {
        let of_switching = format!(", or {}, with switching keys beside them", Kind::BOOTSTRAP_KEYS);
        let of_integers = format!(", or {}", Kind::INTEGER_EVALUATION_KEYS);
        let others = if compares {
            &of_switching
        } else if adds {
            &of_integers
        } else {
            ""
        };
        let needed = format!("{}{others}", Kind::TFHE_KEYS);
        let found = found.to_string();
        return Err(Failure::file(&arguments.keys)(noren::Error::WrongKind { found, needed }));
    }
    Ok(match name {
        _ if is_of_tfhe => &TFHE,
        lookup::NAME => &LOOKUP,
        integers::NAME => &MATRIX,
        bootstrap::NAME => &RENEWAL,
        _ if of_bootstrapping => &BOOTSTRAPPED,
        // A file of another kind is refused where keys of CKKS are read.
        _ => &CKKS,
    })
}

/// Refuses options of other ways.
fn check_options(arguments: &Arguments, way: &Way, kind: Kind) -> Result<(), Failure> {
    let Some((what, found)) = arguments.options().into_iter().find(|(name, _)| !way.options.contains(name)) else {
        return Ok(());
    };
    let others = WAYS.iter().filter(|other| other.options.contains(&what)).map(|other| other.words);
    let needed = format!(
        "none: {} takes none; it is for {}, and {} has {kind}",
        arguments.program,
        others.collect::<Vec<_>>().join(", "),
        arguments.keys.display()
    );
    Err(Failure::Unsuitable { what, found, needed })
}

impl Arguments {
    /// The options that were given, of those that not all ways take, with their values.
    fn options(&self) -> Vec<(&'static str, String)> {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let flag = |given: bool| given.then(|| "given".to_owned());
        let all = [
            ("INPUT2", path(&self.others.first().cloned())),
            ("--model", path(&self.model)),
            ("--matrix", path(&self.matrix)),
            ("--function", path(&self.function)),
            ("--undefined", self.undefined.map(|value| value.to_string())),
            ("--no-header", flag(self.no_header)),
            ("--type", self.element.map(|element| element.to_string())),
            ("--circuit", path(&self.circuit)),
            ("--columns", (!self.columns.is_empty()).then(|| self.columns.join(","))),
            ("--number", self.number.as_ref().map(|number| number.text.clone())),
            ("--count", self.count.map(|count| count.to_string())),
            ("--switching-keys", path(&self.switching_keys)),
            ("--server-keys", path(&self.server_keys)),
            ("--steps", flag(self.steps.is_some())),
            ("--last", flag(self.last)),
            ("--failure-budget", self.failure_budget.map(|log2| log2.to_string())),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

fn run_switching(arguments: &Arguments, output: Output, console: &Console) -> Result<(), Failure> {
    let &Arguments { ref keys, ref input, ref columns, last, failure_budget, .. } = arguments;
    let program = decision_program(arguments)?;
    let (switching, server) = (arguments.switching_keys.as_deref(), arguments.server_keys.as_deref());
    let steps = arguments.steps.unwrap_or_default();
    let job =
        switching::Evaluation { program, keys, switching, server, input, columns, steps, last, failure_budget, output };
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

fn run_ckks(arguments: &Arguments, output: Output, console: &Console) -> Result<(), Failure> {
    let Arguments { program, keys, input, model, last, .. } = arguments;
    let program = programs::program(program, model.as_deref())?;
    ckks::run(ckks::Evaluation { program, keys, input, model: model.as_deref(), last: *last, output }, console)
}

fn run_bootstrap(arguments: &Arguments, output: Output, console: &Console) -> Result<(), Failure> {
    let &Arguments { ref program, ref keys, ref input, ref model, last, failure_budget, .. } = arguments;
    let program = match program.as_str() {
        bootstrap::NAME => None,
        program => Some(programs::program(program, model.as_deref())?),
    };
    bootstrap::run(bootstrap::Evaluation { program, keys, input, output, last, failure_budget }, console)
}

fn run_tfhe(arguments: &Arguments, output: Output, console: &Console) -> Result<(), Failure> {
    let Arguments { program, keys, input, columns, number, .. } = arguments;
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
    let job =
        tfhe::Evaluation { name: program, keys, input, columns, number, function, circuit, failure_budget, output };
    tfhe::run(job, console)
}

fn run_matrix(arguments: &Arguments, output: Output, console: &Console) -> Result<(), Failure> {
    let Arguments { keys, input, matrix, .. } = arguments;
    // It is there wherever the program is matrix.
    let matrix = matrix.as_deref().unwrap_or(Path::new(""));
    integers::run(integers::Evaluation { keys, input, matrix, output }, console)
}

fn run_addition(arguments: &Arguments, output: Output, console: &Console) -> Result<(), Failure> {
    let Arguments { keys, input, others, .. } = arguments;
    addition::run(addition::Evaluation { keys, input, others, output }, console)
}

fn run_lookup(arguments: &Arguments, output: Output, console: &Console) -> Result<(), Failure> {
    let Arguments { keys, input, others, function, columns, .. } = arguments;
    if let [_, third, ..] = &others[..] {
        let needed = "two tables at most, for x and y".to_owned();
        return Err(Failure::Unsuitable { what: "INPUT2", found: third.display().to_string(), needed });
    }
    // It is there wherever the program is lookup.
    let function = function.as_deref().unwrap_or(Path::new(""));
    let inputs = std::iter::once(input.as_path()).chain(others.first().map(PathBuf::as_path)).collect();
    lookup::run(lookup::Evaluation { keys, inputs, function, columns, output }, console)
}
