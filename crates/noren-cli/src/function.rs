//! `noren function`: compiled functions, whatever their scheme: keys, encryption, evaluation, decryption.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use noren::backends::{Function, Inputs, Outputs, Parcel};
use noren::compiler::{Client, Explanation, Outcome, Program, Server, ServerKeys};
use noren::graph::{Element, Graph, Operation};
use noren::tables::Query;
use noren::wire::{Form, Object};
use noren_rlwe::wire::file::Access;
use serde::Serialize;

use crate::console::Console;
use crate::describe::words::{bytes, count, error};
use crate::failure::Failure;
use crate::files;
use crate::half_keys::{self, HalfKeys};
use crate::outputs::{Content, Force, Output, size};
use crate::progress;
use crate::question::{self, Ask};
use crate::seeds::random;
use crate::tables::dialect::Style;
use crate::tables::format;
use crate::tables::numbers::{Decrypted, Numbers, Values};
use crate::tables::options::TableOptions;
use crate::takes;
use crate::written::{FilesReport, written};

/// Runs functions of numpy that Python compiled, Compiled.save(path), and questions on tables
#[derive(Debug, Args)]
#[command(
    after_help = "An array of more than one axis is a table whose columns are its last axis; one of a single axis is a column.\n\n\
        Example, with f.save(\"risk.function\") in Python:\n  \
        noren function keygen risk.function --out keys\n  \
        noren function encrypt risk.function --key keys/secret.key patients.npy -o request\n  \
        noren function run risk.function --keys keys/server.keys request -o reply\n  \
        noren function decrypt risk.function --key keys/secret.key reply -o risk.csv"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Query(Ask),
    Show(Show),
    Keygen(Keygen),
    Encrypt(Encrypt),
    Run(Run),
    Decrypt(Decrypt),
}

/// Shows what a function does, in which scheme, with which error and at which price
#[derive(Debug, Args)]
struct Show {
    /// The compiled function
    function: PathBuf,
}

/// Makes the keys: secret.key encrypts and decrypts and stays with you, server.keys goes to whoever computes
#[derive(Debug, Args)]
struct Keygen {
    /// The compiled function
    function: PathBuf,
    #[command(flatten)]
    keys: HalfKeys,
}

/// Encrypts the inputs of a function
#[derive(Debug, Args)]
struct Encrypt {
    /// The compiled function
    function: PathBuf,
    /// secret.key
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// A table for each input, in their order
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    table: TableOptions,
    /// The file for the encrypted inputs, or - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
}

/// Evaluates a function on encrypted inputs, without any secret
#[derive(Debug, Args)]
struct Run {
    /// The compiled function
    function: PathBuf,
    /// server.keys
    #[arg(long, value_name = "FILE")]
    keys: PathBuf,
    /// The encrypted inputs, or - for standard input
    input: PathBuf,
    /// The file for the encrypted results, or - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
}

/// Decrypts the results of a function
#[derive(Debug, Args)]
struct Decrypt {
    /// The compiled function
    function: PathBuf,
    /// secret.key
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The encrypted results, or - for standard input
    input: PathBuf,
    /// A file for each result, in their order: .csv, .tsv, .npy, .parquet or .arrow
    #[arg(short, long, value_name = "FILE", required = true)]
    output: Vec<PathBuf>,
    #[command(flatten)]
    force: Force,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    match &arguments.verb {
        Verb::Query(ask) => {
            let (output, bytes) = ask.run(console)?;
            output.write_bytes(Access::Default, &bytes)?;
            written(&output, &bytes, console)
        }
        Verb::Show(show) => show.run(console),
        Verb::Keygen(keygen) => keygen.run(console),
        Verb::Encrypt(encrypt) => encrypt.run(console),
        Verb::Run(run) => run.run(console),
        Verb::Decrypt(decrypt) => decrypt.run(console),
    }
}

/// Reads a compiled function; refuses one whose parameters promise too little security.
fn read_program(path: &Path, console: &Console) -> Result<Program, Failure> {
    let parcel: Parcel<Function> = console.inputs().read(&(), path, &takes::FUNCTION)?;
    let program = Program::of(&parcel).map_err(Failure::file(path))?;
    files::admit_security(program.plan().security(), path, console)?;
    Ok(program)
}

