//! `noren keygen`: plans, makes and writes the keys for programs.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, value_parser};
use noren::Seed;
use noren::bfv::KeyRequest;
use noren::bootstrapping::{Mode, Preset};
use noren::programs::Program;
use noren::programs::Shape;
use noren_files::passphrase::Passphrase;

use crate::bootstrap::plan::{PlanOptions, parse_mode, parse_preset};
use crate::bounds;
use crate::console::Console;
use crate::failure::Failure;
use crate::key_files::{self, NewKeys, SECRET};
use crate::outputs::Force;
use crate::seeds::{HexSeed, parse_seed};
use crate::tfhe::plan::parse_set;
use crate::{additions, bootstrap, ckks, integers, lookup, programs, switching, tfhe};

/// Makes the keys for programs on tables of one shape, for bootstrapping, for lookups, for exact integers, or for TFHE
#[derive(Debug, Args)]
#[command(after_help = help())]
pub(crate) struct Arguments {
    /// The directory for the keys
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The programs to run
    #[arg(long, required_unless_present_any = KINDS[1..].iter().map(KeyKind::option), value_name = "PROGRAM,...", requires = "rows",
        requires = "columns", value_delimiter = ',', value_parser = PossibleValuesParser::new(Program::NAMES))]
    program: Vec<String>,
    /// The model of a program, as JSON; PROGRAM=FILE says of which
    #[arg(long, value_name = "[PROGRAM=]FILE")]
    model: Vec<String>,
    /// The number of rows of tables; with --switching, of those that argmin and the like search
    #[arg(long, value_parser = value_parser!(u32).range(1..))]
    rows: Option<u32>,
    /// The number of columns, or their names
    #[arg(long, value_name = "COUNT|NAME,...", value_parser = parse_columns)]
    columns: Option<Columns>,
    /// The largest absolute values of columns, as JSON: a number, a list, or names with numbers
    #[arg(long, value_name = "FILE")]
    bounds: Option<PathBuf>,
    /// Plan for models whose interval the bounds do not prove, too: arguments go along with results, whoever decrypts learns
    /// them, and results with an argument outside are refused
    #[arg(long, requires = "bounds")]
    unproven_interval: bool,
    /// The error of results, relative to the bounds of columns, is about 2^-BITS
    #[arg(long, value_name = "BITS", default_value_t = 20.0)]
    precision: f64,
    /// Use these parameters instead of choosing some
    #[arg(long, value_name = "FILE", conflicts_with = "precision")]
    params: Option<PathBuf>,
    /// Add keys for the secret in the directory, which programs, --rotations or --swap-rows need, to those that are there
    #[arg(long)]
    add: bool,
    /// Make keys for bootstrapping with these parameters instead; see `noren plan`
    #[arg(long, value_name = "PRESET", value_parser = parse_preset)]
    bootstrap: Option<Preset>,
    /// Also server.keys and switching.keys, for programs that compare entries by switching to TFHE with this set of docs/tfhe.md
    #[arg(long, value_name = "SET", value_parser = parse_set, conflicts_with = "program")]
    switching: Option<&'static noren::tfhe::Preset>,
    /// Make keys for functions of x and y below these numbers instead, or both below one; --params brings parameters of exact
    /// integers [default: modulo 65537]
    #[arg(long, value_name = "X[,Y]", value_parser = lookup::plan::parse_domain)]
    lookup: Option<[usize; 2]>,
    /// Make keys for exact integers with these parameters instead: products, and what --rotations and --swap-rows ask for
    #[arg(long, value_name = "FILE")]
    integers: Option<PathBuf>,
    /// Make keys for integers and truth values that are encrypted one by one, with this set of docs/tfhe.md
    #[arg(long, value_name = "SET", value_parser = parse_set)]
    tfhe: Option<&'static noren::tfhe::Preset>,
    /// Also circuit.keys, for any function of one byte or of two
    #[arg(long)]
    circuit: bool,
    /// The number of complex slots that are bootstrapped, a power of two [default: all of the ring]
    #[arg(long, value_name = "COUNT")]
    slots: Option<usize>,
    /// Plan for messages of this kind, as noren plan has it; the keys are the same
    #[arg(long, value_name = "MODE", default_value = "complex", value_parser = parse_mode)]
    mode: Mode,
    /// Also keys for these rotations, up to the level of results
    #[arg(
        long,
        value_name = "STEPS,...",
        value_delimiter = ',',
        allow_hyphen_values = true,
        conflicts_with = "program"
    )]
    rotations: Vec<isize>,
    /// Also the key that swaps the two rows of slots of exact integers
    #[arg(long, conflicts_with = "program")]
    swap_rows: bool,
    /// Also the keys for noren eval matrix with any matrix, in a ring of --integers whose index is no power of two
    #[arg(long)]
    matrices: bool,
    /// Make all keys from this seed of 64 hexadecimal digits, as secret as the keys: for tests that repeat
    #[arg(long, value_name = "HEX", value_parser = parse_seed)]
    seed: Option<HexSeed>,
    /// Encrypt secret.key under a passphrase: from --passphrase-file, which asks for this too, NOREN_PASSPHRASE, or the terminal
    #[arg(long)]
    passphrase: bool,
    /// Print the plan and stop
    #[arg(long)]
    plan_only: bool,
    #[command(flatten)]
    force: Force,
}

