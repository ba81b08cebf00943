//! The suite `rns-heaan`: bootstrapping as it was first done in RNS, by the same records as the suite `bootstrap`.

use std::collections::BTreeMap;
use std::time::Instant;

use noren::bootstrapping::rns_heaan::{Bootstrapper, ParametersSpec, RnsHeaanPlan, Stage};
use noren::ckks::{Context, Decryptor, Encoder, Encryptor};
use serde_json::{Value, json};

use crate::bench::bootstrap::{LEAST_SAMPLES, Messages, PROGRAM, errors, messages, nanoseconds};
use crate::bench::ckks::seed;
use crate::bench::measure::Timing;
use crate::bench::record::Record;
use crate::bench::run::Run;
use crate::failure::Failure;
use crate::machine;

/// The name of the set, and what its messages are.
const SET: &str = "rns-heaan";

/// The double level of the messages: one above the lowest, so that their scale can be chosen.
const INPUT: usize = 1;

/// The sets of these degrees: the published one, or the small one for tests.
pub(super) fn sets(degrees: &[u32]) -> Result<Vec<ParametersSpec>, Failure> {
    let degrees = if degrees.is_empty() { &[16] } else { degrees };
    let set = |log_n: &u32| match log_n {
        10 => Ok(ParametersSpec::toy()),
        16 => Ok(ParametersSpec::published()),
        _ => Err(Failure::Unsuitable { what: "--log-n", found: log_n.to_string(), needed: "10 or 16".to_owned() }),
    };
    degrees.iter().map(set).collect()
}

/// Measures a set with each number of threads.
pub(super) fn run(run: &Run<'_>, spec: ParametersSpec) -> Result<(), Failure> {
    let parameters = spec.build()?;
    let plan = RnsHeaanPlan::new(&parameters);
    for &threads in run.threads {
        machine::reset_peak_rss();
        let record = |op, timing, note| {
            let record = Record::of_scheme("rns-heaan", op, parameters.ckks(), threads, timing, note);
            let record = record.with("set", SET).with("mode", Messages::Complex.name());
            record.with("secure_log_qp", parameters.secure_log_qp())
        };
        let start = Instant::now();
        let context = Context::with_threads(parameters.ckks().clone(), Some(threads))?;
        let context_time = start.elapsed();
        let start = Instant::now();
        let keys = context.generate_keys(seed(0), &parameters.key_request())?;
        let keys_time = start.elapsed();
        let start = Instant::now();
        let bootstrapper = Bootstrapper::new(&context, &parameters, keys.evaluation.clone())?;
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
    }
    Ok(())
}
