//! `noren keygen`: plans, makes and writes the keys for programs.

use std::path::PathBuf;

use clap::Args;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use noren::Seed;
use noren_files::passphrase::Passphrase;

use crate::additions::{KeyAddition, lock};
use crate::console::Console;
use crate::failure::Failure;
use crate::files;
use crate::given::Given;
use crate::key_files::{self, NewKeys, SECRET};
use crate::key_options::KeyOptions;
use crate::outputs::Force;
use crate::scheme::{KEYGEN, KeyKind};
use crate::schemes::{self, Added};
use crate::seeds::{HexSeed, parse_seed};
use crate::takes;

/// Makes the keys for programs on tables of one shape, for bootstrapping, for lookups, for exact integers, or for TFHE
#[derive(Debug, Args)]
#[command(after_help = help())]
pub(crate) struct Arguments {
    #[command(flatten)]
    given: Given,
    /// The directory for the keys
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    options: KeyOptions,
    /// Add keys for the secret in the directory, which programs, --rotations or --swap-rows need, to those that are there
    #[arg(long)]
    add: bool,
    #[command(flatten)]
    _added: Added<KEYGEN>,
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

/// More keys of a secret that is there.
const ADDITION: KeyKind = KeyKind {
    usage: "--add",
    words: "keys of the secret that is there: for programs, --rotations, --swap-rows or --switching",
    examples: &["--add --rotations 8,16", "--add --program variance --rows 285 --columns 30", "--add --switching 2_2"],
    options: "add program model rows columns bounds unproven-interval rotations swap-rows switching",
    run: add,
};

/// All kinds. The last that is chosen is made.
fn kinds() -> impl DoubleEndedIterator<Item = &'static KeyKind> {
    schemes::rows(|scheme| scheme.keys).chain([&ADDITION])
}

/// The last line of errors of the arguments.
const MORE: &str = "For more information, try 'noren keygen --help'.\n";

/// The text below the options.
fn help() -> String {
    let examples = kinds().flat_map(|kind| kind.examples);
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
pub(crate) fn check(arguments: &Arguments) -> Result<(), clap::Error> {
    let kind = arguments.kind();
    for option in arguments.given.names().map(|name| name.replace('_', "-")) {
        let takers: Vec<&str> = kinds().filter(|kind| kind.takes(&option)).map(|kind| kind.usage).collect();
        if !takers.is_empty() && !kind.takes(&option) {
            let (kind, takers) = (kind.usage, takers.join("; "));
            let text = format!("--{option} cannot be used with {kind}: it is for {takers}\n\n{MORE}");
            return Err(clap::Error::raw(ErrorKind::ArgumentConflict, text));
        }
    }
    Ok(())
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let &Arguments { plan_only, ref out, ref options, ref given, ref force, .. } = arguments;
    let seed = arguments.seed.as_ref().map(|HexSeed(bytes)| Seed::from_bytes(*bytes));
    let passphrase = arguments.passphrase(console)?;
    let passphrase = passphrase.as_ref();
    (arguments.kind().run)(&NewKeys { out, options, given, seed, plan_only, force, passphrase }, console)
}

fn add(keys: &NewKeys<'_>, console: &Console) -> Result<(), Failure> {
    let mut special = schemes::rows(|scheme| scheme.special_additions);
    if let Some((_, add)) = special.find(|(option, _)| keys.given.has(option)) {
        return add(keys, console);
    }
    let (programs, shape, secret) = (keys.options.programs()?, keys.options.shape()?, keys.out.join(SECRET));
    let _lock = lock(&secret)?;
    if programs.is_empty() && keys.options.rotations.is_empty() && !keys.options.swap_rows {
        let needed = "--program, --rotations or --swap-rows: what the keys are for".to_owned();
        return Err(Failure::Unsuitable { what: "--add", found: "nothing to add".to_owned(), needed });
    }
    let kind = files::key_kind(&secret, &takes::ADD_SECRET, console)?;
    let add = schemes::row(|scheme| scheme.additions, kind);
    add(&KeyAddition { keys, secret: &secret, programs, shape }, console)
}

impl Arguments {
    /// The kind of keys that is asked for: where no other is, there are programs.
    fn kind(&self) -> &'static KeyKind {
        let chosen = kinds().rfind(|kind| self.given.has(kind.option()));
        chosen.or_else(|| kinds().next()).unwrap_or(&ADDITION)
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
    kinds().for_each(|kind| text += &format!("  {:<45}{}\n", kind.usage, kind.words));
    text += "\nExamples:\n";
    kinds().for_each(|kind| text += &format!("  noren keygen --out keys {}\n", kind.examples[0]));
    clap::Error::raw(ErrorKind::MissingRequiredArgument, format!("{text}\n{MORE}"))
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
        let of_some = kinds().flat_map(|kind| kind.options.split(' '));
        let known: BTreeSet<String> = of_some.chain(of_all).map(str::to_owned).collect();
        assert_eq!(options.collect::<BTreeSet<String>>(), known);
        assert!(kinds().all(|kind| kind.usage.starts_with(&format!("--{}", kind.option()))));
    }
}
