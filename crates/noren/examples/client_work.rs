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
use noren::advisor::{Candidate, Computation, Device, Limits, Plan, SlotCircuit, Values, Workload, advise};
use noren::ckks::{Ciphertext, Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest, Keys, Parameters};
use noren::cost::{Machine, Party, SlotDraft};
use noren_rlwe::keygen::KeyGenerator;

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
            let client = Client::new(&candidate(&reference(), &workload(name, count)?)?)?;
            let (runs, work): (usize, _) = (runs.parse()?, Work::new(&client)?);
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
    let found = advice.candidates.into_iter().find(|candidate| matches!(candidate.plan, Plan::Reals(..)));
    found.ok_or_else(|| "CKKS does not do this workload without bootstrapping".into())
}

/// The predicted seconds of the steps.
fn predicted(candidate: &Candidate) -> [f64; 3] {
    let price = &candidate.price;
    [price.keys_seconds, price.encrypt_seconds, price.decrypt_seconds]
}

fn times(party: &Party, workload: &Workload) -> Result<()> {
    let candidate = candidate(party, workload)?;
    let client = Client::new(&candidate)?;
    let work = Work::new(&client)?;
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

/// The parameters and keys of a client.
struct Client {
    context: Context,
    parameters: Parameters,
    circuit: SlotCircuit,
    draft: SlotDraft,
    request: KeyRequest,
    keys: Keys,
}

impl Client {
    fn new(candidate: &Candidate) -> Result<Self> {
        let Plan::Reals(parameters, circuit, draft) = candidate.plan.clone() else {
            return Err("no plan of CKKS without bootstrapping".into());
        };
        let context = Context::with_threads(parameters.clone(), Some(1))?;
        let request = draft.usage.key_request(parameters.max_level())?;
        let keys = context.generate_keys(Seed::from_bytes([1; 32]), &request)?;
        Ok(Self { context, parameters, circuit, draft, request, keys })
    }
}

/// The steps of a client, with all that they need.
struct Work<'a> {
    client: &'a Client,
    encoder: Encoder,
    encryptor: Encryptor<'a>,
    decryptor: Decryptor<'a>,
    results: Vec<Ciphertext>,
}

impl<'a> Work<'a> {
    fn new(client: &'a Client) -> Result<Self> {
        let Client { context, circuit, keys, .. } = client;
        let mut work = Self {
            client,
            encoder: Encoder::new(context),
            encryptor: Encryptor::symmetric(context, &keys.secret, Seed::from_bytes([2; 32]))?,
            decryptor: Decryptor::new(context, &keys.secret)?,
            results: Vec::new(),
        };
        let evaluator = Evaluator::new(context, keys.evaluation.clone())?;
        let (inputs, coefficient) = (work.encrypt()?, circuit.real_coefficient());
        work.results = circuit.prepare(&evaluator, &inputs[0], coefficient)?.run(&evaluator, &inputs, coefficient)?;
        Ok(work)
    }

    fn step(&self, name: &str) -> Result<()> {
        let Client { context, request, .. } = self.client;
        match name {
            "keys" => {
                let generator = KeyGenerator::new(context.rlwe(), Seed::from_bytes([3; 32]));
                drop(black_box(generator.keys(&context.automorphisms_of(request)?, None)?));
            }
            "encrypt" => drop(black_box(self.encrypt()?)),
            _ => {
                for result in &self.results {
                    drop(black_box(self.decryptor.decrypt_real(result)?));
                }
            }
        }
        Ok(())
    }

    /// The ciphertexts of one run, from numbers in clear.
    fn encrypt(&self) -> Result<Vec<Ciphertext>> {
        let SlotDraft { width, inputs, runs, .. } = self.client.draft;
        let values: Vec<f64> = (0..width).map(|slot| if slot % 2 == 0 { 0.99 } else { 1.0 }).collect();
        let one = || -> Result<Ciphertext> {
            let plaintext = self.encoder.encode(&values, width, self.client.parameters.max_level())?;
            Ok(self.encryptor.encrypt_within(&plaintext, 1.0)?)
        };
        (0..inputs * runs).map(|_| one()).collect()
    }
}
