//! The suite `bootstrap`: set-up, one bootstrap and its stages, and how exact it is for every kind of message.

use std::collections::BTreeMap;
use std::f64::consts::FRAC_1_SQRT_2;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use noren::bootstrapping::{
    BootstrapKeyFile, BootstrapKeys, BootstrapPlan, Bootstrapper, Mode, Parameters, Preset, Stage,
};
use noren::ckks::{Context, Decryptor, Encoder, Encryptor, KeyRequest};
use noren::security::max_log_qp;
use noren::{Complex64, Parallel};
use noren_cli::measure::{After, Failure, LEAST_SAMPLES, Record, Run, Timing, nanoseconds, reset_peak_rss, seed};
use noren_rlwe::keys::SecretKey;
use serde_json::{Value, json};

use crate::sharing::{self, Sharing};

/// The number of bootstraps of the program whose failure probability is shown.
pub(crate) const PROGRAM: u64 = 100;
/// Knuth's generator for 64 bits, which peers have too; its upper bits are the good ones.
const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
const INCREMENT: u64 = 1_442_695_040_888_963_407;

/// The options of the suite.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The name of the parameters, such as n16, n15 or toy
    #[arg(long, value_name = "NAME", default_value_t)]
    preset: Preset,
    /// The base-two logarithm of the number of slots [default: all of the preset]
    #[arg(long, value_name = "BITS")]
    log_slots: Option<u32>,
    /// The kind of messages [default: both]
    #[arg(long, value_enum, value_name = "MODE,...", value_delimiter = ',')]
    mode: Vec<Messages>,
    /// In which ways threads share out loops [default: both, not named in records]
    #[arg(long, value_name = "WAY,...", value_delimiter = ',', value_parser = sharing::parser())]
    parallel: Vec<Parallel>,
}

impl Options {
    /// Measures the suite, and says after each step which it was.
    pub(crate) fn run(&self, run: &Run<'_>, after: &mut After<'_>) -> Result<(), Failure> {
        let preset = self.preset;
        let modes = if self.mode.is_empty() { Messages::value_variants() } else { &self.mode[..] };
        measure(run, preset, &parameters(preset, self.log_slots)?, modes, &Sharing::of(&self.parallel))?;
        for mode in modes {
            after(&[("--suite", "bootstrap"), ("--preset", preset.name()), ("--mode", mode.name())])?;
        }
        Ok(())
    }
}

/// The numbers of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Messages {
    /// Complex numbers
    Complex,
    /// Real numbers: one exponential instead of two
    Real,
}

impl Messages {
    /// The name, as the option has it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Complex => "complex",
            Self::Real => "real",
        }
    }

    const fn mode(self) -> Mode {
        match self {
            Self::Complex => Mode::Complex,
            Self::Real => Mode::Real,
        }
    }
}

/// A kind of message.
pub(crate) struct Message {
    pub(crate) name: &'static str,
    pub(crate) values: Vec<Complex64>,
}

/// The objects that are made once for a number of threads.
struct Setting<'a> {
    preset: Preset,
    plan: &'a BootstrapPlan,
    disk_bytes: u64,
    context: Context,
    secret: &'a SecretKey,
    keys: Arc<BootstrapKeys>,
    threads: usize,
    sharing: Sharing,
    context_time: Duration,
    keys_time: Duration,
}

/// Precision in bits: of the worst slot, and of the root of the mean square.
struct Precision {
    worst: f64,
    rms: f64,
}

/// The parameters of a preset, for all its slots or fewer.
pub(crate) fn parameters(preset: Preset, log_slots: Option<u32>) -> Result<Parameters, Failure> {
    let spec = preset.spec();
    Ok(preset.spec_for(log_slots.unwrap_or(spec.log_slots))?.build()?)
}

/// Measures the parameters of a preset with each number of threads, in each way to share out loops, in each mode.
fn measure(
    run: &Run<'_>,
    preset: Preset,
    parameters: &Parameters,
    modes: &[Messages],
    sharings: &[Sharing],
) -> Result<(), Failure> {
    let plan = BootstrapPlan::new(parameters)?;
    let settings = run.threads.iter().flat_map(|&threads| sharings.iter().map(move |&sharing| (threads, sharing)));
    for (threads, sharing) in settings {
        reset_peak_rss();
        let start = Instant::now();
        let context = Context::with_parallel(parameters.ckks()?, Some(threads), sharing.way())?;
        let context_time = start.elapsed();
        let start = Instant::now();
        let main = context.generate_keys(seed(0), &KeyRequest::default())?;
        let keys = Arc::new(BootstrapKeys::generate(&context, parameters, &main.secret, seed(1), None)?);
        let keys_time = start.elapsed();
        let disk_bytes = BootstrapKeyFile::planned_bytes(&context, parameters, &KeyRequest::default())?;
        let (plan, secret) = (&plan, &main.secret);
        let setting =
            Setting { preset, plan, disk_bytes, context, secret, keys, threads, sharing, context_time, keys_time };
        for &mode in modes {
            setting.measure(run, parameters, mode)?;
        }
    }
    Ok(())
}