/// Columns of tables: how many, and their names if they are known.
#[derive(Debug, Clone, Default)]
struct Columns {
    count: usize,
    names: Vec<String>,
}

/// Makes keys of a kind.
type Run = fn(&Arguments, &NewKeys<'_>, &Console) -> Result<(), Failure>;

/// A kind of keys.
struct KeyKind {
    /// The options that ask for it, with their values.
    usage: &'static str,
    /// The description of the keys.
    words: &'static str,
    /// The options of calls that make it, the shortest first.
    examples: &'static [&'static str],
    /// The options that it takes, of those that not all kinds do: first the one that asks for it.
    options: &'static str,
    is_chosen: fn(&Arguments) -> bool,
    run: Run,
}

/// All kinds. The last that is chosen is made.
const KINDS: [KeyKind; 6] = [
    KeyKind {
        usage: "--program PROGRAM,... --rows N --columns N",
        words: "keys for programs on tables of numbers, such as mean (CKKS)",
        examples: &[
            "--program mean,covariance --rows 285 --columns 30",
            "--program logistic --model risk.json --rows 285 --columns age,bmi,bp --plan-only",
        ],
        options: "program model rows columns bounds unproven-interval precision params passphrase force",
        is_chosen: |arguments| !arguments.program.is_empty(),
        run: for_programs,
    },
    KeyKind {
        usage: "--bootstrap PRESET",
        words: "keys for computations of any depth on tables of numbers (CKKS)",
        examples: &[
            "--bootstrap n16",
            "--bootstrap n16 --rotations 1,2,4",
            "--bootstrap n16 --switching 2_2 --rows 100",
        ],
        options: "bootstrap slots mode rotations switching rows columns passphrase force",
        is_chosen: |arguments| arguments.bootstrap.is_some(),
        run: for_bootstrapping,
    },
    KeyKind {
        usage: "--integers FILE",
        words: "keys for exact integers modulo t, with parameters in a file (BFV, BGV)",
        examples: &[
            "--integers bfv.params",
            "--integers bfv.params --rotations 1,2 --swap-rows",
            "--integers slots.params --matrices",
        ],
        options: "integers rotations swap-rows matrices passphrase force",
        is_chosen: |arguments| arguments.integers.is_some(),
        run: for_integers,
    },
    KeyKind {
        usage: "--lookup X[,Y]",
        words: "keys for functions of two exact integers (BFV)",
        examples: &["--lookup 32768"],
        options: "lookup params passphrase force",
        is_chosen: |arguments| arguments.lookup.is_some(),
        run: |arguments, keys, console| {
            let (domain, parameters) = (arguments.lookup.expect(CHOSEN), arguments.params.as_deref());
            lookup::keys::run(&lookup::plan::PlanOptions { domain, parameters }, keys, console)
        },
    },
    KeyKind {
        usage: "--tfhe SET",
        words: "keys for integers and truth values one by one (TFHE)",
        examples: &["--tfhe 2_2"],
        options: "tfhe circuit passphrase force",
        is_chosen: |arguments| arguments.tfhe.is_some(),
        run: |arguments, keys, console| {
            tfhe::keys::run(arguments.tfhe.expect(CHOSEN), arguments.circuit, keys, console)
        },
    },
    KeyKind {
        usage: "--add",
        words: "keys of the secret that is there: for programs, --rotations, --swap-rows or --switching",
        examples: &[
            "--add --rotations 8,16",
            "--add --program variance --rows 285 --columns 30",
            "--add --switching 2_2",
        ],
        options: "add program model rows columns bounds unproven-interval rotations swap-rows switching",
        is_chosen: |arguments| arguments.add,
        run: add,
    },
];

impl KeyKind {
    /// That which is asked for: where no other is, there are programs.
    fn of(arguments: &Arguments) -> &'static Self {
        KINDS.iter().rfind(|kind| (kind.is_chosen)(arguments)).unwrap_or(&KINDS[0])
    }

    /// The option that asks for it.
    fn option(&self) -> &'static str {
        self.options.split(' ').next().unwrap_or_default()
    }

    fn takes(&self, option: &str) -> bool {
        self.options.split(' ').any(|own| own == option)
    }
}

