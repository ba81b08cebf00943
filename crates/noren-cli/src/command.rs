//! Arguments, threads and exit codes.

use std::error::Error;
use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::process;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, value_parser};
use noren::{OutOfMemory, Security};

use crate::console::{self, Console};
use crate::failure::Failure;
use crate::inputs::{GLOBAL, InputOptions, Inputs};
use crate::parameters::parse_security;
use crate::progress;
use crate::{
    advise, calibrate, compare, decrypt, demo, encrypt, eval, expand, function, info, inspect, keygen, machine, manual,
    measure, params, party, passphrase, plan, prepare, reencrypt, rekey, retrieval, signing,
};

/// Computes on encrypted tables: keys and encryption on one side, programs on the other.
#[derive(Debug, Parser)]
#[command(
    name = "noren",
    version,
    arg_required_else_help = true,
    after_help = "Example, from a table to its column means:\n  \
        noren keygen --out keys --program mean --rows 285 --columns 30\n  \
        noren encrypt --key keys/public.key patients.csv -o patients.ct\n  \
        noren eval mean --keys keys/eval.keys patients.ct -o mean.ct\n  \
        noren decrypt --key keys/secret.key mean.ct -o mean.csv\n\n\
        Exit codes: 0 done, 1 refused (nothing was written), 2 wrong usage."
)]
struct Cli {
    /// The number of threads; `compare` takes a list, such as 1,2 [default: all; compare: 1, and all if it is not quick]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "N", value_delimiter = ',', value_parser = value_parser!(u16).range(THREADS))]
    threads: Vec<u16>,
    /// Print JSON instead of text, errors too
    #[arg(long, global = true, help_heading = GLOBAL)]
    json: bool,
    /// Show no progress
    #[arg(long, global = true, help_heading = GLOBAL)]
    quiet: bool,
    /// The least security of the keys and parameters in files that are used, in bits: none, 128, 192 or 256
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "BITS", default_value = "128", value_parser = parse_security)]
    min_security: Security,
    #[command(flatten)]
    inputs: InputOptions,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Info(info::Arguments),
    Calibrate(calibrate::Arguments),
    Advise(advise::Arguments),
    Params(params::Arguments),
    Plan(plan::Arguments),
    Keygen(keygen::Arguments),
    Expand(expand::Arguments),
    Prepare(prepare::Arguments),
    Encrypt(encrypt::Arguments),
    Eval(eval::Arguments),
    Decrypt(decrypt::Arguments),
    Rekey(rekey::Arguments),
    Reencrypt(reencrypt::Arguments),
    Function(function::Arguments),
    Retrieval(retrieval::Retrieval),
    Intersection(retrieval::Intersection),
    Party(party::Party),
    Inspect(inspect::Arguments),
    Passphrase(passphrase::Arguments),
    SigningKey(signing::NewKey),
    Sign(signing::Sign),
    Verify(signing::Verify),
    Compare(compare::Arguments),
    #[command(hide = true)]
    Measure(measure::Arguments),
    Demo(demo::Arguments),
    Man(manual::Pages),
    Completions(manual::Completions),
}

/// The numbers of threads that can be asked for: tens of thousands take minutes to start.
pub const THREADS: RangeInclusive<i64> = 1..=1024;

/// The exit code of a thing done.
const DONE: u8 = 0;
/// The exit code of a refusal: one message, nothing written.
const REFUSED: u8 = 1;
/// The exit code of arguments that cannot be understood.
const USAGE: u8 = 2;

/// Runs the tool with these arguments, the first of which is the name of the program, and gives its exit code: 0 if
/// the thing was done, 1 if it was refused (one message on standard error, nothing written), 2 if the arguments cannot
/// be understood.
///
/// # Examples
/// ```
/// assert_eq!(noren_cli::run(["noren", "info"].map(Into::into)), 0);
/// assert_eq!(noren_cli::run(["noren", "inspect", "/no/such/file"].map(Into::into)), 1);
/// ```
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    run_in(Vec::new(), arguments)
}

