//! Rows for `eval`: ways to run programs on encrypted tables, and the options that several ways share.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use noren::wire::Kind;

use crate::console::Console;
use crate::failure::Failure;
use crate::given::Given;
use crate::outputs::Output;
use crate::tables::decimal::Decimal;

/// The program that is any function of integers, in two schemes.
pub(crate) const LOOKUP: &str = "lookup";
/// The program that adds, in two schemes.
pub(crate) const ADD: &str = "add";

/// A program, its inputs, and where its result goes.
pub(crate) struct Evaluation<'a> {
    pub(crate) program: &'a str,
    pub(crate) options: &'a EvaluationOptions,
    /// All options, with those that schemes add.
    pub(crate) given: &'a Given,
    pub(crate) output: Output,
}

/// A way to run programs.
pub(crate) struct Way {
    /// The programs, or their keys, in words.
    pub(crate) words: &'static str,
    /// The options that it takes, of those that not all ways do, with a space between.
    pub(crate) options: &'static str,
    /// Whether it runs a program of this name with keys of this kind.
    pub(crate) fit: fn(&str, Kind) -> Fit,
    pub(crate) run: fn(Evaluation<'_>, &Console) -> Result<(), Failure>,
}

impl Way {
    /// Whether it takes an option that not all ways do.
    pub(crate) fn takes(&self, option: &str) -> bool {
        self.options.split(' ').any(|own| own == option)
    }
}

/// How a program and keys go together in a way.
pub(crate) enum Fit {
    /// It runs the program with these keys.
    Runs,
    /// The program is its own; other keys are refused where they are read.
    Reads,
    /// It has the program, and needs other keys: those that the words name.
    Needs(String),
    /// The program, or the keys, are of other ways.
    No,
}

impl Fit {
    /// That of a program of one way: other keys are refused where they are read.
    pub(crate) fn own(is_program: bool, is_key: bool) -> Self {
        match (is_program, is_key) {
            (true, true) => Self::Runs,
            (true, false) => Self::Reads,
            (false, _) => Self::No,
        }
    }
}

/// The options that ways share.
#[derive(Debug, Args)]
pub(crate) struct EvaluationOptions {
    /// eval.keys; lookup.keys; server.keys, or what noren expand made of them; or bootstrap.keys: then a program
    /// bootstraps what runs out of levels
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: PathBuf,
    /// The encrypted table, or - for standard input
    pub(crate) input: PathBuf,
    /// The encrypted table of y of lookup, where x and y are in two; further tables of integers of add
    #[arg(value_name = "INPUT2")]
    pub(crate) others: Vec<PathBuf>,
    /// The model of the program, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// The prepared function of lookup; with keys of TFHE a table, .csv or .npy, or the name of a formula, as noren
    /// prepare takes them
    #[arg(long, value_name = "FILE|NAME", required_if_eq("program", LOOKUP))]
    pub(crate) function: Option<PathBuf>,
    /// The columns of lookup, of programs of TFHE and of switching, by name or position from 0 [default: the first ones; of
    /// switching all]
    #[arg(long, value_name = "X,Y", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// The threshold; with keys of TFHE, a whole number in place of the second column of any program
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) number: Option<Number>,
    /// Nothing more is to be computed on the result: drop the levels that are left, so that its file is small
    #[arg(long)]
    pub(crate) last: bool,
    /// Refuse computations whose bootstraps may fail, all together, with a probability above 2^LOG2: -40, for example
    #[arg(long, value_name = "LOG2", allow_negative_numbers = true, value_parser = parse_log2)]
    pub(crate) failure_budget: Option<f64>,
}

/// The base-two logarithm of a probability.
fn parse_log2(text: &str) -> Result<f64, String> {
    let log2 = text.parse::<f64>().ok().filter(|&log2| log2 < 0.0);
    log2.ok_or_else(|| "the base-two logarithm of a probability is needed, such as -40".to_owned())
}

/// A number as it was written: some programs take whole ones of any size.
#[derive(Debug, Clone)]
pub(crate) struct Number {
    pub(crate) text: String,
    pub(crate) value: Decimal,
}

impl Number {
    /// The number in floating point.
    pub(crate) fn nearest(&self) -> f64 {
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
