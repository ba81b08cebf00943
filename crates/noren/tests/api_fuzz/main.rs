//! Differential fuzzer of the Rust API: random circuits and mistakes on every scheme, against plain arithmetic.
//!
//! A call that returns `Ok` must be right: within its error bound, or exact. Everything else must be an `Err`; a panic, a
//! wrong number, and a mistake that is accepted are findings. A case follows from its seed alone.
//!
//! - `cargo test --test api_fuzz`: the same few cases every time;
//! - `FUZZ_API_SECONDS=600 cargo test --release --test api_fuzz -- --ignored --nocapture`: new cases for so long;
//! - `FUZZ_API_CASE=ckks:17 cargo test --test api_fuzz -- --nocapture`: one case again.

mod draw;
mod integers;
mod program;
mod radix;
mod reals;

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use noren::bfv::Bfv;
use noren::bgv::Bgv;

use crate::integers::Exact;
use crate::program::{CaseReport, run_case};
use crate::radix::run_radix;
use crate::reals::Reals;

/// How a scheme runs the case of a seed.
type Run = fn(u64) -> CaseReport;

const SCHEMES: [(&str, Run); 4] = [
    ("ckks", |seed| run_case::<Reals>("ckks", seed)),
    ("bgv", |seed| run_case::<Exact<Bgv>>("bgv", seed)),
    ("bfv", |seed| run_case::<Exact<Bfv>>("bfv", seed)),
    ("tfhe", run_radix),
];

/// Sums over all cases of a scheme.
#[derive(Default)]
struct Statistics {
    cases: usize,
    calls: BTreeMap<&'static str, [usize; 2]>,
    worst: f64,
    findings: Vec<String>,
}

impl Statistics {
    fn add(&mut self, report: CaseReport) {
        self.cases += 1;
        for (name, right) in report.calls {
            let counts = self.calls.entry(name).or_default();
            counts[0] += 1;
            counts[1] += usize::from(right);
        }
        self.worst = self.worst.max(report.worst);
        if let Some(finding) = report.finding {
            println!("{finding}");
            self.findings.push(finding);
        }
    }

    fn show(&self, name: &str) -> String {
        let [calls, right] = self.calls.values().fold([0, 0], |[a, b], &[c, d]| [a + c, b + d]);
        let (cases, worst, findings) = (self.cases, self.worst, self.findings.len());
        format!(
            "{name}: {cases} cases, {calls} calls, {right} right, worst error/bound {worst:.3}, {findings} findings"
        )
    }

    /// Calls that were never right, where they are no mistakes.
    fn unreached(&self) -> Vec<&'static str> {
        let never = |&(name, [_, right]): &(&&'static str, &[usize; 2])| *right == 0 && !name.starts_with("mistake");
        self.calls.iter().filter(never).map(|(name, _)| *name).collect()
    }
}

/// Few cases of each scheme; fixed seeds.
fn short_run(name: &str, count: u64) {
    let (_, run) = SCHEMES.into_iter().find(|(scheme, _)| *scheme == name).expect("a scheme");
    let seeds = match std::env::var("FUZZ_API_CASE") {
        Ok(case) => match case.strip_prefix(&format!("{name}:")) {
            Some(seed) => vec![seed.parse().expect("a seed")],
            None => Vec::new(),
        },
        Err(_) => (0..count).collect(),
    };
    let mut statistics = Statistics::default();
    for seed in seeds {
        statistics.add(run(seed));
    }
    println!("{}", statistics.show(name));
    assert!(statistics.findings.is_empty(), "{}", statistics.findings.join("\n"));
}

#[test]
fn random_circuits_of_ckks_are_right_or_refused() {
    short_run("ckks", 150);
}

#[test]
fn random_circuits_of_bgv_are_right_or_refused() {
    short_run("bgv", 80);
}

#[test]
fn random_circuits_of_bfv_are_right_or_refused() {
    short_run("bfv", 80);
}

#[test]
fn random_programs_of_tfhe_are_right_or_refused() {
    short_run("tfhe", 6);
}

#[test]
#[ignore = "runs for FUZZ_API_SECONDS, 600 unless it is set"]
fn new_cases_are_right_or_refused() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seconds = number("FUZZ_API_SECONDS").unwrap_or(600);
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_secs();
    let first = number("FUZZ_API_SEED").unwrap_or(clock) << 32;
    println!("seeds from {first} on, {seconds} s");
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut all: BTreeMap<&str, Statistics> = BTreeMap::new();
    let mut seed = first;
    while Instant::now() < end && all.values().map(|one| one.findings.len()).sum::<usize>() < 20 {
        for (name, run) in SCHEMES {
            // Cases of TFHE take much longer than the others.
            if name != "tfhe" || seed.is_multiple_of(10) {
                all.entry(name).or_default().add(run(seed));
            }
        }
        seed += 1;
    }
    for (name, statistics) in &all {
        println!("{}", statistics.show(name));
        if seconds >= 60 {
            assert!(statistics.unreached().is_empty(), "{name}: never right: {:?}", statistics.unreached());
        }
    }
    assert!(all.values().all(|statistics| statistics.findings.is_empty()), "there are findings");
}