/// As [`run`], in a process of another program: `itself` are the program and the first arguments that start the tool, for
/// verbs that run parts of their work in processes of their own, such as `compare`.
///
/// # Examples
/// ```
/// let python = ["python3", "-m", "noren"].map(Into::into).to_vec();
/// assert_eq!(noren_cli::run_in(python, ["noren", "info"].map(Into::into)), 0);
/// ```
pub fn run_in(itself: Vec<OsString>, arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let parse = |arguments| parse(arguments).and_then(check_threads).and_then(check_signer).map_err(keygen::usage);
    program(arguments, parse, |cli| execute(cli, itself))
}

/// Reads the arguments of a program and does what they say; prints why it is refused, and gives the exit code as [`run`] does.
pub fn program<P>(
    arguments: impl IntoIterator<Item = OsString>,
    parse: impl FnOnce(Vec<OsString>) -> Result<P, clap::Error>,
    execute: impl FnOnce(P) -> Result<(), Failure>,
) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // Errors of arguments are JSON too, where they say nothing else.
    let json = arguments.iter().any(|argument| argument == "--json");
    noren::memory::ends_with(if json { out_of_memory::<true> } else { out_of_memory::<false> }, || {
        run_within(arguments, parse, execute, json)
    })
}

/// The refusal where memory cannot be had that nobody has asked for first: nothing more can be undone.
fn out_of_memory<const JSON: bool>(missing: OutOfMemory) -> ! {
    console::refuse_without_memory(missing, REFUSED, JSON);
    process::exit(REFUSED.into())
}

fn run_within<P>(
    arguments: Vec<OsString>,
    parse: impl FnOnce(Vec<OsString>) -> Result<P, clap::Error>,
    execute: impl FnOnce(P) -> Result<(), Failure>,
    json: bool,
) -> u8 {
    match parse(arguments) {
        Ok(parsed) => match execute(parsed) {
            Ok(()) => DONE,
            Err(failure) => {
                console::refuse(&failure, REFUSED, json);
                REFUSED
            }
        },
        Err(error) if !error.use_stderr() => {
            // Help that nobody reads is no failure.
            let _ = error.print();
            DONE
        }
        Err(error) => {
            if json {
                let message = error.to_string();
                console::refuse(&message.trim().trim_start_matches("error: "), USAGE, json);
            } else {
                let _ = error.print();
            }
            USAGE
        }
    }
}

fn parse(arguments: Vec<OsString>) -> Result<Cli, clap::Error> {
    let cli = Cli::try_parse_from(arguments)?;
    if let Verb::Keygen(arguments) = &cli.verb {
        keygen::check(arguments)?;
    }
    Ok(cli)
}

fn check_threads(cli: Cli) -> Result<Cli, clap::Error> {
    if cli.threads.len() > 1 && !matches!(cli.verb, Verb::Compare(_) | Verb::Measure(_)) {
        let message = "--threads takes one number here: a list is for compare";
        return Err(Cli::command().error(ErrorKind::ValueValidation, message));
    }
    Ok(cli)
}

fn check_signer(cli: Cli) -> Result<Cli, clap::Error> {
    let message = match (&cli.verb, cli.inputs.signer.is_some()) {
        (Verb::Verify(_), false) => "verify takes --signer FILE: the public key of whoever signed",
        (Verb::Info(_) | Verb::Calibrate(_) | Verb::Advise(_) | Verb::Measure(_), true)
        | (Verb::Compare(_) | Verb::Demo(_) | Verb::Man(_) | Verb::Completions(_), true)
        | (Verb::Passphrase(_) | Verb::SigningKey(_) | Verb::Sign(_), true) => {
            "--signer is for verbs that read files of others: this one reads none"
        }
        _ => return Ok(cli),
    };
    Err(Cli::command().error(ErrorKind::MissingRequiredArgument, message))
}

fn execute(cli: Cli, itself: Vec<OsString>) -> Result<(), Failure> {
    // A wrong NOREN_ISA is found here, where it is a message and not a panic.
    noren_math::kernels::select().map_err(noren::Error::from)?;
    progress::set_quiet(cli.quiet);
    let console = Console::new(cli.json, cli.min_security, Inputs::new(cli.inputs)?, itself);
    let threads: Vec<usize> = cli.threads.iter().copied().map(usize::from).collect();
    match cli.verb {
        // Each measurement has threads of its own.
        Verb::Measure(arguments) => measure::run(&arguments, &threads, &console),
        Verb::Compare(arguments) => compare::run(&arguments, &threads, &console),
        verb => match threads.first() {
            None => {
                // Where threads cannot be started it is no panic at their first use. Another program may have its own already.
                match rayon::ThreadPoolBuilder::new().build_global() {
                    Err(error) if error.source().is_some() => Err(Failure::threads(machine::threads(), &error)),
                    _ => verb.run_refusing(&console),
                }
            }
            Some(&count) => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
                let pool = pool.map_err(|error| Failure::threads(count, &error))?;
                pool.install(|| verb.run_refusing(&console))
            }
        },
    }
}

