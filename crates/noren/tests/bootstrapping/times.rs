//! How long bootstrapping takes, beside what a plan expects. `make test-full` runs these one at a time.

use std::sync::Arc;
use std::time::Instant;

use noren::Complex64;
use noren::backends::calibrate;
use noren::bootstrapping::Time;
use noren::bootstrapping::{BootstrapKeys, Bootstrapper, Mode, Parameters, Preset, Stage};
use noren::ckks::{Ciphertext, Context, Encoder, Encryptor, KeyRequest};
use noren::cost::Party;

use crate::encrypted::seed;

/// By what factor a model may be wrong, either way, on a machine that others use: what is forgotten or counted twice shows.
/// How near it comes on a quiet one is printed.
const FACTOR: f64 = 4.0;
/// The number of measurements, of which the fastest counts.
const RUNS: usize = 3;

/// The stages of a plan's time.
const STAGES: [&str; 4] = ["slot to coeff", "raise", "coeff to slot", "reduction"];

/// Keys of a preset for a number of threads, and a message at the level of the input.
struct Timed {
    preset: Preset,
    parameters: Parameters,
    threads: usize,
    context: Context,
    bootstrap: Arc<BootstrapKeys>,
    input: Ciphertext,
}

impl Timed {
    fn new(preset: Preset, threads: usize) -> Self {
        let parameters = preset.parameters().expect("a preset");
        let context = Context::with_threads(parameters.ckks().expect("primes"), Some(threads)).expect("rings");
        let keys = context.generate_keys(seed(1), &KeyRequest::default()).expect("keys");
        let bootstrap = BootstrapKeys::generate(&context, &parameters, &keys.secret, seed(2), None).expect("keys");
        let level = parameters.input_level();
        let z = vec![Complex64::from(0.5); parameters.slots()];
        let scale = context.parameters().scale_at(level);
        let plaintext = Encoder::new(&context).encode_complex(&z, z.len(), level, scale).expect("encode");
        let encryptor = Encryptor::symmetric(&context, &keys.secret, seed(3)).expect("encryptor");
        let input = encryptor.encrypt(&plaintext).expect("encrypt").with_range(-1.0, 1.0);
        Self { preset, parameters, threads, context, bootstrap: Arc::new(bootstrap), input }
    }

    fn bootstrapper(&self, mode: Mode) -> Bootstrapper {
        Bootstrapper::new(&self.context, &self.parameters, self.bootstrap.clone(), mode).expect("its keys")
    }

    /// Every mode beside its plan.
    fn compare(&self) {
        let &Self { preset, threads, .. } = self;
        for mode in [Mode::Complex, Mode::Real] {
            let bootstrapper = self.bootstrapper(mode);
            let mut expected = [f64::INFINITY; 4];
            let mut found = expected;
            // In turns, so that both see the machine as fast as it is.
            for _ in 0..RUNS {
                let machine = calibrate(&[1, threads], |_, _| ()).expect("a GiB of memory");
                let plan = Time::new(&self.parameters, mode, &Party { machine, threads }).expect("levels");
                let plan = [plan.slot_to_coeff, plan.raise, plan.coeff_to_slot, plan.reduction];
                expected.iter_mut().zip(plan).for_each(|(expected, time)| *expected = expected.min(time));
                let times = stages(&bootstrapper, &self.input);
                found.iter_mut().zip(times).for_each(|(found, time)| *found = found.min(time));
            }
            println!("{preset}, {mode}, {threads} threads");
            for ((stage, expected), found) in STAGES.iter().zip(&expected).zip(&found) {
                println!("  {stage:14} expected {:.2} ms, found {:.2} ms", expected * 1e-6, found * 1e-6);
            }
            let ratio = expected.iter().sum::<f64>() / found.iter().sum::<f64>();
            println!("  expected over found: {ratio:.2}");
            assert!((1.0 / FACTOR..FACTOR).contains(&ratio), "{preset}, {mode}, {threads} threads: {ratio}");
        }
    }

    /// A message that is divided on its way encodes a matrix, the first time.
    fn larger_messages(&self) {
        let bootstrapper = self.bootstrapper(Mode::Real);
        let large = self.input.clone().with_error_bound(100.0);
        let usual = (0..RUNS).map(|_| stages(&bootstrapper, &self.input)[0]).fold(f64::INFINITY, f64::min);
        let first = stages(&bootstrapper, &large)[0];
        let again = (0..RUNS).map(|_| stages(&bootstrapper, &large)[0]).fold(f64::INFINITY, f64::min);
        let [usual, first, again] = [usual, first, again].map(|time| time * 1e-6);
        println!("{}: slot to coefficient takes {usual:.2} ms, divided {first:.2} ms, then {again:.2} ms", self.preset);
        assert!(again < FACTOR * usual, "{}: {again} of {usual}", self.preset);
    }
}

/// The nanoseconds of the stages of one bootstrap.
fn stages(bootstrapper: &Bootstrapper, input: &Ciphertext) -> [f64; 4] {
    let (mut times, mut last) = ([0.0; 4], Instant::now());
    let mut done = |stage: Stage| {
        let i = match stage {
            Stage::SlotToCoeff => 0,
            Stage::Raise | Stage::Projection => 1,
            Stage::CoeffToSlot => 2,
            Stage::Parts | Stage::Exponential | Stage::Series => 3,
        };
        times[i] += last.elapsed().as_nanos() as f64;
        last = Instant::now();
    };
    bootstrapper.stages(input, &mut done).expect("bootstrap");
    times
}

#[test]
#[ignore = "nothing may run beside it"]
fn toy_takes_about_the_planned_time() {
    let toy = Timed::new(Preset::Toy, 1);
    toy.compare();
    toy.larger_messages();
}

#[test]
#[ignore = "8 GB, and nothing may run beside it"]
fn n16_takes_about_the_planned_time() {
    for threads in [1, 2] {
        let n16 = Timed::new(Preset::N16, threads);
        n16.compare();
        n16.larger_messages();
    }
}
