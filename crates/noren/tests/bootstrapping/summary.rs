//! A summary of the log of the full sets: for each a line with the expected figures and the measured ones.

use std::fs;

use noren::Security;
use noren::bootstrapping::{BootstrapPlan, Mode, Preset};

/// How many bootstraps the probability of failure is stated for.
const PROGRAM: u64 = 100;

/// The worst error so far.
#[derive(Default)]
pub struct Summary {
    worst: f64,
}

impl Summary {
    /// Hears of the error of a result.
    pub fn add(&mut self, error: f64) {
        self.worst = self.worst.max(error);
    }

    /// Says all of a preset.
    pub fn print(&self, preset: Preset) {
        let parameters = preset.parameters().expect("a preset");
        let plan = BootstrapPlan::new(&parameters).expect("a plan");
        let spec = parameters.spec();
        let security = if spec.security == Security::Bits128 { "128 bits" } else { "no security" };
        println!(
            "== {preset}: every key {security}, log QP {}; {} levels of {} bits; failure of {PROGRAM} 2^{:.1}; worst slot \
             2^{:.1}, 2^-{:.1} expected; keys {:.2} GiB; memory {:.2} GiB expected, most so far {}",
            parameters.log_qp(),
            parameters.levels_left(),
            spec.application.bits,
            plan.log2_failure(PROGRAM),
            self.worst.log2(),
            plan.precision_bits(Mode::Complex),
            gibibytes(plan.key_bytes()),
            gibibytes(plan.memory_bytes()),
            peak(),
        );
    }

    /// Says the precision and the memory of a set that is no preset.
    #[cfg(feature = "papers")]
    pub fn print_named(&self, name: &str) {
        println!("== {name}: worst slot 2^{:.1}; most memory so far {}", self.worst.log2(), peak());
    }
}

fn gibibytes(bytes: u64) -> f64 {
    bytes as f64 / (1u64 << 30) as f64
}

/// The most memory that the process has held, if the system tells.
fn peak() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    let kibibytes = line.and_then(|number| number.parse::<u64>().ok());
    kibibytes.map_or_else(|| "unknown".to_owned(), |peak| format!("{:.2} GiB", gibibytes(peak << 10)))
}
