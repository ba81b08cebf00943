//! Times the transforms of tfhe-fft between torus words and spectra, and prints them as JSON lines in noren's benchmark
//! schema. It takes the options of one step of a suite, as every program in `bench/peers` does: see `bench/README.md`.

#[path = "../../driver.rs"]
mod driver;
mod twist;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use aligned_vec::AVec;
use driver::{Timing, finish, numbers, options, peak_rss, time};
use dyn_stack::{PodBuffer, PodStack};
use tfhe_fft::c64;
use tfhe_fft::unordered::{Method, Plan};
use twist::Twist;

/// The degrees that noren measures transforms of torus words for.
const LOG_N: std::ops::RangeInclusive<u32> = 9..=13;
/// How long the plan may try its ways to do it.
const PLANNING: Duration = Duration::from_millis(20);

/// The bytes of a cache line.
const LINE: usize = 64;

const VERSION: &str = "0.10.1";

fn main() -> ExitCode {
    finish(run())
}

fn run() -> Result<(), String> {
    let options = options(&[("suite", "kernels"), ("log-n", "12"), ("seconds", "1"), ("threads", "1")])?;
    if options["suite"] != "kernels" {
        return Err(format!("there is no suite {}", options["suite"]));
    }
    let seconds: f64 = options["seconds"].parse().map_err(|_| "--seconds needs a number")?;
    for log_n in numbers(&options["log-n"])? {
        if LOG_N.contains(&log_n) {
            measure(log_n, seconds);
        }
    }
    Ok(())
}

/// A degree with its plan, twist and rows.
struct Transform {
    plan: Plan,
    twist: Twist,
    memory: PodBuffer,
    points: AVec<c64>,
}

impl Transform {
    fn new(n: usize) -> Self {
        let plan = Plan::new(n / 2, Method::Measure(PLANNING));
        let memory = PodBuffer::new(plan.fft_scratch());
        let points = AVec::from_iter(LINE, (0..n / 2).map(|_| c64::new(0.0, 0.0)));
        Self { twist: Twist::new(n), plan, memory, points }
    }

    fn forward(&mut self, words: &[u64]) {
        self.twist.fold(&mut self.points, words);
        self.plan.fwd(&mut self.points, PodStack::new(&mut self.memory));
    }

    fn inverse_add(&mut self, words: &mut [u64]) {
        self.plan.inv(&mut self.points, PodStack::new(&mut self.memory));
        self.twist.unfold_add(words, &self.points);
    }
}

/// Checks and times the operations of one degree.
fn measure(log_n: u32, seconds: f64) {
    let n = 1usize << log_n;
    let a = AVec::<u64>::from_iter(LINE, (0..n as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let mut out = AVec::<u64>::from_iter(LINE, (0..n).map(|_| 0));
    let mut transform = Transform::new(n);
    let right = multiplies(&mut transform, &a);
    let timing = right.then(|| time(seconds, &mut || transform.forward(black_box(&a))));
    print(log_n, "torus_forward", "words to points: conversion, twist and transform", timing);
    let points = transform.points.clone();
    let timing = right.then(|| {
        time(seconds, &mut || {
            // In place: each time anew, as ours.
            transform.points.copy_from_slice(&points);
            transform.inverse_add(black_box(&mut out));
        })
    });
    print(log_n, "torus_inverse_add", "points to words: copy, transform, twist, rounding", timing);
}

/// Whether the product with `3 X^(N/2 + 1)` is right within the roundings of a word of 64 bits.
fn multiplies(transform: &mut Transform, a: &[u64]) -> bool {
    let (n, place) = (a.len(), a.len() / 2 + 1);
    let mut monomial = vec![0; n];
    monomial[place] = 3;
    transform.forward(&monomial);
    let factor = transform.points.clone();
    transform.forward(a);
    transform.points.iter_mut().zip(factor.iter()).for_each(|(x, y)| *x *= *y);
    let mut out = vec![0; n];
    transform.inverse_add(&mut out);
    (0..n).all(|j| {
        let expected = if j < place { a[n + j - place].wrapping_neg() } else { a[j - place] }.wrapping_mul(3);
        // Words of 63 bits times 3, with a few roundings of 2^-53 a layer.
        (out[j].wrapping_sub(expected) as i64).unsigned_abs() < 1 << 20
    })
}

fn print(log_n: u32, op: &str, note: &str, timing: Option<Timing>) {
    let n = 1usize << log_n;
    let avx2 = !cfg!(feature = "avx512") && is_x86_feature_detected!("avx2");
    let isa = if avx2 {
        "avx2"
    } else if is_x86_feature_detected!("avx512f") {
        "avx512"
    } else {
        "native"
    };
    let note = if timing.is_some() { note } else { "wrong result: no time" };
    println!(
        r#"{{"suite":"kernels","op":"{op}","library":"tfhe-fft","version":"{VERSION}","n":{n},"limbs":1,"log_qp":64,"special":0,"dnum":0,"slots":0,"security":"none","isa":"{isa}","threads":1,{},"peak_rss_bytes":{},"note":"{note}"}}"#,
        Timing::fields(timing),
        peak_rss()
    );
}
