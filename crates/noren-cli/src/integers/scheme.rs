//! The rows of exact integers, in BGV and BFV.

use clap::Args;
use noren::bfv::{Context, Parameters};
use noren::wire::Kind;

use crate::evaluation::{ADD, Fit, Way};
use crate::integers::{add, decrypt, encrypt, eval, keys, parameters, prepare, reencrypt};
use crate::parameters::show;
use crate::rekeying::Makes;
use crate::scheme::{CHECK, CHOOSE, EVAL, KEYGEN, KeyKind, PREPARE, ParameterCheck, Scheme};

pub(crate) const SCHEME: Scheme = Scheme {
    options: &[
        (CHOOSE, parameters::ChoiceOptions::augment_args),
        (CHECK, parameters::CheckOptions::augment_args),
        (KEYGEN, keys::IntegerOptions::augment_args),
        (PREPARE, prepare::MatrixOption::augment_args),
        (EVAL, eval::MatrixOption::augment_args),
    ],
    keys: &[KeyKind {
        usage: "--integers FILE",
        words: "keys for exact integers modulo t, with parameters in a file (BFV, BGV)",
        examples: &[
            "--integers bfv.params",
            "--integers bfv.params --rotations 1,2 --swap-rows",
            "--integers slots.params --matrices",
        ],
        options: "integers rotations swap-rows matrices passphrase force",
        run: keys::run,
    }],
    additions: &[(Kind::INTEGER_SECRET_KEY, keys::add)],
    choices: &[("modulus", parameters::choose)],
    checks: &[ParameterCheck { kind: Kind::INTEGER_PARAMETERS, option: Some("modulus"), run: parameters::check }],
    shows: &[(Kind::INTEGER_PARAMETERS, show::<Parameters>)],
    preparations: &[("matrix", prepare::run)],
    encryptions: &[(Kind::INTEGER_SECRET_KEY, encrypt::run), (Kind::INTEGER_PUBLIC_KEY, encrypt::run)],
    decryptions: &[(Kind::INTEGER_SECRET_KEY, decrypt::run)],
    expansions: &[(Kind::INTEGER_EVALUATION_KEYS, |job, console| job.of_evaluation_keys::<Context>(console))],
    programs: &[eval::NAME, ADD],
    ways: &[
        Way {
            words: eval::NAME,
            options: "--matrix",
            fit: |name, keys| Fit::own(name == eval::NAME, is_key(keys)),
            run: eval::run,
        },
        Way {
            words: "add with keys of exact integers",
            options: "INPUT2",
            fit: |name, keys| match (name == ADD, is_key(keys)) {
                (true, true) => Fit::Runs,
                (true, false) => Fit::Needs(Kind::INTEGER_EVALUATION_KEYS.to_string()),
                (false, _) => Fit::No,
            },
            run: add::run,
        },
    ],
    rekeyings: &[(Kind::INTEGER_SECRET_KEY, |job, console| REKEYING.run(job, console))],
    reencryptions: &[(Kind::INTEGER_REENCRYPTION_KEY, reencrypt::run)],
    mapped: &[Kind::EXPANDED_INTEGER_EVALUATION_KEYS, Kind::PREPARED_SLOT_MATRIX],
    ..Scheme::NONE
};

/// Whether these are evaluation keys.
fn is_key(keys: Kind) -> bool {
    matches!(keys, Kind::INTEGER_EVALUATION_KEYS | Kind::EXPANDED_INTEGER_EVALUATION_KEYS)
}

/// The keys that re-encrypt.
const REKEYING: Makes<Context> = Makes {
    between: Context::reencryption_key,
    handover: Context::reencryption_key_for,
    receive: Context::receiver_key,
};
