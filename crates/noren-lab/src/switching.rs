//! The suite `switching`: numbers of CKKS become samples of TFHE, are decided there, and come back.

use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use noren::Complex64;
use noren::bootstrapping::{self, BootstrapKeys, BootstrapPlan, Bootstrapper, Mode, Preset};
use noren::ckks::{Ciphertext, Context, Decryptor, Encoder, Encryptor, KeyRequest};
use noren::switching::{self, Readout, SchemeSwitch};
use noren::tfhe;
use noren_cli::measure::{After, Failure, Record, Run, Timing, nanoseconds, reset_peak_rss, seed, time};
use noren_rlwe::keys::SecretKey;

use crate::bootstrap::{Messages, messages, parameters};

/// The base-two logarithm of few values.
const FEW: u32 = 4;
/// The set of TFHE, and that of rings without security.
const TFHE: &str = "2_2";
const TOY: &str = "TOY_SWITCH";
/// The most values that are bootstrapped one by one: more take minutes.
const DECIDED: usize = 256;
/// The part of the circle that a value of 1 is, on the way that no bootstrap is on.
const PART: f64 = 0.2;

/// The options of the suite.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The name of the parameters, such as n16, n15 or toy
    #[arg(long, value_name = "NAME", default_value_t)]
    preset: Preset,
    /// The base-two logarithm of the number of slots [default: 4, and all of the preset]
    #[arg(long, value_name = "BITS")]
    log_slots: Option<u32>,
}

impl Options {
    /// Measures the suite, and says after each step which it was.
    pub(crate) fn run(&self, run: &Run<'_>, after: &mut After<'_>) -> Result<(), Failure> {
        let all = self.preset.spec().log_slots;
        for log_slots in self.log_slots.map_or(vec![FEW.min(all), all], |log_slots| vec![log_slots]) {
            measure(run, self.preset, &parameters(self.preset, Some(log_slots))?)?;
            after(&[("--suite", "switching"), ("--log-slots", &log_slots.to_string())])?;
        }
        Ok(())
    }
}

/// The objects that are made once for a number of threads.
struct Setting<'a> {
    preset: Preset,
    plan: &'a BootstrapPlan,
    context: Context,
    secret: SecretKey,
    switch: SchemeSwitch,
    threads: usize,
    values: Vec<f64>,
}

/// Measures the parameters of a preset with each number of threads.
fn measure(run: &Run<'_>, preset: Preset, parameters: &bootstrapping::Parameters) -> Result<(), Failure> {
    let plan = BootstrapPlan::new(parameters)?;
    let torus = tfhe::Preset::named(if preset == Preset::Toy { TOY } else { TFHE })?.parameters()?;
    for &threads in run.threads {
        reset_peak_rss();
        let start = Instant::now();
        let context = Context::with_threads(parameters.ckks()?, Some(threads))?;
        let tfhe = tfhe::Context::with_threads(torus.clone(), Some(threads))?;
        let both = switching::Context::new(&switching::Parameters::new(parameters, &torus)?, &context, &tfhe)?;
        let context_time = start.elapsed();
        let start = Instant::now();
        let main = context.generate_keys(seed(0), &KeyRequest::default())?;
        let keys = Arc::new(BootstrapKeys::generate(&context, parameters, &main.secret, seed(1), None)?);
        let bootstrap_time = start.elapsed();
        let start = Instant::now();
        let samples = tfhe.generate_keys(seed(3))?;
        let tfhe_time = start.elapsed();
        let start = Instant::now();
        let compact = both.generate_keys(&main.secret, &samples.secret, &seed(4))?;
        let between = Arc::new(both.expand(&compact)?);
        let switch_time = start.elapsed();
        let bytes = (compact.bytes(), between.bytes(), samples.server.bytes());
        let bootstrapper = Arc::new(Bootstrapper::new(&context, parameters, keys, Mode::Real)?);
        let evaluator = tfhe::Evaluator::new(&tfhe, samples.server.clone())?;
        let switch = SchemeSwitch::new(&both, bootstrapper, &evaluator, between)?;
        let values = messages(parameters.slots(), Messages::Real).remove(0).values.iter().map(|z| z.re).collect();
        let setting = Setting { preset, plan: &plan, context, secret: main.secret, switch, threads, values };

        let setup = context_time + bootstrap_time + tfhe_time + switch_time;
        let record = setting.record("setup", Some(Timing::of(&mut [nanoseconds(setup)])), "");
        let record = record
            .with("context_ns", nanoseconds(context_time))
            .with("bootstrap_keys_ns", nanoseconds(bootstrap_time))
            .with("tfhe_keys_ns", nanoseconds(tfhe_time))
            .with("switch_keys_ns", nanoseconds(switch_time))
            .with("switch_key_bytes", bytes.1)
            .with("switch_disk_bytes", bytes.0)
            .with("tfhe_key_bytes", bytes.2)
            .with("bootstrap_key_bytes", plan.key_bytes());
        run.report(&record)?;
        setting.measure(run)?;
    }
    Ok(())
}

