//! The tool as its users meet it: the program, run on files in directories of its own.

mod additions;
mod advise;
mod bench;
mod bootstrap;
mod compare;
mod cyclotomic;
mod integers;
mod lookup;
mod lookup_refusals;
mod owners;
mod passphrases;
mod races;
mod refusals;
mod sandbox;
mod security;
mod signing;
mod special_files;
mod switching;
mod tables;
mod tfhe;
mod usage;
mod verbs;
mod weak_device;
