//! The rows of a scheme, or of a room of one: functions and options that the verbs find by files and options.

use std::path::Path;

use clap::Command;
use noren::wire::{Facts, Kind};
use noren_rlwe::wire::header::Header;

use crate::additions::KeyAddition;
use crate::console::Console;
use crate::evaluation::Way;
use crate::failure::Failure;
use crate::given::Given;
use crate::jobs::{Decryption, Encryption, Expansion, Preparation};
use crate::key_files::NewKeys;
use crate::parameters::{Check, Choice};
use crate::reencryption::Reencryption;
use crate::rekeying::Rekeying;

/// The rows of a scheme, or of a room of one. Where rows have a kind of file, it is that of the key, or of the input.
#[allow(clippy::type_complexity, reason = "each field is a list of functions with what they are for")]
pub(crate) struct Scheme {
    /// The options of verbs that are its own.
    pub(crate) options: &'static [(Verb, fn(Command) -> Command)],
    /// The keys that `keygen` makes.
    pub(crate) keys: &'static [KeyKind],
    /// The additions of `keygen --add`, by the secret key.
    pub(crate) additions: Rows<fn(&KeyAddition<'_>, &Console) -> Result<(), Failure>>,
    /// Its additions that an option asks for.
    pub(crate) special_additions: Asked<fn(&NewKeys<'_>, &Console) -> Result<(), Failure>>,
    /// The plans of `plan`, for keys in a directory.
    pub(crate) plans: Asked<fn(&Given, &Path, &Console) -> Result<(), Failure>>,
    /// The parameters that `params choose` finds.
    pub(crate) choices: Asked<fn(&Choice<'_>, &Console) -> Result<(), Failure>>,
    /// The parameters that `params check` checks.
    pub(crate) checks: &'static [ParameterCheck],
    /// The parameters that `params show` shows.
    pub(crate) shows: Rows<fn(&Path, &Console) -> Result<(), Failure>>,
    /// The preparations of `prepare`.
    pub(crate) preparations: Asked<fn(&Preparation<'_>, &Console) -> Result<(), Failure>>,
    pub(crate) encryptions: Rows<fn(Encryption<'_>, &Console) -> Result<(), Failure>>,
    pub(crate) decryptions: Rows<fn(Decryption<'_>, &Console) -> Result<(), Failure>>,
    pub(crate) expansions: Rows<fn(Expansion<'_>, &Console) -> Result<(), Failure>>,
    /// The names of programs of `eval`.
    pub(crate) programs: &'static [&'static str],
    /// How it runs programs.
    pub(crate) ways: &'static [Way],
    pub(crate) rekeyings: Rows<fn(Rekeying<'_>, &Console) -> Result<(), Failure>>,
    pub(crate) reencryptions: Rows<fn(Reencryption<'_>, &Console) -> Result<(), Failure>>,
    /// The kinds of files that `inspect` maps, because they may be as large as the memory.
    pub(crate) mapped: &'static [Kind],
    /// Those that it reads in parts.
    pub(crate) in_parts: Rows<ReadInParts>,
}

/// Reads what a file tells, part by part.
pub(crate) type ReadInParts = fn(&Path) -> noren::Result<(Header, Facts)>;

/// A function for each kind of file.
pub(crate) type Rows<T> = &'static [(Kind, T)];

/// A function for each option that asks for it.
pub(crate) type Asked<T> = &'static [(&'static str, T)];

impl Scheme {
    /// No rows: those that a scheme does not name.
    pub(crate) const NONE: Self = Self {
        options: &[],
        keys: &[],
        additions: &[],
        special_additions: &[],
        plans: &[],
        choices: &[],
        checks: &[],
        shows: &[],
        preparations: &[],
        encryptions: &[],
        decryptions: &[],
        expansions: &[],
        programs: &[],
        ways: &[],
        rekeyings: &[],
        reencryptions: &[],
        mapped: &[],
        in_parts: &[],
    };
}

/// A verb that schemes add options to.
pub(crate) type Verb = u8;
pub(crate) const CHOOSE: Verb = 0;
pub(crate) const CHECK: Verb = 1;
pub(crate) const PLAN: Verb = 2;
pub(crate) const KEYGEN: Verb = 3;
pub(crate) const PREPARE: Verb = 4;
pub(crate) const EVAL: Verb = 5;
pub(crate) const DECRYPT: Verb = 6;

/// A kind of keys.
pub(crate) struct KeyKind {
    /// The options that ask for it, with their values.
    pub(crate) usage: &'static str,
    /// The description of the keys.
    pub(crate) words: &'static str,
    /// The options of calls that make it, the shortest first.
    pub(crate) examples: &'static [&'static str],
    /// The options that it takes, of those that not all kinds do, with a space between: first the one that asks for it.
    pub(crate) options: &'static str,
    pub(crate) run: fn(&NewKeys<'_>, &Console) -> Result<(), Failure>,
}

impl KeyKind {
    /// The option that asks for it.
    pub(crate) fn option(&self) -> &'static str {
        self.options.split(' ').next().unwrap_or_default()
    }

    /// Whether it takes an option that not all kinds do.
    pub(crate) fn takes(&self, option: &str) -> bool {
        self.options.split(' ').any(|own| own == option)
    }
}

/// Parameters that are checked.
pub(crate) struct ParameterCheck {
    /// The kind of their files.
    pub(crate) kind: Kind,
    /// The option that says that sizes of primes are of these parameters; none of those that are usual.
    pub(crate) option: Option<&'static str>,
    pub(crate) run: fn(&Check<'_>, &Console) -> Result<(), Failure>,
}
