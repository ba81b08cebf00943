//! `noren eval`: runs a program on an encrypted table, without any secret.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use noren::wire::Kind;

use crate::console::Console;
use crate::evaluation::{Evaluation, EvaluationOptions, Fit, Way};
use crate::failure::Failure;
use crate::given::Given;
use crate::outputs::{Content, Force, Output};
use crate::scheme::EVAL;
use crate::schemes::{self, Added};
use crate::takes;

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
    #[command(flatten)]
    given: Given,
    /// The program; bootstrap for new levels; lookup for any function; matrix for a matrix of whole numbers
    #[arg(hide_possible_values = true, value_parser = PossibleValuesParser::new(programs()))]
    program: String,
    #[command(flatten)]
    options: EvaluationOptions,
    #[command(flatten)]
    _added: Added<EVAL>,
    /// The file for the encrypted result, or - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
}

/// The names of all programs.
fn programs() -> Vec<&'static str> {
    let mut seen = BTreeSet::new();
    schemes::rows(|scheme| scheme.programs).copied().filter(|name| seen.insert(*name)).collect()
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let Arguments { given, program, options, output, force, .. } = arguments;
    let output = Output::or_standard(output, force, Content::Binary, console)?;
    let kind = console.inputs().kind(&options.keys, &takes::EVAL_KEYS)?;
    let way = way(program, kind, &options.keys)?;
    check_options(arguments, way, kind)?;
    (way.run)(Evaluation { program, options, given, output }, console)
}

/// The way to run a program with keys of a kind.
fn way(program: &str, found: Kind, keys: &Path) -> Result<&'static Way, Failure> {
    let (mut reads, mut needed) = (None, Vec::new());
    for way in schemes::rows(|scheme| scheme.ways) {
        match (way.fit)(program, found) {
            Fit::Runs => return Ok(way),
            Fit::Reads => reads = Some(way),
            Fit::Needs(words) => needed.push(words),
            Fit::No => {}
        }
    }
    // Keys that run more programs stand last in the table, and first in the message.
    needed.reverse();
    let (found, needed) = (found.to_string(), needed.join(", or "));
    reads.ok_or_else(|| Failure::file(keys)(noren::Error::WrongKind { found, needed }))
}

/// Refuses options of other ways.
fn check_options(arguments: &Arguments, way: &Way, kind: Kind) -> Result<(), Failure> {
    let Arguments { given, program, options, .. } = arguments;
    let ways = || schemes::rows(|scheme| scheme.ways);
    let mut others = ways().flat_map(|other| other.options.split(' ')).filter(|option| !way.takes(option));
    let Some(what) = others.find(|option| given.has(&id(option))) else { return Ok(()) };
    let takers: Vec<&str> = ways().filter(|other| other.takes(what)).map(|other| other.words).collect();
    let needed = format!(
        "none: {program} takes none; it is for {}, and {} has {kind}",
        takers.join(", "),
        options.keys.display()
    );
    Err(Failure::Unsuitable { what, found: value(given, &id(what)), needed })
}

/// The name by which tables beside the first are read.
const OTHERS: &str = "others";

/// The name by which an option is read.
fn id(option: &str) -> String {
    if option == "INPUT2" { OTHERS.to_owned() } else { option.trim_start_matches("--").replace('-', "_") }
}

/// The value of an option as it was written.
fn value(Given(given): &Given, id: &str) -> String {
    if matches!(given.try_get_one::<bool>(id), Ok(Some(_))) {
        return "given".to_owned();
    }
    // Of several tables the first is told.
    let most = if id == OTHERS { 1 } else { usize::MAX };
    let values = given.get_raw(id).into_iter().flatten().take(most);
    values.map(|value| value.to_string_lossy()).collect::<Vec<_>>().join(",")
}
