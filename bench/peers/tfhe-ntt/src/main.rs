//! Times the transforms of tfhe-ntt and prints them as JSON lines in noren's benchmark schema. It takes the options of
//! one step of a suite, as every program in `bench/peers` does: see `bench/README.md`.

#[path = "../../driver.rs"]
mod driver;

use std::hint::black_box;
use std::process::ExitCode;

use aligned_vec::AVec;
use driver::{Timing, finish, numbers, options, peak_rss, time};
use tfhe_ntt::prime64::Plan;

/// The sizes of primes that noren's suite measures.
const PRIME_BITS: [u32; 2] = [48, 50];
/// The smallest degree that noren measures transforms for; tfhe-ntt has them from 16 on.
const LEAST_LOG_N: u32 = 10;

/// The bytes of a cache line.
const LINE: usize = 64;

const VERSION: &str = "0.7.1";

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

fn print(log_n: u32, bits: u32, q: u64, op: &str, note: &str, ifma: bool, timing: Option<Timing>) {
    let n = 1usize << log_n;
    let isa = match (cfg!(feature = "avx512"), ifma) {
        (true, true) => "avx512",
        (true, false) => "native",
        (false, _) => "avx2",
    };
    let log_q = (q as f64).log2();
    let note = if timing.is_some() { note } else { "wrong result: no time" };
    println!(
        r#"{{"suite":"kernels","op":"{op}","library":"tfhe-ntt","version":"{VERSION}","n":{n},"limbs":1,"log_qp":{log_q},"special":0,"dnum":0,"slots":0,"security":"none","isa":"{isa}","threads":1,{},"peak_rss_bytes":{},"note":"{note}","prime_bits":{bits}}}"#,
        Timing::fields(timing),
        peak_rss()
    );
}