impl Setting<'_> {
    /// Encodes the matrices, and bootstraps every kind of message.
    fn measure(&self, run: &Run<'_>, parameters: &Parameters, mode: Messages) -> Result<(), Failure> {
        let start = Instant::now();
        let bootstrapper = Bootstrapper::new(&self.context, parameters, Arc::clone(&self.keys), mode.mode())?;
        let matrices_time = start.elapsed();
        let setup = self.context_time + self.keys_time + matrices_time;
        let record = self.record("setup", mode, Some(Timing::of(&mut [nanoseconds(setup)])), "");
        let record = record
            .with("context_ns", nanoseconds(self.context_time))
            .with("keys_ns", nanoseconds(self.keys_time))
            .with("matrices_ns", nanoseconds(matrices_time))
            .with("key_bytes", self.plan.key_bytes())
            .with("disk_bytes", self.disk_bytes)
            .with("factor_bytes", self.plan.factor_bytes());
        run.report(&record)?;

        let (slots, input) = (parameters.slots(), parameters.input_level());
        let scale = self.context.parameters().scale_at(input);
        let encoder = Encoder::new(&self.context);
        let encryptor = Encryptor::symmetric(&self.context, self.secret, seed(2))?;
        let decryptor = Decryptor::new(&self.context, self.secret)?;
        let messages = messages(slots, mode);
        let mut right = true;
        let mut precision = BTreeMap::new();
        let (mut first, mut times) = (None, Vec::new());
        let mut stages: Vec<(Stage, Vec<f64>)> = Vec::new();
        let mut output = input;
        let begin = Instant::now();
        for message in messages.iter().cycle() {
            let enough = times.len() >= LEAST_SAMPLES && begin.elapsed().as_secs_f64() >= run.seconds;
            if precision.len() == messages.len() && enough {
                break;
            }
            let low = encryptor.encrypt(&encoder.encode_complex(&message.values, slots, input, scale)?)?;
            let magnitude = low.magnitude();
            let low = if mode == Messages::Real { low.with_range(-magnitude, magnitude) } else { low };
            let (start, mut laps) = (Instant::now(), Vec::new());
            let high = bootstrapper.stages(&low, &mut |stage| laps.push((stage, Instant::now())))?.result;
            let time = nanoseconds(start.elapsed());

            let found = decryptor.decrypt_complex(&high)?;
            let (worst, rms) = errors(&found, &message.values);
            if worst > high.error_bound() || worst.is_nan() {
                let (name, bound) = (message.name, high.error_bound());
                run.warn(&format!("bootstrap, {name}: the result is off by {worst:e}, its bound is {bound:e}"));
                right = false;
            }
            precision.insert(message.name, Precision { worst: -worst.log2(), rms: -rms.log2() });
            output = high.level();
            if first.is_none() {
                first = Some(time);
                continue;
            }
            times.push(time);
            add_stages(&mut stages, start, &laps);
        }

        let spec = parameters.spec();
        let timing = right.then(|| Timing::of(&mut times));
        let note = "median over messages of all kinds";
        let least = |bits: fn(&Precision) -> f64| precision.values().map(bits).fold(f64::INFINITY, f64::min);
        let each: serde_json::Map<String, Value> =
            precision.iter().map(|(name, bits)| ((*name).to_owned(), json!([bits.worst, bits.rms]))).collect();
        let record = self.record("bootstrap", mode, timing, note);
        let record = record
            .with("first_ns", first.unwrap_or_default())
            .with("levels_left", output - input)
            .with("level_bits", self.context.parameters().scale_at(output).log2())
            .with("worst_bits", least(|bits| bits.worst))
            .with("rms_bits", least(|bits| bits.rms))
            .with("precision", each)
            .with("key_bytes", self.plan.key_bytes())
            .with("disk_bytes", self.disk_bytes)
            .with("log2_failure", self.plan.log2_failure(PROGRAM))
            .with("predicted_bits", self.plan.precision_bits(mode.mode()))
            .with("predicted_bytes", self.plan.memory_bytes())
            .with("secure_log_qp", max_log_qp(parameters.degree(), spec.secret, spec.security));
        run.report(&record)?;
        for (stage, mut times) in stages {
            let timing = right.then(|| Timing::of(&mut times));
            run.report(&self.record("stage", mode, timing, "").with("stage", stage.name()))?;
        }
        Ok(())
    }

    /// A record of this setting.
    fn record(&self, op: &'static str, mode: Messages, timing: Option<Timing>, note: &'static str) -> Record {
        let slots = self.plan.parameters().slots();
        let record = Record::of_scheme("bootstrap", op, self.context.parameters(), self.threads, timing, note);
        let record = Record { slots, ..record }.with("set", self.preset.name()).with("mode", mode.name());
        self.sharing.name(record)
    }
}

