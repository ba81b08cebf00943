//! The rows of scheme switching.

use clap::Args;
use noren::programs::DecisionProgram;
use noren::wire::Kind;

use crate::bootstrap::eval::is_key;
use crate::evaluation::{Fit, Way};
use crate::scheme::{EVAL, KEYGEN, PLAN, Scheme};
use crate::switching::{additions, eval, keys, plan};

pub(crate) const SCHEME: Scheme = Scheme {
    options: &[
        (PLAN, plan::SwitchingOption::augment_args),
        (KEYGEN, keys::SwitchingOption::augment_args),
        (EVAL, eval::SwitchingOptions::augment_args),
    ],
    special_additions: &[("switching", additions::run)],
    programs: &DecisionProgram::NAMES,
    ways: &[Way {
        words: "threshold, argmin, argmax, rank and top with keys of noren keygen --bootstrap --switching",
        options: "--columns --number --count --switching-keys --server-keys --steps --last --failure-budget",
        fit: |name, keys| match (DecisionProgram::NAMES.contains(&name), is_key(keys)) {
            (true, true) => Fit::Runs,
            (true, false) => Fit::Needs(format!("{}, with switching keys beside them", Kind::BOOTSTRAP_KEYS)),
            (false, _) => Fit::No,
        },
        run: eval::run,
    }],
    ..Scheme::NONE
};
