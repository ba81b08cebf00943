//! The command-line tool of noren, as a library: the program `noren` and the Python package call the same [`run`].
//!
//! | room | what it holds |
//! |---|---|
//! | `command` | arguments, threads, exit codes |
//! | `info`, `params`, `plan`, `keygen`, `expand`, `encrypt`, `eval`, `decrypt` | one verb each |
//! | `rekey`, `reencrypt`, `inspect`, `passphrase`, `demo` | one verb each |
//! | `manual` | manual pages, and completions for shells |
//! | `signing` | signing keys, and the verbs that sign and verify files |
//! | `key_options`, `additions` | options of keys that several schemes share; what `keygen --add` does |
//! | `bootstrap` | the plan of bootstrapping, what `keygen --bootstrap` does, and the expansion of its keys |
//! | `ckks` | tables of numbers: their keys, encryption, programs, decryption |
//! | `integers` | tables of exact integers: their keys, encryption, decryption, and matrices that multiply them |
//! | `function`, `question` | compiled functions, and questions on tables |
//! | `retrieval` | rows of a table of another, by encrypted numbers and keywords |
//! | `party` | several owners of one secret, who exchange messages as files |
//! | `lookup` | functions of encrypted integers: their plan, keys, preparation, and what `eval lookup` does |
//! | `switching` | scheme switching: its plan and keys, and programs that compare entries of tables of numbers |
//! | `tfhe` | columns of integers and truth values, encrypted one by one: their plan, keys, encryption, programs, lookups, decryption |
//! | `compare` | schemes and libraries compared: the steps, the figures of the publication, the report |
//! | `measure` | measuring: timings, records, the suites of a comparison |
//! | `programs` | programs with their models from files |
//! | `describe` | parameters in words: security, precision, sizes |
//! | `tables` | tables from CSV, TSV, NPY, Parquet and Arrow files and back |
//! | `columns` | columns that are chosen by name or position |
//! | `bounds` | the largest values that columns can have, from files |
//! | `files` | noren's own files |
//! | `outputs` | which outputs may be written |
//! | `schemes`, `scheme`, `given` | all schemes; what each does for the verbs; the options that it finds |
//! | `jobs`, `evaluation`, `parameters`, `rekeying`, `reencryption` | the jobs that verbs ask of schemes: of `encrypt`, `decrypt` and `expand`, `eval`, `params`, `rekey`, `reencrypt` |
//! | `seeds` | seeds of the system |
//! | `inputs` | what all verbs ask of the files that they read |
//! | `takes` | the files of noren that arguments of verbs take |
//! | `passphrases` | where passphrases come from |
//! | `output_set` | several files that appear together, or not at all |
//! | `key_files` | the key files of an owner, which appear together |
//! | `half_keys` | the keys of the half that has a secret, and those that it makes for the other half |
//! | `written` | the report of files that were written |
//! | `confirmation` | questions that are answered with yes or no |
//! | `failure`, `console`, `progress`, `stages`, `machine` | refusals, printing, progress, times, what this machine is |

#![forbid(unsafe_code)]

mod additions;
mod advise;
mod bootstrap;
mod bounds;
mod calibrate;
mod ckks;
mod columns;
mod command;
mod compare;
mod confirmation;
mod console;
mod decrypt;
mod demo;
mod describe;
mod encrypt;
mod eval;
mod evaluation;
mod expand;
mod failure;
mod files;
mod function;
mod given;
mod half_keys;
mod info;
mod inputs;
mod inspect;
mod integers;
mod jobs;
mod key_files;
mod key_options;
mod keygen;
mod lookup;
mod machine;
mod manual;
#[doc(hidden)]
pub mod measure;
mod output_set;
mod outputs;
mod parameters;
mod params;
mod party;
mod passphrase;
mod passphrases;
mod plan;
mod prepare;
mod programs;
mod progress;
mod question;
mod reencrypt;
mod reencryption;
mod rekey;
mod rekeying;
mod retrieval;
mod scheme;
mod schemes;
mod seeds;
mod signing;
mod stages;
mod streams;
mod switching;
mod tables;
mod takes;
mod tfhe;
mod written;

pub use command::{run, run_in};
pub use tables::format::table_shape;
