//! Times the transforms of tfhe-ntt and prints them as JSON lines in noren's benchmark schema. It takes the options of
//! one step of a suite, as every program in `bench/peers` does: see `bench/README.md`.

use std::collections::HashMap;
use std::fs;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use aligned_vec::AVec;
use tfhe_ntt::prime64::Plan;

/// As in noren's `measure.rs`.
const LEAST_SAMPLES: usize = 5;
const MOST_SAMPLES: usize = 100_000;
const SAMPLE: Duration = Duration::from_micros(50);
const WARM_UP: f64 = 0.2;

/// The sizes of primes that noren's suite measures.
const PRIME_BITS: [u32; 2] = [48, 50];
/// The smallest degree that noren measures transforms for; tfhe-ntt has them from 16 on.
const LEAST_LOG_N: u32 = 10;

/// The bytes of a cache line.
const LINE: usize = 64;

const VERSION: &str = "0.7.1";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let mut options = HashMap::from([("suite", "kernels"), ("log-n", "12"), ("seconds", "1"), ("threads", "1")]);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    for pair in arguments.chunks(2) {
        let [name, value] = pair else { return Err(format!("{} has no value", pair[0])) };
        let known = name.strip_prefix("--").and_then(|name| options.get_mut(name));
        *known.ok_or_else(|| format!("there is no option {name}"))? = value;
    }
    if options["suite"] != "kernels" {
        return Err(format!("there is no suite {}", options["suite"]));
    }
    let seconds: f64 = options["seconds"].parse().map_err(|_| "--seconds needs a number")?;
    for log_n in options["log-n"].split(',') {
        let log_n: u32 = log_n.parse().map_err(|_| "--log-n needs numbers")?;
        // Smaller rings are not used, and one step of noren's suite has rows only.
        if log_n >= LEAST_LOG_N {
            PRIME_BITS.into_iter().try_for_each(|bits| measure(log_n, bits, seconds))?;
        }
    }
    Ok(())
}

/// Checks and times the operations of one ring.
fn measure(log_n: u32, bits: u32, seconds: f64) -> Result<(), String> {
    let n = 1usize << log_n;
    let step = 2 * n as u64;
    let q = (1..(1u64 << bits) / step).rev().map(|k| k * step + 1).find(|&q| Plan::try_new(n, q).is_some());
    let q = q.ok_or("there is no prime")?;
    let plan = Plan::try_new(n, q).ok_or("there is no plan")?;
    let word = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % q;
    // On cache lines, as noren's rows are.
    let a = AVec::<u64>::from_iter(LINE, (0..n).map(word));
    let b = AVec::<u64>::from_iter(LINE, (n..2 * n).map(word));
    let right = round_trip(&plan, &a) && monomial_product(&plan, &a);
    let report = |op: &str, note: &str, call: &mut dyn FnMut()| {
        let timing = right.then(|| time(seconds, call));
        print(log_n, bits, q, op, note, plan.use_ifma(), timing);
    };
    let mut row = a.clone();
    report("ntt_forward", "", &mut || plan.fwd(black_box(&mut row)));
    report("ntt_inverse", "without the factor 1/n", &mut || plan.inv(black_box(&mut row)));
    // Without the factor the words stay words modulo q, and the next transform may have them.
    report("ntt_inverse_normalized", "with the factor 1/n, a pass of its own", &mut || {
        plan.inv(black_box(&mut row));
        plan.normalize(&mut row);
    });
    report("mul", "in place, with the factor 1/n", &mut || plan.mul_assign_normalize(black_box(&mut row), &b));
    Ok(())
}

/// Whether the inverse undoes the forward transform.
fn round_trip(plan: &Plan, a: &[u64]) -> bool {
    let mut row = a.to_vec();
    plan.fwd(&mut row);
    let changed = row != a;
    plan.inv(&mut row);
    plan.normalize(&mut row);
    changed && row == a
}

/// Whether the product with `X` moves every coefficient up and the last one to the front with its sign changed.
fn monomial_product(plan: &Plan, a: &[u64]) -> bool {
    let (n, q) = (a.len(), plan.modulus());
    let (mut row, mut x) = (a.to_vec(), vec![0; n]);
    x[1] = 1;
    plan.fwd(&mut row);
    plan.fwd(&mut x);
    plan.mul_assign_normalize(&mut row, &x);
    plan.inv(&mut row);
    row[1..] == a[..n - 1] && row[0] == (q - a[n - 1]) % q
}

/// Median, median absolute deviation and number of samples of one call, warm.
fn time(seconds: f64, call: &mut dyn FnMut()) -> (f64, f64, usize) {
    let mut sample = |repeats: u32| {
        let start = Instant::now();
        (0..repeats).for_each(|_| call());
        start.elapsed()
    };
    let budget = Duration::from_secs_f64(seconds);
    let start = Instant::now();
    let mut repeats = 1;
    while sample(repeats) < SAMPLE {
        repeats *= 2;
    }
    while start.elapsed() < budget.mul_f64(WARM_UP) {
        sample(repeats);
    }
    let start = Instant::now();
    let mut samples = Vec::new();
    while samples.len() < LEAST_SAMPLES || (start.elapsed() < budget && samples.len() < MOST_SAMPLES) {
        samples.push(sample(repeats).as_secs_f64() * 1e9 / f64::from(repeats));
    }
    let center = median(&mut samples);
    let mut deviations: Vec<f64> = samples.iter().map(|x| (x - center).abs()).collect();
    (center, median(&mut deviations), samples.len())
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    let middle = samples.len() / 2;
    if samples.len() % 2 == 1 { samples[middle] } else { (samples[middle - 1] + samples[middle]) / 2.0 }
}

fn print(log_n: u32, bits: u32, q: u64, op: &str, note: &str, ifma: bool, timing: Option<(f64, f64, usize)>) {
    let n = 1usize << log_n;
    let isa = match (cfg!(feature = "avx512"), ifma) {
        (true, true) => "avx512",
        (true, false) => "native",
        (false, _) => "avx2",
    };
    let log_q = (q as f64).log2();
    let times = match timing {
        Some((median, mad, reps)) => format!(r#""median_ns":{median:.2},"mad_ns":{mad:.2},"reps":{reps}"#),
        None => r#""median_ns":null,"mad_ns":null,"reps":0"#.to_owned(),
    };
    let note = if timing.is_some() { note } else { "wrong result: no time" };
    println!(
        r#"{{"suite":"kernels","op":"{op}","library":"tfhe-ntt","version":"{VERSION}","n":{n},"limbs":1,"log_qp":{log_q},"special":0,"dnum":0,"slots":0,"security":"none","isa":"{isa}","threads":1,{times},"peak_rss_bytes":{},"note":"{note}","prime_bits":{bits}}}"#,
        peak_rss()
    );
}

/// The most memory held since the call before this one, in bytes.
fn peak_rss() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    // Where this is forbidden, the peak is that of the whole run.
    let _ = fs::write("/proc/self/clear_refs", "5");
    line.trim().trim_end_matches(" kB").parse::<u64>().map_or(0, |kib| kib << 10)
}