/// The client of a function with the secret key in a file, which may be under a passphrase.
fn read_client(program: Program, path: &Path, console: &Console) -> Result<Client, Failure> {
    let secret = half_keys::read_secret(&program.plan().secret_parts(), path, &takes::FUNCTION_SECRET, console)?;
    Ok(Client::new(program, Arc::new(secret))?)
}

#[derive(Serialize)]
struct ExplanationReport {
    /// The question, of a question on a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<String>,
    #[serde(flatten)]
    explanation: Explanation,
}

impl fmt::Display for ExplanationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = &self.explanation;
        if let Some(question) = &self.question {
            writeln!(f, "question {question}")?;
        }
        writeln!(f, "scheme {}: {}", found.scheme, found.parameters)?;
        let kinds = if found.bound > 0.0 { format!("within {}", error(found.bound)) } else { "exact".to_owned() };
        writeln!(
            f,
            "results {kinds}; {}, {}",
            count(found.ciphertexts, "ciphertext"),
            count(found.bootstraps, "bootstrap")
        )?;
        let price = &found.price;
        writeln!(
            f,
            "server {:.3} s, {} of memory; keys {}, inputs {}, results {}",
            price.server_seconds,
            bytes(price.server_memory as f64),
            bytes(price.key_bytes as f64),
            bytes(price.input_bytes as f64),
            bytes(price.result_bytes as f64)
        )?;
        for step in &found.steps {
            let place = if step.place.is_empty() { String::new() } else { format!(", {}", step.place) };
            writeln!(f, "  {} {:?}{place}", step.operation, step.shape)?;
        }
        write!(f, "prices of {}", found.machine)
    }
}

impl Show {
    fn run(&self, console: &Console) -> Result<(), Failure> {
        let program = read_program(&self.function, console)?;
        let query = Query::of(&program).map_err(Failure::file(&self.function))?;
        let question = query.map(|query| query.text().to_owned());
        console.report(&ExplanationReport { question, explanation: program.explain()? })
    }
}

impl Keygen {
    fn run(&self, console: &Console) -> Result<(), Failure> {
        let program = read_program(&self.function, console)?;
        self.keys.make(console, |seed| {
            let client = Client::generate(program, &seed)?;
            let secret = Arc::clone(client.secret());
            let shown = progress::bar("keys", 1);
            let write =
                move |path: &Path| client.write_server_keys(&seed, path.into(), &mut |done, of| shown.set(done, of));
            Ok((secret, write))
        })
    }
}

impl Encrypt {
    fn run(&self, console: &Console) -> Result<(), Failure> {
        let output = Output::or_standard(&self.output, &self.force, Content::Binary, console)?;
        let program = read_program(&self.function, console)?;
        let inputs = match Query::of(&program).map_err(Failure::file(&self.function))? {
            Some(query) => question::inputs(&query, &self.inputs, &self.table, console)?,
            None => self.arrays(&program, console)?,
        };
        let client = read_client(program, &self.key, console)?;
        let request = client.encrypt(&inputs, random()?)?;
        output.write_bytes(Access::Default, &request)?;
        written(&output, &request, console)
    }

    /// The inputs of a function, each of a table of numbers.
    fn arrays(&self, program: &Program, console: &Console) -> Result<Vec<Vec<f64>>, Failure> {
        let nodes = program.graph().inputs();
        if nodes.len() != self.inputs.len() {
            let (found, needed) = (count(self.inputs.len(), "table"), count(nodes.len(), "table"));
            return Err(Failure::Unsuitable { what: "the inputs", found, needed });
        }
        let read = |(path, at): (&PathBuf, usize)| array(program.graph(), at, path, &self.table.read(path, console)?);
        self.inputs.iter().zip(nodes).map(read).collect()
    }
}

/// Rows and columns of the table of an array.
fn table_of(shape: &[usize]) -> [usize; 2] {
    match shape.split_last() {
        None => [1, 1],
        Some((&rows, [])) => [rows, 1],
        Some((&columns, rest)) => [rest.iter().product(), columns],
    }
}

