//! From data to the report: a section for each part of the comparison.

mod chains;
mod clients;
mod conclusions;
mod overview;
mod reductions;
mod samples;

pub(super) use overview::report;
