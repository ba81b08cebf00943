//! The rows of lookups of exact integers.

use clap::Args;
use noren::wire::Kind;

use crate::evaluation::{Fit, LOOKUP, Way};
use crate::lookup::{eval, keys, plan, prepare};
use crate::scheme::{KEYGEN, KeyKind, PLAN, PREPARE, Scheme};

pub(crate) const SCHEME: Scheme = Scheme {
    options: &[
        (PLAN, plan::LookupOptions::augment_args),
        (KEYGEN, keys::LookupOption::augment_args),
        (PREPARE, prepare::FunctionOptions::augment_args),
    ],
    keys: &[KeyKind {
        usage: "--lookup X[,Y]",
        words: "keys for functions of two exact integers (BFV)",
        examples: &["--lookup 32768"],
        options: "lookup params passphrase force",
        run: keys::run,
    }],
    plans: &[("lookup", plan::run)],
    preparations: &[("table", prepare::run), ("function", prepare::run)],
    expansions: &[(Kind::LOOKUP_KEYS, eval::expand)],
    programs: &[LOOKUP],
    ways: &[Way {
        words: LOOKUP,
        options: "INPUT2 --function --columns",
        fit: |name, keys| Fit::own(name == LOOKUP, eval::is_key(keys)),
        run: eval::run,
    }],
    mapped: &[Kind::EXPANDED_LOOKUP_KEYS, Kind::PREPARED_LOOKUP],
    ..Scheme::NONE
};