/// The last line of errors of the arguments.
const MORE: &str = "For more information, try 'noren keygen --help'.\n";

/// Why the option of a kind is there where its keys are made.
const CHOSEN: &str = "the option that chose the kind of keys";

/// The text below the options.
fn help() -> String {
    let examples = KINDS.iter().flat_map(|kind| kind.examples);
    let examples: String = examples.map(|example| format!("  noren keygen --out keys {example}\n")).collect();
    format!(
        "Writes three files into the directory: secret.key decrypts and stays with you (mode 0600), public.key encrypts, \
         eval.keys goes to whoever computes. Each carries its parameters. The plan is printed before any key is made.\n\n\
         Examples:\n{examples}\n\
         With --bootstrap the third file is bootstrap.keys: all that bootstrapping needs, products, and the rotations asked \
         for. With --switching there are two more files for whoever computes: server.keys and switching.keys. With --lookup \
         it is lookup.keys: all that any function of two integers of such a domain needs. With --tfhe there are two files: \
         secret.key encrypts too, server.keys goes to whoever computes; with --circuit a third, circuit.keys, goes there too. \
         With --add no secret is made: secret.key is read, and eval.keys or bootstrap.keys get the keys that they lack."
    )
}

/// Refuses options of other kinds of keys than that which is asked for.
pub(crate) fn check(arguments: &Arguments, given: &ArgMatches) -> Result<(), clap::Error> {
    let kind = KeyKind::of(arguments);
    for id in given.ids().filter(|id| given.value_source(id.as_str()) == Some(ValueSource::CommandLine)) {
        let option = id.as_str().replace('_', "-");
        let takers: Vec<&str> = KINDS.iter().filter(|kind| kind.takes(&option)).map(|kind| kind.usage).collect();
        if !takers.is_empty() && !kind.takes(&option) {
            let (kind, takers) = (kind.usage, takers.join("; "));
            let text = format!("--{option} cannot be used with {kind}: it is for {takers}\n\n{MORE}");
            return Err(clap::Error::raw(ErrorKind::ArgumentConflict, text));
        }
    }
    Ok(())
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let &Arguments { plan_only, ref out, ref force, .. } = arguments;
    let seed = arguments.seed.as_ref().map(|HexSeed(bytes)| Seed::from_bytes(*bytes));
    let passphrase = arguments.passphrase(console)?;
    let keys = NewKeys { out, seed, plan_only, force, passphrase: passphrase.as_ref() };
    (KeyKind::of(arguments).run)(arguments, &keys, console)
}

fn add(arguments: &Arguments, keys: &NewKeys<'_>, console: &Console) -> Result<(), Failure> {
    let &Arguments { swap_rows, plan_only, ref out, ref rotations, .. } = arguments;
    let seed = keys.seed.clone();
    if let Some(set) = arguments.switching {
        if !rotations.is_empty() || arguments.rows.is_some() || arguments.columns.is_some() || swap_rows {
            let found = "--switching and more".to_owned();
            let needed = "--switching alone: add rotations by a run of its own".to_owned();
            return Err(Failure::Unsuitable { what: "--add", found, needed });
        }
        let options = switching::plan::PlanOptions { set, tables: None };
        return switching::additions::run(
            &switching::additions::KeyAddition { out, options, seed, plan_only },
            console,
        );
    }
    let programs = programs::programs(&arguments.program, &arguments.model)?;
    let operations = additions::Operations { programs, shape: shape(arguments)?, rotations, swap_rows };
    additions::run(additions::KeyAddition { out, operations, seed, plan_only }, console)
}

fn for_programs(arguments: &Arguments, keys: &NewKeys<'_>, console: &Console) -> Result<(), Failure> {
    let programs = programs::programs(&arguments.program, &arguments.model)?;
    let (parameters, precision) = (arguments.params.as_deref(), arguments.precision);
    ckks::keys::run(&ckks::keys::KeyOptions { programs, parameters, precision }, keys, || shape(arguments), console)
}

fn for_bootstrapping(arguments: &Arguments, keys: &NewKeys<'_>, console: &Console) -> Result<(), Failure> {
    let &Arguments { bootstrap, slots, mode, .. } = arguments;
    let preset = bootstrap.expect(CHOSEN);
    let columns = arguments.columns.as_ref().map(|columns| columns.count);
    let refuse = |what, found: &str, needed: &str| {
        Err(Failure::Unsuitable { what, found: found.to_owned(), needed: needed.to_owned() })
    };
    let tables = match (arguments.switching, arguments.rows, columns) {
        (_, None, None) => None,
        (None, ..) => {
            return refuse("--rows and --columns", "--bootstrap", "--switching too: name --rotations otherwise");
        }
        (_, None, Some(columns)) => {
            return refuse("--columns", &columns.to_string(), "--rows too: how many entries columns have");
        }
        (_, Some(rows), columns) => Some([rows as usize, columns.unwrap_or(1)]),
    };
    let switching = arguments.switching.map(|set| switching::plan::PlanOptions { set, tables });
    let options = PlanOptions { preset, slots, mode, switching };
    bootstrap::keys::run(&options, &arguments.rotations, keys, console)
}

