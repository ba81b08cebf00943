//! The rows of TFHE.

use std::path::Path;

use clap::Args;
use noren::tfhe::Parameters;
use noren::wire::Kind;

use crate::console::Console;
use crate::describe::{Description, Tfhe};
use crate::evaluation::{Fit, Way};
use crate::failure::Failure;
use crate::files;
use crate::scheme::{EVAL, KEYGEN, KeyKind, PLAN, Scheme};
use crate::takes;
use crate::tfhe::files::ServerKeyForm;
use crate::tfhe::program::{NAMES, Program};
use crate::tfhe::{decrypt, encrypt, eval, expand, keys, plan};

pub(crate) const SCHEME: Scheme = Scheme {
    options: &[
        (PLAN, plan::SetOption::augment_args),
        (KEYGEN, keys::SetOptions::augment_args),
        (EVAL, eval::TorusOptions::augment_args),
    ],
    keys: &[KeyKind {
        usage: "--tfhe SET",
        words: "keys for integers and truth values one by one (TFHE)",
        examples: &["--tfhe 2_2"],
        options: "tfhe circuit passphrase force",
        run: keys::run,
    }],
    plans: &[("tfhe", plan::run)],
    shows: &[(Kind::TFHE_PARAMETERS, show)],
    encryptions: &[(Kind::TFHE_SECRET_KEY, encrypt::run)],
    decryptions: &[(Kind::TFHE_SECRET_KEY, decrypt::run)],
    expansions: &[(Kind::TFHE_KEYS, expand::run), (Kind::TFHE_LIGHT_KEYS, expand::run)],
    programs: &NAMES,
    ways: &[Way {
        words: "bootstrapping keys with TFHE parameters",
        options: "--columns --number --function --undefined --no-header --type --circuit --failure-budget",
        fit: |name, keys| match Program::named(name) {
            // Other programs are refused with the names of its own.
            _ if ServerKeyForm::is(keys) => Fit::Runs,
            Some(_) if !Program::is_shared(name) => Fit::Needs(Kind::TFHE_KEYS.to_string()),
            _ => Fit::No,
        },
        run: eval::run,
    }],
    ..Scheme::NONE
};

fn show(file: &Path, console: &Console) -> Result<(), Failure> {
    let parameters = files::read::<Parameters>(&(), file, &takes::PARAMS_FILE, console)?;
    console.report(&Description::Tfhe(Tfhe::new(&parameters)))
}
