//! `noren keygen`: plans, makes and writes the keys for programs.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, value_parser};
use noren::Seed;
use noren::bfv::KeyRequest;
use noren::bootstrapping::{Mode, Preset};
use noren::programs::Program;
use noren::programs::Shape;
use noren_files::passphrase::Passphrase;

use crate::bootstrap::plan::{Wanted, parse_mode, parse_preset};
use crate::bounds;
use crate::console::Console;
use crate::failure::Failure;
use crate::key_files::{self, NewKeys, SECRET};
use crate::outputs::Force;
use crate::seeds::{HexSeed, parse_seed};
use crate::tfhe::plan::parse_set;
use crate::{additions, bootstrap, ckks, integers, lookup, programs, switching, tfhe};

/// The options of keys that do not depend on the shape of a table.
const NO_TABLES: [&str; 3] = ["lookup", "integers", "tfhe"];

/// Makes the keys for programs on tables of one shape, for bootstrapping, for lookups, for exact integers, or for TFHE
#[derive(Debug, Args)]
#[command(
    after_help = "Writes three files into the directory: secret.key decrypts and stays with you (mode 0600), public.key \
        encrypts, eval.keys goes to whoever computes. Each carries its parameters. The plan is printed before any key \
        is made.\n\n\
        Examples:\n  \
        noren keygen --out keys --program mean,covariance --rows 285 --columns 30\n  \
        noren keygen --out keys --program logistic --model risk.json --rows 285 --columns age,bmi,bp --plan-only\n  \
        noren keygen --out keys --bootstrap n16 --rotations 1,2,4\n  \
        noren keygen --out keys --bootstrap n16 --switching 2_2 --rows 100\n  \
        noren keygen --out keys --lookup 32768\n  \
        noren keygen --out keys --integers bfv.params --rotations 1,2 --swap-rows\n  \
        noren keygen --out keys --integers slots.params --matrices\n  \
        noren keygen --out keys --tfhe 2_2\n  \
        noren keygen --out keys --add --program variance --rows 285 --columns 30\n  \
        noren keygen --out keys --add --rotations 8,16\n  \
        noren keygen --out keys --add --switching 2_2\n\n\
        With --bootstrap the third file is bootstrap.keys: all that bootstrapping needs, products, and the rotations asked for. \
        With --switching there are two more files for whoever computes: server.keys and switching.keys. \
        With --lookup it is lookup.keys: all that any function of two integers of such a domain needs. \
        With --tfhe there are two files: secret.key encrypts too, server.keys goes to whoever computes; with --circuit a third, \
        circuit.keys, goes there too. \
        With --add no secret is made: secret.key is read, and eval.keys or bootstrap.keys get the keys that they lack."
)]
pub(crate) struct Arguments {
    /// The directory for the keys
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The programs to run
    #[arg(long, required_unless_present_any = ["scheme", "add"], conflicts_with = "scheme", value_name = "PROGRAM,...",
        requires = "rows", requires = "columns", value_delimiter = ',', value_parser = PossibleValuesParser::new(Program::NAMES))]
    program: Vec<String>,
    /// The model of a program, as JSON; PROGRAM=FILE says of which
    #[arg(long, value_name = "[PROGRAM=]FILE", conflicts_with = "scheme")]
    model: Vec<String>,
    /// The number of rows of tables; with --switching, of those that argmin and the like search
    #[arg(long, required_unless_present_any = ["scheme", "add"], conflicts_with_all = NO_TABLES,
        value_parser = value_parser!(u32).range(1..))]
    rows: Option<u32>,
    /// The number of columns, or their names
    #[arg(long, required_unless_present_any = ["scheme", "add"], conflicts_with_all = NO_TABLES, value_name = "COUNT|NAME,...",
        value_parser = parse_columns)]
    columns: Option<Columns>,
    /// The largest absolute values of columns, as JSON: a number, a list, or names with numbers
    #[arg(long, value_name = "FILE", conflicts_with = "scheme")]
    bounds: Option<PathBuf>,
    /// Plan for models whose interval the bounds do not prove, too: arguments go along with results, whoever decrypts learns
    /// them, and results with an argument outside are refused
    #[arg(long, requires = "bounds")]
    unproven_interval: bool,
    /// The error of results, relative to the bounds of columns, is about 2^-BITS
    #[arg(long, value_name = "BITS", default_value_t = 20.0, conflicts_with = "scheme")]
    precision: f64,
    /// Use these parameters instead of choosing some
    #[arg(long, value_name = "FILE", conflicts_with = "precision")]
    params: Option<PathBuf>,
    /// Add keys for the secret in the directory, which programs, --rotations or --swap-rows need, to those that are there
    #[arg(long, group = "rotating", group = "swapping", group = "switchable", conflicts_with_all = ["params", "precision", "scheme", "force"])]
    add: bool,
    /// Make keys for bootstrapping with these parameters instead; see `noren plan`
    #[arg(long, value_name = "PRESET", value_parser = parse_preset,
        group = "scheme", group = "rotating", group = "switchable", conflicts_with = "params")]
    bootstrap: Option<Preset>,
    /// Also server.keys and switching.keys, for programs that compare entries by switching to TFHE with this set of docs/tfhe.md
    #[arg(long, value_name = "SET", value_parser = parse_set, requires = "switchable", conflicts_with = "program")]
    switching: Option<&'static noren::tfhe::Preset>,
    /// Make keys for functions of x and y below these numbers instead, or both below one; --params brings parameters of exact
    /// integers [default: modulo 65537]
    #[arg(long, value_name = "X[,Y]", value_parser = lookup::plan::parse_domain, group = "scheme")]
    lookup: Option<[usize; 2]>,
    /// Make keys for exact integers with these parameters instead: products, and what --rotations and --swap-rows ask for
    #[arg(
        long,
        value_name = "FILE",
        group = "scheme",
        group = "rotating",
        group = "swapping",
        conflicts_with = "params"
    )]
    integers: Option<PathBuf>,
    /// Make keys for integers and truth values that are encrypted one by one, with this set of docs/tfhe.md
    #[arg(long, value_name = "SET", value_parser = parse_set, group = "scheme", conflicts_with = "params")]
    tfhe: Option<&'static noren::tfhe::Preset>,
    /// Also circuit.keys, for any function of one byte or of two
    #[arg(long, requires = "tfhe", conflicts_with = "program")]
    circuit: bool,
    /// The number of complex slots that are bootstrapped, a power of two [default: all of the ring]
    #[arg(long, value_name = "COUNT", requires = "bootstrap", conflicts_with = "program")]
    slots: Option<usize>,
    /// Plan for messages of this kind, as noren plan has it; the keys are the same
    #[arg(long, value_name = "MODE", default_value = "complex", value_parser = parse_mode, requires = "bootstrap",
        conflicts_with = "program")]
    mode: Mode,
    /// Also keys for these rotations, up to the level of results
    #[arg(
        long,
        value_name = "STEPS,...",
        value_delimiter = ',',
        allow_hyphen_values = true,
        requires = "rotating",
        conflicts_with = "program"
    )]
    rotations: Vec<isize>,
    /// Also the key that swaps the two rows of slots of exact integers
    #[arg(long, requires = "swapping", conflicts_with = "program")]
    swap_rows: bool,
    /// Also the keys for noren eval matrix with any matrix, in a ring of --integers whose index is no power of two
    #[arg(long, requires = "integers", conflicts_with = "program")]
    matrices: bool,
    /// Make all keys from this seed of 64 hexadecimal digits, as secret as the keys: for tests that repeat
    #[arg(long, value_name = "HEX", value_parser = parse_seed)]
    seed: Option<HexSeed>,
    /// Encrypt secret.key under a passphrase: from --passphrase-file, which asks for this too, NOREN_PASSPHRASE, or the terminal
    #[arg(long, conflicts_with = "add")]
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

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let &Arguments { slots, mode, plan_only, ref rotations, ref out, ref force, ref params, .. } = arguments;
    let seed = arguments.seed.as_ref().map(|HexSeed(bytes)| Seed::from_bytes(*bytes));
    let passphrase = arguments.passphrase(console)?;
    let keys = &NewKeys { out, seed, plan_only, force, passphrase: passphrase.as_ref() };
    let parameters = params.as_deref();
    if let Some(preset) = arguments.tfhe {
        return tfhe::keys::run(preset, arguments.circuit, keys, console);
    }
    if let Some(domain) = arguments.lookup {
        return lookup::keys::run(&lookup::plan::Wanted { domain, parameters }, keys, console);
    }
    if let Some(parameters) = &arguments.integers {
        let swap = arguments.swap_rows;
        let request = KeyRequest { relinearization: true, rotations: rotations.clone(), swap, ..KeyRequest::default() };
        return integers::keys::run(parameters, request, arguments.matrices, keys, console);
    }
    if let Some(preset) = arguments.bootstrap {
        let switching = arguments.switching_wanted()?;
        return bootstrap::keys::run(&Wanted { preset, slots, mode, switching }, rotations, keys, console);
    }
    if let Some(wanted) = arguments.switching_wanted()? {
        let job = switching::additions::Job { out, wanted, seed: keys.seed.clone(), plan_only };
        return switching::additions::run(&job, console);
    }
    let programs = programs::programs(&arguments.program, &arguments.model)?;
    if arguments.add {
        let swap_rows = arguments.swap_rows;
        let wanted = additions::Wanted { programs, shape: shape(arguments)?, rotations, swap_rows };
        return additions::run(additions::Job { out, wanted, seed: keys.seed.clone(), plan_only }, console);
    }
    let wanted = ckks::keys::Wanted { programs, parameters, precision: arguments.precision };
    ckks::keys::run(&wanted, keys, || shape(arguments), console)
}

