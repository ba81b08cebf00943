//! `noren advise`: which scheme, which parameters, at which price.

use std::fmt;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use noren::advisor::{
    Accuracy, Computation, Device, Limits, Objective, PeerEstimate, Report, Values, Workload, advise,
};
use noren::cost::{Party, Price};
use noren_rlwe::wire::file::Access;
use serde::Serialize;

use crate::calibrate;
use crate::console::Console;
use crate::describe::words::bytes;
use crate::failure::Failure;
use crate::files::read_text;
use crate::outputs::{Content, Force, Output};

/// Says which scheme and parameters suit a computation, and what they cost both parties
#[derive(Debug, Args)]
#[command(
    after_help = "Values are real numbers in [-1, 1] (--real BITS: results within 2^-BITS) or unsigned integers (--integer \
        BITS). Times are predicted from costs that this machine was measured with (noren calibrate), which happens at the first \
        use; the client may be another device.\n\n\
        Examples:\n  \
        noren advise inner-product --count 100 --real 20\n  \
        noren advise product --count 100 --real 20 --client pi-zero\n  \
        noren advise table --inputs 2 --integer 15\n  \
        noren advise squarings --degree 10 --modulus 65537 --instances 32768\n  \
        noren advise compare --integer 16 --instances 64 --json"
)]
pub(crate) struct Arguments {
    /// The computation
    #[arg(value_enum, required_unless_present = "workload")]
    computation: Option<Name>,
    /// product, sum, inner-product: how many values, or how long the vectors are
    #[arg(long, value_name = "NUMBER")]
    count: Option<usize>,
    /// polynomial: its degree; squarings: how many follow one another
    #[arg(long, value_name = "NUMBER")]
    degree: Option<usize>,
    /// matrix: its rows
    #[arg(long, value_name = "NUMBER")]
    rows: Option<usize>,
    /// matrix: its columns
    #[arg(long, value_name = "NUMBER")]
    columns: Option<usize>,
    /// table: a function of 1 or of 2 numbers
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    inputs: usize,
    /// Values are real, and results have an error of at most 2^-BITS
    #[arg(long, value_name = "BITS", conflicts_with = "integer")]
    real: Option<f64>,
    /// Values are unsigned integers of this many bits
    #[arg(long, value_name = "BITS")]
    integer: Option<u32>,
    /// Bits of integer results: fewer than the largest has means modulo a power of two [default: as many as it has]
    #[arg(long, value_name = "BITS", requires = "integer")]
    result_bits: Option<u32>,
    /// Results of sums and products of integers are modulo this number [default bits of values: those of T - 1]
    #[arg(long, value_name = "T", conflicts_with_all = ["real", "result_bits"])]
    modulus: Option<u64>,
    /// How often it is done, on other values, all at once
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    instances: usize,
    /// compare of real numbers: within this distance either answer is right
    #[arg(long, value_name = "DISTANCE")]
    dead_zone: Option<f64>,
    /// The time that candidates are ordered by
    #[arg(long, value_enum, default_value = "auto")]
    objective: Short,
    /// The client's device: server, laptop, phone, browser, pi4 or pi-zero [default: this machine]
    #[arg(long, value_name = "DEVICE")]
    client: Option<String>,
    /// The most memory of the server, in MiB [default: what this machine has]
    #[arg(long, value_name = "MIB", value_parser = parse_mebibytes)]
    server_memory: Option<u64>,
    /// The most memory of the client, in MiB [default: what the device has]
    #[arg(long, value_name = "MIB", value_parser = parse_mebibytes)]
    client_memory: Option<u64>,
    /// The longest that the server may take, in seconds
    #[arg(long, value_name = "SECONDS")]
    server_seconds: Option<f64>,
    /// The longest that the client may take, keys included, in seconds
    #[arg(long, value_name = "SECONDS")]
    client_seconds: Option<f64>,
    /// A workload as JSON, as --json shows it, in place of the computation
    #[arg(long, value_name = "FILE", conflicts_with = "computation")]
    workload: Option<PathBuf>,
    /// Write a Python script that compiles it for the first scheme of the list, does it once, and compares with numpy
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Write the computation as a compiled function, which noren function runs: with the first parameters of the list
    #[arg(long, value_name = "FILE")]
    function: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Costs of the server, from `noren calibrate --out FILE` there, or reference for those of a server that come with noren
    /// [default: those of this machine]
    #[arg(long, value_name = "FILE|reference")]
    machine: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Name {
    /// The product of values
    Product,
    /// The sum of values
    Sum,
    /// The inner product of two encrypted vectors
    InnerProduct,
    /// A value squared again and again
    Squarings,
    /// A polynomial of a value
    Polynomial,
    /// A matrix in clear times an encrypted vector
    Matrix,
    /// Whether one value is less than another
    Compare,
    /// Any function of one or two integers
    Table,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Short {
    /// The server's time, or all of both parties' time with keys where the client is a slower device
    Auto,
    /// The server's time
    Server,
    /// The time from inputs to results: encryption, server, decryption
    Latency,
    /// All of both parties' time, with keys, for work that is done once
    Once,
}

/// Advice as text.
#[derive(Serialize)]
#[serde(transparent)]
struct AdviceReport<'a>(Report<'a>);

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let workload = arguments.workload()?;
    let machine = calibrate::machine(arguments.machine.as_deref())?;
    let server = Party::new(machine, rayon::current_num_threads());
    let client = match &arguments.client {
        Some(name) => Device::named(name)?.party(),
        None => Party { threads: 1, ..server.clone() },
    };
    let limits = Limits {
        server_memory: arguments.server_memory,
        client_memory: arguments.client_memory,
        server_seconds: arguments.server_seconds,
        client_seconds: arguments.client_seconds,
    };
    let output = |path: &Option<PathBuf>, content| {
        path.as_ref().map(|path| Output::or_standard(path, &arguments.force, content, console)).transpose()
    };
    let script = output(&arguments.script, Content::Text)?;
    let function = output(&arguments.function, Content::Binary)?;
    let advice = advise(&workload, &client, &server, &limits)?;
    if let Some(output) = function {
        output.write_bytes(Access::Default, &advice.candidates[0].compiled.program().to_bytes())?;
    }
    if let Some(output) = script {
        let script = advice.candidates[0].script(&workload);
        output.write_bytes(Access::Default, script.as_bytes())?;
    }
    console.report(&AdviceReport(advice.report(&workload, &client, &server)))
}

