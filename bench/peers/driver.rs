//! What the drivers of Rust libraries share: options, measuring as noren's `measure.rs` does it, and memory.

use std::collections::HashMap;
use std::fs;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const LEAST_SAMPLES: usize = 5;
const MOST_SAMPLES: usize = 100_000;
const SAMPLE: Duration = Duration::from_micros(50);
const WARM_UP: f64 = 0.2;

/// The end of a driver: says why it failed, if it did.
pub fn finish(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

/// Reads the options of one step, all of the form `--name value`.
///
/// # Errors
/// Options that have no value, and those that are not among `defaults`.
pub fn options(defaults: &[(&'static str, &str)]) -> Result<HashMap<&'static str, String>, String> {
    let mut options: HashMap<_, _> = defaults.iter().map(|&(name, value)| (name, value.to_owned())).collect();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    for pair in arguments.chunks(2) {
        let [name, value] = pair else { return Err(format!("{} has no value", pair[0])) };
        let known = name.strip_prefix("--").and_then(|name| options.get_mut(name));
        *known.ok_or_else(|| format!("there is no option {name}"))? = value.clone();
    }
    Ok(options)
}

/// Reads a list such as `1,2`.
///
/// # Errors
/// A field that is no number.
pub fn numbers<T: std::str::FromStr>(list: &str) -> Result<Vec<T>, String> {
    list.split(',').map(|field| field.parse().map_err(|_| format!("{field} is not a number"))).collect()
}

/// How long calls take, in nanoseconds.
#[derive(Clone, Copy)]
pub struct Timing {
    pub median: f64,
    /// Median of the absolute deviations from the median.
    pub mad: f64,
    /// How many samples.
    pub reps: usize,
}

impl Timing {
    /// The fields of a record; without a timing those of a wrong result.
    pub fn fields(timing: Option<Self>) -> String {
        match timing {
            Some(Self { median, mad, reps }) => {
                format!(r#""median_ns":{median:.2},"mad_ns":{mad:.2},"reps":{reps}"#)
            }
            None => r#""median_ns":null,"mad_ns":null,"reps":0"#.to_owned(),
        }
    }
}

/// The time of one call, warm, over `seconds` and at least five samples.
pub fn time(seconds: f64, call: &mut dyn FnMut()) -> Timing {
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
    Timing { median: center, mad: median(&mut deviations), reps: samples.len() }
}

/// The time of a call whose first one took `first`: warm and over `seconds` where five calls take less than ten seconds, else of as
/// many calls as begin in that time after the first one, or of that alone.
#[allow(dead_code, reason = "not every driver has slow operations")]
pub fn time_slow(first: Duration, seconds: f64, call: &mut dyn FnMut()) -> Timing {
    const PATIENCE: Duration = Duration::from_secs(10);
    if first * (LEAST_SAMPLES as u32) < PATIENCE {
        return time(seconds, call);
    }
    let (mut spent, mut samples) = (first, Vec::new());
    while spent < PATIENCE {
        let start = Instant::now();
        call();
        samples.push(start.elapsed().as_secs_f64() * 1e9);
        spent += start.elapsed();
    }
    if samples.is_empty() {
        samples.push(first.as_secs_f64() * 1e9);
    }
    let center = median(&mut samples);
    let mut deviations: Vec<f64> = samples.iter().map(|x| (x - center).abs()).collect();
    Timing { median: center, mad: median(&mut deviations), reps: samples.len() }
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    let middle = samples.len() / 2;
    if samples.len() % 2 == 1 { samples[middle] } else { (samples[middle - 1] + samples[middle]) / 2.0 }
}

/// The most memory held since the call before this one, in bytes.
pub fn peak_rss() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    // Where this is forbidden, the peak is that of the whole run.
    let _ = fs::write("/proc/self/clear_refs", "5");
    line.trim().trim_end_matches(" kB").parse::<u64>().map_or(0, |kib| kib << 10)
}
