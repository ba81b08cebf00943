//! Records of the suite `tfhe`.

use crate::driver::{Timing, peak_rss, time};

/// What one step asks for.
pub struct Step {
    pub workload: String,
    pub batches: Vec<usize>,
    pub threads: usize,
    pub seconds: f64,
}

/// The version of TFHE-rs.
pub const VERSION: &str = "1.8.0";

/// What is measured: the degree of its polynomials, the bits of its words, and its set as TFHE-rs calls it.
#[derive(Clone, Copy)]
pub struct Set<'a> {
    pub degree: usize,
    pub word_bits: u32,
    pub name: &'a str,
}

impl Step {
    /// Measures a call that does `batch` operations, if its result is right, and prints the time of one.
    pub fn report(&self, set: Set<'_>, op: &str, batch: usize, right: bool, call: &mut dyn FnMut()) {
        let timing = right.then(|| time(self.seconds, call));
        let per = batch as f64;
        let timing = timing.map(|all| Timing { median: all.median / per, mad: all.mad / per, ..all });
        let Self { workload, threads, .. } = self;
        let Set { degree, word_bits, name } = set;
        let isa = isa();
        let note = if right { "" } else { "wrong result: no time" };
        println!(
            r#"{{"suite":"tfhe","op":"{op}","library":"tfhe-rs","version":"{VERSION}","n":{degree},"limbs":1,"log_qp":{word_bits},"special":0,"dnum":0,"slots":0,"security":"128","isa":"{isa}","threads":{threads},{},"peak_rss_bytes":{},"note":"{note}","set":"{name}","workload":"{workload}","batch":{batch}}}"#,
            Timing::fields(timing),
            peak_rss()
        );
    }
}

/// The instruction set that TFHE-rs was built for, or has here.
pub fn isa() -> &'static str {
    let avx2 = !cfg!(feature = "avx512") && is_x86_feature_detected!("avx2");
    if avx2 {
        "avx2"
    } else if is_x86_feature_detected!("avx512f") {
        "avx512"
    } else {
        "native"
    }
}