/// The time of the device that makes the keys for the client, where there is one.
fn helped(price: &Price) -> String {
    match price.helper_seconds > 0.0 {
        true => format!(" (another device {})", time(price.helper_seconds)),
        false => String::new(),
    }
}

/// The most bytes of a file with a workload.
const MAX_WORKLOAD: u64 = 1 << 24;

/// The bytes of a number of MiB.
fn parse_mebibytes(text: &str) -> Result<u64, String> {
    let mebibytes = text.parse::<u64>().map_err(|error| error.to_string())?;
    let needed = || format!("at most {} MiB, 2^64 bytes, are needed", u64::MAX >> 20);
    mebibytes.checked_mul(1 << 20).ok_or_else(needed)
}

impl Arguments {
    fn workload(&self) -> Result<Workload, Failure> {
        if let Some(path) = &self.workload {
            return Ok(Workload::parse(&read_text(path, MAX_WORKLOAD, "a workload as JSON")?)?);
        }
        let needs = |what: &'static str, found: Option<usize>| {
            let missing = || Failure::Unsuitable { what, found: "left out".to_owned(), needed: "a number".to_owned() };
            found.ok_or_else(missing)
        };
        let count = || needs("--count", self.count);
        let computation = match self.computation.expect("clap asks for it unless there is a file") {
            Name::Product => Computation::Product { count: count()? },
            Name::Sum => Computation::Sum { count: count()? },
            Name::InnerProduct => Computation::InnerProduct { length: count()? },
            Name::Squarings => Computation::Squarings { depth: needs("--degree", self.degree)? },
            Name::Polynomial => Computation::Polynomial { degree: needs("--degree", self.degree)? },
            Name::Matrix => {
                Computation::Matrix { rows: needs("--rows", self.rows)?, columns: needs("--columns", self.columns)? }
            }
            Name::Compare => Computation::Compare,
            Name::Table => Computation::Table { inputs: self.inputs },
        };
        let values = match (self.real, self.integer) {
            (Some(bits), _) => Values::Real { bits },
            (None, Some(bits)) => Values::Integer { bits, result_bits: self.result_bits },
            (None, None) if self.modulus.is_some() => {
                let bits = self.modulus.map_or(1, |modulus| modulus.saturating_sub(1).max(1).ilog2() + 1);
                Values::Integer { bits, result_bits: None }
            }
            (None, None) => {
                let needed = "--real BITS for real numbers, --integer BITS, or --modulus T".to_owned();
                return Err(Failure::Unsuitable { what: "the kind of values", found: "left out".to_owned(), needed });
            }
        };
        let mut workload = Workload::new(computation, values);
        workload.instances = self.instances;
        workload.dead_zone = self.dead_zone;
        workload.modulus = self.modulus;
        workload.objective = match self.objective {
            Short::Auto => Objective::Auto,
            Short::Server => Objective::Server,
            Short::Latency => Objective::Latency,
            Short::Once => Objective::Once,
        };
        Ok(workload)
    }
}

