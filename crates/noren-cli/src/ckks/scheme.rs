//! The rows of CKKS.

use clap::Args;
use noren::ckks::{Context, Parameters};
use noren::programs::Program;
use noren::wire::Kind;

use crate::ckks::decrypt::{self, ReleaseOptions};
use crate::ckks::{encrypt, eval, keys, parameters, reencrypt};
use crate::evaluation::{Fit, Way};
use crate::parameters::show;
use crate::rekeying::Makes;
use crate::scheme::{CHECK, CHOOSE, DECRYPT, KeyKind, ParameterCheck, Scheme};

pub(crate) const SCHEME: Scheme = Scheme {
    options: &[
        (CHOOSE, parameters::ChoiceOptions::augment_args),
        (CHECK, parameters::CheckOptions::augment_args),
        (DECRYPT, ReleaseOptions::augment_args),
    ],
    keys: &[KeyKind {
        usage: "--program PROGRAM,... --rows N --columns N",
        words: "keys for programs on tables of numbers, such as mean (CKKS)",
        examples: &[
            "--program mean,covariance --rows 285 --columns 30",
            "--program logistic --model risk.json --rows 285 --columns age,bmi,bp --plan-only",
        ],
        options: "program model rows columns bounds unproven-interval precision params passphrase force",
        run: keys::run,
    }],
    additions: &[(Kind::CKKS_SECRET_KEY, keys::add)],
    choices: &[("precision", parameters::choose)],
    checks: &[ParameterCheck { kind: Kind::CKKS_PARAMETERS, option: None, run: parameters::check }],
    shows: &[(Kind::CKKS_PARAMETERS, show::<Parameters>)],
    encryptions: &[(Kind::CKKS_SECRET_KEY, encrypt::run), (Kind::CKKS_PUBLIC_KEY, encrypt::run)],
    decryptions: &[(Kind::CKKS_SECRET_KEY, decrypt::run)],
    expansions: &[(Kind::CKKS_EVALUATION_KEYS, |job, console| job.of_evaluation_keys::<Context>(console))],
    programs: &Program::NAMES,
    ways: &[Way {
        words: "programs on tables of numbers",
        options: "--model --last",
        fit: |name, keys| {
            let own = matches!(keys, Kind::CKKS_EVALUATION_KEYS | Kind::EXPANDED_CKKS_EVALUATION_KEYS);
            Fit::own(Program::NAMES.contains(&name), own)
        },
        run: eval::run,
    }],
    rekeyings: &[(Kind::CKKS_SECRET_KEY, |job, console| REKEYING.run(job, console))],
    reencryptions: &[(Kind::CKKS_REENCRYPTION_KEY, reencrypt::run)],
    mapped: &[Kind::EXPANDED_CKKS_EVALUATION_KEYS],
    ..Scheme::NONE
};

/// The keys that re-encrypt.
const REKEYING: Makes<Context> = Makes {
    between: Context::reencryption_key,
    handover: Context::reencryption_key_for,
    receive: Context::receiver_key,
};
