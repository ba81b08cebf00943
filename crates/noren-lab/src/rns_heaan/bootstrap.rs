//! Bootstrapping as it was first done in RNS, by the same records as the suite `bootstrap`.

use std::collections::BTreeMap;
use std::time::Instant;

use noren::bootstrapping::rns_heaan::{Bootstrapper, ParametersSpec, RnsHeaanPlan, Stage};
use noren::ckks::{Context, Decryptor, Encoder, Encryptor};
use noren_cli::measure::{Failure, LEAST_SAMPLES, Run, Timing, nanoseconds, reset_peak_rss, seed};
use serde_json::{Value, json};

use crate::bootstrap::{Messages, PROGRAM, errors, messages};
use crate::rns_heaan::operations;
use crate::rns_heaan::sets::Setting;
use crate::sharing::Sharing;

/// The double level of the messages: one above the lowest, so that their scale can be chosen.
const INPUT: usize = 1;

/// Measures a set with each number of threads, in each way to share out loops.
pub(super) fn measure(run: &Run<'_>, spec: ParametersSpec, sharings: &[Sharing]) -> Result<(), Failure> {
    let parameters = spec.build()?;
    for &threads in run.threads {
        for &sharing in sharings {
            measure_in(run, &Setting { parameters: &parameters, threads, sharing })?;
        }
    }
    Ok(())
}

/// Measures operations, set-up and bootstrapping in one setting.
fn measure_in(run: &Run<'_>, setting: &Setting<'_>) -> Result<(), Failure> {
    reset_peak_rss();
    let parameters = setting.parameters;
    let plan = RnsHeaanPlan::new(parameters);
    let record = |op, timing, note| setting.record(op, timing, note).with("mode", Messages::Complex.name());
    let start = Instant::now();
    let context = Context::with_parallel(parameters.ckks().clone(), Some(setting.threads), setting.sharing.way())?;
    let context_time = start.elapsed();
    operations::run(run, setting, &context)?;
    let start = Instant::now();
    let keys = context.generate_keys(seed(0), &parameters.key_request())?;
    let keys_time = start.elapsed();
    let start = Instant::now();
    let bootstrapper = Bootstrapper::new(&context, parameters, keys.evaluation.clone())?;
    let matrices_time = start.elapsed();
    let setup = record("setup", Some(Timing::of(&mut [nanoseconds(context_time + keys_time + matrices_time)])), "");
    let setup = setup
        .with("context_ns", nanoseconds(context_time))
        .with("keys_ns", nanoseconds(keys_time))
        .with("matrices_ns", nanoseconds(matrices_time))
        .with("key_bytes", plan.key_bytes())
        .with("factor_bytes", plan.factor_bytes());
    run.report(&setup)?;

    let slots = parameters.slots();
    let encoder = Encoder::new(&context);
    let encryptor = Encryptor::symmetric(&context, &keys.secret, seed(2))?;
    let decryptor = Decryptor::new(&context, &keys.secret)?;
    let messages = messages(slots, Messages::Complex);
    let (mut right, mut first, mut times) = (true, None, Vec::new());
    let mut precision = BTreeMap::new();
    let mut stages: Vec<(Stage, Vec<f64>)> = Vec::new();
    let begin = Instant::now();
    for message in messages.iter().cycle() {
        let enough = times.len() >= LEAST_SAMPLES && begin.elapsed().as_secs_f64() >= run.seconds;
        if precision.len() == messages.len() && enough {
            break;
        }
        let low = encoder.encode_complex(&message.values, slots, 2 * INPUT + 1, parameters.scale_at(INPUT))?;
        let low = encryptor.encrypt(&low)?;
        let (start, mut laps) = (Instant::now(), Vec::new());
        let high = bootstrapper.stages(&low, &mut |stage| laps.push((stage, Instant::now())))?.result;
        let time = nanoseconds(start.elapsed());

        let (worst, rms) = errors(&decryptor.decrypt_complex(&high)?, &message.values);
        if worst > high.error_bound() || worst.is_nan() {
            let (name, bound) = (message.name, high.error_bound());
            run.warn(&format!("rns-heaan, {name}: the result is off by {worst:e}, its bound is {bound:e}"));
            right = false;
        }
        precision.insert(message.name, [-worst.log2(), -rms.log2()]);
        if first.is_none() {
            first = Some(time);
            continue;
        }
        times.push(time);
        let mut last = start;
        for (i, (stage, over)) in laps.into_iter().enumerate() {
            if i == stages.len() {
                stages.push((stage, Vec::new()));
            }
            stages[i].1.push(nanoseconds(over - last));
            last = over;
        }
    }

    let timing = right.then(|| Timing::of(&mut times));
    let least = |i: usize| precision.values().map(|bits: &[f64; 2]| bits[i]).fold(f64::INFINITY, f64::min);
    let each: serde_json::Map<String, Value> =
        precision.iter().map(|(name, bits)| ((*name).to_owned(), json!(bits))).collect();
    let whole = record("bootstrap", timing, "median over messages of all kinds")
        .with("first_ns", first.unwrap_or_default())
        .with("levels_left", parameters.output_level())
        .with("level_bits", parameters.scale_at(parameters.output_level()).log2())
        .with("worst_bits", least(0))
        .with("rms_bits", least(1))
        .with("precision", each)
        .with("log2_failure", plan.log2_failure(PROGRAM));
    run.report(&whole)?;
    for (stage, mut times) in stages {
        let timing = right.then(|| Timing::of(&mut times));
        run.report(&record("stage", timing, "").with("stage", stage.name()))?;
    }
    Ok(())
}