impl fmt::Display for AdviceReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { client, server, threads, candidates, peers, rejections, .. } = &self.0;
        writeln!(f, "server: {server}, {threads} threads; client: {client}, 1 thread; all times are predictions")?;
        for (place, row) in candidates.iter().enumerate() {
            let Price { key_bytes, input_bytes, result_bytes, client_memory, server_memory, .. } = *row.price;
            let size = |bytes_: u64| bytes(bytes_ as f64);
            writeln!(f, "\n{}. {} ({}): {}", place + 1, row.scheme, row.library, row.parameters)?;
            writeln!(
                f,
                "   server  {}{}; memory {}",
                time(row.price.server_seconds),
                prepared(row.price),
                size(server_memory)
            )?;
            writeln!(
                f,
                "   client  keys {}{}, encryption {}, decryption {}; memory {}",
                time(row.price.keys_seconds),
                helped(row.price),
                time(row.price.encrypt_seconds),
                time(row.price.decrypt_seconds),
                size(client_memory)
            )?;
            writeln!(
                f,
                "   sent    keys {}, inputs {}, results {}",
                size(key_bytes),
                size(input_bytes),
                size(result_bytes)
            )?;
            writeln!(f, "   result  {}", accuracy(row.accuracy))?;
            let parts =
                row.price.parts.iter().map(|part| format!("{:.0} {} {}", part.count, part.name, time(part.seconds)));
            writeln!(f, "   counts  {}", parts.collect::<Vec<_>>().join(", "))?;
            writeln!(f, "   why     {}", row.reasons.join("; "))?;
        }
        if !peers.is_empty() {
            writeln!(f, "\nOther libraries, by noren's predictions and ratios that were measured:")?;
        }
        for peer in *peers {
            let PeerEstimate { scheme, library, version, server_seconds, .. } = peer;
            let client = [
                ("keys", peer.keys_seconds),
                ("encryption", peer.encrypt_seconds),
                ("decryption", peer.decrypt_seconds),
            ];
            let client = client
                .into_iter()
                .map(|(name, seconds)| format!("{name} {}", seconds.map_or_else(|| "not measured".to_owned(), time)));
            writeln!(f, "- {scheme} ({library} {version})")?;
            writeln!(f, "   server  {}", time(*server_seconds))?;
            writeln!(f, "   client  {}", client.collect::<Vec<_>>().join(", "))?;
            writeln!(f, "   why     {}", peer.reasons.join("; "))?;
        }
        let others: Vec<String> = rejections.iter().map(|r| format!("- {}: {}", r.scheme, r.reason)).collect();
        write!(f, "\nNot: \n{}", others.join("\n"))
    }
}

fn prepared(price: &Price) -> String {
    if price.prepare_seconds > 0.0 { format!(", once before {}", time(price.prepare_seconds)) } else { String::new() }
}

fn accuracy(accuracy: Accuracy) -> String {
    match accuracy {
        Accuracy::Within(error) => format!("within {error:.1e}, about"),
        Accuracy::ExactButFor(log2) => format!("exact, but for a probability of 2^{log2:.0}"),
        Accuracy::Exact => "exact".to_owned(),
    }
}

/// A time with three digits.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.3} ms", s * 1e3),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}
