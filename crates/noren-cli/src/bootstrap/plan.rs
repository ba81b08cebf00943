//! `noren plan --bootstrap`: what bootstrapping costs and risks, before any key exists.

use std::fmt;
use std::path::Path;

use clap::Args;
use noren::Resources;
use noren::bootstrapping::{BootstrapPlan, Footprint, Mode, Parameters, Preset};
use noren::cost::{Machine, Party};
use noren::error::short_fingerprint;
use serde::Serialize;

use crate::console::Console;
use crate::describe::keys::KeyRow;
use crate::describe::words::{available, bytes, count};
use crate::failure::Failure;
use crate::given::{CHOSEN, Given};
use crate::switching::plan as switching;

/// Options of a plan for bootstrapping.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlanOptions {
    pub(crate) preset: Preset,
    pub(crate) slots: Option<usize>,
    pub(crate) mode: Mode,
    /// Keys for scheme switching besides.
    pub(crate) switching: Option<switching::PlanOptions>,
}

/// The plan in words and numbers.
#[derive(Debug, Serialize)]
pub(crate) struct PlanReport {
    preset: String,
    fingerprint: String,
    log_n: u32,
    slots: usize,
    mode: &'static str,
    log_q: u32,
    /// With the special primes: the modulus of the largest key.
    log_qp: u32,
    digits: usize,
    /// The levels that a ciphertext must have, and those that it has afterwards.
    input_level: usize,
    output_level: usize,
    /// Multiplications between two bootstraps.
    levels_left: usize,
    iterations: usize,
    security_bits: u32,
    keys: Vec<KeyRow>,
    /// In memory, with the encoded matrices.
    key_bytes: u64,
    matrix_bytes: u64,
    peak_bytes: u64,
    /// The memory of key generation.
    keygen_bytes: u64,
    disk_bytes: u64,
    available_memory: Option<u64>,
    available_disk: Option<u64>,
    /// Bits of a message of size 1 that are expected to be right in the worst slot.
    precision_bits: f64,
    /// The largest error of a message of size 1 with exact arithmetic, all iterations together.
    systematic_error: f64,
    /// Base-two logarithms of bounds on the probability that some slot is wrong.
    log2_failure: Failures,
    /// Of one bootstrap on this machine: with one thread, and with all.
    times: Vec<Expected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    switching: Option<switching::PlanReport>,
}

/// A time that is expected.
#[derive(Debug, Serialize)]
struct Expected {
    threads: usize,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct Failures {
    one: f64,
    hundred: f64,
}

/// Its own options of `plan`.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct BootstrapOptions {
    /// Bootstrapping with these parameters
    #[arg(long, value_name = "PRESET", value_parser = parse_preset)]
    bootstrap: Option<Preset>,
    /// The number of complex slots that are bootstrapped, a power of two [default: all of the ring]
    #[arg(long, value_name = "COUNT", conflicts_with = "lookup")]
    slots: Option<usize>,
    /// The kind of messages: complex or real numbers, or complex ones with both parts side by side in few slots
    #[arg(long, value_name = "MODE", default_value = "complex", value_parser = parse_mode, conflicts_with = "lookup")]
    mode: Mode,
}

/// Prints the plan, for files in this directory.
pub(super) fn run(given: &Given, directory: &Path, console: &Console) -> Result<(), Failure> {
    let BootstrapOptions { bootstrap, slots, mode } = given.own();
    let switching::SwitchingOption { switching } = given.own();
    let switching = switching.map(|set| switching::PlanOptions { set, tables: None });
    let options = PlanOptions { preset: bootstrap.expect(CHOSEN), slots, mode, switching };
    console.plan_alone(&PlanReport::new(&options, &options.parameters()?, directory)?)
}

impl PlanOptions {
    /// The parameters for the number of slots.
    pub(crate) fn parameters(&self) -> Result<Parameters, Failure> {
        let spec = match self.slots {
            None => self.preset.spec(),
            Some(slots) if slots.is_power_of_two() => self.preset.spec_for(slots.ilog2())?,
            Some(slots) => {
                let needed = "a power of two".to_owned();
                return Err(Failure::Unsuitable { what: "--slots", found: slots.to_string(), needed });
            }
        };
        Ok(spec.build()?)
    }
}