impl Verb {
    /// Memory that cannot be had is a refusal, wherever it is needed.
    fn run_refusing(self, console: &Console) -> Result<(), Failure> {
        let missing = |missing| Err(noren::Error::from(missing).into());
        noren::memory::refusing(|| progress::reported(|| self.run(console))?).unwrap_or_else(missing)
    }

    fn run(self, console: &Console) -> Result<(), Failure> {
        match self {
            Self::Info(arguments) => info::run(&arguments, console),
            Self::Calibrate(arguments) => calibrate::run(&arguments, console),
            Self::Advise(arguments) => advise::run(&arguments, console),
            Self::Params(arguments) => params::run(&arguments, console),
            Self::Plan(arguments) => plan::run(&arguments, console),
            Self::Keygen(arguments) => keygen::run(&arguments, console),
            Self::Expand(arguments) => expand::run(&arguments, console),
            Self::Prepare(arguments) => prepare::run(&arguments, console),
            Self::Encrypt(arguments) => encrypt::run(&arguments, console),
            Self::Eval(arguments) => eval::run(&arguments, console),
            Self::Decrypt(arguments) => decrypt::run(&arguments, console),
            Self::Rekey(arguments) => rekey::run(&arguments, console),
            Self::Reencrypt(arguments) => reencrypt::run(&arguments, console),
            Self::Function(arguments) => function::run(&arguments, console),
            Self::Retrieval(arguments) => arguments.run(console),
            Self::Intersection(arguments) => arguments.run(console),
            Self::Party(arguments) => arguments.run(console),
            Self::Inspect(arguments) => inspect::run(&arguments, console),
            Self::Passphrase(arguments) => passphrase::run(&arguments, console),
            Self::SigningKey(arguments) => arguments.run(console),
            Self::Sign(arguments) => arguments.run(console),
            Self::Verify(arguments) => arguments.run(console),
            Self::Compare(arguments) => compare::run(&arguments, &[], console),
            Self::Measure(arguments) => measure::run(&arguments, &[], console),
            Self::Demo(arguments) => demo::run(&arguments, console),
            Self::Man(arguments) => arguments.run(Cli::command(), console),
            Self::Completions(arguments) => arguments.run(&Cli::command(), console),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_verb_lists_its_own_options_first() {
        fn check(command: &mut clap::Command, names: &[String]) {
            let help = command.render_long_help().to_string();
            let (own, global) = help.split_once(&format!("\n{GLOBAL}:")).unwrap_or_else(|| panic!("{help}"));
            let has = |text: &str, name: &str| {
                let mut lines = text.lines();
                lines.any(|line| {
                    line.trim_start().strip_prefix("--").and_then(|line| line.split(' ').next()) == Some(name)
                })
            };
            let globals = ["threads", "json", "quiet", "min-security", "passphrase-file", "signer", "owner"];
            assert!(globals.iter().all(|name| has(global, name) && !has(own, name)), "{names:?}: {help}");
            for argument in command.get_arguments().filter(|argument| !argument.is_global_set()) {
                let Some(name) = argument.get_long() else { continue };
                assert!(own.contains(&format!("--{name}")) && !has(global, name), "{names:?}: --{name}");
            }
            for verb in command.get_subcommands_mut().filter(|verb| verb.get_name() != "help") {
                let name = verb.get_name().to_owned();
                check(verb, &[names, &[name]].concat());
            }
        }
        let mut command = Cli::command();
        command.build();
        check(&mut command, &[]);
    }

    #[test]
    fn every_verb_shows_an_example() {
        for verb in Cli::command().get_subcommands() {
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            let call = format!("noren {} ", verb.get_name());
            assert!((help + " ").replace('\n', " ").contains(&call), "{} shows no example", verb.get_name());
        }
    }
}