/// Adds what each stage of a call took. Of several iterations a stage has the sum.
fn add_stages(stages: &mut Vec<(Stage, Vec<f64>)>, start: Instant, laps: &[(Stage, Instant)]) {
    let calls = stages.first().map_or(0, |(_, times)| times.len());
    let mut last = start;
    for &(stage, over) in laps {
        let time = nanoseconds(over - last);
        last = over;
        match stages.iter_mut().find(|(known, _)| *known == stage) {
            None => stages.push((stage, vec![time])),
            Some((_, times)) if times.len() == calls => times.push(time),
            Some((_, times)) => *times.last_mut().expect("a stage has a time") += time,
        }
    }
}

/// The messages that every library bootstraps, of absolute values up to 1: all kinds, or the real ones.
pub(crate) fn messages(slots: usize, mode: Messages) -> Vec<Message> {
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    // Into the unit disk.
    let mut random = |_| Complex64::new(uniform() * FRAC_1_SQRT_2, uniform() * FRAC_1_SQRT_2);
    let complex: Vec<_> = (0..slots).map(&mut random).collect();
    let real: Vec<_> = (0..slots).map(|_| Complex64::new(uniform(), 0.0)).collect();
    let of = |name, value: &dyn Fn(usize) -> Complex64| Message { name, values: (0..slots).map(value).collect() };
    let mut all = vec![
        Message { name: "random real", values: real },
        of("constant 1", &|_| Complex64::ONE),
        of("one-hot", &|j| if j == slots / 3 { Complex64::ONE } else { Complex64::ZERO }),
        of("alternating", &|j| if j % 2 == 0 { Complex64::ONE } else { -Complex64::ONE }),
    ];
    if mode == Messages::Complex {
        all.insert(0, Message { name: "random complex", values: complex });
        all.push(of("constant i", &|_| Complex64::I));
    }
    all
}

/// The largest distance, and the root of the mean square.
pub(crate) fn errors(found: &[Complex64], expected: &[Complex64]) -> (f64, f64) {
    let distances = found.iter().zip(expected).map(|(x, y)| (x - y).norm());
    let (worst, sum) = distances.fold((0.0, 0.0), |(worst, sum): (f64, f64), d| {
        // A NaN stays.
        (if d <= worst || worst.is_nan() { worst } else { d }, sum + d * d)
    });
    (worst, (sum / found.len() as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_absolute_values_up_to_1_and_every_name_once() {
        for (mode, kinds) in [(Messages::Complex, 6), (Messages::Real, 4)] {
            let all = messages(48, mode);
            let names: std::collections::BTreeSet<_> = all.iter().map(|message| message.name).collect();
            assert_eq!(names.len(), kinds);
            for Message { name, values } in &all {
                assert_eq!(values.len(), 48, "{name}");
                assert!(values.iter().all(|x| x.norm() <= 1.0) && values.iter().any(|x| x.norm() > 0.5), "{name}");
                assert!(mode == Messages::Complex || values.iter().all(|x| x.im == 0.0), "{name}");
            }
        }
    }

    #[test]
    fn stages_of_several_iterations_are_added() {
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        let (raise, series) = (Stage::Raise, Stage::Series);
        let mut stages = Vec::new();
        let calls =
            [[(raise, 1), (series, 3), (raise, 7), (series, 15)], [(raise, 2), (series, 3), (raise, 4), (series, 5)]];
        for call in calls {
            add_stages(&mut stages, start, &call.map(|(stage, ms)| (stage, after(ms))));
        }
        let milliseconds = |times: &[f64]| times.iter().map(|ns| (ns / 1e6).round() as u64).collect::<Vec<_>>();
        let found: Vec<_> = stages.iter().map(|(stage, times)| (*stage, milliseconds(times))).collect();
        assert_eq!(found, [(raise, vec![5, 3]), (series, vec![10, 2])]);
    }

    #[test]
    fn errors_are_the_largest_and_the_root_of_the_mean_square() {
        let x = |re, im| Complex64::new(re, im);
        let (worst, rms) = errors(&[x(1.0, 0.0), x(0.0, 3.0)], &[x(1.0, 1.0), x(4.0, 0.0)]);
        assert_eq!((worst, rms), (5.0, 13f64.sqrt()));
        assert!(errors(&[x(f64::NAN, 0.0), x(1.0, 0.0)], &[x(0.0, 0.0); 2]).0.is_nan());
    }
}