/// The elements of an input, of a table.
fn array(graph: &Graph, at: usize, path: &Path, table: &Numbers) -> Result<Vec<f64>, Failure> {
    let node = graph.node(at);
    let name = match &node.operation {
        Operation::Input { name, .. } => name.as_str(),
        _ => "",
    };
    let needed = table_of(&node.shape);
    let words = |[rows, columns]: [usize; 2]| format!("{} of {}", count(rows, "row"), count(columns, "number"));
    if [table.rows, table.columns] != needed {
        let needed = format!("{}, for input {name:?} of shape {:?}", words(needed), node.shape);
        return Err(Failure::input(path, "the table", words([table.rows, table.columns]), needed));
    }
    if node.element == Element::Real {
        return Ok(table.entries.clone());
    }
    let (low, high) = (node.range.low as i128, node.range.high as i128);
    let whole = |index| table.whole_in(index, path, low..=high, "the range of the input").map(|x| x as f64);
    (0..table.entries.len()).map(whole).collect()
}

impl Run {
    fn run(&self, console: &Console) -> Result<(), Failure> {
        let output = Output::or_standard(&self.output, &self.force, Content::Binary, console)?;
        let program = read_program(&self.function, console)?;
        console.inputs().verify(&self.keys, &takes::FUNCTION_KEYS)?;
        let keys = ServerKeys::open(&program.plan().server_parts(), &self.keys).map_err(Failure::file(&self.keys))?;
        let request: Parcel<Inputs> = console.inputs().read(&(), &self.input, &takes::FUNCTION_INPUTS)?;
        let reply = Server::new(&program, &keys)?.run_parcel(&request).map_err(Failure::file(&self.input))?;
        let reply = reply.to_bytes(&(), Form::Packed);
        output.write_bytes(Access::Default, &reply)?;
        written(&output, &reply, console)
    }
}

impl Decrypt {
    fn run(&self, console: &Console) -> Result<(), Failure> {
        if let Some(twice) = (1..self.output.len()).find(|&at| self.output[..at].contains(&self.output[at])) {
            let found = format!("{} twice", self.output[twice].display());
            return Err(Failure::Unsuitable { what: "--output", found, needed: "a file for each result".to_owned() });
        }
        let program = read_program(&self.function, console)?;
        let query = Query::of(&program).map_err(Failure::file(&self.function))?;
        if query.is_some() {
            question::check_outputs(&self.output)?;
        }
        let styles =
            self.output.iter().map(|path| Style::new(path, None, true, None)).collect::<Result<Vec<_>, _>>()?;
        let outputs = self.output.iter().map(|path| Output::new(path, &self.force)).collect::<Result<Vec<_>, _>>()?;
        let nodes = program.graph().outputs().to_vec();
        if query.is_none() && nodes.len() != outputs.len() {
            let (found, needed) = (count(outputs.len(), "file"), count(nodes.len(), "file"));
            return Err(Failure::Unsuitable { what: "--output", found, needed });
        }
        let client = read_client(program, &self.key, console)?;
        let reply: Parcel<Outputs> = console.inputs().read(&(), &self.input, &takes::FUNCTION_RESULTS)?;
        let outcome = client.decrypt_parcel(&reply).map_err(Failure::file(&self.input))?;
        let report = |error_bounds: Vec<f64>| {
            let bytes = outputs.iter().map(|output| size(output.path())).collect::<Result<Vec<_>, _>>()?;
            console.report(&FilesReport { files: self.output.clone(), bytes, error_bounds: Some(error_bounds) })
        };
        if let Some(query) = query {
            question::write(&query, &outcome, &outputs[0])?;
            return report(vec![0.0]);
        }
        let Outcome { values, bounds, integers } = outcome;
        let results = outputs.iter().zip(&styles).zip(nodes).zip(values.iter().zip(&integers).zip(&bounds));
        for (((output, style), at), ((values, integers), &bound)) in results {
            let [_, columns] = table_of(&client.program().graph().node(at).shape);
            let column_names: Vec<String> = (0..columns).map(|column| column.to_string()).collect();
            let whole: Vec<i128> = match integers {
                Some(integers) => integers.iter().copied().map(i128::from).collect(),
                None => values.iter().map(|&x| x as i128).collect(),
            };
            let errors = vec![bound; values.len()];
            let values = if bound > 0.0 { Values::Real(values, Some(&errors)) } else { Values::Whole(&whole) };
            let decrypted = Decrypted { row_names: None, column_names: &column_names, values };
            format::write(output, Access::Owner, &decrypted, style)?;
        }
        report(bounds)
    }
}