impl PlanReport {
    /// The plan of these parameters, for keys that are written to this directory or one in it.
    pub(crate) fn new(options: &PlanOptions, parameters: &Parameters, directory: &Path) -> Result<Self, Failure> {
        let switching =
            options.switching.map(|options| switching::PlanReport::new(&options, parameters)).transpose()?;
        let plan = BootstrapPlan::new(parameters)?;
        let spec = parameters.spec();
        let keys = plan.keys().iter().map(|class| KeyRow::new(class.role.name(), class, spec.security));
        let generate = Footprint::generate(parameters)?;
        let found = Resources::of_machine(directory);
        let mode = options.mode;
        mode.check(parameters)?;
        let time = |threads| {
            let seconds = plan.seconds(mode, &Party::new(Machine::without_measuring(), threads))?;
            Ok(Expected { threads, seconds })
        };
        let mut threads = vec![1, rayon::current_num_threads()];
        threads.dedup();
        let times = threads.into_iter().map(time).collect::<noren::Result<_>>()?;
        Ok(Self {
            preset: options.preset.to_string(),
            fingerprint: short_fingerprint(&parameters.fingerprint()),
            log_n: spec.log_n,
            slots: parameters.slots(),
            mode: mode.name(),
            log_q: parameters.log_q().iter().sum(),
            log_qp: parameters.log_qp(),
            digits: parameters.gadget().digits().len(),
            input_level: parameters.input_level(),
            output_level: parameters.output_level(),
            levels_left: parameters.levels_left(),
            iterations: spec.iterations,
            security_bits: spec.security.bits(),
            keys: keys.collect(),
            key_bytes: plan.key_bytes(),
            matrix_bytes: plan.factor_bytes(),
            peak_bytes: Footprint::bootstrap(parameters)?.memory,
            keygen_bytes: generate.memory,
            disk_bytes: generate.disk,
            available_memory: found.memory,
            available_disk: found.disk,
            precision_bits: plan.precision_bits(mode),
            systematic_error: plan.systematic_error(mode),
            log2_failure: Failures { one: plan.log2_failure(1), hundred: plan.log2_failure(100) },
            times,
            switching,
        })
    }
}

impl fmt::Display for PlanReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (digits, levels) = (count(self.digits, "digit"), count(self.levels_left, "level"));
        let numbers = if self.mode == Mode::Real.name() { "real" } else { "complex" };
        let beside = if self.mode == Mode::Paired.name() { ", parts side by side" } else { "" };
        writeln!(f, "bootstrapping  {}, {} slots of {numbers} numbers{beside}", self.preset, self.slots)?;
        writeln!(
            f,
            "ring           n = 2^{}; q: {} bits, with special primes {}; {digits}",
            self.log_n, self.log_q, self.log_qp
        )?;
        writeln!(
            f,
            "levels         takes level {}, gives {}: {levels} to compute with",
            self.input_level, self.output_level
        )?;
        match self.security_bits {
            0 => writeln!(f, "security       NONE was asked for: for tests only")?,
            bits => writeln!(f, "security       {bits} bits, checked for each key")?,
        }
        self.keys.iter().try_for_each(|key| writeln!(f, "  {key}"))?;
        let (keys, matrices) = (bytes(self.key_bytes as f64), bytes(self.matrix_bytes as f64));
        let (peak, memory) = (bytes(self.peak_bytes as f64), available(self.available_memory));
        writeln!(f, "memory         keys {keys}, matrices {matrices}, about {peak} in all{memory}")?;
        let (disk, room) = (bytes(self.disk_bytes as f64), available(self.available_disk));
        writeln!(f, "key files      about {disk}{room}, made in about {} of memory", bytes(self.keygen_bytes as f64))?;
        let (bits, exact) = (self.precision_bits, self.systematic_error.log2());
        writeln!(f, "precision      about 2^-{bits:.1} in the worst slot; 2^{exact:.1} with exact arithmetic")?;
        let Failures { one, hundred } = self.log2_failure;
        writeln!(f, "failure        below 2^{one:.0} for one bootstrap, 2^{hundred:.0} for 100")?;
        let time = |time: &Expected| format!("{:.2} s with {}", time.seconds, count(time.threads, "thread"));
        let times = self.times.iter().map(time).collect::<Vec<_>>().join(", ");
        writeln!(f, "time           about {times}, by a model of this machine")?;
        write!(f, "fingerprint    {}", self.fingerprint)?;
        self.switching.iter().try_for_each(|switching| write!(f, "\n{switching}"))
    }
}

/// A preset by its name.
pub(super) fn parse_preset(text: &str) -> Result<Preset, String> {
    text.parse().map_err(|error: noren::Error| error.to_string())
}

/// A mode by its name.
pub(super) fn parse_mode(text: &str) -> Result<Mode, String> {
    text.parse().map_err(|error: noren::Error| error.to_string())
}