impl Setting<'_> {
    fn measure(&self, run: &Run<'_>) -> Result<(), Failure> {
        let x = self.encrypt()?;
        let values = self.values.len();

        let there = self.switch.down(&x, PART)?;
        let back = self.switch.up(&there, Readout::Real)?;
        let sine = |z: &f64| (std::f64::consts::TAU * PART * z).sin();
        let (worst, rms) = self.errors(&back, sine)?;
        let right = self.check(run, "up", worst, back.error_bound());
        let down = time(run.seconds, 1.0, || self.switch.down(&x, PART).map(drop))?;
        run.report(&self.record("down", right.then_some(down), "to samples, all values"))?;
        let up = time(run.seconds, 1.0, || self.switch.up(&there, Readout::Real).map(drop))?;
        let record = self.record("up", right.then_some(up), "packing to slots, all values");
        run.report(&record.with("worst_bits", -worst.log2()).with("rms_bits", -rms.log2()))?;
        if values > DECIDED {
            return Ok(());
        }

        let decision = self.switch.sign(&x)?;
        let dead_zone = decision.dead_zone;
        let (worst, rms) =
            self.errors(&decision.result, |z| if z.abs() < dead_zone { f64::NAN } else { z.signum() })?;
        let right = self.check(run, "sign", worst, decision.result.error_bound());
        let signs = time(run.seconds, 1.0, || self.switch.signs(&self.switch.down(&x, 0.45)?).map(drop))?;
        run.report(&self.record("down_sign", right.then_some(signs), "to samples and one bootstrap each"))?;
        let sign = time(run.seconds, 1.0, || self.switch.sign(&x).map(drop))?;
        let record = self.record("sign", right.then_some(sign), "down, one bootstrap each, up");
        let law = self.switch.law();
        let record = record
            .with("worst_bits", -worst.log2())
            .with("rms_bits", -rms.log2())
            .with("bound_bits", -decision.result.error_bound().log2())
            .with("dead_zone", dead_zone)
            .with("log2_failure", decision.log2_failure)
            .with("decision_bits", -law.decision.log2())
            .with("levels_left", decision.result.level() - x.level());
        run.report(&record)
    }

    fn encrypt(&self) -> Result<Ciphertext, Failure> {
        let parameters = self.plan.parameters();
        let values: Vec<Complex64> = self.values.iter().copied().map(Complex64::from).collect();
        let level = parameters.input_level();
        let scale = self.context.parameters().scale_at(level);
        let plaintext = Encoder::new(&self.context).encode_complex(&values, values.len(), level, scale)?;
        let encryptor = Encryptor::symmetric(&self.context, &self.secret, seed(2))?;
        Ok(encryptor.encrypt(&plaintext)?.with_range(-1.0, 1.0))
    }

    /// The largest error and the root of the mean square; values for which nothing is expected are left out.
    fn errors(&self, result: &Ciphertext, expected: impl Fn(&f64) -> f64) -> Result<(f64, f64), Failure> {
        let found = Decryptor::new(&self.context, &self.secret)?.decrypt_real(result)?;
        let errors = found.iter().zip(&self.values).map(|(found, z)| (found - expected(z)).abs());
        let errors: Vec<f64> = errors.filter(|error| !error.is_nan()).collect();
        let squares: f64 = errors.iter().map(|error| error * error).sum();
        Ok((errors.iter().copied().fold(0.0, f64::max), (squares / errors.len() as f64).sqrt()))
    }

    /// Whether a result is within its bound.
    fn check(&self, run: &Run<'_>, name: &str, worst: f64, bound: f64) -> bool {
        if worst > bound {
            run.warn(&format!("switching, {name}: the result is off by {worst:e}, its bound is {bound:e}"));
        }
        worst <= bound
    }

    /// A record of this setting.
    fn record(&self, op: &'static str, timing: Option<Timing>, note: &'static str) -> Record {
        let record = Record::of_scheme("switching", op, self.context.parameters(), self.threads, timing, note);
        Record { slots: self.values.len(), ..record }.with("set", self.preset.name()).with("values", self.values.len())
    }
}
