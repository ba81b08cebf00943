//! The rows of bootstrapping.

use std::path::Path;

use clap::Args;
use noren::bootstrapping::BootstrapKeyFile;
use noren::programs::Program;
use noren::wire::{Facts, Kind, Limits};
use noren_rlwe::wire::header::Header;

use crate::bootstrap::{eval, expand, keys, plan};
use crate::evaluation::{Fit, Way};
use crate::scheme::{KEYGEN, KeyKind, PLAN, Scheme};

pub(crate) const SCHEME: Scheme = Scheme {
    options: &[(PLAN, plan::BootstrapOptions::augment_args), (KEYGEN, keys::BootstrapOptions::augment_args)],
    keys: &[KeyKind {
        usage: "--bootstrap PRESET",
        words: "keys for computations of any depth on tables of numbers (CKKS)",
        examples: &[
            "--bootstrap n16",
            "--bootstrap n16 --rotations 1,2,4",
            "--bootstrap n16 --switching 2_2 --rows 100",
        ],
        options: "bootstrap slots mode rotations switching rows columns passphrase force",
        run: keys::run,
    }],
    plans: &[("bootstrap", plan::run)],
    expansions: &[(Kind::BOOTSTRAP_KEYS, expand::run), (Kind::EXPANDED_BOOTSTRAP_KEYS, expand::run)],
    programs: &[eval::NAME],
    ways: &[
        Way {
            words: "programs with bootstrapping keys",
            options: "--model --last --failure-budget",
            fit: |name, keys| {
                if eval::is_key(keys) && Program::NAMES.contains(&name) { Fit::Runs } else { Fit::No }
            },
            run: eval::run,
        },
        Way {
            words: eval::NAME,
            options: "--last --failure-budget",
            fit: |name, keys| Fit::own(name == eval::NAME, eval::is_key(keys)),
            run: eval::run,
        },
    ],
    in_parts: &[(Kind::BOOTSTRAP_KEYS, facts), (Kind::EXPANDED_BOOTSTRAP_KEYS, facts)],
    ..Scheme::NONE
};

/// The facts of a file that may be larger than the memory.
fn facts(path: &Path) -> noren::Result<(Header, Facts)> {
    let contents = BootstrapKeyFile::contents(path, &Limits::default())?;
    let facts = Facts::of_bootstrap_keys(&contents)?;
    Ok((contents.header, facts))
}
