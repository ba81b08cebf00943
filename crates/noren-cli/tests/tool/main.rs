//! The tool as its users meet it: the program, run on files in directories of its own.

mod bench;
mod bootstrap;
mod refusals;
mod sandbox;
mod tables;
mod usage;
mod verbs;
