//! All schemes, and how verbs find rows of them: the one file outside their folders that names any.

use clap::{ArgMatches, Args, Command, FromArgMatches};
use noren::wire::Kind;

use crate::given::Given;
use crate::scheme::{self, Asked, KeyKind, Rows, Scheme, Verb};

/// All of them, the most usual first: what stands first is what is missing where nothing was asked for.
const ALL: &[&Scheme] = &[
    &crate::ckks::SCHEME,
    &crate::bootstrap::SCHEME,
    &crate::switching::SCHEME,
    &crate::integers::SCHEME,
    &crate::lookup::SCHEME,
    &crate::tfhe::SCHEME,
];

/// The rows of all schemes.
pub(crate) fn rows<T>(of: fn(&'static Scheme) -> &'static [T]) -> impl DoubleEndedIterator<Item = &'static T> {
    ALL.iter().copied().flat_map(of)
}

/// The row for files of a kind, if there is one.
pub(crate) fn find<T: Copy>(of: fn(&'static Scheme) -> Rows<T>, kind: Kind) -> Option<T> {
    rows(of).find(|(own, _)| *own == kind).map(|&(_, row)| row)
}

/// The row for files of a kind that an argument of the verb takes.
///
/// # Panics
/// If no scheme has one: what an argument takes is a row of some scheme.
pub(crate) fn row<T: Copy>(of: fn(&'static Scheme) -> Rows<T>, kind: Kind) -> T {
    find(of, kind).unwrap_or_else(|| panic!("an argument takes {kind}, which no scheme has a row for"))
}

/// The row of the option that was given, of those of which one is needed.
///
/// # Panics
/// If none was: options are checked where they are read.
pub(crate) fn asked<T: Copy>(of: fn(&'static Scheme) -> Asked<T>, given: &Given) -> T {
    let found = rows(of).find(|(option, _)| given.has(option));
    found.map_or_else(|| panic!("options are checked where they are read"), |&(_, row)| row)
}

/// The options that schemes add to a verb.
#[derive(Debug)]
pub(crate) struct Added<const VERB: Verb>;

/// Of these options of schemes a verb needs one, the most usual first.
fn needed(verb: Verb) -> Vec<&'static str> {
    fn options<T: 'static>(of: fn(&'static Scheme) -> Asked<T>) -> impl DoubleEndedIterator<Item = &'static str> {
        rows(of).map(|(option, _)| *option)
    }
    match verb {
        scheme::CHOOSE => options(|scheme| scheme.choices).collect(),
        scheme::PLAN => options(|scheme| scheme.plans).collect(),
        scheme::KEYGEN => rows(|scheme| scheme.keys).map(KeyKind::option).chain(["add"]).collect(),
        // Functions are prepared more often than matrices.
        scheme::PREPARE => options(|scheme| scheme.preparations).rev().collect(),
        _ => Vec::new(),
    }
}

impl<const VERB: Verb> Args for Added<VERB> {
    fn augment_args(command: Command) -> Command {
        let own = rows(|scheme| scheme.options).filter(|(verb, _)| *verb == VERB);
        let command = own.fold(command, |command, (_, add)| add(command));
        match needed(VERB).split_first() {
            Some((first, others)) => command.mut_arg(first, |option| option.required_unless_present_any(others)),
            None => command,
        }
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const VERB: Verb> FromArgMatches for Added<VERB> {
    fn from_arg_matches(_: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self)
    }

    fn update_from_arg_matches(&mut self, _: &ArgMatches) -> Result<(), clap::Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::takes::{self, Takes};

    fn assert_rows<T: Copy>(of: fn(&'static Scheme) -> Rows<T>, takes: &Takes) {
        for kind in takes.kinds {
            assert!(find(of, *kind).is_some(), "{kind}, for {}, has no row", takes.argument);
        }
    }

    #[test]
    fn every_kind_of_file_that_arguments_take_has_a_row() {
        assert_rows(|scheme| scheme.encryptions, &takes::ENCRYPT_KEY);
        assert_rows(|scheme| scheme.decryptions, &takes::DECRYPT_KEY);
        assert_rows(|scheme| scheme.expansions, &takes::EXPAND_INPUT);
        assert_rows(|scheme| scheme.shows, &takes::PARAMS_FILE);
        assert_rows(|scheme| scheme.additions, &takes::ADD_SECRET);
        assert_rows(|scheme| scheme.rekeyings, &takes::REKEY_FROM);
        assert_rows(|scheme| scheme.reencryptions, &takes::REENCRYPT_KEY);
    }
}
