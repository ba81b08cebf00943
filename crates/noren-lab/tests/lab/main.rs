//! The program as those who work on noren meet it.

mod arguments;
mod beside;
mod bootstraps;
mod papers;
mod program;
#[path = "../../../noren-cli/tests/tool/records.rs"]
mod records;
mod suites;
