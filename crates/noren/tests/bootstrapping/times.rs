//! How long bootstrapping takes, beside what a plan expects. These must not run beside others: `make test-full`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use noren::Complex64;
use noren::bootstrapping::cost::{Time, measure};
use noren::bootstrapping::{BootstrapKeys, Bootstrapper, Mode, Preset, Stage};
use noren::ckks::{Context, Encoder, Encryptor, KeyRequest};

use crate::encrypted::seed;

/// By what factor a model may be wrong, either way.
const FACTOR: f64 = 1.5;
/// Of so many bootstraps the fastest counts.
const RUNS: usize = 3;

fn compare(preset: Preset, threads: usize) {
    let parameters = preset.parameters().expect("a preset");
    let context = Context::with_threads(parameters.ckks().expect("primes"), Some(threads)).expect("rings");
    let keys = context.generate_keys(seed(1), &KeyRequest::default()).expect("keys");
    let bootstrap = BootstrapKeys::generate(&context, &parameters, &keys.secret, seed(2), None).expect("keys");
    let bootstrap = Arc::new(bootstrap);
    let level = parameters.input_level();
    let z = vec![Complex64::from(0.5); parameters.slots()];
    let scale = context.parameters().scale_at(level);
    let plaintext = Encoder::new(&context).encode_complex(&z, z.len(), level, scale).expect("encode");
    let encryptor = Encryptor::symmetric(&context, &keys.secret, seed(3)).expect("encryptor");
    let input = encryptor.encrypt(&plaintext).expect("encrypt");
    for mode in [Mode::Complex, Mode::Real] {
        let bootstrapper = Bootstrapper::new(&context, &parameters, bootstrap.clone(), mode).expect("its keys");
        let machine = measure(&parameters, Some(threads)).expect("a ring of this degree");
        let expected = Time::new(&parameters, mode, &machine).expect("levels");
        let mut found = [Duration::MAX; 4];
        for _ in 0..RUNS {
            let (mut laps, mut last) = ([Duration::ZERO; 4], Instant::now());
            let mut done = |stage: Stage| {
                let lap = match stage {
                    Stage::SlotToCoeff => 0,
                    Stage::Raise | Stage::Projection => 1,
                    Stage::CoeffToSlot => 2,
                    Stage::Parts | Stage::Exponential | Stage::Series => 3,
                };
                laps[lap] += last.elapsed();
                last = Instant::now();
            };
            bootstrapper.stages(&input, &mut done).expect("bootstrap");
            (0..4).for_each(|i| found[i] = found[i].min(laps[i]));
        }
        let expected = [expected.slot_to_coeff, expected.raise, expected.coeff_to_slot, expected.reduction];
        let found = found.map(|time| time.as_secs_f64() * 1e9);
        println!("{preset}, {mode:?}, {threads} threads, {machine:?}");
        for (stage, (expected, found)) in
            ["slot to coeff", "raise", "coeff to slot", "reduction"].into_iter().zip(expected.iter().zip(&found))
        {
            println!("  {stage:14} expected {:.2} ms, found {:.2} ms", expected * 1e-6, found * 1e-6);
        }
        let ratio = expected.iter().sum::<f64>() / found.iter().sum::<f64>();
        println!("  expected over found: {ratio:.2}");
        assert!((1.0 / FACTOR..FACTOR).contains(&ratio), "{preset}, {mode:?}, {threads} threads: {ratio}");
    }
}

#[test]
#[ignore = "nothing may run beside it"]
fn toy_takes_about_the_planned_time() {
    compare(Preset::Toy, 1);
}

#[test]
#[ignore = "8 GB, and nothing may run beside it"]
fn n16_takes_about_the_planned_time() {
    for threads in [1, 2] {
        compare(Preset::N16, threads);
    }
}