impl Arguments {
    /// The TFHE set of --switching, and the shape of the tables that are compared.
    fn switching_wanted(&self) -> Result<Option<switching::plan::Wanted>, Failure> {
        let columns = self.columns.as_ref().map(|columns| columns.count);
        let Some(set) = self.switching else {
            if let (Some(_), true) = (self.bootstrap, self.rows.is_some() || columns.is_some()) {
                let (found, needed) =
                    ("--bootstrap".to_owned(), "--switching too: name --rotations otherwise".to_owned());
                return Err(Failure::Unsuitable { what: "--rows and --columns", found, needed });
            }
            return Ok(None);
        };
        if self.add && (!self.rotations.is_empty() || self.rows.is_some() || columns.is_some() || self.swap_rows) {
            let found = "--switching and more".to_owned();
            let needed = "--switching alone: add rotations by a run of its own".to_owned();
            return Err(Failure::Unsuitable { what: "--add", found, needed });
        }
        let tables = match (self.rows, columns) {
            (Some(rows), columns) => Some([rows as usize, columns.unwrap_or(1)]),
            (None, None) => None,
            (None, Some(columns)) => {
                let needed = "--rows too: how many entries columns have".to_owned();
                return Err(Failure::Unsuitable { what: "--columns", found: columns.to_string(), needed });
            }
        };
        Ok(Some(switching::plan::Wanted { set, tables }))
    }

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
    clap::Error::raw(ErrorKind::MissingRequiredArgument, KINDS)
}

/// The kinds of keys.
const KINDS: &str = "keygen needs the kind of keys, and --out with their directory. The kinds:

  --program PROGRAM,... --rows N --columns N   keys for programs on tables of numbers, such as mean (CKKS)
  --bootstrap PRESET                           keys for computations of any depth on tables of numbers (CKKS)
  --integers FILE                              keys for exact integers modulo t, with parameters in a file (BFV, BGV)
  --lookup X[,Y]                               keys for functions of two exact integers (BFV)
  --tfhe SET                                   keys for integers and truth values one by one (TFHE)

Examples:
  noren keygen --out keys --program mean --rows 285 --columns 30
  noren keygen --out keys --bootstrap n16
  noren keygen --out keys --integers bfv.params
  noren keygen --out keys --lookup 32768
  noren keygen --out keys --tfhe 2_2

For more information, try 'noren keygen --help'.
";

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