fn for_integers(arguments: &Arguments, keys: &NewKeys<'_>, console: &Console) -> Result<(), Failure> {
    let &Arguments { swap_rows: swap, matrices, ref rotations, .. } = arguments;
    let parameters = arguments.integers.as_deref().expect(CHOSEN);
    let request = KeyRequest { relinearization: true, rotations: rotations.clone(), swap, ..KeyRequest::default() };
    integers::keys::run(parameters, request, matrices, keys, console)
}

impl Arguments {
    /// The passphrase of the secret key that is to be made, if there is one. It is asked for before any work, and after a file
    /// that is in the way was refused.
    fn passphrase(&self, console: &Console) -> Result<Option<Passphrase>, Failure> {
        if self.add || self.plan_only {
            return Ok(None);
        }
        key_files::passphrase_of_new(&self.out.join(SECRET), self.passphrase, &self.force, console)
    }
}

/// The tables that programs are to run on.
fn shape(arguments: &Arguments) -> Result<Shape, Failure> {
    let bounds = arguments.bounds.as_deref().map(bounds::read).transpose()?;
    // They are there wherever a program is.
    let Columns { count: columns, names: column_names } = arguments.columns.clone().unwrap_or_default();
    let rows = arguments.rows.unwrap_or_default() as usize;
    let shape = Shape { rows, columns, column_names, bounds, unproven_interval: arguments.unproven_interval };
    if let Some(path) = &arguments.bounds {
        // Bounds that do not suit the columns are refused with the name of their file.
        shape.layout(1).map_err(Failure::file(path))?;
    }
    Ok(shape)
}

/// An error of the arguments; where they do not say which kind of keys is to be made, all kinds with a line each.
pub(crate) fn usage(error: clap::Error) -> clap::Error {
    let missing = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) => missing,
        _ => return error,
    };
    // No other verb is in need of programs.
    if error.kind() != ErrorKind::MissingRequiredArgument || !missing.iter().any(|name| name.starts_with("--program "))
    {
        return error;
    }
    let mut text = "keygen needs the kind of keys, and --out with their directory. The kinds:\n\n".to_owned();
    KINDS.iter().for_each(|kind| text += &format!("  {:<45}{}\n", kind.usage, kind.words));
    text += "\nExamples:\n";
    KINDS.iter().for_each(|kind| text += &format!("  noren keygen --out keys {}\n", kind.examples[0]));
    clap::Error::raw(ErrorKind::MissingRequiredArgument, format!("{text}\n{MORE}"))
}

fn parse_columns(text: &str) -> Result<Columns, String> {
    if let Ok(count) = text.parse::<usize>() {
        return if count > 0 {
            Ok(Columns { count, names: Vec::new() })
        } else {
            Err("at least 1 is needed".to_owned())
        };
    }
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    match names.iter().enumerate().find(|(index, name)| name.is_empty() || names[..*index].contains(name)) {
        Some((index, _)) => Err(format!("name {} is empty or occurs twice", index + 1)),
        None => Ok(Columns { count: names.len(), names }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_option_is_of_all_kinds_of_keys_or_of_some() {
        let command = Arguments::augment_args(clap::Command::new("keygen"));
        let options = command.get_arguments().map(|option| option.get_id().as_str().replace('_', "-"));
        let of_all = ["out", "seed", "plan-only"];
        let of_some = KINDS.iter().flat_map(|kind| kind.options.split(' '));
        let known: BTreeSet<String> = of_some.chain(of_all).map(str::to_owned).collect();
        assert_eq!(options.collect::<BTreeSet<String>>(), known);
        assert!(KINDS.iter().all(|kind| kind.usage.starts_with(&format!("--{}", kind.option()))));
    }

    #[test]
    fn columns_are_a_count_or_names() {
        assert_eq!(parse_columns("3").expect("a count").count, 3);
        let columns = parse_columns("age, bmi").expect("names");
        assert_eq!((columns.count, columns.names), (2, vec!["age".to_owned(), "bmi".to_owned()]));
        for text in ["0", "a,,b", "a,b,a", ""] {
            assert!(parse_columns(text).is_err(), "{text:?}");
        }
    }
}
