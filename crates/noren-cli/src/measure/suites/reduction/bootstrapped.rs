//! CKKS with bootstrapping: products in a row that are more than there are levels.

use std::sync::Arc;
use std::time::Instant;

use noren::bootstrapping::{BootstrapKeys, Bootstrapper, Mode, Preset, WithBootstrapping};
use noren::circuits::product::sequential;
use noren::ckks::{Context, Decryptor, Encoder, Encryptor, Evaluator, KeyRequest};

use crate::failure::Failure;
use crate::machine;
use crate::measure::judge::seed;
use crate::measure::record::Record;
use crate::measure::suites::reduction::task::{Fields, Task};
use crate::measure::suites::reduction::values::{reals, reduced};
use crate::measure::timing;
use crate::measure::timing::nanoseconds;

/// The parameters: all 2^15 slots, as the comparison has.
const PRESET: Preset = Preset::N16;

/// Measures a product, with real numbers in all slots.
pub(super) fn run(task: &Task<'_>) -> Result<(), Failure> {
    machine::reset_peak_rss();
    let case = task.case;
    let parameters = PRESET.parameters()?;
    let (slots, level) = (parameters.slots(), parameters.output_level());
    let context = Context::with_threads(parameters.ckks()?, Some(task.threads))?;
    let start = Instant::now();
    let request = KeyRequest { relinearization: true, rotations: vec![1], level: Some(level), ..KeyRequest::default() };
    let keys = context.generate_keys(seed(0), &request)?;
    let bootstrap = BootstrapKeys::generate(&context, &parameters, &keys.secret, seed(2), None)?;
    let keys_ns = nanoseconds(start.elapsed());
    let bootstrapper = Arc::new(Bootstrapper::new(&context, &parameters, Arc::new(bootstrap), Mode::Real)?);
    let evaluator = Evaluator::new(&context, keys.evaluation.clone())?;
    let values = reals(case, slots, false);
    let plaintext = Encoder::new(&context).encode(&values[0], slots, level)?;
    let x = Encryptor::public(&context, &keys.public, seed(1))?.encrypt(&plaintext)?;
    let call = || {
        // A new one for each call: it remembers what it has bootstrapped.
        let evaluator = evaluator.with_bootstrapping(Arc::clone(&bootstrapper))?;
        noren::Result::Ok((sequential(&evaluator, &x, case.count, 1)?, evaluator.bootstraps()))
    };
    let ((result, bootstraps), timing) = timing::with_result(task.run.seconds, call)?;
    let found = Decryptor::new(&context, &keys.secret)?.decrypt_real(&result)?;
    let distances = found.iter().enumerate().map(|(j, x)| (x - reduced(case, &values, case.count, j)).abs());
    let worst = distances.fold(0.0, f64::max);
    let timing = task.judged(worst, result.error_bound(), timing);
    let (suite, op) = (case.reduction.suite(), case.reduction.op());
    let record =
        Record::of_scheme(suite, op, context.parameters(), task.threads, timing, "").with("set", PRESET.name());
    let log_q = context.parameters().rlwe().log_q(context.parameters().rlwe().max_limbs());
    let fields = Fields { log_q, depth: case.count - 1, bootstraps, keys_ns, worst_bits: Some(-worst.log2()) };
    task.report(record, &fields)
}
