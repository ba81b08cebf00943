//! The work of a client of CKKS, as the advisor prices it: keys, encryption and decryption of a product or an inner product of
//! reals, on one thread.
//!
//! `cargo run --release -p noren --example client_work -- product 100 times MACHINE.json` prints the median time of each step
//! beside what the advisor predicts from the costs in the file, and the peak memory; `... product 100 devices` what it predicts
//! for each device; `... product 100 run encrypt 3` does each step once and then encrypts three times, for programs that count instructions
//! (`bench/arm_instructions.py`).

use std::error::Error;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;
use std::{env, fs};

use noren::Seed;
use noren::advisor::{Candidate, Computation, Device, Limits, Scheme, Values, Workload, advise};
use noren::compiler::{Client, Server};
use noren::cost::{Machine, Party};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The steps, as options and tables name them.
const STEPS: [&str; 3] = ["keys", "encrypt", "decrypt"];
/// How often a step is timed.
const SAMPLES: usize = 15;
/// The precision of results in bits.
const BITS: f64 = 20.0;

fn main() -> ExitCode {
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn work() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [name, count, "times", machine] => {
            let machine = Machine::parse(&fs::read_to_string(machine)?)?;
            times(&Party { machine, threads: 1 }, &workload(name, count)?)
        }
        [name, count, "devices"] => devices(&workload(name, count)?),
        [name, count, "run", step, runs] if STEPS.contains(&step) => {
            let (runs, work): (usize, _) =
                (runs.parse()?, Work::new(&candidate(&reference(), &workload(name, count)?)?)?);
            // Tables are made where they are first needed.
            STEPS.into_iter().try_for_each(|step| work.step(step))?;
            (0..runs).try_for_each(|_| work.step(step))
        }
        _ => Err("wanted: (product | inner-product) COUNT (times MACHINE.json | devices | run STEP RUNS)".into()),
    }
}

fn workload(name: &str, count: &str) -> Result<Workload> {
    let count = count.parse()?;
    let computation = match name {
        "product" => Computation::Product { count },
        "inner-product" => Computation::InnerProduct { length: count },
        _ => return Err(format!("no workload {name}: product or inner-product").into()),
    };
    Ok(Workload::new(computation, Values::Real { bits: BITS }))
}

/// The server, and a client whose times do not matter.
fn reference() -> Party {
    Party { machine: Machine::reference(), threads: 1 }
}

/// The candidate in CKKS without bootstrapping, as the advisor finds it.
fn candidate(client: &Party, workload: &Workload) -> Result<Candidate> {
    let advice = advise(workload, client, &reference(), &Limits::default())?;
    let found = advice.candidates.into_iter().find(|candidate| candidate.scheme == Scheme::Ckks);
    found.ok_or_else(|| "CKKS does not do this workload without bootstrapping".into())
}

/// The predicted seconds of the steps.
fn predicted(candidate: &Candidate) -> [f64; 3] {
    let price = &candidate.price;
    [price.keys_seconds, price.encrypt_seconds, price.decrypt_seconds]
}

fn times(party: &Party, workload: &Workload) -> Result<()> {
    let candidate = candidate(party, workload)?;
    let work = Work::new(&candidate)?;
    println!("kernels {}, {}", noren_math::kernels::kernels().name(), candidate.parameters);
    for (step, predicted) in STEPS.into_iter().zip(predicted(&candidate)) {
        let time = || -> Result<f64> {
            let start = Instant::now();
            work.step(step)?;
            Ok(start.elapsed().as_secs_f64())
        };
        time()?;
        let mut times = (0..SAMPLES).map(|_| time()).collect::<Result<Vec<f64>>>()?;
        times.sort_by(f64::total_cmp);
        let [least, median, most] = [0, SAMPLES / 2, SAMPLES - 1].map(|place| times[place] * 1e3);
        let (predicted, ratio) = (predicted * 1e3, median / (predicted * 1e3));
        println!(
            "{step:8} measured {median:8.3} ms ({least:.3} to {most:.3}), predicted {predicted:8.3} ms, ratio {ratio:.2}"
        );
    }
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).map_or("not told", str::trim);
    println!("memory   measured {peak} with the server's part, predicted {} kB", candidate.price.client_memory >> 10);
    Ok(())
}

fn devices(workload: &Workload) -> Result<()> {
    for device in Device::ALL {
        let [keys, encrypt, decrypt] = predicted(&candidate(&device.party(), workload)?);
        println!("{} {keys:.6} {encrypt:.6} {decrypt:.6}", device.name);
    }
    Ok(())
}

/// The steps of a client, with all that they need.
struct Work {
    client: Client,
    inputs: Vec<Vec<f64>>,
    /// The encrypted results.
    reply: Vec<u8>,
}

impl Work {
    fn new(candidate: &Candidate) -> Result<Self> {
        let program = candidate.compiled.program();
        let inputs: Vec<Vec<f64>> =
            program.summary().inputs.iter().map(|(_, shape)| vec![0.99; shape.iter().product()]).collect();
        let client = Client::generate(program.clone(), &Seed::from_bytes([1; 32]))?;
        let server = Server::new(&program, &client.server_keys(&Seed::from_bytes([2; 32]))?)?;
        let reply = server.run(&client.encrypt(&inputs, Seed::from_bytes([3; 32]))?)?;
        Ok(Self { client, inputs, reply })
    }

    fn step(&self, name: &str) -> Result<()> {
        match name {
            "keys" => drop(black_box(self.client.server_keys(&Seed::from_bytes([2; 32]))?)),
            "encrypt" => drop(black_box(self.client.encrypt(&self.inputs, Seed::from_bytes([3; 32]))?)),
            _ => drop(black_box(self.client.decrypt(&self.reply)?)),
        }
        Ok(())
    }
}
